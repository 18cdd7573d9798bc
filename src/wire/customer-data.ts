import { parseExact } from './number.ts';

/** The text that replaces a deleted one where a text must be. */
export const FORGOTTEN = '(deleted)';

/** The fields that customers wrote, or merchants about them, by their names in answers and events. */
const CLEARED = new Set([
  'customer_email',
  'customer_name',
  'description',
  'order_description',
  'reason',
  'success_url',
  'return_url',
  'cancel_url',
]);

/**
 * Matches stored JSON in which {@link withoutCustomerData} finds something; in a syntax that PostgreSQL and JavaScript
 * share.
 */
export const HAS_CUSTOMER_DATA = [
  String.raw`"(${[...CLEARED].join('|')})":[^n]`,
  String.raw`"title":"(?!\(deleted\)")`,
  String.raw`"metadata":\{(?!\}|"order_id":"([^"\\]|\\.)*"\})`,
].join('|');

const HAS = new RegExp(HAS_CUSTOMER_DATA);

/** Whether {@link withoutCustomerData} finds something in a stored event or answer. */
export function hasCustomerData(body: string): boolean {
  return HAS.test(body);
}

/**
 * A stored event or answer without data of the customer; of its metadata only the order's number is left. Everything
 * else, amounts to the last digit, stays byte for byte.
 *
 * @param body JSON written by this service
 */
export function withoutCustomerData(body: string): string {
  const cleared = parseExact(body, (key, value) => {
    if (CLEARED.has(key)) return null;
    if (key === 'title') return FORGOTTEN;
    return key === 'metadata' ? onlyOrder(value) : value;
  });
  return JSON.stringify(cleared);
}

function onlyOrder(metadata: unknown): unknown {
  if (metadata === null) return null;
  const { order_id: order } = Object(metadata) as { readonly order_id?: unknown };
  return order === undefined ? {} : { order_id: order };
}
