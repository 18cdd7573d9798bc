import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryId, encodeId } from '../../domain/id.ts';
import { dueTimesOf } from '../../store/payments/advanced-payments.ts';
import {
  claimScheduled,
  scheduledDeliveries,
  type ScheduledDelivery,
} from '../../store/webhooks/scheduled-deliveries.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import type { App } from '../context.ts';
import type { Activity } from '../observer.ts';
import { runDue } from '../payments/run-due.ts';
import { runDueRefunds } from '../refunds/end-refunds.ts';
import { attempt, createSecretCache, record, type SecretCache } from '../webhooks/attempt-delivery.ts';
import type { WebhookDelivery } from '../webhooks/deliver-due.ts';

/** A thing that happened because its time had come. */
export interface Moment {
  readonly at: number;
  /** Words for people, such as `order completed` or `delivery attempt 3: answered 500`. */
  readonly what: string;
  /** The id of the payment, refund or delivery. */
  readonly object: string;
}

/** The pause before asking again for what another process holds. */
export const PAUSE_MS = 25;
/** Longer than an attempt with its record; no wait of the schedule is this long. */
export const LEASE_MS = 40_000;
/** The longest lease, 60 s, and 5 s for clocks that differ. */
const MAX_LEASE_MS = 65_000;
/** Rounded durations differ by less. */
const TOLERANCE_MS = 5;

export type Walk = ReturnType<typeof createWalk>;

/**
 * The steps of one call, one after the other, and what they did. `renew` is called before each step, and none begins
 * after `endsAt` of `performance.now()`.
 */
export function createWalk(
  app: App,
  webhooks: WebhookDelivery,
  paymentId: string,
  { renew, endsAt }: { readonly renew: () => Promise<void>; readonly endsAt: number },
) {
  const { moments, events, following } = createNotes();
  const secrets = createSecretCache(webhooks.sealingKeys);
  let reached = app.clock();
  return {
    next: () => nextStep(app, paymentId),
    isEmpty: () => moments.length === 0,
    /** Moves the time on without a step. */
    startAt: (at: number) => void (reached = Math.max(reached, at)),
    /** Takes all steps up to a time; false if the answers of endpoints took too long. */
    until: async (limit: () => number): Promise<boolean> => {
      for (let step = await nextStep(app, paymentId); step !== null; step = await nextStep(app, paymentId)) {
        const { at } = step;
        if (at > limit()) return true;
        if (performance.now() > endsAt) return false;
        await renew();
        const then = { ...app, clock: () => at, realClock: app.clock, observer: following(app, at) };
        const isDone = step.kind !== 'held' && (await runStep(then, webhooks, secrets, paymentId, step));
        if (isDone) reached = Math.max(reached, at);
        else await sleep(PAUSE_MS);
      }
      return true;
    },
    result: async () => ({
      now: reached,
      moments,
      events,
      isFinal: (await nextStep(app, paymentId)) === null,
    }),
  };
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
    events,
    /** The observer of a step. */
    following: (app: App, at: number) => (activity: Activity) => {
      note(activity, at);
      app.observer?.(activity);
    },
  };
}
