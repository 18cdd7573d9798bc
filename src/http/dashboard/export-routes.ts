import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Client } from 'pg';
import { openExport, type OpenExport } from '../../app/dashboard/export-payments.ts';
import { roleOfOpenSession } from '../../app/people/open-session.ts';
import { EXPORT_COLUMNS, USUAL_COLUMNS } from '../../domain/export-column.ts';
import { knowsZone, type PaymentExport } from '../../store/payment-export.ts';
import { invalid, RequestError } from '../errors.ts';
import { givenHeaders } from '../event-stream.ts';
import { CONTRACT } from './contract/index.ts';
import type { ExportRequest } from './contract/export.ts';
import { readFilters } from './payment-filters.ts';
import { scopeOf, type ProjectScope } from './project-scope.ts';
import { appFor, signedInOf, type Dashboard } from './route.ts';

/** What exports work with. */
export interface Exports {
  /** Opens a connection that nothing else uses. */
  readonly connect: () => Promise<Client>;
  /** How long a reader may take for what was sent last. */
  readonly unreadMs?: number;
  /** How often it is asked whether whoever reads it still may. */
  readonly recheckMs?: number;
}

const URL = '/dashboard/api/projects/:project/:mode/payments/export';
const UNREAD_MS = 60_000;
const RECHECK_MS = 5_000;
const TRY_AGAIN_SECONDS = 10;
const PATIENCE_MS = 1_000;

const ROUTE = {
  config: { guard: { kind: 'session', action: 'read_payments' }, stream: true },
  schema: { hide: true, params: CONTRACT[`POST ${URL}`].params, body: CONTRACT[`POST ${URL}`].body },
} as const;

/** Files of payments, sent while they are read: a million rows take no more memory than one. */
export function exportRoutes(app: FastifyInstance, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  const open = new Set<() => void>();
  const turns = new Set<Turn>();
  // Before the server waits for its connections.
  app.addHook('preClose', (done) => {
    for (const stop of open) stop();
    done();
  });
  app.post<{ Params: { project: string; mode: string }; Body: ExportRequest }>(URL, ROUTE, async (request, reply) => {
    const scope = scopeOf(request, request.params);
    const file = await fileOf(request, scope, dashboard);
    const asked = { ...request.body, columns: file.columns };
    const own = newTurn(reply.raw);
    const opened = await openOne(turns, own, () =>
      openExport(appFor(core, request), dashboard.exports.connect, file, asked),
    );
    if (opened.kind === 'busy') throw busy(reply);
    void reply.hijack();
    const stop = sendFile(reply, headersOf(reply, file, opened.file, core.clock()), opened.file, {
      unreadMs: dashboard.exports.unreadMs ?? UNREAD_MS,
      recheckMs: dashboard.exports.recheckMs ?? RECHECK_MS,
      mayRead: async () =>
        (await roleOfOpenSession(core, signedInOf(request), scope.projectId, 'read_payments')) === scope.role,
      onEnd: () => {
        open.delete(stop);
        endTurn(turns, own);
      },
      onFault: (error) => dashboard.live.troubles.happened('exports of the dashboard', error, { request: request.id }),
    });
    open.add(stop);
    return reply;
  });
}

/** A request that has one of the places for exports, or is about to take one. */
interface Turn {
  readonly raw: ServerResponse;
  /** When it has none any more. */
  readonly ended: Promise<void>;
  readonly end: () => void;
}

function newTurn(raw: ServerResponse): Turn {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { raw, ended: promise, end: resolve };
}

/** Opens an export; where both places are taken, waits a moment for one whose reader may just have left. */
async function openOne(
  turns: Set<Turn>,
  own: Turn,
  open: () => ReturnType<typeof openExport>,
): ReturnType<typeof openExport> {
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

async function fileOf(
  { body }: FastifyRequest<{ Body: ExportRequest }>,
  { projectId, mode }: ProjectScope,
  { people: { app } }: Dashboard,
): Promise<PaymentExport> {
  const { format = 'csv', separator = 'comma', columns, zone = 'UTC', ...filters } = body;
  if (columns?.length === 0) throw invalid('columns', 'columns must name at least one column, or be left out.');
  if (!(await knowsZone(app.db, zone))) {
    throw invalid('zone', 'zone must be the name of a time zone such as Europe/Berlin, or UTC.');
  }
  return {
    scope: { projectId, mode },
    search: readFilters(filters),
    columns: columns === undefined ? USUAL_COLUMNS : EXPORT_COLUMNS.filter((one) => columns.includes(one)),
    format,
    separator: separator === 'comma' ? ',' : ';',
    zone,
  };
}

function headersOf(reply: FastifyReply, { format, scope }: PaymentExport, { rowsAbout }: OpenExport, now: number) {
  const day = new Date(now).toISOString().slice(0, 10);
  return {
    ...givenHeaders(reply),
    'content-type': format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
    'content-disposition': `attachment; filename="payments-${scope.mode}-${day}.${format}"`,
    'cache-control': 'no-store',
    // nginx would hold it back.
    'x-accel-buffering': 'no',
    ...(rowsAbout === null ? {} : { 'x-rows-about': String(rowsAbout) }),
  };
}

interface Sending {
  readonly unreadMs: number;
  readonly recheckMs: number;
  readonly mayRead: () => Promise<boolean>;
  readonly onEnd: () => void;
  readonly onFault: (error: unknown) => void;
}

/** The reader is gone, or may no longer read: nobody's fault. */
class Gone extends Error {}

/** Sends a file as fast as it is read; how to stop it. A file that is cut short ends without its last chunk. */
function sendFile(
  { raw }: FastifyReply,
  headers: Readonly<Record<string, unknown>>,
  file: OpenExport,
  { unreadMs, recheckMs, mayRead, onEnd, onFault }: Sending,
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
  const take = async (piece: Buffer): Promise<void> => {
    if (gone.signal.aborted) throw new Gone();
    if (!raw.write(piece)) await drained(raw, gone.signal, unreadMs);
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
      onEnd();
    });
  // It may have gone while its export was opened.
  if (raw.destroyed) stop();
  return stop;
}

async function drained(raw: ServerResponse, gone: AbortSignal, unreadMs: number): Promise<void> {
  try {
    await once(raw, 'drain', { signal: AbortSignal.any([gone, AbortSignal.timeout(unreadMs)]) });
  } catch {
    throw new Gone();
  }
}

function busy(reply: FastifyReply): RequestError {
  void reply.header('retry-after', String(TRY_AGAIN_SECONDS));
  return new RequestError(
    'service_unavailable',
    'Two exports are already running. Try again when one of them is done.',
  );
}
