import { fiatValue } from '../../domain/asset.ts';
import { encodeId } from '../../domain/id.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../domain/money.ts';
import type { RefundEventType } from '../../domain/event-type.ts';
import type { Payment } from '../../domain/payment.ts';
import { refundTransition, type Refund, type RefundObservation } from '../../domain/refund.ts';
import { nextDueAt } from '../../domain/transition.ts';
import { MAX_RECEIPT_AGE_MS } from '../payments/receipt-prices.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import { refundView } from '../../wire/refund.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { updateRefund, type FiatWorth } from '../../store/refunds/refunds.ts';
import { saveChanges, type PaymentChange } from '../../store/payments/save-changes.ts';
import type { AuditedChange } from '../audit.ts';
import type { App } from '../context.ts';
import { newEvent } from '../events.ts';
import { answerRow, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { emitAfterCommit, type ObservedTrx } from '../in-transaction.ts';
import { rejected } from '../rejected.ts';
import { refusedAs, type RefundRefusal } from './refund-money.ts';

export type RefundOutcome =
  /** `change`: its payment with the event, if there is one. */
  | { readonly kind: 'done'; readonly refund: Refund; readonly body: string; readonly change?: PaymentChange }
  | RefundRefusal
  | Replay;

/** A refund as the audit log records it. */
export function auditedRefund(action: string, refund: Refund): AuditedChange {
  const { asset, network, decimals, currency, address, reason, status } = refund;
  return {
    action,
    projectId: refund.projectId,
    subject: { kind: 'refund', id: encodeId('refund', refund.id) },
    after: {
      payment: publicPaymentId({ id: refund.paymentId, api: refund.paymentApi }),
      mode: refund.mode,
      status,
      amount: formatDecimal(refund.amountMinor, fiatDecimals(currency)),
      currency,
      crypto_amount: formatDecimal(refund.units, decimals),
      asset,
      network,
      address,
      // The audit log cannot be deleted, so it keeps no text of a reason.
      has_reason: reason !== null,
    },
  };
}

/** Applies an observation to a locked refund and saves it with its event, or refuses it if the refund is final. */
export async function applyToRefund(
  app: App,
  trx: ObservedTrx,
  refund: Refund,
  observation: RefundObservation,
  idempotency: IdempotencyRequest | null,
): Promise<RefundOutcome> {
  const now = app.clock();
  const result = refundTransition(refund, observation, now);
  if (result.kind === 'refused') {
    return refusedAs(null, rejected('refund_over'));
  }
  const [payment] = await lockPayments(trx, [refund.paymentId]);
  if (payment === undefined) throw new Error('The payment of a refund is missing.');
  const paidAt = observation.kind === 'paid' ? observation.paidAt : null;
  await updateRefund(trx, result.refund, disposalOf(app, result.refund, paidAt === undefined ? now : paidAt, now));
  const type = EVENT_OF[observation.kind];
  return saveRefundEvent(app, trx, { payment, refund: result.refund, type, now, idempotency });
}

/**
 * The worth of a refund at the moment of its payout. Null if it is not paid, if there is no fresh price, or if that
 * moment is long past: an old refund is not valued at today's price, for instance by a service that catches up.
 */
function disposalOf(
  app: App,
  { mode, units, decimals, asset, currency }: Refund,
  paidAt: number | null,
  now: number,
): FiatWorth {
  const { rates } = app.railFor(mode);
  const price = paidAt === null || paidAt < now - MAX_RECEIPT_AGE_MS ? null : rates.usdPrice(asset);
  if (price === null) return { minor: null, usdCents: null };
  const worthIn = (fiat: Fiat): bigint | null => {
    const fiatPrice = rates.usdPrice(fiat);
    return fiatPrice === null ? null : fiatValue(units, decimals, price, fiat, fiatPrice);
  };
  return { minor: worthIn(currency), usdCents: worthIn('USD') };
}

const EVENT_OF = {
  paid: 'refund.completed',
  taken_back: 'refund.reorged',
  failed: 'refund.failed',
} as const satisfies Readonly<Record<RefundObservation['kind'], RefundEventType>>;

/** Saves a refund's event, which continues its payment's sequence, together with the payment. */
export async function saveRefundEvent(
  app: App,
  trx: ObservedTrx,
  {
    payment,
    refund,
    type,
    now,
    idempotency,
  }: {
    readonly payment: Payment;
    readonly refund: Refund;
    readonly type: RefundEventType;
    readonly now: number;
    readonly idempotency: IdempotencyRequest | null;
  },
): Promise<RefundOutcome> {
  const view = refundView(refund, app.links);
  const event = newEvent(app, payment, type, payment.lastSequence + 1, view, now);
  const body = JSON.stringify(view);
  const after = { ...payment, lastSequence: payment.lastSequence + 1 };
  const answers = idempotency === null ? [] : [answerRow(idempotency, body, now)];
  const dueAt = nextDueAt(after, app.policy);
  const change = { before: payment, after, dueAt, transitions: [], events: [event] };
  await saveChanges(trx, [change], 2, answers);
  const requestId = app.requestId ?? null;
  emitAfterCommit(trx, { kind: 'payment_changed', change, requestId });
  emitAfterCommit(trx, { kind: 'refund_changed', refund, event: type, requestId });
  return { kind: 'done', refund, body, change };
}
