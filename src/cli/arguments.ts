import { InvalidArgumentError } from 'commander';
import { decodeId, parseUuid } from '../domain/id.ts';
import { CommandFailure } from './failure.ts';

/** Reads a whole number of an option; commander names the option and exits as for any wrong usage. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** Reads a percentage with at most two decimals, as hundredths of a percent. */
export function percentage(text: string): number {
  const parts = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text);
  if (parts === null) throw new InvalidArgumentError('It must be a percentage with at most two decimals, such as 0.5.');
  return Number(parts[1]) * 100 + Number((parts[2] ?? '').padEnd(2, '0'));
}

/** Reads a list separated by commas; the empty text is the empty list. */
export function commaSeparated(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** The id of a project. */
export function projectIdOf(text: string): string {
  const id = parseUuid(text.trim());
  if (id !== null) return id;
  throw new CommandFailure(
    'A project id looks like 0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b. List them with: cointill project list',
  );
}

/** The UUID behind `key_…`. What was given is not repeated: it may be the key itself. */
export function keyIdOf(text: string): string {
  const id = decodeId('key', text.trim()) ?? parseUuid(text.trim());
  if (id !== null) return id;
  const isKey = /^[sp]k_(?:test|live)_/.test(text.trim());
  throw new CommandFailure(
    isKey
      ? 'This is a key, not the id of one, which begins with key_. Find it with: cointill key list --project ID'
      : 'The id of a key begins with key_. List them with: cointill key list --project ID',
  );
}

/** The UUID behind `we_…`. */
export function endpointIdOf(text: string): string {
  const id = decodeId('endpoint', text.trim()) ?? parseUuid(text.trim());
  if (id !== null) return id;
  throw new CommandFailure(
    'The id of a webhook endpoint begins with we_ and has 26 more characters. List them with: cointill webhook list',
  );
}

/** The number behind `dlv_…`. */
export function deliveryIdOf(text: string): bigint {
  const digits = /^(?:dlv_)?(\d{1,18})$/.exec(text.trim())?.[1];
  if (digits !== undefined) return BigInt(digits);
  throw new CommandFailure(
    'The id of a delivery is dlv_ and a number. List them with: cointill webhook deliveries ENDPOINT_ID',
  );
}

/** A delivery's number as it is shown. */
export function deliveryId(id: bigint): string {
  return `dlv_${id}`;
}

/** A payment by the id of either API: an order's `ord_…`, or a UUID. */
export function paymentSelectorOf(text: string): { readonly id: string; readonly surface?: 'order' } {
  const orderId = decodeId('order', text.trim());
  if (orderId !== null) return { id: orderId, surface: 'order' };
  const id = parseUuid(text.trim());
  if (id !== null) return { id };
  throw new CommandFailure(
    "A payment's id is ord_ and 26 more characters, or a transaction's UUID. List them with: cointill payment list",
  );
}
