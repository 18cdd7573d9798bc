import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Database } from './database.ts';
import { CHANNEL, channel } from './own-schema.ts';

/** How long a notification may take to arrive after its transaction was committed. */
const ARRIVAL_MS = 1_000;

/**
 * Whether a notification to ourselves arrived; `unknown`: it could not be sent, or arrived when its arrival proves
 * nothing.
 */
export type Proof = 'delivered' | 'withheld' | 'unknown';

/** One connection that listens. */
export interface ListeningSession {
  listen(): Promise<void>;
  /** Resolves when all earlier notifications have arrived. Throws if the connection now leads to another session. */
  ask(): Promise<void>;
  /**
   * Sends a notification through `db` and waits for it here. Its arrival proves something only while no query is
   * running on this connection: a pooler that shares its sessions passes on notifications that arrive during an answer
   * and drops the rest.
   */
  prove(): Promise<Proof>;
  /** Never rejects. */
  end(): Promise<void>;
}

export function listeningSession(client: Client, db: Database, onMessage: (payload: string) => void): ListeningSession {
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
      const [named] = await query<{ channel: string }>(`select ${CHANNEL} as channel`);
      await query(`listen ${client.escapeIdentifier(named?.channel ?? '')}`);
      await ask();
    },
    ask,
    prove: async () => {
      const payload = `proof ${randomUUID()}`;
      const proof = Promise.withResolvers<Proof>();
      let timer: NodeJS.Timeout | undefined;
      expected = { payload, resolve: proof.resolve };
      // Losing the notification does no harm, so its commit need not wait for the disk.
      const message = sql`select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${payload})`;
      const giveUp = (): void => {
        // Messages that are already in the socket are read before deciding, even after this process was busy for long.
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
