import { sql, type RawBuilder } from 'kysely';
import { isNetwork, type Network } from '../domain/networks.ts';
import type { Database, DatabaseHandle, Trx } from './database.ts';
import { keepSession } from './kept-session.ts';
import { channel } from './own-schema.ts';
import type { WakeupPayloads } from './wakeups.ts';

/** The notifications that belong to the transaction of a change: when it commits, every process hears of it. */
interface CommittedPayloads {
  /** A key, project or wallet changed. */
  readonly access: readonly [];
  /** A network whose node is to be polled now. */
  readonly poll: readonly [Network];
  /** The person whose sessions ended or whose roles changed, so that their open streams are checked again. */
  readonly sessions: readonly [string];
}

/** The topics of notifications between processes, and the payload of each. */
export interface NotificationPayloads extends CommittedPayloads, WakeupPayloads {}
export type Topic = keyof NotificationPayloads;

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

/** Notifies every process when the transaction commits that keys, projects or wallets changed. */
export async function notifyAccess(executor: Database | Trx): Promise<void> {
  await sql`select ${notification('access')}`.execute(executor);
}

/** Notifies every process that sessions of a person ended or their roles changed, when the transaction commits. */
export async function notifySessions(trx: Trx, personId: string): Promise<void> {
  await sql`select ${notification('sessions', personId)}`.execute(trx);
}

/** A notification as an expression, for a statement that changes something anyway. */
export function notification<T extends keyof CommittedPayloads>(
  topic: T,
  ...payload: CommittedPayloads[T]
): RawBuilder<unknown> {
  return sql`pg_notify(${channel}, ${[topic, ...payload].join(' ')})`;
}

type Listeners = { readonly [T in Topic]: ((payload: NotificationPayloads[T]) => void)[] };

/** The payload of each topic, from the words of its notification; null: a newer version's, which means nothing here. */
const PAYLOADS: { readonly [T in Topic]: (words: readonly string[]) => NotificationPayloads[T] | null } = {
  access: () => [],
  deliveries: () => [],
  payments: (ids) => ids,
  chain: networkOf,
  poll: networkOf,
  sessions: ([person = '']) => [person],
  sweeps: ([project = '']) => [project],
  attention: ([project = '', mode = '']) => [project, mode],
  events: ([project = '', mode = '']) => [project, mode],
};

function networkOf([network = '']: readonly string[]): readonly [Network] | null {
  return isNetwork(network) ? [network] : null;
}

function dispatch(listeners: Listeners, text: string): void {
  const [topic = '', ...words] = text.split(' ');
  // An unknown topic is from a newer version, or from a proof.
  if (isTopic(topic)) tell(listeners, topic, words);
}

function isTopic(text: string): text is Topic {
  return Object.hasOwn(PAYLOADS, text);
}

function tell<T extends Topic>(listeners: Pick<Listeners, T>, topic: T, words: readonly string[]): void {
  const payload = PAYLOADS[topic](words);
  if (payload !== null) for (const listener of listeners[topic]) listener(payload);
}

const WITHHELD =
  'notifications do not arrive, as behind a pooler in transaction mode; set DATABASE_DIRECT_URL to bypass it';
const NOT_LISTENING = 'not listening';

/**
 * Listens on a separate connection, and reconnects as often as needed. Wake-ups of this process come at once, without
 * the database.
 */
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
  const { wakeups } = handle;
  wakeups.onOwn((payload) => dispatch(listeners, payload));
  const { healthy, stop } = keepSession(handle, {
    proofEveryMs,
    onMessage: (payload) => {
      const text = wakeups.receive(payload);
      if (text !== null) dispatch(listeners, text);
    },
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
