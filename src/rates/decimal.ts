import type { UsdPriceE8 } from '../domain/asset.ts';
import { divHalfUp, pow10 } from '../domain/money.ts';

/** A number exactly as a source wrote it: `units` / 10^`scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Digits and exponent are limited, so that no answer can make us compute with huge numbers. */
const DECIMAL_TEXT = /^(\d{1,30})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/**
 * Parses a decimal text, or a JSON number by its shortest text; null for anything else, including negative numbers. No
 * arithmetic is done with floats.
 */
export function readDecimal(value: unknown): Decimal | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const match = DECIMAL_TEXT.exec(String(value));
  if (match === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const units = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { units: units * pow10(-scale), scale: 0 } : { units, scale };
}

/** The quotient of two numbers as a price, to the nearest 10^-8, halves up; null if that is not above 0. */
export function quotientE8(dividend: Decimal, divisor: Decimal): UsdPriceE8 | null {
  if (divisor.units === 0n) return null;
  const price = divHalfUp(dividend.units * pow10(8 + divisor.scale), divisor.units * pow10(dividend.scale));
  return price === 0n ? null : price;
}

export const ONE: Decimal = { units: 1n, scale: 0 };

/** A bid and an ask further apart than this do not give a usable price: 2 %. */
const WIDEST_SPREAD_BASIS_POINTS = 200n;

/**
 * The middle between the best bid and the best ask, which is current even if the last trade was hours ago. Null for an
 * empty, crossed or very wide order book, and for anything that is not a number.
 */
export function midPrice(bid: unknown, ask: unknown): Decimal | null {
  const [low, high] = [readDecimal(bid), readDecimal(ask)];
  if (low === null || high === null) return null;
  const scale = Math.max(low.scale, high.scale);
  const lowUnits = low.units * pow10(scale - low.scale);
  const highUnits = high.units * pow10(scale - high.scale);
  if (lowUnits === 0n || highUnits < lowUnits) return null;
  if ((highUnits - lowUnits) * 10_000n > lowUnits * WIDEST_SPREAD_BASIS_POINTS) return null;
  // A half needs one more decimal place: (low + high) / 2 = (low + high) × 5 / 10.
  return { units: (lowUnits + highUnits) * 5n, scale: scale + 1 };
}
