import type { AssetCode } from '../domain/asset-code.ts';
import type { Fiat } from '../domain/money.ts';
import { ONE, quotientE8, type Decimal } from './decimal.ts';
import type { SourcePrice } from './source.ts';

/** An answer that does not have the form that its source publishes. The message contains no part of the answer. */
export class MalformedAnswerError extends Error {
  override readonly name = 'MalformedAnswerError';

  constructor(rule: string) {
    super(`malformed answer: ${rule}`);
  }
}

/** Parses a JSON text; throws MalformedAnswerError. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new MalformedAnswerError('it is not JSON');
  }
}

/** A member of a JSON object; undefined if there is none. Inherited members, such as `constructor`, do not count. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return found;
}

/** A market's current price for `code`; empty if there is no number. `inverse`: the number is units per USD. */
export function marketPrice(
  code: AssetCode | Fiat,
  number: Decimal | null,
  options: { readonly inverse?: boolean; readonly unit?: 'USD' | 'USDT'; readonly at?: number | null } = {},
): readonly SourcePrice[] {
  if (number === null) return [];
  const price = options.inverse === true ? quotientE8(ONE, number) : quotientE8(number, ONE);
  if (price === null) return [];
  return [{ code, price, unit: options.unit ?? 'USD', at: options.at ?? null, referenceForMs: null }];
}
