import { encodeId } from '../domain/id.ts';
import type { Refund } from '../domain/refund.ts';
import { exactNumber } from './number.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { amountNumber, type Links } from './payment.ts';
import { isoTime, isoTimeOrNull } from './time.ts';

/** A refund; also the data of its events. */
export function refundView(refund: Refund, links: Links) {
  const id = encodeId('refund', refund.id);
  return {
    id,
    object: 'refund',
    status: refund.status,
    payment: publicPaymentId({ id: refund.paymentId, api: refund.paymentApi }),
    amount: amountNumber(refund),
    currency: refund.currency,
    crypto_currency: refund.asset,
    network: refund.network,
    crypto_amount: exactNumber(refund.units, refund.decimals),
    address: refund.address,
    claim_url: claimUrl(refund, links),
    transaction_hash: refund.transactionHash,
    reason: refund.reason,
    failure_reason: refund.failureReason,
    created_at: isoTime(refund.createdAt),
    completed_at: isoTimeOrNull(refund.completedAt),
  };
}

/** The page where the customer enters an address; null if the refund has one already or is not pending. */
export function claimUrl({ id, mode, status, address }: Refund, links: Links): string | null {
  if (address !== null || status !== 'pending') return null;
  return `${links.checkoutUrl[mode]}/refund/${encodeId('refund', id)}`;
}
