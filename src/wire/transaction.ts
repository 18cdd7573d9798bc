import { fiatDecimals } from '../domain/money.ts';
import type { Payment } from '../domain/payment.ts';
import { exactNumber } from './number.ts';
import { amountNumber, commonView, cryptoView, paymentUrl, type Audience, type Links } from './payment.ts';
import { isoTime } from './time.ts';

/** A transaction; `transaction_hash` and `completed_at` are set once it is completed. */
export function transactionView(payment: Payment, links: Links, audience: Audience = 'merchant') {
  return {
    id: payment.id,
    transaction_number: payment.transactionNumber,
    status: payment.status,
    amount_usd: exactNumber(payment.amountUsdCents, fiatDecimals('USD')),
    amount: amountNumber(payment),
    currency: payment.currency,
    payment_url: paymentUrl(payment, links),
    created_at: isoTime(payment.createdAt),
    expires_at: isoTime(payment.expiresAt),
    ...(payment.status === 'completed' && payment.completedAt !== null
      ? { transaction_hash: payment.transactionHash, completed_at: isoTime(payment.completedAt) }
      : {}),
    order_id: payment.merchantOrderId,
    order_description: payment.description,
    ...(audience === 'merchant'
      ? { customer_email: payment.customerEmail, customer_name: payment.customerName, ...commonView(payment) }
      : {}),
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    ...cryptoView(payment),
    exception: payment.exception,
    failure_reason: payment.failureReason,
  };
}
