import { sql, type RawBuilder } from 'kysely';
import { isNetwork, type Network } from '../domain/networks.ts';
import type { Database, DatabaseHandle, Trx } from './database.ts';
import { keepSession } from './kept-session.ts';

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
/** A connection is proven again after this: a pooler's settings may change under it. */
const PROOF_EVERY_MS = 5_000;

export interface ListenOptions {
  /** Told in plain words when messages do not arrive, once until they do. */
  readonly onWithheld?: (problem: string) => void;
  readonly proofEveryMs?: number;
}

export interface Notifications {
  /** Whether every notification up to now (less than a second ago) has arrived, as a message to ourselves has proven. */
  healthy(): boolean;
  on<T extends Topic>(topic: T, listener: (told: Told[T]) => void): void;
  onDown(listener: () => void): void;
  /** Told after every connection made: what was notified before it may not have arrived, all from now on will. */
  onUp(listener: () => void): void;
  stop(): Promise<void>;
}

/** Those of this process, which also say what is wrong with them. */
export interface Listening extends Notifications {
  /** Why they are not healthy, in plain words; null while they are. */
  problem(): string | null;
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
    // A topic that nobody here knows is a newer version's, or a proof's.
    default:
  }
}

const WITHHELD = 'notifications do not arrive, as behind a pooler of transactions; set DATABASE_DIRECT_URL past it';
const NOT_LISTENING = 'not listening';

/** Listens on a connection of its own, which is made again for as long as it takes. */
export function listen(handle: DatabaseHandle, options: ListenOptions = {}): Listening {
  const { onWithheld, proofEveryMs = PROOF_EVERY_MS } = options;
  const listeners: Listeners = { access: [], deliveries: [], payments: [], chain: [] };
  const downListeners: (() => void)[] = [];
  const upListeners: (() => void)[] = [];
  let isWithheld = false;
  const { healthy, stop } = keepSession(handle, {
    channel: CHANNEL,
    proofEveryMs,
    onMessage: (payload) => dispatch(listeners, payload),
    onUp: () => {
      isWithheld = false;
      for (const listener of upListeners) listener();
    },
    onDown: () => {
      for (const listener of downListeners) listener();
    },
    onWithheld: () => {
      if (!isWithheld) onWithheld?.(WITHHELD);
      isWithheld = true;
    },
  });
  return {
    healthy,
    problem: () => (healthy() ? null : isWithheld ? WITHHELD : NOT_LISTENING),
    on: (topic, listener) => void listeners[topic].push(listener),
    onDown: (listener) => void downListeners.push(listener),
    onUp: (listener) => void upListeners.push(listener),
    stop,
  };
}
