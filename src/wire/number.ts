import { formatDecimal } from '../domain/money.ts';

export interface RawJson {
  readonly rawJSON: string;
}
const json = JSON as unknown as {
  rawJSON(text: string): RawJson;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
};

/** An exact JSON number: JSON.stringify writes the text as it is, never with an exponent. */
export function exactNumber(units: bigint, decimals: number): RawJson {
  return json.rawJSON(formatDecimal(units, decimals));
}

/**
 * Parses JSON so that JSON.stringify writes its numbers as they were: a JavaScript number would lose digits.
 *
 * @param change the value to take in place of another, by its key
 */
export function parseExact(text: string, change: (key: string, value: unknown) => unknown = (_key, value) => value) {
  return json.parse(text, (key, value, { source }) =>
    typeof value === 'number' && source !== undefined ? json.rawJSON(source) : change(key, value),
  );
}
