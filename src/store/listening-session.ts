import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Database } from './database.ts';

/** How long a message may take to arrive once its sending was committed. */
const ARRIVAL_MS = 1_000;

/** Whether a message to ourselves arrived; `unknown`: it could not be sent, or arrived when that proves nothing. */
export type Proof = 'delivered' | 'withheld' | 'unknown';

/** One connection that listens. */
export interface ListeningSession {
  listen(): Promise<void>;
  /** Resolves when all that was notified before has arrived. Throws when the connection leads to another session by now. */
  ask(): Promise<void>;
  /**
   * Sends a message by way of `db` and waits for it here. It proves something only while nothing is asked on this
   * connection: a pooler that shares its sessions hands through what arrives during an answer, and drops the rest.
   */
  prove(): Promise<Proof>;
  /** Never rejects. */
  end(): Promise<void>;
}

export function listeningSession(
  client: Client,
  db: Database,
  channel: string,
  onMessage: (payload: string) => void,
): ListeningSession {
  let asking = 0;
  let backend: number | null = null;
  let expected: { readonly payload: string; readonly resolve: (proof: Proof) => void } | null = null;

  client.on('notification', ({ payload = '' }) => {
    if (payload === expected?.payload) expected.resolve(asking === 0 ? 'delivered' : 'unknown');
    else onMessage(payload);
  });
  client.on('end', () => expected?.resolve('unknown'));

  const query = async <Row extends object>(text: string): Promise<readonly Row[]> => {
    asking += 1;
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      asking -= 1;
    }
  };
  const ask = async (): Promise<void> => {
    const [row] = await query<{ pid: number }>('select pg_backend_pid() as pid');
    backend ??= row?.pid ?? null;
    if (row?.pid !== backend) throw new Error('The connection leads to another session than the one that listens.');
  };

  return {
    listen: async () => {
      await query(`listen ${channel}`);
      await ask();
    },
    ask,
    prove: async () => {
      const payload = `proof ${randomUUID()}`;
      const proof = Promise.withResolvers<Proof>();
      let timer: NodeJS.Timeout | undefined;
      expected = { payload, resolve: proof.resolve };
      // Nothing is lost with it: its commit need not wait for the disk.
      const message = sql`select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${payload})`;
      const giveUp = (): void => {
        // What lies in the socket already is read before the verdict, however long this process was busy.
        if (expected?.payload === payload)
          timer = setTimeout(() => setImmediate(proof.resolve, 'withheld'), ARRIVAL_MS);
      };
      message.execute(db).then(giveUp, () => proof.resolve('unknown'));
      try {
        return await proof.promise;
      } finally {
        clearTimeout(timer);
        expected = null;
      }
    },
    end: async () => {
      await client.end().catch(() => {});
    },
  };
}
