import { formatDecimal, parseDecimal } from './money.ts';

/**
 * Parses a percentage with at most two decimals, such as `0.5`, into hundredths of a percent; null if it is not a
 * number up to 999.99.
 */
export function parsePercent(text: string): number | null {
  if (!/^\d{1,3}(?:\.\d{1,2})?$/.test(text)) return null;
  const basisPoints = parseDecimal(text, 2);
  return basisPoints === null ? null : Number(basisPoints);
}

/** Hundredths of a percent as decimal text, such as `0.5`. */
export function formatPercent(basisPoints: number): string {
  return formatDecimal(BigInt(basisPoints), 2);
}
