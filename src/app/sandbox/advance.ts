import { setTimeout as sleep } from 'node:timers/promises';
import { holdLonger, holdTime, keepAdvancedTo, releaseTime } from '../../store/payments/advanced-payments.ts';
import { findAnswer } from '../../store/projects/answers.ts';
import { areUnnumbered } from '../../store/webhooks/event-positions.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { saveChanges } from '../../store/payments/save-changes.ts';
import type { Payment } from '../../domain/payment.ts';
import { isoTime } from '../../wire/time.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import { recordPeoplesAudit } from '../audit.ts';
import type { App } from '../context.ts';
import {
  answerRow,
  IDEMPOTENCY_LIFETIME_MS,
  isAnswerConflict,
  withIdempotency,
  type IdempotencyRequest,
  type Replay,
} from '../idempotency.ts';
import { inTransaction } from '../in-transaction.ts';
import { selects, type PaymentSelector } from '../payments/change-payment.ts';
import type { NotSandbox } from '../payments/payment-actions.ts';
import type { WebhookDelivery } from '../webhooks/deliver-due.ts';
import { numberDue } from '../webhooks/number-events.ts';
import { createWalk, LEASE_MS, PAUSE_MS, type Moment, type Walk } from './walk.ts';

/** How far the time of a payment is moved: by a span, to the next moment, or until nothing is due any more. */
export type Advance =
  | { readonly kind: 'by'; readonly ms: number }
  | { readonly kind: 'to_next' }
  | { readonly kind: 'to_final' };

/** The farthest that a payment's time can be ahead of the clock: ten years. */
export const MAX_AHEAD_MS = 3_650 * 24 * 60 * 60_000;

export interface Advanced {
  /** The time of the payment now; before the target if its endpoints answered too slowly to finish in one call. */
  readonly now: number;
  readonly moments: readonly Moment[];
  /** The public ids of the new events, in order. */
  readonly events: readonly string[];
  /** Whether nothing of the payment happens by itself any more. */
  readonly isFinal: boolean;
}

export type AdvanceOutcome =
  | { readonly kind: 'done'; readonly body: string; readonly advanced: Advanced }
  | { readonly kind: 'not_found' }
  /** There is no next moment. */
  | { readonly kind: 'nothing_due'; readonly payment: Payment }
  | { readonly kind: 'too_far'; readonly now: number }
  /** Another call advances the same payment. */
  | { readonly kind: 'busy' }
  | NotSandbox
  | Replay;

/** The way in which a call of an API, a command or a person wants its answer. */
export interface Asked {
  readonly present: (advanced: Advanced) => string;
  readonly idempotency: IdempotencyRequest | null;
  /** Endpoints that answer slowly are left to the next call after this time. */
  readonly budgetMs?: number;
}

const BUDGET_MS = 10_000;
/** Another process that is giving positions needs a moment. */
const NUMBERING_TRIES = 40;
/**
 * Makes what is due of one test payment happen now, moment by moment, as if its time had come: changes of its status,
 * refunds, and attempts of its deliveries, each answered before the next. What the clock would write is written with
 * the time of its moment. Nothing else gets another time, and a moment that happened is not due again.
 */
export async function advancePayment(
  app: App,
  webhooks: WebhookDelivery,
  selector: PaymentSelector,
  advance: Advance,
  asked: Asked,
): Promise<AdvanceOutcome> {
  return withIdempotency<AdvanceOutcome>(app, asked.idempotency, async () => {
    const [payment] = await findPayments(app.db, [selector.id]);
    if (payment === undefined || !selects(selector, payment)) return { kind: 'not_found' };
    if (app.railFor(payment.mode).kind !== 'sandbox') return { kind: 'not_sandbox' };
    const hold = await takeHold(app, payment.id);
    if (hold === null) return { kind: 'busy' };
    try {
      if (await isAnswered(app, asked.idempotency)) return { kind: 'answer_conflict' };
      const { budgetMs = BUDGET_MS } = asked;
      const walk = createWalk(app, webhooks, payment.id, { renew: hold.renew, endsAt: performance.now() + budgetMs });
      const refusal = await move(app, walk, hold.advancedTo, advance);
      if (refusal !== null) return refusal.kind === 'too_far' ? refusal : { ...refusal, payment };
      await giveNumbers(app);
      return await keep(app, payment, await walk.result(), asked);
    } finally {
      await hold.release();
    }
  });
}

/** Whether another process has answered the request since this one looked. */
async function isAnswered({ db, clock }: App, request: IdempotencyRequest | null): Promise<boolean> {
  return request !== null && (await findAnswer(db, request, clock() - IDEMPOTENCY_LIFETIME_MS)) !== null;
}

/** Gives the new events their positions, so that whoever reads the log after the answer finds them. */
async function giveNumbers(app: App): Promise<void> {
  for (let tries = 0; tries < NUMBERING_TRIES; tries += 1) {
    if (await numberDue(app)) continue;
    if (!(await areUnnumbered(app.db))) return;
    await sleep(PAUSE_MS);
  }
}

/** Saves how far the time was moved, with the answer. */
async function keep(
  app: App,
  payment: Payment,
  advanced: Advanced,
  { present, idempotency }: Asked,
): Promise<AdvanceOutcome | { readonly kind: 'answer_conflict' }> {
  const body = present(advanced);
  try {
    await inTransaction(app, async (trx) => {
      await keepAdvancedTo(trx, payment.id, advanced.now);
      if (idempotency !== null) await saveChanges(trx, [], 2, [answerRow(idempotency, body, app.clock())]);
      await recordPeoplesAudit(app, trx, {
        action: 'payment.advance',
        projectId: payment.projectId,
        subject: { kind: 'payment', id: publicPaymentId(payment) },
        after: { mode: payment.mode, now: isoTime(advanced.now), moments: advanced.moments.length },
      });
    });
    return { kind: 'done', body, advanced };
  } catch (error) {
    if (isAnswerConflict(error)) return { kind: 'answer_conflict' };
    throw error;
  }
}

interface Hold {
  readonly advancedTo: number | null;
  /** Called before each step. @throws Error if the hold was lost, as after a long sleep of the machine */
  readonly renew: () => Promise<void>;
  readonly release: () => Promise<void>;
}

/** Holds the payment's time for this call; null while another call does. */
async function takeHold({ db, clock }: App, paymentId: string): Promise<Hold | null> {
  let until = clock() + LEASE_MS;
  const held = await holdTime(db, paymentId, { now: clock(), until });
  if (held === null) return null;
  return {
    ...held,
    renew: async () => {
      const next = clock() + LEASE_MS;
      if (!(await holdLonger(db, paymentId, until, next))) throw new Error('Another call advances the payment too.');
      until = next;
    },
    release: () => releaseTime(db, paymentId, until),
  };
}

/** Walks to where the time is to be moved. Returns why it cannot be, or null. */
async function move(
  app: App,
  walk: Walk,
  advancedTo: number | null,
  advance: Advance,
): Promise<{ readonly kind: 'nothing_due' } | { readonly kind: 'too_far'; readonly now: number } | null> {
  // The next moment is after everything that is due already.
  await walk.until(() => app.clock());
  const next = await walk.next();
  const now = app.clock();
  // Since the last call, something became due before its end: the payment's time is the present again.
  const isAhead = advancedTo !== null && (next === null || next.at >= advancedTo);
  const start = isAhead ? Math.max(now, advancedTo) : now;
  walk.startAt(start);
  switch (advance.kind) {
    case 'to_final':
      await walk.until(() => Infinity);
      return null;
    case 'to_next':
      if (next === null) return walk.isEmpty() ? { kind: 'nothing_due' } : null;
      await walk.until(() => next.at);
      return null;
    case 'by': {
      const target = start + advance.ms;
      if (target > now + MAX_AHEAD_MS) return { kind: 'too_far', now: start };
      if (await walk.until(() => target)) walk.startAt(target);
      return null;
    }
  }
}
