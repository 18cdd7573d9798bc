import type { NewPayment } from '../../app/payments/draft-payment.ts';
import { USUAL_EXPIRY_MINUTES } from '../../app/payments/draft-payment.ts';
import type { AccessKey } from '../../app/projects/access.ts';
import { isEmail } from '../../domain/mail-address.ts';
import type { Fiat } from '../../domain/money.ts';
import { coinOfMethod } from '../../domain/payment-method.ts';
import { filledReturnUrl } from '../../domain/return-url.ts';
import { invalid } from '../errors.ts';
import { isHttpUrl } from '../validation.ts';
import { readAmount, readCurrency } from './amounts.ts';
import { numberText, readShopJson, type JsonObject } from './shop-json.ts';

/** The metadata that an invoice of ours has as fields of its own. */
export interface ShopFacts {
  readonly merchantOrderId: string | null;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  readonly description: string | null;
}

const MAX_ORDER_ID = 255;
const MAX_NAME = 255;
const MAX_DESCRIPTION = 1_000;
const MAX_METHODS = 100;
const MAX_URL = 2_048;
/** The limit of `expires_in` in `/v1/invoices`. */
const MAX_MINUTES = 1_440;

/**
 * A new invoice, as a plugin sends it.
 *
 * @param usualCurrency the project's currency, of amounts without one
 * @throws RequestError that names the field, the rule and the way out
 */
export function readInvoice(body: JsonObject, key: AccessKey, usualCurrency: Fiat): Omit<NewPayment, 'requestId'> {
  const currency = readCurrency(body['currency'] ?? usualCurrency);
  const metadata = readShopJson(body['metadata'], 'metadata');
  const checkout = readShopJson(body['checkout'], 'checkout');
  const { project } = key;
  const returnUrl = readReturnUrl(checkout.members['redirectURL']);
  return {
    api: 'invoice',
    projectId: project.id,
    mode: key.mode,
    amountMinor: readPrice(body['amount'], currency),
    currency,
    token: null,
    ...shopFacts(metadata.members),
    coins: readMethods(checkout.members['paymentMethods']),
    paymentRequestId: null,
    successUrl: returnUrl ?? project.defaultSuccessUrl,
    // A plugin's page of the order says what became of it, paid or not.
    cancelUrl: returnUrl,
    metadata: {},
    shopMetadata: metadata.text,
    shopCheckout: checkout.text,
    lifetimeMs: readMinutes(checkout.members['expirationMinutes'], project.defaultExpiryMinutes) * 60_000,
  };
}

/**
 * The facts in a shop's metadata that pages, lists and searches show. What does not fit a field stays in the metadata
 * alone; an order's number must fit, because refunds are found by it.
 */
export function shopFacts(metadata: JsonObject): ShopFacts {
  const { orderId, buyerEmail, buyerName, itemDesc } = metadata;
  const order = numberText(orderId) ?? textOf(orderId);
  const isOther = order === null && orderId !== undefined && orderId !== null && typeof orderId !== 'string';
  if (isOther || (order?.length ?? 0) > MAX_ORDER_ID) {
    const field = 'metadata.orderId';
    throw invalid(field, `${field} must be a number or text of at most ${MAX_ORDER_ID} characters.`);
  }
  const email = textOf(buyerEmail)?.trim() ?? null;
  return {
    merchantOrderId: order,
    customerEmail: email !== null && isEmail(email) ? email : null,
    customerName: shortText(buyerName, MAX_NAME),
    description: shortText(itemDesc, MAX_DESCRIPTION),
  };
}

function readPrice(value: unknown, currency: Fiat): bigint {
  if (value !== null && value !== undefined) return readAmount(value, currency);
  const way = 'Where the customer chooses the amount, make a payment request: POST /v1/payment_requests.';
  throw invalid('amount', `amount is required. ${way}`);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

function shortText(value: unknown, max: number): string | null {
  const text = textOf(value);
  return text === null || text.length > max ? null : text;
}

function readMethods(value: unknown): readonly string[] | null {
  if (value === null || value === undefined) return null;
  const field = 'checkout.paymentMethods';
  if (!Array.isArray(value) || value.length > MAX_METHODS) {
    throw invalid(field, `${field} must be a list of at most ${MAX_METHODS} ids of payment methods.`);
  }
  const coins = value.map((id: unknown, index) => {
    const coin = typeof id === 'string' ? coinOfMethod(id) : null;
    if (coin !== null) return coin;
    throw invalid(
      `${field}[${index}]`,
      'Invalid or unsupported payment method. GET …/payment-methods lists those of this store.',
    );
  });
  return coins.length === 0 ? null : [...new Set(coins)];
}

function readReturnUrl(value: unknown): string | null {
  if (value === null || value === undefined || value === '') return null;
  const field = 'checkout.redirectURL';
  const isGood =
    typeof value === 'string' && value.length <= MAX_URL && isHttpUrl(filledReturnUrl(value, 'id', 'order'));
  if (isGood) return value;
  throw invalid(
    field,
    `${field} must be an absolute http or https URL without a user name, of at most ${MAX_URL} characters.`,
  );
}

function readMinutes(value: unknown, ofProject: number | null): number {
  if (value === null || value === undefined) return ofProject ?? USUAL_EXPIRY_MINUTES;
  const minutes = Number(numberText(value) ?? NaN);
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= MAX_MINUTES) return minutes;
  const field = 'checkout.expirationMinutes';
  throw invalid(field, `${field} must be a whole number from 1 to ${MAX_MINUTES}.`);
}
