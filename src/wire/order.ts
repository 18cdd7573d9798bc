import { encodeId } from '../domain/id.ts';
import { orderStatus } from '../domain/status.ts';
import type { Payment } from '../domain/payment.ts';
import { exactNumber } from './number.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { amountNumber, commonView, cryptoView, paymentUrl, type Audience, type Links } from './payment.ts';
import { isoTime, isoTimeOrNull } from './time.ts';

/** An order as the answer to its creation. */
export function createdOrderView(payment: Payment, links: Links) {
  const { quote } = payment;
  return {
    id: publicPaymentId(payment),
    status: orderStatus(payment.status),
    amount: amountNumber(payment),
    currency: payment.currency,
    crypto_currency: quote?.asset ?? null,
    crypto_amount: quote === null ? null : exactNumber(quote.owedUnits, quote.decimals),
    payment_url: paymentUrl(payment, links),
    expires_at: isoTime(payment.expiresAt),
    created_at: isoTime(payment.createdAt),
  };
}

/** The fields beside those of the creation, of orders and invoices alike. */
function laterFields(payment: Payment, audience: Audience) {
  const { network, address, amount_received } = cryptoView(payment);
  return {
    network,
    address,
    amount_received,
    transaction_hash: payment.status === 'completed' ? payment.transactionHash : null,
    completed_at: isoTimeOrNull(payment.completedAt),
    exception: payment.exception,
    failure_reason: payment.failureReason,
    order_id: payment.merchantOrderId,
    description: payment.description,
    ...(audience === 'merchant' ? { customer_email: payment.customerEmail, ...commonView(payment) } : {}),
  };
}

/** The answer when an order is read: the answer to its creation, plus later changes. */
export function orderView(payment: Payment, links: Links, audience: Audience = 'merchant') {
  return {
    ...createdOrderView(payment, links),
    ...laterFields(payment, audience),
    return_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
  };
}

/** An invoice, from its creation on; it differs from an order by what its customer and its merchant choose. */
export function invoiceView(payment: Payment, links: Links, audience: Audience = 'merchant') {
  return {
    ...createdOrderView(payment, links),
    ...laterFields(payment, audience),
    ...(audience === 'merchant' ? { customer_name: payment.customerName } : {}),
    coins: payment.coins,
    payment_request: payment.paymentRequestId === null ? null : encodeId('request', payment.paymentRequestId),
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
  };
}
