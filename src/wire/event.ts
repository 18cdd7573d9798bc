import { encodeId } from '../domain/id.ts';
import { orderStatus } from '../domain/status.ts';
import { tracedHash, type Payment, type Transfer } from '../domain/payment.ts';
import { exactNumber } from './number.ts';
import { amountNumber, metadataView, publicPaymentId } from './payment.ts';
import { isoTime } from './time.ts';

/** The bytes of an event: written once, stored, and sent as they are to every endpoint at every attempt. */
export function eventBody(event: {
  readonly id: string;
  readonly type: string;
  readonly createdAt: number;
  readonly sequence: number;
  readonly data: object;
}): string {
  return JSON.stringify({
    id: encodeId('event', event.id),
    type: event.type,
    created_at: isoTime(event.createdAt),
    sequence: event.sequence,
    data: event.data,
  });
}

/** The data of a payment's events: the documented fields, and what tells the two surfaces apart. */
export function paymentEventData(payment: Payment) {
  const { quote } = payment;
  return {
    object: payment.surface,
    id: publicPaymentId(payment),
    ...(payment.surface === 'transaction' ? { transaction_number: payment.transactionNumber } : {}),
    status: payment.surface === 'order' ? orderStatus(payment.status) : payment.status,
    amount: amountNumber(payment),
    currency: payment.currency,
    crypto_currency: quote?.asset ?? null,
    crypto_amount: quote === null ? null : exactNumber(quote.owedUnits, quote.decimals),
    network: quote?.network ?? null,
    transaction_hash: payment.status === 'completed' ? payment.transactionHash : null,
    customer_email: payment.customerEmail,
    exception: payment.exception,
    failure_reason: payment.failureReason,
    metadata: metadataView(payment),
  };
}

/** What `payment.wrong_asset` tells: the payment, and a transfer to it in a token of `decimals` that it was never quoted in. */
export function wrongAssetEventData(payment: Payment, transfer: WrongTransfer, decimals: number) {
  const { asset, network, amountUnits, address, transactionHash } = transfer;
  const amount = exactNumber(amountUnits, decimals);
  const received = { crypto_currency: asset, network, amount, address, transaction_hash: tracedHash(transactionHash) };
  return { ...paymentEventData(payment), received };
}

type WrongTransfer = Pick<Transfer, 'asset' | 'network' | 'amountUnits' | 'address' | 'transactionHash'>;
