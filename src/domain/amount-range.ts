import { fiatDecimals, formatDecimal, maxAmountMinor, MIN_AMOUNT_MINOR, type Fiat } from './money.ts';
import { sentence, type Sentence } from './sentence.ts';

/** The values of the sentence `amount_range`. */
export function amountRange(currency: Fiat, leastMinor = MIN_AMOUNT_MINOR) {
  const places = fiatDecimals(currency);
  const amount = (minor: bigint): string => formatDecimal(minor, places);
  return {
    least: amount(leastMinor),
    most: amount(maxAmountMinor(currency)),
    currency,
    decimals: decimalsPart(places),
  };
}

/** The part of a sentence on an amount that tells its decimals, with an example. */
export function decimalsPart(decimals: number): Sentence {
  return decimals === 0 ? sentence('no_decimals') : sentence('some_decimals', { decimals });
}
