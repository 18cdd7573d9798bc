import { publicPaymentId } from '../domain/payment-kind.ts';
import { fiatDecimals } from '../domain/money.ts';
import type { CommonFields, Confirmations, Payment } from '../domain/payment.ts';
import type { Mode } from '../domain/permission.ts';
import { exactNumber, type RawJson } from './number.ts';

/** The base addresses of the payment page, without a trailing slash. */
export interface Links {
  readonly checkoutUrl: Readonly<Record<Mode, string>>;
}

/** The reader: a public key sees no customer data. */
export type Audience = 'merchant' | 'public';

export function paymentUrl(payment: Pick<Payment, 'id' | 'api' | 'mode'>, links: Links): string {
  return `${links.checkoutUrl[payment.mode]}/pay/${publicPaymentId(payment)}`;
}

/** `metadata.order_id` is always a string: the merchant's reference from either field, or else the payment's id. */
export function metadataView(payment: Payment): Record<string, string> {
  return {
    order_id: publicPaymentId(payment),
    ...payment.metadata,
    ...(payment.merchantOrderId === null ? {} : { order_id: payment.merchantOrderId }),
  };
}

/** A field's public name: `customerEmail` becomes `customer_email`. */
type WireName<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${WireName<Rest>}`
    : `_${Lowercase<First>}${WireName<Rest>}`
  : '';
export type CommonNames = WireName<keyof CommonFields>;

/** The fields that the merchant set under the same name on both APIs. Not for public keys. */
export function commonView(payment: Payment) {
  return {
    metadata: metadataView(payment),
  } satisfies Readonly<Record<CommonNames, unknown>>;
}

export function cryptoView(payment: Payment) {
  const { quote } = payment;
  if (quote === null)
    return { crypto_currency: null, network: null, crypto_amount: null, address: null, amount_received: null };
  return {
    crypto_currency: quote.asset,
    network: quote.network,
    crypto_amount: exactNumber(quote.owedUnits, quote.decimals),
    address: quote.address,
    amount_received: exactNumber(payment.received.all.seenUnits, quote.decimals),
  };
}

export function amountNumber(payment: Pick<Payment, 'amountMinor' | 'currency'>): RawJson {
  return exactNumber(payment.amountMinor, fiatDecimals(payment.currency));
}

/** The confirmations of a payment that was requested by id; empty if none are counted. */
export function confirmationsView(confirmations: Confirmations | null) {
  if (confirmations === null) return {};
  const { have, need } = confirmations;
  return { confirmations: Math.min(have, need), confirmations_required: need };
}
