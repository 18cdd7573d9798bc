import { isAssetCode } from '../domain/asset.ts';
import type { RateSource } from './source.ts';

const WHOLE_BASIS_POINTS = 10_000;

/**
 * Prices with a merchant's spread: each asset counts for less than its price, by this many hundredths of a percent, so
 * that the customer pays more. Rounded down, in the merchant's favour; fiat currencies keep their price.
 *
 * @param basisPoints a whole number from 0 to 9,999; throws RangeError for any other
 */
export function withSpread(rates: RateSource, basisPoints: number): RateSource {
  if (!Number.isInteger(basisPoints) || basisPoints < 0 || basisPoints >= WHOLE_BASIS_POINTS) {
    throw new RangeError(`a spread must be a whole number of basis points from 0 to ${WHOLE_BASIS_POINTS - 1}`);
  }
  if (basisPoints === 0) return rates;
  const kept = BigInt(WHOLE_BASIS_POINTS - basisPoints);
  return {
    usdPrice: (code) => {
      const price = rates.usdPrice(code);
      if (price === null || !isAssetCode(code)) return price;
      const lowered = (price * kept) / BigInt(WHOLE_BASIS_POINTS);
      // A price rounded to zero is left out, because it would be a divisor.
      return lowered === 0n ? null : lowered;
    },
  };
}
