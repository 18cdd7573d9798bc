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
  String.raw`"metadata":\{(?!\}|"order(_id|Id)":("([^"\\]|\\.)*"|[-+.0-9eE]+)\})`,
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

const json = JSON as unknown as { isRawJSON(value: unknown): boolean };

/** The number of the order under our name or that of shops' plugins, some of which write it without quotes. */
function onlyOrder(metadata: unknown): unknown {
  if (metadata === null) return null;
  const fields = Object.entries(Object(metadata));
  const isNumber = (value: unknown): boolean => typeof value === 'string' || json.isRawJSON(value);
  const order = fields.find(([name, value]) => (name === 'order_id' || name === 'orderId') && isNumber(value));
  return order === undefined ? {} : Object.fromEntries([order]);
}
