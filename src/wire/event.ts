import { PAYMENT_APIS } from '../domain/payment.ts';
import { PAYMENT_KINDS, publicPaymentId } from '../domain/payment-kind.ts';
import { encodeId } from '../domain/id.ts';
import { tracedHash, type Payment, type Transfer } from '../domain/payment.ts';
import { exactNumber } from './number.ts';
import { amountNumber, metadataView } from './payment.ts';
import { isoTime } from './time.ts';

/** The bytes of an event: serialised once, stored, and sent unchanged to every endpoint at every attempt. */
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

/** The data of a payment's events: the documented fields, and what distinguishes the two APIs. */
export function paymentEventData(payment: Payment) {
  const { quote } = payment;
  const kind = PAYMENT_KINDS[payment.api];
  return {
    object: payment.api,
    id: publicPaymentId(payment),
    ...(kind.isNumbered ? { transaction_number: payment.transactionNumber } : {}),
    status: kind.shownStatus(payment.status),
    amount: amountNumber(payment),
    currency: payment.currency,
    crypto_currency: quote?.asset ?? null,
    crypto_amount: quote === null ? null : exactNumber(quote.owedUnits, quote.decimals),
    network: quote?.network ?? null,
    transaction_hash: payment.status === 'completed' ? payment.transactionHash : null,
    customer_email: payment.customerEmail,
    exception: payment.exception,
    failure_reason: payment.failureReason,
    ...(payment.paymentRequestId === null ? {} : { payment_request: encodeId('request', payment.paymentRequestId) }),
    metadata: metadataView(payment),
  };
}

/**
 * The data of `payment.wrong_asset`: the payment, and a transfer to it in a token of `decimals` that it was never
 * quoted in.
 */
export function wrongAssetEventData(payment: Payment, transfer: WrongTransfer, decimals: number) {
  const { asset, network, amountUnits, address, transactionHash } = transfer;
  const amount = exactNumber(amountUnits, decimals);
  const received = { crypto_currency: asset, network, amount, address, transaction_hash: tracedHash(transactionHash) };
  return { ...paymentEventData(payment), received };
}

type WrongTransfer = Pick<Transfer, 'asset' | 'network' | 'amountUnits' | 'address' | 'transactionHash'>;

/**
 * The facts in the body of an event: its type, when it was created (NaN if missing), and the ids of its payment and
 * refund in their public form.
 */
export interface EventFacts {
  readonly type: string;
  readonly createdAt: number;
  readonly payment: string | null;
  readonly refund: string | null;
}

/** Parses the body of an event or message without validating it: only existing fields are returned. */
export function eventFacts(body: string): EventFacts {
  const event = fieldsOf(JSON.parse(body));
  const invoice = textOrNull(event['invoiceId']);
  if (invoice !== null) {
    const createdAt = Number(event['timestamp']) * 1_000;
    return { type: textOrNull(event['type']) ?? 'unknown', createdAt, payment: invoice, refund: null };
  }
  const { object, id, payment } = fieldsOf(event['data']);
  const isRefund = object === 'refund';
  const isPayment = PAYMENT_APIS.some((api) => api === object);
  return {
    type: textOrNull(event['type']) ?? 'unknown',
    createdAt: Date.parse(textOrNull(event['created_at']) ?? ''),
    payment: textOrNull(isRefund ? payment : isPayment ? id : null),
    refund: isRefund ? textOrNull(id) : null,
  };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
