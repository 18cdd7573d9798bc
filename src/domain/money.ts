/**
 * Exact money. Every amount is a bigint in the smallest unit of its currency or asset; floats never hold money.
 * Fiat units are called `minor` (cents), crypto units `units` (satoshi, wei).
 */

/** Quotient rounded up. Both arguments are non-negative and `divisor` > 0. */
export function divCeil(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

/** Quotient rounded to the nearest integer, halves up. Both arguments are non-negative and `divisor` > 0. */
export function divHalfUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend * 2n + divisor) / (divisor * 2n);
}

/** 10 to the power of `exponent`, which must be 0 or more. */
export function pow10(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

const PLAIN_DECIMAL = /^(0|[1-9]\d*)(?:\.(\d+))?$/;

/**
 * Parses a plain decimal (`12`, `12.5`; no sign, exponent or leading zeros) into units of 10^-`decimals`. Returns null
 * if the text is no plain decimal or has more places than `decimals`, not counting trailing zeros.
 */
export function parseDecimal(text: string, decimals: number): bigint | null {
  const match = PLAIN_DECIMAL.exec(text);
  if (!match) return null;
  const whole = match[1] ?? '0';
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) return null;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Formats units as the shortest plain decimal, never with an exponent: `formatDecimal(1n, 8)` is `0.00000001`. */
export function formatDecimal(units: bigint, decimals: number): string {
  if (units < 0n) return `-${formatDecimal(-units, decimals)}`;
  if (decimals === 0) return units.toString();
  const digits = units.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  const whole = digits.slice(0, -decimals);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

interface FiatRow {
  /** The number of decimals, from ISO 4217. */
  readonly decimals: number;
  /** The greatest amount of a payment, in whole units. */
  readonly most: bigint;
}

/**
 * The fiat currencies that amounts can be stated in. `most` is 1,000,000 USD in each, rounded generously, and the same
 * at every rate, so that a shop can rely on it.
 */
const FIAT_ROWS = {
  USD: { decimals: 2, most: 1_000_000n },
  EUR: { decimals: 2, most: 1_000_000n },
  GBP: { decimals: 2, most: 1_000_000n },
  CHF: { decimals: 2, most: 1_000_000n },
  CAD: { decimals: 2, most: 1_500_000n },
  AUD: { decimals: 2, most: 1_500_000n },
  NZD: { decimals: 2, most: 2_000_000n },
  JPY: { decimals: 0, most: 150_000_000n },
  SGD: { decimals: 2, most: 1_500_000n },
  HKD: { decimals: 2, most: 8_000_000n },
  SEK: { decimals: 2, most: 10_000_000n },
  NOK: { decimals: 2, most: 10_000_000n },
  DKK: { decimals: 2, most: 7_000_000n },
  PLN: { decimals: 2, most: 4_000_000n },
  BRL: { decimals: 2, most: 6_000_000n },
  MXN: { decimals: 2, most: 20_000_000n },
  INR: { decimals: 2, most: 100_000_000n },
} as const satisfies Readonly<Record<string, FiatRow>>;

export type Fiat = keyof typeof FIAT_ROWS;

/** The fiat currencies, USD first. */
export const FIATS = Object.keys(FIAT_ROWS) as readonly Fiat[];

/** Whether `code` is a fiat currency that amounts may be stated in. */
export function isFiat(code: string): code is Fiat {
  return Object.hasOwn(FIAT_ROWS, code);
}

/** The number of decimals of a fiat currency: 2 for USD, 0 for JPY. */
export function fiatDecimals(currency: Fiat): number {
  return FIAT_ROWS[currency].decimals;
}

/** The least amount of a payment, in minor units. */
export const MIN_AMOUNT_MINOR = 1n;

/** The greatest amount of a payment, in minor units: 100,000,000 for USD, which is 1,000,000.00. */
export function maxAmountMinor(currency: Fiat): bigint {
  return FIAT_ROWS[currency].most * pow10(fiatDecimals(currency));
}

/** The greatest amount of a payment in any of these currencies, in minor units. */
export function greatestAmountMinor(currencies: readonly Fiat[]): bigint {
  return currencies.map(maxAmountMinor).reduce((greatest, one) => (one > greatest ? one : greatest), 0n);
}

/** The greatest amounts in words: `1000000 USD, 1000000 EUR, …`. */
export const MAX_AMOUNTS = FIATS.map((currency) => `${FIAT_ROWS[currency].most} ${currency}`).join(', ');

/**
 * Converts a JSON number into minor units of `currency`, or says which rule it breaks. `String` gives the shortest text
 * that parses back to the same number, so a number with up to 15 digits is read exactly as the client wrote it.
 */
export function parseFiatAmount(
  value: number,
  currency: Fiat,
): { readonly kind: 'ok'; readonly minor: bigint } | { readonly kind: 'invalid'; readonly rule: string } {
  const decimals = fiatDecimals(currency);
  const max = maxAmountMinor(currency);
  const range = `from ${formatDecimal(MIN_AMOUNT_MINOR, decimals)} to ${formatDecimal(max, decimals)} ${currency}`;
  if (!Number.isFinite(value) || value <= 0) return { kind: 'invalid', rule: `must be a number ${range}` };
  const minor = parseDecimal(String(value), decimals);
  if (minor === null) {
    if (value > 1) return { kind: 'invalid', rule: `must have at most ${decimals} decimals and be ${range}` };
    return { kind: 'invalid', rule: `must have at most ${decimals} decimals` };
  }
  if (minor < MIN_AMOUNT_MINOR || minor > max) return { kind: 'invalid', rule: `must be ${range}` };
  return { kind: 'ok', minor };
}
