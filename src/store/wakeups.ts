import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { CompiledQuery } from 'kysely';
import type { Network } from '../domain/networks.ts';
import { CHANNEL } from './own-schema.ts';

/**
 * The wake-ups, and the payload of each. Whoever is woken also looks by themselves, so that a crash between a commit
 * and its wake-up costs no more than the time until they do.
 */
export interface WakeupPayloads {
  /** Some deliveries are due. */
  readonly deliveries: readonly [];
  /** Ids of payments that changed, or whose refunds did; without new ones, whose page nobody can have open. */
  readonly payments: readonly string[];
  /** A network whose cursor moved, so that its payments have other confirmations now. */
  readonly chain: readonly [Network];
  /** The project and mode whose attention items people assigned, noted or marked. */
  readonly attention: readonly [projectId: string, mode: string];
  /** The project and mode whose log of events grew. */
  readonly events: readonly [projectId: string, mode: string];
  /** The project whose deposits or sweeps changed. */
  readonly sweeps: readonly [projectId: string];
}

export const WAKEUP_TOPICS = ['deliveries', 'payments', 'chain', 'attention', 'events', 'sweeps'] as const;
export type WakeupTopic = (typeof WAKEUP_TOPICS)[number];

/** A topic and its payload. */
export type Wakeup = { readonly [T in WakeupTopic]: readonly [topic: T, ...payload: WakeupPayloads[T]] }[WakeupTopic];

/** `own`: to this process itself. `sent`: to the others, several at once as one. `received`: from one of them. */
export const WAKEUP_WAYS = ['own', 'sent', 'received'] as const;
export type WakeupWay = (typeof WAKEUP_WAYS)[number];

/** The wake-ups of one process. */
export interface Wakeups {
  /** Wakes this process at once, and the others within milliseconds. */
  send(...wakeups: readonly Wakeup[]): void;
  /** Takes what this process sends to itself, as text like that of a notification. The listener must not throw. */
  onOwn(listener: (payload: string) => void): void;
  /** The text of a notification without its sender; null if this process sent it, and so knows it already. */
  receive(payload: string): string | null;
  counts(): readonly { readonly topic: WakeupTopic; readonly way: WakeupWay; readonly count: number }[];
  /** Resolves when the others have been told everything, or cannot be told. */
  flush(): Promise<void>;
}

/**
 * NOTIFY makes each commit wait for a lock of the whole server, so the others are told apart from commits, at most this
 * often, with all that happened meanwhile.
 */
const PAUSE_MS = 20;
const RETRY_MS = 250;
/** PostgreSQL refuses a payload of 8,000 bytes; `payments`, 200 ids and a sender are 7,418. */
const IDS_PER_PAYLOAD = 200;

/** Losing a wake-up does little harm, so its commit need not wait for the disk. */
const NOTIFY = `
  select set_config('synchronous_commit', 'off', true), pg_notify(${CHANNEL}, payload) from unnest($1::text[]) payload`;

export function createWakeups(runner: { executeQuery(query: CompiledQuery): Promise<unknown> }): Wakeups {
  // The last word of each notification. Earlier versions take it for one more payment, which nobody watches.
  const sender = `@${randomUUID().slice(0, 8)}`;
  const listeners: ((payload: string) => void)[] = [];
  const counted = new Map<string, number>();
  let waiting = new Map<WakeupTopic, Set<string>>();
  let posting: Promise<void> | null = null;
  let isClosing = false;

  const count = (topic: WakeupTopic, way: WakeupWay): void => {
    counted.set(`${topic} ${way}`, (counted.get(`${topic} ${way}`) ?? 0) + 1);
  };
  const add = (topic: WakeupTopic, payloads: Iterable<string>): void => {
    const known = waiting.get(topic) ?? new Set();
    for (const payload of payloads) known.add(payload);
    waiting.set(topic, known);
  };
  const post = async (): Promise<void> => {
    // Wake-ups of one transaction go together.
    await Promise.resolve();
    while (waiting.size > 0) {
      const sending = waiting;
      waiting = new Map();
      const messages = [...sending].flatMap(([topic, payloads]) => textsOf(topic, [...payloads]));
      try {
        await runner.executeQuery(CompiledQuery.raw(NOTIFY, [messages.map((text) => `${text} ${sender}`)]));
        for (const topic of sending.keys()) count(topic, 'sent');
      } catch {
        if (isClosing) return;
        for (const [topic, payloads] of sending) add(topic, payloads);
        await setTimeout(RETRY_MS);
      }
      if (!isClosing) await setTimeout(PAUSE_MS);
    }
  };

  return {
    send: (...wakeups) => {
      for (const [topic, ...payload] of wakeups) {
        count(topic, 'own');
        for (const listener of listeners) listener([topic, ...payload].join(' '));
        add(topic, topic === 'payments' ? payload : [payload.join(' ')]);
      }
      if (wakeups.length > 0) posting ??= post().finally(() => (posting = null));
    },
    onOwn: (listener) => void listeners.push(listener),
    receive: (payload) => {
      if (payload.endsWith(` ${sender}`)) return null;
      const [topic] = payload.split(' ', 1);
      const known = WAKEUP_TOPICS.find((one) => one === topic);
      if (known !== undefined) count(known, 'received');
      return payload.replace(/ @[0-9a-f]{8}$/, '');
    },
    counts: () =>
      WAKEUP_TOPICS.flatMap((topic) =>
        WAKEUP_WAYS.map((way) => ({ topic, way, count: counted.get(`${topic} ${way}`) ?? 0 })),
      ),
    flush: async () => {
      isClosing = true;
      while (posting !== null) await posting;
    },
  };
}

/** Notifications of one topic, as many as needed. */
function textsOf(topic: WakeupTopic, payloads: readonly string[]): readonly string[] {
  if (topic !== 'payments') return payloads.map((payload) => `${topic} ${payload}`.trim());
  const starts = Array.from({ length: Math.ceil(payloads.length / IDS_PER_PAYLOAD) }, (_, at) => at * IDS_PER_PAYLOAD);
  return starts.map((start) => ['payments', ...payloads.slice(start, start + IDS_PER_PAYLOAD)].join(' '));
}
