import type { SeenPayment } from '../../../app/dashboard/payment-details.ts';
import { deliveryId, encodeId } from '../../../domain/id.ts';
import type { DeliveryRecord } from '../../../store/payments/payment-events.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import type { RefundView } from '../refunds/contract.ts';
import type { Viewer } from '../scope.ts';
import type { PaymentView, TimelineEntry } from './contract.ts';

/**
 * The history of a payment, oldest first. Entries of the same time: actions, transfers, transitions, refunds, events.
 */
export function timelineOf(
  details: SeenPayment,
  transfers: PaymentView['transfers'],
  refunds: PaymentView['refunds'],
  { seesWebhooks }: Viewer,
): TimelineEntry[] {
  const { payment } = details;
  const entries: TimelineEntry[] = [
    // A payment created with a token gets its quote at once: `created` leads to the status before its first transition.
    {
      kind: 'status',
      at: isoTime(payment.createdAt),
      from: null,
      to: details.transitions[0]?.from ?? payment.status,
      cause: 'created',
    },
    // The creation of a refund is the refund's own entry.
    ...details.actions
      .filter(({ action }) => action !== CREATED)
      .map(({ at, action, by, byName, detail }) => ({
        kind: 'action' as const,
        at: isoTime(at),
        action,
        by,
        by_name: byName,
        detail,
      })),
    ...transfers.map((transfer) => ({ kind: 'transfer' as const, at: transfer.seen_at, transfer })),
    ...details.transitions.map(({ at, from, to, cause }) => ({
      kind: 'status' as const,
      at: isoTime(at),
      from,
      to,
      cause,
    })),
    ...refunds.flatMap((refund) => refundEntries(refund, details)),
    ...details.events.map((event) => ({
      kind: 'event' as const,
      at: isoTime(event.createdAt),
      id: encodeId('event', event.id),
      type: event.type,
      deliveries: event.deliveries.map((delivery) => deliveryView(delivery, seesWebhooks)),
    })),
  ];
  return entries.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));
}

const CREATED = 'refund.create';

function refundEntries(refund: RefundView, { actions }: SeenPayment): readonly TimelineEntry[] {
  const creation = actions.find(({ action, subject }) => action === CREATED && subject === refund.id);
  const who = { by: creation?.by ?? null, by_name: creation?.byName ?? null };
  const created = { kind: 'refund', at: refund.created_at, what: 'created', ...who, refund } as const;
  if (refund.completed_at === null) return [created];
  return [created, { kind: 'refund', at: refund.completed_at, what: 'completed', by: null, by_name: null, refund }];
}

/** URLs and errors may contain secrets of the merchant's system. */
function deliveryView(delivery: DeliveryRecord, seesWebhooks: boolean) {
  return {
    id: deliveryId(delivery.id),
    url: seesWebhooks ? delivery.url : null,
    state: delivery.state,
    next_attempt_at: isoTimeOrNull(delivery.nextAttemptAt),
    attempts: delivery.attempts.map((attempt) => ({
      at: isoTime(attempt.startedAt),
      manual: attempt.manual,
      duration_ms: attempt.durationMs,
      status: attempt.responseStatus,
      error: seesWebhooks ? attempt.error : null,
    })),
  };
}
