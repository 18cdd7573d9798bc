import { exceptionOf, sameMoney } from './exception.ts';
import { requiredUnits, sameQuote, type Received, type Payment, type Quote } from './payment.ts';
import { isCounting, isFinal, isOpen, type PaymentStatus } from './status.ts';
import type { PaymentStep } from './event-type.ts';

/**
 * The payment state machine: every status change in the system goes through `transition`. Anything not listed in
 * TRANSITIONS is refused and changes nothing.
 */
export const TRANSITIONS = {
  created: ['prepared', 'completed', 'expired', 'cancelled'],
  prepared: ['prepared', 'pending', 'completed', 'expired', 'cancelled'],
  pending: ['prepared', 'processing', 'completed', 'failed', 'expired', 'cancelled'],
  processing: ['confirming', 'pending', 'failed'],
  confirming: ['completed', 'processing', 'pending'],
  completed: [],
  failed: ['completed'],
  expired: ['completed'],
  cancelled: ['completed'],
} as const satisfies Record<PaymentStatus, readonly PaymentStatus[]>;

/** Everything that can happen to a payment. Rails observe money and time; people choose, cancel and accept. */
export type Observation =
  /**
   * The customer chose a token. `quote` has an address that is watched from now on; `changes` is how often the token
   * was changed before. `moneyIn`: the tokens in which there is money on any of the payment's addresses. If there is
   * any, only one of these tokens can be chosen, so that the money counts.
   */
  | {
      readonly kind: 'token_chosen';
      readonly quote: Quote;
      readonly changes: number;
      readonly moneyIn?: readonly Pick<Quote, 'asset' | 'network'>[];
    }
  /**
   * The latest view of the money on the current quote, or on an earlier `quote`, which then becomes current again: only
   * a quote that is closer to being paid does, and only while the payment is not completed.
   */
  | { readonly kind: 'money'; readonly received: Received; readonly quote?: Quote }
  /**
   * Everything up to `seenUpTo` was seen, so that an overdue deadline may take effect; `by_hand`: the deadline takes
   * effect at once.
   */
  | { readonly kind: 'deadline'; readonly seenUpTo: number | 'by_hand' }
  /** Test mode: completes without the steps in between, on its timer or by hand. */
  | { readonly kind: 'settled'; readonly received: Received; readonly quote: Quote; readonly byHand?: boolean }
  /** `moneyElsewhere`: there is money on the payment's addresses in a token other than the chosen one. */
  | { readonly kind: 'cancelled'; readonly moneyElsewhere?: boolean }
  /** The merchant accepts the confirmed money, less refunds made or promised. */
  | { readonly kind: 'accepted'; readonly refundedUnits: bigint }
  /** Test mode: stops the timer that completes the payment. */
  | { readonly kind: 'timer_stopped' }
  /** Test mode: seen money moves one stage further at this time. */
  | { readonly kind: 'timer_set'; readonly at: number };

/** One change of the status, as the timeline shows it. */
export interface Transition {
  readonly from: PaymentStatus;
  readonly to: PaymentStatus;
  readonly cause: Observation['kind'];
  readonly at: number;
}

export type RefusalReason =
  | 'money_seen'
  | 'not_open'
  | 'expired'
  | 'too_many_changes'
  | 'no_confirmed_money'
  | 'refunded'
  | 'already_completed';

export type TransitionResult =
  | {
      readonly kind: 'changed';
      readonly payment: Payment;
      readonly transitions: readonly Transition[];
      readonly steps: readonly PaymentStep[];
    }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

/** Durations that the operator can configure. */
export interface PaymentPolicy {
  /** How long a payment that lost its money after expiry waits for a replacement: 60 minutes. */
  readonly graceMs: number;
  /** How long after expiry an unconfirmed payment may still confirm and addresses stay watched: 7 days. */
  readonly monitoringMs: number;
}

export const DEFAULT_POLICY: PaymentPolicy = { graceMs: 60 * 60_000, monitoringMs: 7 * 24 * 60 * 60_000 };

/** How often a payment's token can be changed; otherwise anyone with the link could request quotes endlessly. */
export const MAX_TOKEN_CHANGES = 10;

/** The payment's next deadline, in epoch milliseconds; null if there is none. */
export function nextDueAt(payment: Payment, policy: PaymentPolicy = DEFAULT_POLICY): number | null {
  const deadline = deadlineAt(payment, policy);
  if (payment.completesAt === null) return deadline;
  return deadline === null ? payment.completesAt : Math.min(deadline, payment.completesAt);
}

function deadlineAt(payment: Payment, policy: PaymentPolicy): number | null {
  if (isOpen(payment.status)) return payment.graceUntil ?? payment.expiresAt;
  return payment.status === 'processing' ? payment.expiresAt + policy.monitoringMs : null;
}

/** Applies one observation. Pure: the same arguments always give the same result. `now` in epoch milliseconds. */
export function transition(
  payment: Payment,
  observation: Observation,
  now: number,
  policy: PaymentPolicy = DEFAULT_POLICY,
): TransitionResult {
  switch (observation.kind) {
    case 'token_chosen':
      return onTokenChosen(payment, observation, now);
    case 'money':
      return onMoney(payment, observation.received, observation.quote ?? payment.quote, now, policy);
    case 'deadline':
      return onDeadline(payment, observation.seenUpTo, now, policy);
    case 'settled':
      return onSettled(payment, observation, now);
    case 'cancelled':
      return onCancelled(payment, observation.moneyElsewhere ?? false, now);
    case 'accepted':
      return onAccepted(payment, observation.refundedUnits, now);
    case 'timer_stopped':
      if (payment.completesAt === null) return { kind: 'unchanged' };
      return { kind: 'changed', payment: { ...payment, completesAt: null }, transitions: [], steps: [] };
    case 'timer_set':
      if (!isCounting(payment.status)) return { kind: 'refused', reason: 'not_open' };
      return { kind: 'changed', payment: { ...payment, completesAt: observation.at }, transitions: [], steps: [] };
  }
}

/** Why no token can be chosen for the payment at `now`; null if one can. `changes` is the number of earlier changes. */
export function tokenRefusal(payment: Payment, changes: number, now: number): RefusalReason | null {
  if (!isOpen(payment.status)) return 'not_open';
  if (payment.received.all.seenUnits > 0n) return 'money_seen';
  if (now >= payment.expiresAt) return 'expired';
  return payment.quote !== null && changes >= MAX_TOKEN_CHANGES ? 'too_many_changes' : null;
}

function onTokenChosen(
  payment: Payment,
  { quote, changes, moneyIn = [] }: Observation & { readonly kind: 'token_chosen' },
  now: number,
): TransitionResult {
  const reason = tokenRefusal(payment, changes, now);
  if (reason !== null) return { kind: 'refused', reason };
  const isThere = moneyIn.some(({ asset, network }) => asset === quote.asset && network === quote.network);
  if (moneyIn.length > 0 && !isThere) return { kind: 'refused', reason: 'money_seen' };
  return applyPath({ ...payment, quote }, ['prepared', 'pending'], 'token_chosen', now);
}

function onMoney(
  payment: Payment,
  received: Received,
  quote: Quote | null,
  now: number,
  policy: PaymentPolicy,
): TransitionResult {
  if (quote === null || payment.status === 'created') return { kind: 'refused', reason: 'not_open' };
  // The quote that completed a payment remains its measure: units of another asset say nothing about a reorganisation.
  if (payment.completedOnUnits !== null && !sameQuote(payment.quote, quote)) {
    return { kind: 'refused', reason: 'already_completed' };
  }
  const path = moneyPath(payment.status, received, quote);
  // Money was seen and is lost again after expiry: a replacement gets time to arrive. All money present came before the
  // end of this grace period, so that all of it now counts as in time.
  if (path[0] === 'pending' && payment.status !== 'prepared' && now >= payment.expiresAt) {
    const graced: Received = { ...received, inTime: received.all };
    const again = moneyPath('pending', graced, quote);
    return applyPath(
      { ...payment, quote, received: graced, graceUntil: now + policy.graceMs },
      [...path, ...again],
      'money',
      now,
    );
  }
  // A reorganisation may have replaced the transaction that completed the payment by another. While neither is in a
  // block, the old one may still come back.
  const isPaid = payment.completedOnUnits !== null && received.all.minedUnits >= payment.completedOnUnits;
  const transactionHash = isPaid ? received.transactionHash : payment.transactionHash;
  const seen: Payment = { ...payment, quote, received, transactionHash };
  if (path.length === 0 && sameMoney(payment, seen)) return { kind: 'unchanged' };
  return applyPath(seen, path, 'money', now);
}

/** The statuses to pass through, given the money in time; empty if the status stays. */
function moneyPath(status: PaymentStatus, received: Received, quote: Quote): readonly PaymentStatus[] {
  if (status !== 'prepared' && status !== 'pending' && status !== 'processing' && status !== 'confirming') return [];
  const required = requiredUnits(quote);
  const forward = ['prepared', 'pending', 'processing', 'confirming', 'completed'] as const;
  const { seenUnits, minedUnits, confirmedUnits } = received.inTime;
  const short = received.all.seenUnits > 0n || status !== 'prepared' ? 'pending' : 'prepared';
  const seen = seenUnits >= required ? 'processing' : short;
  const mined = minedUnits >= required ? 'confirming' : seen;
  const target = confirmedUnits >= required ? 'completed' : mined;
  const from = forward.indexOf(status);
  const to = forward.indexOf(target);
  if (to === from) return [];
  return to > from ? forward.slice(from + 1, to + 1) : [target];
}

function onDeadline(
  payment: Payment,
  seenUpTo: number | 'by_hand',
  now: number,
  policy: PaymentPolicy,
): TransitionResult {
  const deadline = deadlineAt(payment, policy);
  if (deadline === null) return { kind: 'refused', reason: 'not_open' };
  const byHand = seenUpTo === 'by_hand';
  if (!byHand && now < deadline) return { kind: 'unchanged' };
  // With an address it expires only once the rail has seen the chain up to the deadline: downtime expires nothing.
  if (!byHand && payment.quote !== null && seenUpTo < deadline) return { kind: 'unchanged' };
  if (payment.status === 'processing') {
    return applyPath({ ...payment, failureReason: 'unconfirmed' }, ['failed'], 'deadline', now);
  }
  if (payment.received.inTime.seenUnits === 0n) return applyPath(payment, ['expired'], 'deadline', now);
  return applyPath({ ...payment, failureReason: 'underpaid' }, ['failed'], 'deadline', now);
}

function onSettled(
  payment: Payment,
  { received, quote, byHand = false }: Observation & { readonly kind: 'settled' },
  now: number,
): TransitionResult {
  if (payment.status === 'completed') return { kind: 'refused', reason: 'already_completed' };
  if (!isOpen(payment.status)) return { kind: 'refused', reason: 'not_open' };
  return applyPath({ ...payment, quote, received, endedByHand: byHand || null }, ['completed'], 'settled', now);
}

function onCancelled(payment: Payment, moneyElsewhere: boolean, now: number): TransitionResult {
  if (!isOpen(payment.status)) return { kind: 'refused', reason: 'not_open' };
  if (payment.received.all.seenUnits > 0n || moneyElsewhere) return { kind: 'refused', reason: 'money_seen' };
  return applyPath({ ...payment, cancelledAt: now, endedByHand: true }, ['cancelled'], 'cancelled', now);
}

function onAccepted(payment: Payment, refundedUnits: bigint, now: number): TransitionResult {
  if (payment.status === 'completed') return { kind: 'refused', reason: 'already_completed' };
  const acceptable = isFinal(payment.status) || (payment.status === 'pending' && payment.exception === 'underpaid');
  if (!acceptable) return { kind: 'refused', reason: 'not_open' };
  if (payment.received.all.confirmedUnits === 0n) return { kind: 'refused', reason: 'no_confirmed_money' };
  if (payment.received.all.confirmedUnits <= refundedUnits) return { kind: 'refused', reason: 'refunded' };
  return applyPath({ ...payment, endedByHand: true }, ['completed'], 'accepted', now);
}

/** Takes the path's steps one by one, with all consequences of a new status: times, exception, timer, events. */
function applyPath(
  start: Payment,
  path: readonly PaymentStatus[],
  cause: Observation['kind'],
  now: number,
): TransitionResult {
  let payment = start;
  const transitions: Transition[] = [];
  const steps: PaymentStep[] = [];
  for (const to of path) {
    if (!(TRANSITIONS[payment.status] as readonly PaymentStatus[]).includes(to)) {
      throw new Error(`No transition leads from ${payment.status} to ${to}`);
    }
    transitions.push({ from: payment.status, to, cause, at: now });
    payment = { ...payment, status: to };
    if (isCounting(to) && !payment.confirmingSent) {
      payment = { ...payment, confirmingSent: true };
      steps.push('confirming');
    }
    if (to === 'completed') payment = complete(payment, now);
    if (isFinal(to)) steps.push(to);
  }
  if (isFinal(payment.status)) payment = { ...payment, completesAt: null };
  const exception = exceptionOf(payment);
  if (exception !== payment.exception) {
    payment = { ...payment, exception };
    if (exception !== 'none') steps.push('exception');
  }
  return { kind: 'changed', payment, transitions, steps };
}

function complete(payment: Payment, now: number): Payment {
  const confirmed = payment.received.all.confirmedUnits;
  const required = payment.quote ? requiredUnits(payment.quote) : confirmed;
  return {
    ...payment,
    completedAt: now,
    failureReason: null,
    transactionHash: payment.received.transactionHash,
    completedOnUnits: confirmed < required ? confirmed : required,
  };
}
