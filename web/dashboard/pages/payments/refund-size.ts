import type { RefundableView } from '../../../../src/http/dashboard/contract/refunds.ts';
import { decimalsOf, formatUnits, parseUnits, unitsOf } from '../../decimal.ts';

/** How somebody says how much to refund. */
export type RefundUnit = 'all' | 'excess' | 'fiat' | 'coin';

/** The payment's price, as the server wrote it. */
interface Price {
  readonly amount: string;
  /** What `amount` was quoted at in the refunded asset; null in another token. */
  readonly expected: string | null;
}

/** The body's field for the size, and the other unit of the same size; null if that is unknown. */
export type RefundSize =
  | {
      readonly kind: 'ok';
      readonly field: { amount: string } | { crypto_amount: string };
      readonly worth: string | null;
    }
  | { readonly kind: 'wrong'; readonly decimals: number }
  | { readonly kind: 'too_much' };

/** The API states coins with at most this many decimals. */
const MAX_DECIMALS = 8;

/**
 * Checks a size before it is sent. "Everything" and "excess" become the amounts that were shown, so that a refund is never
 * larger than what its person agreed to.
 */
export function refundSize(
  money: RefundableView,
  { amount, expected }: Price,
  unit: RefundUnit,
  typed: string,
  fiatDecimals: number,
): RefundSize {
  if (unit === 'all') return { kind: 'ok', field: { crypto_amount: money.left }, worth: money.left_amount };
  if (unit === 'excess') {
    return { kind: 'ok', field: { crypto_amount: money.excess ?? '0' }, worth: money.excess_amount };
  }
  const { decimals } = money;
  const priceMinor = unitsOf(amount, fiatDecimals);
  const owed = expected === null ? 0n : unitsOf(expected, decimals);
  const left = unitsOf(money.left, decimals);
  if (unit === 'coin') {
    const most = Math.min(decimals, MAX_DECIMALS);
    const units = parseUnits(typed, most);
    if (units === null || units === 0n) return { kind: 'wrong', decimals: most };
    const whole = units * 10n ** BigInt(decimals - most);
    if (whole > left) return { kind: 'too_much' };
    const worth = owed === 0n ? null : formatUnits((whole * priceMinor) / owed, fiatDecimals);
    return { kind: 'ok', field: { crypto_amount: formatUnits(whole, decimals) }, worth };
  }
  const minor = parseUnits(typed, fiatDecimals);
  if (minor === null || minor === 0n) return { kind: 'wrong', decimals: fiatDecimals };
  const units = priceMinor === 0n ? 0n : (minor * owed) / priceMinor;
  if (units > left) return { kind: 'too_much' };
  return { kind: 'ok', field: { amount: formatUnits(minor, fiatDecimals) }, worth: formatUnits(units, decimals) };
}

/** The decimals of a currency, such as 2 for USD. */
export function fiatDecimalsOf(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/** Whether a decimal text is above 0. */
export function isSome(text: string): boolean {
  return unitsOf(text, decimalsOf(text)) > 0n;
}
