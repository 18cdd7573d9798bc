import { once } from 'node:events';
import type { Client, Connection, Submittable } from 'pg';

/** Rows come one by one, and leave in pieces of about this size. */
const PIECE_BYTES = 256 * 1024;
/** So much may wait for whoever takes it before the server is made to wait. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
const COPY_DATA = 0x64;

/** What `pg` asks of something that it carries out. The names are pg's. */
interface Carried extends Submittable {
  handleError(error: Error): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleReadyForQuery(): void;
}

/** `COPY 123`: how many rows there were. */
function rowsOf({ text }: { readonly text: string }): number {
  return Number(/^COPY (\d+)$/.exec(text)?.[1] ?? NaN);
}

/**
 * Carries out a `COPY … TO STDOUT` and hands on what comes, in order. The server waits while `take` is slow.
 *
 * @returns how many rows came
 * @throws what `take` throws, and then the connection is given up; the server's error otherwise
 */
export function copyOut(client: Client, text: string, take: (piece: Buffer) => Promise<void>): Promise<number> {
  return new Promise((resolve, reject) => {
    let piece = Buffer.allocUnsafe(PIECE_BYTES);
    let filled = 0;
    let waiting = 0;
    let rows = NaN;
    let taken: Promise<void> = Promise.resolve();
    let connection: Connection | null = null;

    const giveUp = (error: unknown): void => {
      // The server is in the midst of it: nothing else can be asked on this connection.
      client.end().catch(() => {});
      connection?.stream.destroy();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const handOnAfter = async (before: Promise<void>, full: Buffer): Promise<void> => {
      await before;
      await take(full);
      waiting -= full.length;
      if (waiting <= MAX_WAITING_BYTES) connection?.stream.resume();
    };
    const handOn = (): void => {
      const full = piece.subarray(0, filled);
      piece = Buffer.allocUnsafe(PIECE_BYTES);
      filled = 0;
      if (full.length === 0) return;
      waiting += full.length;
      if (waiting > MAX_WAITING_BYTES) connection?.stream.pause();
      taken = handOnAfter(taken, full);
      taken.catch(giveUp);
    };
    const carried: Carried & { handleCopyData(message: { readonly chunk: Buffer }): void } = {
      submit: (given) => {
        connection = given;
        given.query(text);
      },
      // The parser uses its buffer again: what is kept of it has to be copied.
      handleCopyData: ({ chunk }) => {
        for (let from = 0; from < chunk.length;) {
          const copied = chunk.copy(piece, filled, from);
          from += copied;
          filled += copied;
          if (filled === PIECE_BYTES) handOn();
        }
      },
      handleCommandComplete: (message) => {
        rows = rowsOf(message);
      },
      handleReadyForQuery: () => {
        handOn();
        taken.then(() => resolve(rows), giveUp);
      },
      handleError: reject,
    };
    client.query(carried);
  });
}

/**
 * Carries out a `COPY … FROM STDIN` with this content.
 *
 * @returns how many rows the server took
 * @throws what the content throws, and then the server took nothing; the server's error otherwise
 */
export function copyIn(client: Client, text: string, content: AsyncIterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    let rows = NaN;
    let fault: Error | null = null;
    const failed = new AbortController();

    const send = async (connection: Connection): Promise<void> => {
      const ending = connection as Connection & { endCopyFrom(): void; sendCopyFail(reason: string): void };
      try {
        await sendContent(connection);
        if (!failed.signal.aborted) ending.endCopyFrom();
      } catch (error) {
        if (failed.signal.aborted) return;
        fault = error instanceof Error ? error : new Error(String(error));
        ending.sendCopyFail('what was to be copied cannot be read');
      }
    };
    const sendContent = async ({ stream }: Connection): Promise<void> => {
      for await (const piece of content) {
        const head = Buffer.alloc(5);
        head[0] = COPY_DATA;
        head.writeUInt32BE(piece.length + 4, 1);
        stream.write(head);
        if (!stream.write(piece)) await once(stream, 'drain', { signal: failed.signal });
        if (failed.signal.aborted) return;
      }
    };
    const carried: Carried & { handleCopyInResponse(connection: Connection): void } = {
      submit: (connection) => {
        connection.query(text);
      },
      handleCopyInResponse: (connection) => {
        void send(connection);
      },
      handleCommandComplete: (message) => {
        rows = rowsOf(message);
      },
      handleReadyForQuery: () => resolve(rows),
      handleError: (error) => {
        failed.abort();
        reject(fault ?? error);
      },
    };
    client.query(carried);
  });
}
