import type { Clock, RandomBytes } from '../domain/clock.ts';
import { uuidV7 } from '../domain/id.ts';
import type { PaymentPolicy } from '../domain/transition.ts';
import type { WalletDeriver } from '../rails/chain.ts';
import type { Links } from '../wire/payment.ts';
import type { Database } from '../store/database.ts';
import type { Observer } from './observer.ts';
import type { ClockState } from './service-clock.ts';
import type { RailFor } from '../modes/rail.ts';
import type { ActorKind } from '../store/schema/people.ts';

/** The actor of a change, named as the log keeps them: by their name at that time. */
export interface Actor {
  readonly kind: ActorKind;
  /** The id of the person or key; null for other actors. */
  readonly id: string | null;
  /** An e-mail address, the name of a key, or of the operator's account on the machine. */
  readonly name: string;
  /** The client's IP address; null if there is none. */
  readonly ip: string | null;
}

/** State of this process that outlives a request; the copies of an app share it. */
export interface ProcessMemory {
  /** The idempotency keys of requests that are running, each with project, mode and route. */
  readonly runningKeys: Set<string>;
  /** The documents of invoices that are being rendered, by payment request and file. */
  readonly renderings: Map<string, Promise<Buffer | 'busy' | 'not_found'>>;
  /** The next addresses of a wallet that refunds have asked for: from index `from`, up to `to`. */
  readonly nextAddresses: WeakMap<
    WalletDeriver,
    { readonly from: number; to: number; readonly addresses: Set<string> }
  >;
}

export function newProcessMemory(): ProcessMemory {
  return { runningKeys: new Set(), renderings: new Map(), nextAddresses: new WeakMap() };
}

/** The dependencies of every use case; put together once in the composition root. */
export interface App {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly railFor: RailFor;
  readonly links: Links;
  readonly policy: PaymentPolicy;
  readonly memory: ProcessMemory;
  /** Receives every activity once it is committed. */
  readonly observer?: Observer | undefined;
  /** The request this work is done for; undefined if a timer, a chain or the operator caused it. */
  readonly requestId?: string | undefined;
  /** Whether mails are sent; otherwise none is saved. */
  readonly sendsMail?: boolean | undefined;
  /** How accurate the clock is; absent where nobody judges it, as in commands. */
  readonly clockState?: (() => ClockState) | undefined;
  /** The actor of changes, for the audit log; undefined: the service itself. */
  readonly actor?: Actor | undefined;
  /** The real time, for ids and signatures, where `clock` shows the moment to which a test payment's time was moved. */
  readonly realClock?: Clock | undefined;
}

/** The same app, working for one request: its events and log lines carry the request's id. */
export function forRequest(app: App, requestId: string): App {
  return { ...app, requestId };
}

/** The same app, working for an actor whose changes the audit log records. */
export function forActor(app: App, actor: Actor, requestId?: string): App {
  return { ...app, actor, ...(requestId === undefined ? {} : { requestId }) };
}

/** The real time, also where `clock` shows another. */
export function realNow({ clock, realClock = clock }: Pick<App, 'clock' | 'realClock'>): number {
  return realClock();
}

export function newId(app: Pick<App, 'random' | 'realClock'>, now: number): string {
  return uuidV7(app.realClock?.() ?? now, app.random(10));
}
