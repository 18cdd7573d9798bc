import { crypto, networkName, sentences } from './format.ts';
import { html, type Html } from '../pages/html.ts';
import { contactShop, supportLink } from './shop-contact.ts';
import type { PaymentView, QuoteView, WrongMoney } from './view.ts';

/** What came in another token than the quote's: it is not lost, and whose it is now. */
export function wrongMoneyNote(view: PaymentView): Html | null {
  const { step, wrongMoney } = view;
  const quote = 'quote' in step ? step.quote : null;
  if (quote === null || wrongMoney.length === 0) return null;
  const texts = wrongMoney.map((money) => textOf(view, quote, money));
  return html`<div class="note" role="alert">
    <p>${sentences(view.frame.locale, ...texts, contactShop(view))}</p>
    ${supportLink(view)}
  </div>`;
}

function textOf({ frame: { locale } }: PaymentView, quote: QuoteView, money: WrongMoney): Html {
  const token = locale.t('token_on', { asset: quote.asset, network: networkName(quote.network) });
  return locale.t('wrong_token', { amount: crypto(money.units, money), network: networkName(money.network), token });
}
