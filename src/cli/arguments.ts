import { parsePaymentId, PAYMENT_KINDS } from '../domain/payment-kind.ts';
import type { PaymentApi } from '../domain/payment.ts';
import { InvalidArgumentError } from 'commander';
import { parsePercent } from '../domain/percent.ts';
import { decodeId, ID_PREFIXES, parseUuid, type IdKind } from '../domain/id.ts';
import { UsageFailure } from './failure.ts';

/** Parses a whole number given as an option; for a wrong one, commander names the option and exits. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
  };
}

/** Parses a percentage with at most two decimals, as hundredths of a percent. */
export function percentage(text: string): number {
  const basisPoints = parsePercent(text);
  if (basisPoints !== null) return basisPoints;
  throw new InvalidArgumentError('Give a percentage with at most two decimals, such as 0.5.');
}

/** Parses a list separated by commas; an empty text is an empty list. */
export function commaSeparated(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Lists names as `a, b or c`. */
export function oneOf(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`;
}

/** The id of a project. */
export function projectIdOf(text: string): string {
  const id = parseUuid(text.trim());
  if (id !== null) return id;
  throw new UsageFailure(
    'A project id looks like 0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b. List projects with: cointill project list',
  );
}

/** The UUID behind `key_…`. The input is not repeated: it may be the key itself. */
export function keyIdOf(text: string): string {
  if (/^[sp]k_(?:test|live)_/.test(text.trim())) {
    throw new UsageFailure(
      `This is a key, not the id of a key. The id is ${shapeOf('key')}. Find the id with: cointill key list --project ID`,
    );
  }
  return uuidOf('key', text, 'List keys with: cointill key list --project ID');
}

/** The UUID behind `we_…`. */
export function endpointIdOf(text: string): string {
  return uuidOf('endpoint', text, 'List endpoints with: cointill webhook list');
}

/** The UUID behind `re_…`. */
export function refundIdOf(text: string): string {
  return uuidOf('refund', text, 'List refunds with: GET /v1/refunds');
}

const NOUNS = { key: 'a key', endpoint: 'a webhook endpoint', refund: 'a refund' } as const;

/** The UUID behind an id; a plain UUID is accepted too. */
function uuidOf(kind: keyof typeof NOUNS, text: string, wayOut: string): string {
  const id = decodeId(kind, text.trim()) ?? parseUuid(text.trim());
  if (id !== null) return id;
  throw new UsageFailure(`The id of ${NOUNS[kind]} is ${shapeOf(kind)}. ${wayOut}`);
}

/** The form of ids of a kind (domain/id.ts). */
function shapeOf(kind: IdKind): string {
  return `${ID_PREFIXES[kind]} followed by 26 digits and lower-case letters (without i, l, o and u)`;
}

/** The number behind `dlv_…`. */
export function deliveryIdOf(text: string): bigint {
  const digits = /^(?:dlv_)?(\d{1,18})$/.exec(text.trim())?.[1];
  if (digits !== undefined) return BigInt(digits);
  throw new UsageFailure(
    'The id of a delivery is dlv_ followed by a number. List deliveries with: cointill webhook deliveries ENDPOINT_ID',
  );
}

/** A payment by the id of its kind. A plain UUID selects a payment of any kind. */
export function paymentSelectorOf(text: string): { readonly id: string; readonly api?: PaymentApi } {
  const named = parsePaymentId(text.trim());
  if (named !== null) return PAYMENT_KINDS[named.api].idKind === null ? { id: named.id } : named;
  throw new UsageFailure(
    `The id of a payment is ${shapeOf('order')}, the same behind ${ID_PREFIXES.invoice}, or a transaction's UUID. List payments with: cointill payment list`,
  );
}
