import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OpenedExport, OpenExport } from '../../app/dashboard/exports.ts';
import { RequestError } from '../errors.ts';
import type { ConnectToRead } from '../../store/long-reads.ts';
import type { Problems } from '../../domain/problems.ts';
import { givenHeaders } from '../event-stream.ts';

const UNREAD_MS = 60_000;
/** A slower reader uses up the time that the server waits. */
const LEAST_BYTES_PER_SECOND = 65_536;
const END_MS = 30 * 60_000;
const RECHECK_MS = 5_000;
const TRY_AGAIN_SECONDS = 10;
const PATIENCE_MS = 1_000;

/** The dependencies of exports. */
export interface Exports {
  /** Opens a connection that nothing else uses. */
  readonly connect: ConnectToRead;
  /** The time that a reader gets for the bytes that were sent last. */
  readonly unreadMs?: number;
  /** The longest time that sending a file may take. */
  readonly endMs?: number;
  /** The time between two checks of the reader's right to the file. */
  readonly recheckMs?: number;
}

/** A file that a route answers with. */
export interface AskedFile {
  /** The name of the file before the day. */
  readonly name: string;
  readonly format: 'csv' | 'jsonl';
  /** The encoding, UTF-8 by default. */
  readonly charset?: 'windows-1252';
  readonly open: () => Promise<OpenedExport>;
}

interface SentFile extends AskedFile {
  /** Whether the reader still has the right to the file; asked again while it is sent. */
  readonly mayRead: () => Promise<boolean>;
}

/** Opens a file and sends it while it is read from the database. */
export type FileSender = (request: FastifyRequest, reply: FastifyReply, sent: SentFile) => Promise<FastifyReply>;

/** The one sender of a server: all files share the slots for exports. Files being sent end with the server. */
export function fileSender(
  app: FastifyInstance,
  {
    clock,
    exports,
    problems,
  }: { readonly clock: () => number; readonly exports: Exports; readonly problems: Problems },
): FileSender {
  const running = new Set<() => void>();
  const turns = new Set<Turn>();
  // Runs before the server waits for its connections.
  app.addHook('preClose', (done) => {
    for (const stop of running) stop();
    done();
  });
  return async (request, reply, sent) => {
    const own = newTurn(reply.raw);
    const opened = await openOne(turns, own, sent.open);
    if (opened.kind === 'busy') throw busy(reply, opened.why);
    void reply.hijack();
    const stop = sendFile(reply, headersOf(reply, sent, opened.file, clock()), opened.file, {
      unreadMs: exports.unreadMs ?? UNREAD_MS,
      endMs: exports.endMs ?? END_MS,
      recheckMs: exports.recheckMs ?? RECHECK_MS,
      mayRead: sent.mayRead,
      onEnd: () => {
        running.delete(stop);
        endTurn(turns, own);
      },
      onFault: (error) => problems.happened('exports of the dashboard', error, { request: request.id }),
    });
    running.add(stop);
    return reply;
  };
}

/** A request that has one of the slots for exports, or is about to take one. */
interface Turn {
  readonly raw: ServerResponse;
  /** Resolves when the request releases its slot. */
  readonly ended: Promise<void>;
  readonly end: () => void;
}

function newTurn(raw: ServerResponse): Turn {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { raw, ended: promise, end: resolve };
}

/** Opens an export; if no slot is free, waits a moment for one whose reader may just have left. */
async function openOne(turns: Set<Turn>, own: Turn, open: () => Promise<OpenedExport>): Promise<OpenedExport> {
  const isLate = AbortSignal.timeout(PATIENCE_MS);
  const late = once(isLate, 'abort');
  turns.add(own);
  try {
    for (;;) {
      const wasLate = isLate.aborted || own.raw.destroyed;
      const opened = await open();
      if (opened.kind === 'opened') return opened;
      if (wasLate) {
        endTurn(turns, own);
        return opened;
      }
      const others = [...turns].filter((one) => one !== own);
      await Promise.race([late, ...others.map(({ ended }) => ended)]);
    }
  } catch (error) {
    endTurn(turns, own);
    throw error;
  }
}

function endTurn(turns: Set<Turn>, own: Turn): void {
  turns.delete(own);
  own.end();
}

function headersOf(reply: FastifyReply, { name, format, charset }: SentFile, { rowsAbout }: OpenExport, now: number) {
  const day = new Date(now).toISOString().slice(0, 10);
  return {
    ...givenHeaders(reply),
    'content-type': `${format === 'csv' ? 'text/csv' : 'application/x-ndjson'}; charset=${charset ?? 'utf-8'}`,
    'content-disposition': `attachment; filename="${name}-${day}.${format}"`,
    'cache-control': 'no-store',
    // nginx would buffer the file.
    'x-accel-buffering': 'no',
    ...(rowsAbout === null ? {} : { 'x-rows-about': String(rowsAbout) }),
  };
}

interface Sending {
  readonly unreadMs: number;
  readonly endMs: number;
  readonly recheckMs: number;
  readonly mayRead: () => Promise<boolean>;
  readonly onEnd: () => void;
  readonly onFault: (error: unknown) => void;
}

/** The reader is gone, or may no longer read: this is no fault. */
class Gone extends Error {}

/** Streams a file to the client, and returns a function that stops it. A file cut short ends without its last chunk. */
function sendFile(
  { raw }: FastifyReply,
  headers: Readonly<Record<string, unknown>>,
  file: OpenExport,
  { unreadMs, endMs, recheckMs, mayRead, onEnd, onFault }: Sending,
): () => void {
  const gone = new AbortController();
  let stopped: Promise<void> = Promise.resolve();
  const stop = (): void => {
    if (gone.signal.aborted) return;
    gone.abort();
    raw.destroy();
    stopped = file.stop().catch(onFault);
  };
  raw.once('close', () => {
    if (!raw.writableFinished) stop();
  });
  const recheck = setInterval(() => {
    mayRead().then((may) => (may ? undefined : stop()), onFault);
  }, recheckMs);
  const ending = setTimeout(stop, endMs);
  const patience = patienceWith(unreadMs);
  const take = async (piece: Buffer): Promise<void> => {
    if (gone.signal.aborted) throw new Gone();
    const since = performance.now();
    if (!raw.write(piece)) await drained(raw, gone.signal, patience.leftMs());
    patience.took(piece.length, performance.now() - since);
  };
  raw.writeHead(200, headers as Parameters<ServerResponse['writeHead']>[1]);
  void file
    .write(take)
    .then(
      () => raw.end(),
      (error: unknown) => {
        const wasStopped = gone.signal.aborted || error instanceof Gone;
        stop();
        if (!wasStopped) onFault(error);
      },
    )
    .then(() => stopped)
    .finally(() => {
      clearInterval(recheck);
      clearTimeout(ending);
      onEnd();
    });
  // The client may have left while its export was being opened.
  if (raw.destroyed) stop();
  return stop;
}

/**
 * The time that the server still waits for a slow reader. Waiting spends it, and bytes that the reader takes earn it.
 */
export function patienceWith(unreadMs: number) {
  let left = unreadMs;
  return {
    leftMs: () => Math.max(0, Math.ceil(left)),
    took: (bytes: number, waitedMs: number): void => {
      left = Math.min(unreadMs, left - waitedMs + (bytes / LEAST_BYTES_PER_SECOND) * 1_000);
    },
  };
}

async function drained(raw: ServerResponse, gone: AbortSignal, unreadMs: number): Promise<void> {
  try {
    await once(raw, 'drain', { signal: AbortSignal.any([gone, AbortSignal.timeout(unreadMs)]) });
  } catch {
    throw new Gone();
  }
}

function busy(reply: FastifyReply, why: 'all_taken' | 'own_taken'): RequestError {
  void reply.header('retry-after', String(TRY_AGAIN_SECONDS));
  if (why === 'own_taken') {
    return new RequestError(
      'rate_limit_error',
      'Another of your exports is still running. Wait until it is done, or stop it.',
    );
  }
  return new RequestError(
    'service_unavailable',
    'Other exports are already running. Try again when one of them is done.',
  );
}
