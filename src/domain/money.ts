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

/** The number of decimals of each fiat currency that amounts can be stated in (ISO 4217). */
const FIAT_DECIMALS = {
  USD: 2,
  EUR: 2,
  GBP: 2,
  CHF: 2,
  CAD: 2,
  AUD: 2,
  NZD: 2,
  JPY: 0,
  SGD: 2,
  HKD: 2,
  SEK: 2,
  NOK: 2,
  DKK: 2,
  PLN: 2,
  BRL: 2,
  MXN: 2,
  INR: 2,
} as const;

export type Fiat = keyof typeof FIAT_DECIMALS;

/** The fiat currencies, USD first. */
export const FIATS = Object.keys(FIAT_DECIMALS) as readonly Fiat[];

/** Whether `code` is a fiat currency that amounts may be stated in. */
export function isFiat(code: string): code is Fiat {
  return Object.hasOwn(FIAT_DECIMALS, code);
}

/** The number of decimals of a fiat currency: 2 for USD, 0 for JPY. */
export function fiatDecimals(currency: Fiat): number {
  return FIAT_DECIMALS[currency];
}

/** The limits of a payment's amount in minor units: 0.01 to 1,000,000.00 USD. */
export const MIN_AMOUNT_MINOR = 1n;
export const MAX_AMOUNT_MINOR = 100_000_000n;

/**
 * Converts a JSON number into minor units of `currency`, or says which rule it breaks. `String` gives the shortest text
 * that parses back to the same number, so a number with up to 15 digits is read exactly as the client wrote it.
 */
export function parseFiatAmount(
  value: number,
  currency: Fiat,
): { readonly kind: 'ok'; readonly minor: bigint } | { readonly kind: 'invalid'; readonly rule: string } {
  const decimals = fiatDecimals(currency);
  const range = `from ${formatDecimal(MIN_AMOUNT_MINOR, decimals)} to ${formatDecimal(MAX_AMOUNT_MINOR, decimals)} ${currency}`;
  if (!Number.isFinite(value) || value <= 0) return { kind: 'invalid', rule: `must be a number ${range}` };
  const minor = parseDecimal(String(value), decimals);
  if (minor === null) {
    if (value > 1) return { kind: 'invalid', rule: `must have at most ${decimals} decimals and be ${range}` };
    return { kind: 'invalid', rule: `must have at most ${decimals} decimals` };
  }
  if (minor < MIN_AMOUNT_MINOR || minor > MAX_AMOUNT_MINOR) return { kind: 'invalid', rule: `must be ${range}` };
  return { kind: 'ok', minor };
}
