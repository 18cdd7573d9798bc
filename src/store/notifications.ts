import type { Client } from 'pg';
import { sql, type RawBuilder } from 'kysely';
import { isNetwork, type Network } from '../domain/asset.ts';
import type { Database, DatabaseHandle, Trx } from './database.ts';

/** What processes tell each other through PostgreSQL, by topic, and what each topic names. */
export interface Told {
  /** A key, project or wallet changed. */
  readonly access: readonly [];
  /** Some are due. */
  readonly deliveries: readonly [];
  /** Ids of payments that changed, or whose refunds did; not of new ones, whose page nobody can have open. */
  readonly payments: readonly string[];
  /** The network whose last block taken in is another now, so that its payments' confirmations are. */
  readonly chain: readonly [Network];
}
export type Topic = keyof Told;

const CHANNEL = 'cointill';
/** PostgreSQL refuses a payload of 8,000 bytes; `payments` and 200 ids are 7,408. */
const IDS_PER_PAYLOAD = 200;
/** A silent connection counts as broken after this, well within the second in which a revoked key must stop working. */
const HEARTBEAT_MS = 250;
const SILENCE_MS = 800;
/** How long a new connection may take to listen: until it does, no heartbeat watches over it. */
const LISTEN_MS = 5_000;

export interface Notifications {
  /** Whether every notification up to now (less than a second ago) has arrived. */
  healthy(): boolean;
  on<T extends Topic>(topic: T, listener: (told: Told[T]) => void): void;
  onDown(listener: () => void): void;
  /** Told after every connection made: what was notified before it may not have arrived, all from now on will. */
  onUp(listener: () => void): void;
  stop(): Promise<void>;
}

/** Tells every process, when the transaction commits. */
export async function notify(db: Database | Trx, topic: 'access' | 'deliveries'): Promise<void> {
  await sql`select ${notification(topic)}`.execute(db);
}

/** A notification as an expression, to be sent by a statement that changes something anyway. */
export function notification<T extends Topic>(topic: T, ...told: Told[T]): RawBuilder<unknown> {
  return sql`pg_notify(${CHANNEL}, ${[topic, ...told].join(' ')})`;
}

/** Payloads that name these payments, as many as it takes. */
export function paymentPayloads(ids: readonly string[]): readonly string[] {
  const payloads: string[] = [];
  for (let start = 0; start < ids.length; start += IDS_PER_PAYLOAD) {
    payloads.push(['payments', ...ids.slice(start, start + IDS_PER_PAYLOAD)].join(' '));
  }
  return payloads;
}

type Listeners = { readonly [T in Topic]: ((told: Told[T]) => void)[] };

/** A topic that nobody here knows is a newer version's. */
function dispatch(listeners: Listeners, payload: string): void {
  const [topic, ...told] = payload.split(' ');
  switch (topic) {
    case 'access':
    case 'deliveries':
      for (const listener of listeners[topic]) listener([]);
      break;
    case 'payments':
      for (const listener of listeners.payments) listener(told);
      break;
    case 'chain': {
      const [network = ''] = told;
      if (isNetwork(network)) for (const listener of listeners.chain) listener([network]);
      break;
    }
    default:
  }
}

/** Listens on a connection of its own, and connects again for as long as it takes. */
export function listen(handle: DatabaseHandle): Notifications {
  const listeners: Listeners = { access: [], deliveries: [], payments: [], chain: [] };
  const downListeners: (() => void)[] = [];
  const upListeners: (() => void)[] = [];
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
    next.on('notification', ({ payload }) => dispatch(listeners, payload ?? ''));
    next.on('end', () => {
      if (client === next) down();
    });
    const end = (): void => void next.end().catch(() => {});
    const limit = setTimeout(end, LISTEN_MS);
    try {
      const askedAt = performance.now();
      await next.query(`listen ${CHANNEL}`);
      if (stopped) throw new Error('Stopped while it connected.');
      client = next;
      provenAt = askedAt;
    } catch (error) {
      end();
      throw error;
    } finally {
      clearTimeout(limit);
    }
    for (const listener of upListeners) listener();
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
    on: (topic, listener) => void listeners[topic].push(listener),
    onDown: (listener) => void downListeners.push(listener),
    onUp: (listener) => void upListeners.push(listener),
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      const last = client;
      client = null;
      await last?.end().catch(() => {});
    },
  };
}
