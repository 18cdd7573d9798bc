import { sql, type RawBuilder } from 'kysely';
import { isNetwork, type Network } from '../domain/networks.ts';
import type { Mode } from '../domain/permission.ts';
import type { Database, DatabaseHandle, Trx } from './database.ts';
import { keepSession } from './kept-session.ts';

/** The topics of notifications between processes, and the payload of each. */
export interface NotificationPayloads {
  /** A key, project or wallet changed. */
  readonly access: readonly [];
  /** Some deliveries are due. */
  readonly deliveries: readonly [];
  /** Ids of payments that changed, or whose refunds did; without new ones, whose page nobody can have open. */
  readonly payments: readonly string[];
  /** A network whose cursor moved, so that its payments have other confirmations now. */
  readonly chain: readonly [Network];
  /** A network whose node is to be polled now. */
  readonly poll: readonly [Network];
  /** The project and mode whose attention items people assigned, noted or marked. */
  readonly attention: readonly [projectId: string, mode: string];
  /** The person whose sessions ended or whose roles changed, so that their open streams are checked again. */
  readonly sessions: readonly [string];
  /** The project and mode whose log of events grew. */
  readonly events: readonly [projectId: string, mode: string];
  /** The project whose deposits or sweeps changed. */
  readonly sweeps: readonly [projectId: string];
}
export type Topic = keyof NotificationPayloads;

const CHANNEL = 'cointill';
/** PostgreSQL refuses a payload of 8,000 bytes; `payments` and 200 ids are 7,408. */
const IDS_PER_PAYLOAD = 200;
/** A connection is proven again after this, because a pooler's settings may change. */
const PROOF_EVERY_MS = 5_000;

export interface ListenOptions {
  /** Called, with plain words, when notifications do not arrive; once until they arrive again. */
  readonly onWithheld?: (problem: string) => void;
  readonly proofEveryMs?: number;
}

export interface Notifications {
  /** Whether every notification until less than a second ago has arrived, as proven by one to ourselves. */
  healthy(): boolean;
  on<T extends Topic>(topic: T, listener: (payload: NotificationPayloads[T]) => void): void;
  onDown(listener: () => void): void;
  /** Called after each connection: earlier notifications may have been missed, all later ones will arrive. */
  onUp(listener: () => void): void;
  stop(): Promise<void>;
}

/** The notifications of this process, with their problem if they have one. */
export interface Listening extends Notifications {
  /** Why they are not healthy, in plain words; null while they are. */
  problem(): string | null;
}

/** Notifies every process when the transaction commits. */
export async function notify(db: Database | Trx, topic: 'access' | 'deliveries'): Promise<void> {
  await sql`select ${notification(topic)}`.execute(db);
}

/** Notifies every process that sessions of a person ended or their roles changed, when the transaction commits. */
export async function notifySessions(trx: Trx, personId: string): Promise<void> {
  await sql`select ${notification('sessions', personId)}`.execute(trx);
}

/** Notifies every process that a payment's notes or labels changed, when the transaction commits. */
export async function notifyPayment(trx: Trx, paymentId: string): Promise<void> {
  await sql`select ${notification('payments', paymentId)}`.execute(trx);
}

/** Notifies every process that people changed marks of attention items, when the transaction commits. */
export async function notifyAttention(trx: Trx, projectId: string, mode: Mode): Promise<void> {
  await sql`select ${notification('attention', projectId, mode)}`.execute(trx);
}

/** A notification as an expression, for a statement that changes something anyway. */
export function notification<T extends Topic>(topic: T, ...payload: NotificationPayloads[T]): RawBuilder<unknown> {
  return sql`pg_notify(${CHANNEL}, ${[topic, ...payload].join(' ')})`;
}

/** Payloads that name these payments, as many as needed. */
export function paymentPayloads(ids: readonly string[]): readonly string[] {
  const payloads: string[] = [];
  for (let start = 0; start < ids.length; start += IDS_PER_PAYLOAD) {
    payloads.push(['payments', ...ids.slice(start, start + IDS_PER_PAYLOAD)].join(' '));
  }
  return payloads;
}

type Listeners = { readonly [T in Topic]: ((payload: NotificationPayloads[T]) => void)[] };

function dispatch(listeners: Listeners, payload: string): void {
  const [topic, ...args] = payload.split(' ');
  switch (topic) {
    case 'access':
    case 'deliveries':
      for (const listener of listeners[topic]) listener([]);
      break;
    case 'payments':
      for (const listener of listeners.payments) listener(args);
      break;
    case 'chain':
    case 'poll': {
      const [network = ''] = args;
      if (isNetwork(network)) for (const listener of listeners[topic]) listener([network]);
      break;
    }
    case 'sessions': {
      const [person = ''] = args;
      for (const listener of listeners.sessions) listener([person]);
      break;
    }
    case 'sweeps': {
      const [project = ''] = args;
      for (const listener of listeners.sweeps) listener([project]);
      break;
    }
    case 'attention':
    case 'events': {
      const [project = '', mode = ''] = args;
      for (const listener of listeners[topic]) listener([project, mode]);
      break;
    }
    // An unknown topic is from a newer version, or from a proof.
    default:
  }
}

const WITHHELD =
  'notifications do not arrive, as behind a pooler in transaction mode; set DATABASE_DIRECT_URL to bypass it';
const NOT_LISTENING = 'not listening';

/** Listens on a separate connection, and reconnects as often as needed. */
export function listen(handle: DatabaseHandle, options: ListenOptions = {}): Listening {
  const { onWithheld, proofEveryMs = PROOF_EVERY_MS } = options;
  const listeners: Listeners = {
    access: [],
    deliveries: [],
    payments: [],
    chain: [],
    poll: [],
    attention: [],
    sessions: [],
    events: [],
    sweeps: [],
  };
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
