import { shownDecimals } from '../../domain/asset.ts';
import { divCeil, divHalfUp, fiatDecimals, formatDecimal, pow10, type Fiat } from '../../domain/money.ts';
import { html, type Html } from '../pages/html.ts';
import type { Locale } from './locale.ts';
import { fiat } from './format.ts';
import type { QuoteView } from './view.ts';

/** What a payment asks for, in both of its units: they are what its rate is. */
export interface Priced {
  readonly amountMinor: bigint;
  readonly currency: Fiat;
  readonly quote: Pick<QuoteView, 'asset' | 'decimals' | 'owedUnits'>;
}

/** `1 BTC = $60,000.00`: what one whole unit counts as in this payment. */
export function rateOf(locale: Locale, priced: Priced): Html {
  const price = locale.price(formatDecimal(roundestPrice(priced), PLACES), priced.currency);
  return html`<bdi dir="ltr"
    ><span class="intact">1 ${priced.quote.asset} =</span> <span class="intact">${price}</span></bdi
  >`;
}

const PLACES = 6;
const ENOUGH_DIGITS = 12;

/**
 * The price with the fewest digits that asks for exactly this amount, in 10^-6 of the currency: what is owed was
 * rounded up, so dividing by it would show 59,999.76 where the price was 60,000.
 */
function roundestPrice({ amountMinor, currency, quote: { decimals, owedUnits } }: Priced): bigint {
  const fiatScale = pow10(fiatDecimals(currency));
  const shown = shownDecimals(decimals);
  const owed = owedUnits / pow10(decimals - shown);
  const implied = divHalfUp(amountMinor * pow10(decimals + PLACES), owedUnits * fiatScale);
  const length = implied.toString().length;
  for (let digits = 1; digits <= Math.min(length, ENOUGH_DIGITS); digits += 1) {
    const unit = pow10(length - digits);
    const price = divHalfUp(implied, unit) * unit;
    if (price > 0n && divCeil(amountMinor * pow10(shown + PLACES), price * fiatScale) === owed) return price;
  }
  return implied;
}

/** What a part of the money is worth at the payment's rate: `≈ $24.95`. */
export function worthOf(locale: Locale, units: bigint, { amountMinor, currency, quote }: Priced): Html {
  const minor = divHalfUp(amountMinor * units, quote.owedUnits);
  return html`<span class="worth">≈ ${fiat(locale, minor, currency)}</span>`;
}
