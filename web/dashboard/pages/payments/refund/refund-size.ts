import type { RefundableView } from '../../../../../src/http/dashboard/refunds/contract.ts';
import { decimalsOf, formatUnits, parseUnits, unitsOf } from '../../../decimal.ts';

/** The unit in which a person states a refund; `fiat` at the payment's locked rate, `now` at the current one. */
export type RefundUnit = 'all' | 'excess' | 'fiat' | 'now' | 'coin';

/** The payment's price, as the server wrote it. */
interface Price {
  readonly amount: string;
  /** The amount of the refunded asset that `amount` was quoted at; null in another token. */
  readonly expected: string | null;
}

/** An amount at the current rate, as the server computed it. */
export interface RateNow {
  readonly crypto_amount: string;
  readonly rate: string;
  readonly at: string;
  readonly until: string;
}

/**
 * The body's fields for the size, the sent amount, and its worth in the payment's currency; null if that is unknown.
 */
export type RefundSize =
  | {
      readonly kind: 'ok';
      readonly field: { amount: string } | { crypto_amount: string; rate_until?: string };
      readonly coins: string;
      readonly worth: string | null;
    }
  | { readonly kind: 'wrong'; readonly decimals: number }
  /** The rate is not known yet. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'too_much' };

/** The API states coins with at most this many decimals. */
const MAX_DECIMALS = 8;

/**
 * An overpaid payment was mostly wanted: only its excess goes back unless the person chooses more. Once something went
 * back, the person says how much more.
 */
export function usualUnit({ excess, refunded, left_amount }: RefundableView): RefundUnit {
  if (excess !== null) return 'excess';
  if (!isSome(refunded)) return 'all';
  return left_amount === null ? 'coin' : 'fiat';
}

/**
 * Checks a size before it is sent. "Everything", "excess" and amounts at the current rate become the shown amounts, so
 * that a refund is never larger than the person agreed to.
 */
export function refundSize(
  money: RefundableView,
  { amount, expected }: Price,
  unit: RefundUnit,
  typed: string,
  fiatDecimals: number,
  now: RateNow | null = null,
): RefundSize {
  const { decimals } = money;
  const priceMinor = unitsOf(amount, fiatDecimals);
  const owed = expected === null ? 0n : unitsOf(expected, decimals);
  switch (unit) {
    case 'all':
      return inCoins(money.left, money.left_amount);
    case 'excess':
      return inCoins(money.excess ?? '0', money.excess_amount);
    case 'coin':
      return coinSize(money, typed, (units) =>
        owed === 0n ? null : formatUnits((units * priceMinor) / owed, fiatDecimals),
      );
    case 'fiat':
    case 'now': {
      const minor = parseUnits(typed, fiatDecimals);
      if (minor === null || minor === 0n) return { kind: 'wrong', decimals: fiatDecimals };
      const text = formatUnits(minor, fiatDecimals);
      if (unit === 'now') return sizeNow(money, text, now);
      const units = priceMinor === 0n ? 0n : stated((minor * owed) / priceMinor, decimals);
      if (units > unitsOf(money.left, decimals)) return { kind: 'too_much' };
      return { kind: 'ok', field: { amount: text }, coins: formatUnits(units, decimals), worth: text };
    }
  }
}

function inCoins(coins: string, worth: string | null): RefundSize {
  return { kind: 'ok', field: { crypto_amount: coins }, coins, worth };
}

function coinSize(
  { decimals, left }: RefundableView,
  typed: string,
  worthOf: (units: bigint) => string | null,
): RefundSize {
  const most = Math.min(decimals, MAX_DECIMALS);
  const units = parseUnits(typed, most);
  if (units === null || units === 0n) return { kind: 'wrong', decimals: most };
  const whole = units * 10n ** BigInt(decimals - most);
  if (whole > unitsOf(left, decimals)) return { kind: 'too_much' };
  return inCoins(formatUnits(whole, decimals), worthOf(whole));
}

function sizeNow({ decimals, left }: RefundableView, worth: string, now: RateNow | null): RefundSize {
  if (now === null) return { kind: 'waiting' };
  const { crypto_amount: coins, until } = now;
  if (unitsOf(coins, decimals) > unitsOf(left, decimals)) return { kind: 'too_much' };
  return { kind: 'ok', field: { crypto_amount: coins, rate_until: until }, coins, worth };
}

/** Rounded down to the API's decimals, as the server does. */
function stated(units: bigint, decimals: number): bigint {
  const step = 10n ** BigInt(Math.max(0, decimals - MAX_DECIMALS));
  return (units / step) * step;
}

/** The rest of a token's money after a refund. */
export function leftAfter({ left, decimals }: RefundableView, coins: string): string {
  return formatUnits(unitsOf(left, decimals) - unitsOf(coins, decimals), decimals);
}

/** The decimals of a currency, such as 2 for USD. */
export function fiatDecimalsOf(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
}

/** Whether a decimal text is above 0. */
export function isSome(text: string): boolean {
  return unitsOf(text, decimalsOf(text)) > 0n;
}
