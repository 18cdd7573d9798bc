import { html, type Html } from '../../pages/html.ts';
import { pageHref, paymentPath } from '../present.ts';
import type { PaymentView, QuoteView, TestProgress, WrongMoney } from '../view.ts';
import { divHalfUp, formatDecimal } from '../../../domain/money.ts';
import { PRICE_PLACES, quotedPrice, type Priced as PricedUnits } from '../../quoted-price.ts';
import type { Locale } from '../language/locale.ts';
import { fiat, name, grouped, crypto, networkName, sentences } from '../language/format.ts';
import { transactionPage } from '../../../domain/networks.ts';

/** Explains what test mode does with a payment automatically. */
export function testText({ frame: { locale }, now }: PaymentView, test: TestProgress): Html {
  switch (test.kind) {
    case 'completes':
      return locale.t('test_completes', { time: locale.time(test.at, now) });
    case 'expires':
      return locale.t('test_expires', { time: locale.time(test.at, now) });
    case 'walks':
      return locale.t('test_walks', { time: locale.time(test.at, now) });
    case 'by_hand':
      return locale.t('test_by_hand');
    case 'ended':
      return locale.t('test_ended');
  }
}

/** Long enough to read, short enough to wait for. */
const STAGE_SECONDS = 3;

/** Moves a test payment further, while there is a next step. */
export function simulations({ frame, paymentId }: PaymentView, { simulations: possible }: TestProgress): Html | null {
  if (possible.length === 0) return null;
  const { locale } = frame;
  return html`<form class="simulate" method="post" action="${pageHref(frame, paymentPath(paymentId, 'simulate'))}">
    <label class="unseen" for="outcome">${locale.t('simulate')}</label>
    <select id="outcome" name="outcome">
      ${possible.map((one) => html`<option value="${one}">${locale.t(`simulate_${one}`)}</option>`)}
    </select>
    <label><input type="checkbox" name="stages" value="${STAGE_SECONDS}" /> ${locale.t('simulate_stages')}</label>
    <button type="submit">${locale.t('simulate')}</button>
  </form>`;
}

/** Copies a text. Shown by the script, because copying needs it. */
export function copyButton(text: string, label: string): Html {
  return html`<button type="button" class="copy" hidden data-copy="${text}">${COPY}<span>${label}</span></button>`;
}

const COPY = html`<svg aria-hidden="true" viewBox="0 0 24 24"><path d="M9 9h10v11H9zM5 15V4h10" /></svg>`;

/** Cancelling takes two steps, so that nobody cancels a payment by accident. */
export function cancelForm({ frame, paymentId }: PaymentView): Html {
  const { locale } = frame;
  return html`<details class="cancel" id="cancel">
    <summary>${locale.t('cancel')}</summary>
    <form method="post" action="${pageHref(frame, paymentPath(paymentId, 'cancel'))}">
      <p>${locale.t('cancel_text')}</p>
      <button type="submit" class="button danger">${locale.t('cancel_yes')}</button>
    </form>
  </details>`;
}

/** How much time is left to pay; the script makes it tick. */
export function timeLeft({ frame: { locale }, payUntilAt, now }: PaymentView): Html {
  return html`<p class="clock">
    <span class="clock-left"
      >${locale.t('time_left')}
      <strong data-countdown="${payUntilAt}">${locale.duration(payUntilAt - now)}</strong></span
    >
    <span class="clock-until">${locale.t('pay_before', { time: locale.time(payUntilAt, now) })}</span>
  </p>`;
}

/** The amount of a payment in both of its units, from which its rate is computed. */
interface Priced extends PricedUnits {
  readonly quote: Pick<QuoteView, 'asset' | 'decimals' | 'owedUnits'>;
}

/** `1 BTC = $60,000.00`: the value of one whole unit in this payment. */
export function rateOf(locale: Locale, priced: Priced): Html {
  const price = locale.price(formatDecimal(quotedPrice(priced), PRICE_PLACES), priced.currency);
  return html`<bdi dir="ltr"
    ><span class="intact">1 ${priced.quote.asset} =</span> <span class="intact">${price}</span></bdi
  >`;
}

/** The value of a part of the money at the payment's rate: `≈ $24.95`. */
export function worthOf(locale: Locale, units: bigint, { amountMinor, currency, quote }: Priced): Html {
  const minor = divHalfUp(amountMinor * units, quote.owedUnits);
  return html`<span class="worth">≈ ${fiat(locale, minor, currency)}</span>`;
}

/**
 * The references to tell the shop: its own order first, which both sides can say. A transaction's number is not broken
 * at its hyphens if a line has room for all of it.
 */
export function contactShop({ frame, merchantOrderId, transactionNumber, paymentId }: PaymentView): Html {
  const { locale } = frame;
  const payment = transactionNumber === null ? name(paymentId) : html`<bdi class="whole">${transactionNumber}</bdi>`;
  if (merchantOrderId === null) return locale.t('contact_shop', { payment });
  return locale.t('contact_shop_order', { order: name(merchantOrderId), payment });
}

/** The support link in cards that ask the customer to contact the shop. */
export function supportLink({ frame: { locale, branding } }: PaymentView): Html | null {
  const { supportUrl } = branding;
  if (supportUrl === null) return null;
  return html`<p>
    <a class="button quiet" href="${supportUrl}" rel="noreferrer" target="_blank"
      ><span>${locale.t('support')}</span></a
    >
  </p>`;
}

/** A transaction's hash for a list of facts, to compare, copy and follow in a block explorer; null without one. */
export function transactionFact(
  locale: Locale,
  { hash, explorer }: { readonly hash: string | null; readonly explorer: string | null },
): Html | null {
  if (hash === null) return null;
  return html`${grouped(hash)}
    <span class="fact-actions"
      >${copyButton(hash, locale.plain('copy_transaction'))}
      ${explorer && html`<a href="${transactionPage(explorer, hash)}" rel="noreferrer" target="_blank">${locale.t('view_on', { site: new URL(explorer).host })}</a>`}</span
    >`;
}

/** Money that came in another token than the quote's: says that it is not lost, and who has it. */
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
