import { formatDecimal } from '../domain/money.ts';

export interface RawJson {
  readonly rawJSON: string;
}
const json = JSON as unknown as { rawJSON(text: string): RawJson };

/** An exact JSON number: JSON.stringify writes the text as it is, never with an exponent. */
export function exactNumber(units: bigint, decimals: number): RawJson {
  return json.rawJSON(formatDecimal(units, decimals));
}
