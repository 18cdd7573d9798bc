import { encodeId } from '../domain/id.ts';
import { fiatDecimals } from '../domain/money.ts';
import { leftMinor, type PaymentRequest, type RequestSums } from '../domain/payment-request.ts';
import { exactNumber } from './number.ts';
import type { Links } from './payment.ts';
import { isoTime, isoTimeOrNull } from './time.ts';

/** The page of a payment request. */
export function requestUrl({ id, mode }: Pick<PaymentRequest, 'id' | 'mode'>, links: Links): string {
  return `${links.checkoutUrl[mode]}/request/${encodeId('request', id)}`;
}

/** A payment request; also the data of its events. Amounts are in its currency. */
export function requestView(request: PaymentRequest, sums: RequestSums, links: Links) {
  const amount = (minor: bigint) => exactNumber(minor, fiatDecimals(request.currency));
  const orNull = (minor: bigint | null) => (minor === null ? null : amount(minor));
  return {
    id: encodeId('request', request.id),
    object: 'payment_request',
    status: request.status,
    title: request.title,
    description: request.description,
    reference: request.reference,
    amount: orNull(request.amountMinor),
    min_amount: orNull(request.minAmountMinor),
    max_amount: orNull(request.maxAmountMinor),
    currency: request.currency,
    amount_paid: amount(sums.paidMinor),
    amount_pending: amount(sums.pendingMinor),
    amount_refunded: amount(sums.refundedMinor),
    amount_left: orNull(leftMinor(request, sums)),
    payments: sums.payments,
    max_payments: request.maxPayments,
    coins: request.coins,
    success_url: request.successUrl,
    ask: { email: request.askEmail, name: request.askName, note: request.askNote },
    metadata: request.metadata ?? {},
    url: requestUrl(request, links),
    created_at: isoTime(request.createdAt),
    expires_at: isoTimeOrNull(request.expiresAt),
    ended_at: isoTimeOrNull(request.endedAt),
  };
}
