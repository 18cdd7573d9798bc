import type { Client } from 'pg';
import { sql } from 'kysely';
import type { Database, DatabaseHandle, Trx } from './database.ts';

/** What processes tell each other through PostgreSQL: `access` when a key or project changed, `deliveries` when some are due. */
export type Topic = 'access' | 'deliveries' | 'payments';

const CHANNEL = 'cointill';
/** A silent connection counts as broken after this, well within the second in which a revoked key must stop working. */
const HEARTBEAT_MS = 250;
const SILENCE_MS = 800;

export interface Notifications {
  /** Whether every notification up to now (less than a second ago) has arrived. */
  healthy(): boolean;
  on(topic: Topic, listener: () => void): void;
  onDown(listener: () => void): void;
  stop(): Promise<void>;
}

/** Tells every process, when the transaction commits. */
export async function notify(db: Database | Trx, topic: Topic): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, ${topic})`.execute(db);
}

/** Listens on a connection of its own, and connects again for as long as it takes. */
export function listen(handle: DatabaseHandle): Notifications {
  const listeners = new Map<Topic, (() => void)[]>();
  const downListeners: (() => void)[] = [];
  let client: Client | null = null;
  let provenAt = 0;
  let asking = false;
  let stopped = false;

  const down = (): void => {
    if (client === null) return;
    const broken = client;
    client = null;
    provenAt = 0;
    for (const listener of downListeners) listener();
    broken.end().catch(() => {});
  };

  const connect = async (): Promise<void> => {
    const next = await handle.connect();
    next.on('notification', ({ payload }) => {
      for (const listener of listeners.get(payload as Topic) ?? []) listener();
    });
    next.on('end', () => {
      if (client === next) down();
    });
    try {
      const askedAt = performance.now();
      await next.query(`listen ${CHANNEL}`);
      if (stopped) throw new Error('Stopped while it connected.');
      client = next;
      provenAt = askedAt;
    } catch (error) {
      next.end().catch(() => {});
      throw error;
    }
  };

  const beat = async (): Promise<void> => {
    if (stopped || asking) {
      if (client !== null && performance.now() - provenAt > SILENCE_MS) down();
      return;
    }
    asking = true;
    try {
      if (client === null) await connect();
      else {
        // An answer proves that what was notified before the question has arrived, not what was notified after it.
        const askedAt = performance.now();
        await client.query('select 1');
        provenAt = askedAt;
      }
    } catch {
      down();
    } finally {
      asking = false;
    }
  };

  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  void beat();

  return {
    healthy: () => client !== null && performance.now() - provenAt < SILENCE_MS,
    on: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    onDown: (listener) => void downListeners.push(listener),
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      const last = client;
      client = null;
      await last?.end().catch(() => {});
    },
  };
}
