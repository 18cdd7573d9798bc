import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryId, encodeId } from '../../domain/id.ts';
import { advancedTo, dueTimesOf, keepAdvancedTo } from '../../store/payments/advanced-payments.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { saveChanges } from '../../store/payments/save-changes.ts';
import {
  claimScheduled,
  scheduledDeliveries,
  type ScheduledDelivery,
} from '../../store/webhooks/scheduled-deliveries.ts';
import { isoTime } from '../../wire/time.ts';
import { publicPaymentId } from '../../wire/payment.ts';
import { recordPeoplesAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { answerRow, isAnswerConflict, withIdempotency, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { inTransaction } from '../in-transaction.ts';
import type { Activity } from '../observer.ts';
import { selects, type PaymentSelector } from '../payments/change-payment.ts';
import type { NotSandbox } from '../payments/payment-actions.ts';
import { runDue } from '../payments/run-due.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import { attempt, createSecretCache, record, type SecretCache } from '../webhooks/attempt-delivery.ts';
import type { WebhookDelivery } from '../webhooks/deliver-due.ts';
import type { Payment } from '../../domain/payment.ts';

/** How far the time of a payment is moved: by a span, to the next moment, or until nothing is due any more. */
export type Advance =
  | { readonly kind: 'by'; readonly ms: number }
  | { readonly kind: 'to_next' }
  | { readonly kind: 'to_final' };

/** The farthest that a payment's time can be ahead of the clock: ten years. */
export const MAX_AHEAD_MS = 3_650 * 24 * 60 * 60_000;

/** A thing that happened because its time had come. */
export interface Moment {
  readonly at: number;
  /** Words for people, such as `order completed` or `delivery attempt 3: answered 500`. */
  readonly what: string;
  /** The id of the payment, refund or delivery. */
  readonly object: string;
}

export interface Advanced {
  /** The time of the payment now; before the target if its endpoints answered too slowly to finish in one call. */
  readonly now: number;
  readonly moments: readonly Moment[];
  /** The public ids of the new events, in order. */
  readonly events: readonly string[];
}

export type AdvanceOutcome =
  | { readonly kind: 'done'; readonly body: string; readonly advanced: Advanced }
  | { readonly kind: 'not_found' }
  /** Nothing of the payment will ever be due by itself. */
  | { readonly kind: 'nothing_due'; readonly payment: Payment }
  | { readonly kind: 'too_far'; readonly now: number }
  | NotSandbox
  | Replay;

/** Endpoints that answer slowly are left to the next call after this time. */
const BUDGET_MS = 10_000;
/** The pause before asking again for what another process holds. */
const PAUSE_MS = 25;
/** Longer than a delivery is attempted and recorded, and no wait of the schedule. */
const LEASE_MS = 40_000;
/** The longest lease of any process, and what their clocks differ by. */
const MAX_LEASE_MS = 65_000;
/** Rounded durations differ by less. */
const TOLERANCE_MS = 5;

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
  answer: { readonly present: (advanced: Advanced) => string; readonly idempotency: IdempotencyRequest | null },
): Promise<AdvanceOutcome> {
  const { present, idempotency } = answer;
  return withIdempotency<AdvanceOutcome>(app, idempotency, async () => {
    const [payment] = await findPayments(app.db, [selector.id]);
    if (payment === undefined || !selects(selector, payment)) return { kind: 'not_found' };
    if (app.railFor(payment.mode).kind !== 'sandbox') return { kind: 'not_sandbox' };
    const start = Math.max(app.clock(), (await advancedTo(app.db, payment.id)) ?? 0);
    if (advance.kind === 'by' && start + advance.ms > app.clock() + MAX_AHEAD_MS)
      return { kind: 'too_far', now: start };
    const advanced = await runMoments(app, webhooks, payment.id, start, advance);
    if (advanced === null) return { kind: 'nothing_due', payment };
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
    } catch (error) {
      if (isAnswerConflict(error)) return { kind: 'answer_conflict' };
      throw error;
    }
    return { kind: 'done', body, advanced };
  });
}

/** Runs the moments from `start` up to the target in their order; null if there is none, now or later. */
async function runMoments(
  app: App,
  webhooks: WebhookDelivery,
  paymentId: string,
  start: number,
  advance: Advance,
): Promise<Advanced | null> {
  const noted = createNotes();
  const secrets = createSecretCache(webhooks.sealingKey);
  const endsAt = performance.now() + BUDGET_MS;
  // The next moment is after everything that is due already.
  let until = advance.kind === 'by' ? start + advance.ms : start;
  if (advance.kind === 'to_final') until = Infinity;
  let reached = start;
  let next = await nextStep(app, paymentId);
  if (next === null) return null;
  for (; next !== null; next = await nextStep(app, paymentId)) {
    if (advance.kind === 'to_next' && until === start && next.at > until) until = next.at;
    if (next.at > until) break;
    if (performance.now() > endsAt) return noted.until(reached);
    const { at } = next;
    const then = { ...app, clock: () => at, realClock: app.clock, observer: noted.following(app, at) };
    const isDone = next.kind !== 'held' && (await runStep(then, webhooks, secrets, paymentId, next));
    if (isDone) reached = Math.max(reached, at);
    else await sleep(PAUSE_MS);
  }
  return noted.until(advance.kind === 'by' ? until : reached);
}

type Step =
  | { readonly kind: 'payment' | 'refund'; readonly at: number }
  | { readonly kind: 'delivery'; readonly at: number; readonly delivery: ScheduledDelivery }
  /** A worker attempts a delivery, and its answer is waited for. */
  | { readonly kind: 'held'; readonly at: number };

/** The first thing of the payment that is due or will be due; what is overdue happens now. Null: nothing is. */
async function nextStep(app: App, paymentId: string): Promise<Step | null> {
  const [due, deliveries] = [await dueTimesOf(app.db, paymentId), await scheduledDeliveries(app.db, paymentId)];
  const now = app.clock();
  const later = (at: number): number => Math.max(at, now);
  // A lease looks like a schedule in the near future that the last attempt does not explain.
  const isHeld = ({ dueAt, scheduledAt }: ScheduledDelivery): boolean =>
    dueAt > now && dueAt <= now + MAX_LEASE_MS && Math.abs(dueAt - scheduledAt) > TOLERANCE_MS;
  if (deliveries.some(isHeld)) return { kind: 'held', at: now };
  const steps: Step[] = [
    ...(due.payment === null ? [] : [{ kind: 'payment', at: later(due.payment) } as const]),
    ...(due.refund === null ? [] : [{ kind: 'refund', at: later(due.refund) } as const]),
    ...deliveries.map((delivery) => ({ kind: 'delivery', at: later(delivery.dueAt), delivery }) as const),
  ];
  return steps.toSorted((a, b) => a.at - b.at)[0] ?? null;
}

/** Does what is due at the time of `then`. Returns false if somebody else does it at present. */
async function runStep(
  then: App & { readonly realClock: App['clock'] },
  webhooks: WebhookDelivery,
  secrets: SecretCache,
  paymentId: string,
  step: Exclude<Step, { readonly kind: 'held' }>,
): Promise<boolean> {
  switch (step.kind) {
    case 'payment':
      return (await runDue(then, 1, paymentId)) > 0;
    case 'refund':
      return (await runDueRefunds(then, 1, paymentId)) > 0;
    case 'delivery': {
      const claimed = await claimScheduled(then.db, step.delivery, then.realClock() + LEASE_MS);
      if (claimed === null) return false;
      const [outcome] = await record(then, [await attempt(then, webhooks.sender, secrets, claimed, claimed)]);
      if (outcome?.kind === 'fault') throw outcome.error;
      return true;
    }
  }
}

/** Collects moments and events from the activities of the steps. */
function createNotes() {
  const moments: Moment[] = [];
  const events: string[] = [];
  const note = (activity: Activity, at: number): void => {
    if (activity.kind === 'payment_changed') {
      const { before, after, events: made } = activity.change;
      events.push(...made.map(({ id }) => encodeId('event', id)));
      if (before?.status === after.status) return;
      moments.push({ at, what: `${after.api} ${after.status}`, object: publicPaymentId(after) });
    }
    if (activity.kind === 'refund_changed') {
      const { refund } = activity;
      moments.push({ at, what: `refund ${refund.status}`, object: encodeId('refund', refund.id) });
    }
    if (activity.kind === 'delivery_attempted') {
      const { delivery, record: made } = activity;
      const which = made.isManual ? 'delivery sent again' : `delivery attempt ${delivery.attempts + 1}`;
      const answer = made.response === null ? 'no answer' : `answered ${made.response.status}`;
      moments.push({ at, what: `${which}: ${answer}`, object: deliveryId(delivery.id) });
    }
  };
  return {
    moments,
    until: (now: number): Advanced => ({ now, moments, events }),
    /** The observer of a step. */
    following: (app: App, at: number) => (activity: Activity) => {
      note(activity, at);
      app.observer?.(activity);
    },
  };
}
