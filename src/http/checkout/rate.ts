import { divHalfUp, formatDecimal } from '../../domain/money.ts';
import { html, type Html } from '../pages/html.ts';
import { PRICE_PLACES, quotedPrice, type Priced as PricedUnits } from '../quoted-price.ts';
import type { Locale } from './locale.ts';
import { fiat } from './format.ts';
import type { QuoteView } from './view.ts';

/** What a payment asks for, in both of its units: they are what its rate is. */
export interface Priced extends PricedUnits {
  readonly quote: Pick<QuoteView, 'asset' | 'decimals' | 'owedUnits'>;
}

/** `1 BTC = $60,000.00`: what one whole unit counts as in this payment. */
export function rateOf(locale: Locale, priced: Priced): Html {
  const price = locale.price(formatDecimal(quotedPrice(priced), PRICE_PLACES), priced.currency);
  return html`<bdi dir="ltr"
    ><span class="intact">1 ${priced.quote.asset} =</span> <span class="intact">${price}</span></bdi
  >`;
}

/** What a part of the money is worth at the payment's rate: `≈ $24.95`. */
export function worthOf(locale: Locale, units: bigint, { amountMinor, currency, quote }: Priced): Html {
  const minor = divHalfUp(amountMinor * units, quote.owedUnits);
  return html`<span class="worth">≈ ${fiat(locale, minor, currency)}</span>`;
}
