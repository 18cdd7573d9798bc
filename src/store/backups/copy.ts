import { once } from 'node:events';
import type { Client, Connection, Submittable } from 'pg';

/** Rows arrive one by one and are passed on in chunks of about this size. */
const PIECE_BYTES = 256 * 1024;
/** The server is made to wait once this much waits for the consumer. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
const COPY_DATA = 0x64;

/** The methods that `pg` requires of an object it executes. The names are pg's. */
interface Carried extends Submittable {
  handleError(error: Error): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleReadyForQuery(): void;
}

/** Parses `COPY 123`: the number of rows. */
function rowsOf({ text }: { readonly text: string }): number {
  return Number(/^COPY (\d+)$/.exec(text)?.[1] ?? NaN);
}

/**
 * Runs a `COPY … TO STDOUT` and passes its output on in order. The server waits while `take` is slow. It sends one row
 * at a time, which `eachRow` may rewrite; its result is copied at once.
 *
 * @returns the number of rows
 * @throws what `take` throws, after which the connection is unusable; otherwise the server's error
 */
export function copyOut(
  client: Client,
  text: string,
  take: (piece: Buffer) => Promise<void>,
  eachRow: (row: Buffer) => Buffer = (row) => row,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let piece = Buffer.allocUnsafe(PIECE_BYTES);
    let filled = 0;
    let waiting = 0;
    let rows = NaN;
    let taken: Promise<void> = Promise.resolve();
    let connection: Connection | null = null;
    let hasGivenUp = false;

    const giveUp = (error: unknown): void => {
      // Every piece that waits behind a failed one fails with it.
      if (hasGivenUp) return;
      hasGivenUp = true;
      // The server is still copying: nothing else can be sent on this connection.
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
      // The parser reuses its buffer, so kept data must be copied.
      handleCopyData: ({ chunk: row }) => {
        const chunk = eachRow(row);
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
 * Runs a `COPY … FROM STDIN` with this content.
 *
 * @returns how many rows the server took
 * @throws what the content throws, in which case the server took nothing; otherwise the server's error
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
        ending.sendCopyFail('the data to copy cannot be read');
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
