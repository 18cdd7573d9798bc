import { shownDecimals } from '../domain/asset.ts';
import { divCeil, divHalfUp, fiatDecimals, pow10, type Fiat } from '../domain/money.ts';

/** The amount of a payment in both of its units, from which its rate is computed. */
export interface Priced {
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  readonly quote: { readonly decimals: number; readonly owedUnits: bigint };
}

/** The decimals of a price. */
export const PRICE_PLACES = 6;
const ENOUGH_DIGITS = 12;

/**
 * The value of one whole unit, in 10^-6 of the currency: the price with the fewest digits that results in exactly this
 * amount. The owed amount was rounded up, so dividing by it would show 59,999.76 where the price was 60,000.
 */
export function quotedPrice({ amountMinor, currency, quote: { decimals, owedUnits } }: Priced): bigint {
  if (owedUnits === 0n) return 0n;
  const fiatScale = pow10(fiatDecimals(currency));
  const shown = shownDecimals(decimals);
  const owed = owedUnits / pow10(decimals - shown);
  const implied = divHalfUp(amountMinor * pow10(decimals + PRICE_PLACES), owedUnits * fiatScale);
  const length = implied.toString().length;
  for (let digits = 1; digits <= Math.min(length, ENOUGH_DIGITS); digits += 1) {
    const unit = pow10(length - digits);
    const price = divHalfUp(implied, unit) * unit;
    if (price > 0n && divCeil(amountMinor * pow10(shown + PRICE_PLACES), price * fiatScale) === owed) return price;
  }
  return implied;
}
