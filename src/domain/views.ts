import type { Network } from './asset.ts';
import { encodeId } from './id.ts';
import { fiatDecimals, formatDecimal } from './money.ts';
import { orderStatus } from './order-status.ts';
import { tracedHash, type Confirmations, type Payment, type Surface, type Transfer } from './payment.ts';
import type { Mode } from './permission.ts';
import type { Refund } from './refund.ts';

/**
 * The records as clients see them: plain objects for JSON.stringify. They live in the domain because answers, events and
 * stored idempotent answers all carry the same ones.
 */

/** Where customers are sent: base addresses of the payment page, without a trailing slash. */
export interface Links {
  readonly checkoutUrl: Readonly<Record<Mode, string>>;
}

/** Who asks: a public key sees nothing of the customer. */
export type Audience = 'merchant' | 'public';

interface RawJson {
  readonly rawJSON: string;
}
const json = JSON as unknown as { rawJSON(text: string): RawJson };

/** An exact JSON number: JSON.stringify writes the text as it is, never with an exponent. */
export function exactNumber(units: bigint, decimals: number): RawJson {
  return json.rawJSON(formatDecimal(units, decimals));
}

const MEMO_SIZE = 16;
const memoTimes: number[] = Array<number>(MEMO_SIZE).fill(NaN);
const memoTexts: string[] = Array<string>(MEMO_SIZE).fill('');

/** ISO 8601 in UTC with milliseconds. A payment writes each of its times several times over, so the newest are kept. */
export function isoTime(at: number): string {
  // By the second: lifetimes are whole seconds, so that a payment's times differ there and not in the milliseconds.
  const slot = Math.floor(at / 1000) & (MEMO_SIZE - 1);
  if (memoTimes[slot] !== at) {
    memoTimes[slot] = at;
    memoTexts[slot] = new Date(at).toISOString();
  }
  return memoTexts[slot] ?? '';
}

function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}

/** The id that clients use: a transaction's UUID, an order's `ord_…`. */
export function publicPaymentId(payment: { readonly id: string; readonly surface: Surface }): string {
  return payment.surface === 'order' ? encodeId('order', payment.id) : payment.id;
}

export function paymentUrl(payment: Pick<Payment, 'id' | 'surface' | 'mode'>, links: Links): string {
  return `${links.checkoutUrl[payment.mode]}/pay/${publicPaymentId(payment)}`;
}

/** `metadata.order_id` is always a string: the merchant's reference, wherever he gave it, else the payment's id. */
function metadataView(payment: Payment): Record<string, string> {
  return {
    order_id: publicPaymentId(payment),
    ...payment.metadata,
    ...(payment.merchantOrderId === null ? {} : { order_id: payment.merchantOrderId }),
  };
}

function cryptoView(payment: Payment) {
  const { quote } = payment;
  if (quote === null)
    return { crypto_currency: null, network: null, crypto_amount: null, address: null, amount_received: null };
  return {
    crypto_currency: quote.asset,
    network: quote.network,
    crypto_amount: exactNumber(quote.owedUnits, quote.decimals),
    address: quote.address,
    amount_received: exactNumber(payment.ledger.all.seenUnits, quote.decimals),
  };
}

function amountNumber(payment: Pick<Payment, 'amountMinor' | 'currency'>): RawJson {
  return exactNumber(payment.amountMinor, fiatDecimals(payment.currency));
}

/** A transaction; `transaction_hash` and `completed_at` are there once it is completed. */
export function transactionView(payment: Payment, links: Links, audience: Audience = 'merchant') {
  return {
    id: payment.id,
    transaction_number: payment.transactionNumber,
    status: payment.status,
    amount_usd: amountNumber(payment),
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
      ? { customer_email: payment.customerEmail, customer_name: payment.customerName, metadata: metadataView(payment) }
      : {}),
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    ...cryptoView(payment),
    exception: payment.exception,
    failure_reason: payment.failureReason,
  };
}

/** An order as its creation answers it. */
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

/** Beside a payment that was asked for by its id: how deep its money is; nothing where that is not counted. */
export function confirmationsView(confirmations: Confirmations | null) {
  if (confirmations === null) return {};
  const { have, need } = confirmations;
  return { confirmations: Math.min(have, need), confirmations_required: need };
}

/** An order as it is read: what creation answered, and what has become of it. */
export function orderView(payment: Payment, links: Links, audience: Audience = 'merchant') {
  const { network, address, amount_received } = cryptoView(payment);
  return {
    ...createdOrderView(payment, links),
    network,
    address,
    amount_received,
    transaction_hash: payment.status === 'completed' ? payment.transactionHash : null,
    completed_at: isoTimeOrNull(payment.completedAt),
    exception: payment.exception,
    failure_reason: payment.failureReason,
    order_id: payment.merchantOrderId,
    description: payment.description,
    ...(audience === 'merchant' ? { customer_email: payment.customerEmail, metadata: metadataView(payment) } : {}),
    return_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
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

/** A refund; also the data of its events. */
export function refundView(refund: Refund, links: Links) {
  const id = encodeId('refund', refund.id);
  return {
    id,
    object: 'refund',
    status: refund.status,
    payment: publicPaymentId({ id: refund.paymentId, surface: refund.paymentSurface }),
    amount: amountNumber(refund),
    currency: refund.currency,
    crypto_currency: refund.asset,
    network: refund.network,
    crypto_amount: exactNumber(refund.units, refund.decimals),
    address: refund.address,
    claim_url:
      refund.address === null && refund.status === 'pending' ? `${links.checkoutUrl[refund.mode]}/refund/${id}` : null,
    transaction_hash: refund.transactionHash,
    reason: refund.reason,
    failure_reason: refund.failureReason,
    created_at: isoTime(refund.createdAt),
    completed_at: isoTimeOrNull(refund.completedAt),
  };
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

/** Money on an address of the hours that a restore lost. */
export interface LostMoney {
  readonly network: Network;
  /** As customers are shown it. */
  readonly address: string;
  /** The number of the address in its wallet. */
  readonly index: number;
  readonly amountUnits: bigint;
  readonly decimals: number;
  readonly asset: string;
  readonly transactionHash: string;
}

/** Such money as it is told: the data of its event, and its row in the status of its network. */
export function lostMoneyView({ network, address, index, amountUnits, decimals, asset, transactionHash }: LostMoney) {
  return {
    address,
    index,
    amount: exactNumber(amountUnits, decimals),
    asset,
    network,
    transaction_hash: transactionHash,
  };
}

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

/** The number that people see: `TXN-<UTC year>-<sequence>`, the sequence padded to six digits. */
export function formatTransactionNumber(year: number, sequence: number): string {
  return `TXN-${year}-${String(sequence).padStart(6, '0')}`;
}
