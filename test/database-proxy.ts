import { once } from 'node:events';
import net from 'node:net';
import { inject, onTestFinished } from 'vitest';
import { openDatabase, type Connection, type DatabaseHandle } from '../src/store/database.ts';
import type { TestDatabase } from './database.ts';

/** A TCP proxy to a test's database that can fall silent as a network does, without closing connections. */
export interface DatabaseProxy {
  readonly url: string;
  /** Opens the database by this way. Statements are given up after `answerTimeoutMs`. `direct` leads past it. */
  open(answerTimeoutMs: number, direct?: Connection): DatabaseHandle;
  /** From now on, the open connections pass nothing, or only no answers of the database. */
  silence(what: 'everything' | 'answers'): void;
  /** From now on, notifications are dropped on every connection, as by a transaction pooler. */
  withholdNotifications(): void;
  /** The number of connections made so far. */
  connections(): number;
}

export async function databaseProxy(database: TestDatabase): Promise<DatabaseProxy> {
  const { host, port, user } = inject('postgres');
  const ways: { asks: boolean; answers: boolean }[] = [];
  const sockets = new Set<net.Socket>();
  let isWithholding = false;
  const proxy = net.createServer({ allowHalfOpen: true }, (near) => {
    const far = net.connect(`${host}/.s.PGSQL.${port}`);
    const way = { asks: true, answers: true };
    ways.push(way);
    near.on('data', (chunk) => way.asks && far.write(chunk));
    // A silent way does not answer a goodbye either.
    near.on('end', () => way.asks && way.answers && near.end());
    const messages = messageReader();
    far.on('data', (chunk) => {
      for (const message of messages(chunk)) {
        if (way.answers && !(isWithholding && message[0] === NOTIFICATION_RESPONSE)) near.write(message);
      }
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        // The close of one end does not reach the other when nothing passes.
        if (way.asks && way.answers) other.destroy();
      });
    }
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  const cut = (): void => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  const name = new URL(database.url).pathname.slice(1);
  const url = `postgres://${user}@127.0.0.1:${(proxy.address() as net.AddressInfo).port}/${name}`;
  return {
    url,
    open: (answerTimeoutMs, direct) => {
      const options = { maxConnections: 2, onError: () => {}, answerTimeoutMs, direct };
      const handle = openDatabase({ connectionString: url }, options);
      onTestFinished(() => {
        // A pool waits at its end for statements that nobody answers any more.
        cut();
        return handle.close();
      });
      return handle;
    },
    silence: (what) => {
      for (const way of ways) {
        way.answers = false;
        if (what === 'everything') way.asks = false;
      }
    },
    withholdNotifications: () => {
      isWithholding = true;
    },
    connections: () => ways.length,
  };
}

const NOTIFICATION_RESPONSE = 'A'.charCodeAt(0);
const HEAD_BYTES = 5;

/**
 * Cuts what a server sends into its messages: one byte of kind, four of length, which counts itself and what follows.
 */
function messageReader(): (chunk: Buffer) => readonly Buffer[] {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Buffer[] = [];
    while (rest.length >= HEAD_BYTES) {
      const length = 1 + rest.readUInt32BE(1);
      if (rest.length < length) break;
      messages.push(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
    return messages;
  };
}
