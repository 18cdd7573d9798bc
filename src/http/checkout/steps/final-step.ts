import { commonPlaces, crypto, fiatWithCode, grouped, name, networkName, sentences } from '../language/format.ts';
import { html, type Html } from '../../pages/html.ts';
import { facts, statusHeading } from '../layout.ts';
import { paymentPath, pageHref, shopHref } from '../present.ts';
import type { TextKey } from '../language/locale.ts';
import { rateOf, worthOf, contactShop, supportLink, transactionFact } from './parts.ts';
import type { ClosedStep, CompletedStep, PaymentView, QuoteView, RefundNews } from '../view.ts';

/** Paid: the receipt, and the way back to the shop. */
export function completedCard(view: PaymentView, step: CompletedStep): Html {
  const { locale, branding } = view.frame;
  const shop = name(branding.projectName);
  return html`${statusHeading('done', locale.t('completed_title'), locale.t('completed_text', { shop }))}
    ${unusual(view, step)} ${refundNews(view)} ${backToShop(view, step)}
    <section class="receipt" aria-labelledby="receipt-title">
      <h3 id="receipt-title">${locale.t('receipt')}</h3>
      ${receipt(view, step)}
      <p class="hint">${locale.t('keep_link')}</p>
      <p class="actions row print">
        <button type="button" class="button quiet" hidden data-copy-page="${paymentPath(view.paymentId)}">
          <span>${locale.t('copy_link')}</span>
        </button>
        <button type="button" class="button quiet" hidden data-print>${locale.t('print')}</button>
      </p>
    </section>`;
}

function receipt(view: PaymentView, step: CompletedStep): Html {
  const { locale, branding } = view.frame;
  const { quote } = step;
  return facts([
    [locale.t('paid_to'), name(branding.projectName)],
    [locale.t('for'), view.description && name(view.description)],
    [locale.t('amount'), fiatWithCode(locale, view.amountMinor, view.currency)],
    [locale.t('asked_for'), quote && isUneven(step) && crypto(quote.owedUnits, quote, placesOf(step, quote))],
    [locale.t('paid'), quote && crypto(step.receivedUnits, quote, placesOf(step, quote))],
    [locale.t('rate'), quote && rateOf(locale, { ...view, quote })],
    [locale.t('network'), quote && networkName(quote.network)],
    [locale.t('address'), quote && grouped(quote.address)],
    [locale.t('completed_at'), locale.receiptTime(step.completedAt)],
    [locale.t('order'), view.merchantOrderId && name(view.merchantOrderId)],
    [locale.t('payment'), name(view.transactionNumber ?? view.paymentId)],
    [
      locale.t('transaction'),
      transactionFact(locale, { hash: step.transactionHash, explorer: quote && quote.explorer }),
    ],
    [locale.t('contact'), branding.supportUrl && name(readable(branding.supportUrl))],
    [locale.t('test'), view.test && locale.t('no_money_moved')],
  ]);
}

/** Whether to compare the paid amount with the requested one. */
function isUneven({ exception }: CompletedStep): boolean {
  return exception === 'overpaid' || exception === 'underpaid';
}

function placesOf({ receivedUnits }: CompletedStep | ClosedStep, quote: QuoteView): number {
  return commonPlaces(quote, quote.owedUnits, receivedUnits);
}

/** An address as people write it: `help@shop.example`, `shop.example/help`. */
function readable(url: string): string {
  return url.replace(/^(?:mailto:|https?:\/\/)/, '').replace(/\/$/, '');
}

function unusual(view: PaymentView, step: CompletedStep): Html | null {
  const { locale } = view.frame;
  const { exception, wasCancelled, quote, receivedUnits } = step;
  const withWorth = (units: bigint, of: QuoteView): Html =>
    html`${crypto(units, of, placesOf(step, of))} (${worthOf(locale, units, { ...view, quote: of })})`;
  const note = (text: Html): Html => html`<p class="note">${text}</p>`;
  switch (exception) {
    case 'none':
      return null;
    case 'overpaid':
      return (
        quote &&
        html`<div class="note">
          <p>
            ${sentences(
              locale,
              locale.t('overpaid', { amount: withWorth(receivedUnits - quote.owedUnits, quote) }),
              contactShop(view),
            )}
          </p>
          ${supportLink(view)}
        </div>`
      );
    case 'underpaid':
      return quote && note(locale.t('underpaid_accepted', { amount: crypto(quote.owedUnits, quote) }));
    case 'paid_late':
      return note(locale.t(wasCancelled ? 'late_cancelled_accepted' : 'late_accepted'));
    case 'reorged':
      return note(locale.t('reorged'));
  }
}

const CLOSED = {
  expired: { title: 'expired_title', text: 'expired_text' },
  cancelled: { title: 'cancelled_title', text: 'cancelled_text' },
  underpaid: { title: 'failed_title', text: 'underpaid_text' },
  unconfirmed: { title: 'failed_title', text: 'unconfirmed_text' },
} as const satisfies Record<ClosedStep['outcome'], { readonly title: TextKey; readonly text: TextKey }>;

/** Ended without being paid in full and in time; says what happens to money that did arrive. */
export function closedCard(view: PaymentView, step: ClosedStep): Html {
  const { locale } = view.frame;
  const { title, text } = cameLate(step) ? lateTexts(step) : CLOSED[step.outcome];
  const { quote } = step;
  const arrived = step.receivedUnits > 0n;
  return html`${statusHeading(arrived ? 'attention' : 'stopped', locale.t(title), locale.t(text))}
  ${quote && arrived && html`${received(view, step, quote)} ${view.refunds.length === 0 && whatNow(view, step)}`}
  ${!arrived && html`<p>${locale.t(view.requestPath === null ? 'nothing_came' : 'nothing_came_request')}</p>`}
  ${quote && !arrived && view.wrongMoney.length === 0 && sentAlready(view)} ${refundNews(view)}
  ${backToShop(view, step)}`;
}

/** Whether any money came after the end. */
export function cameLate({ outcome, paidLate, receivedUnits }: ClosedStep): boolean {
  return paidLate || ((outcome === 'expired' || outcome === 'cancelled') && receivedUnits > 0n);
}

function lateTexts({ outcome, paidLate }: ClosedStep) {
  const inFullOrPart = paidLate ? 'late_text' : 'late_part_text';
  return { title: 'late_title', text: outcome === 'cancelled' ? 'late_cancelled_text' : inFullOrPart } as const;
}

/** For customers who sent just before the end: their money will be found, and they must not send it again. */
function sentAlready(view: PaymentView): Html {
  const { frame, now, watchedUntilAt } = view;
  const { locale } = frame;
  return html`<div class="note">
    <p><strong>${locale.t('sent_title')}</strong></p>
    <p>
      ${sentences(
        locale,
        now < watchedUntilAt && locale.t('sent_watched', { time: locale.dateTime(watchedUntilAt) }),
        contactShop(view),
      )}
    </p>
    ${supportLink(view)}
  </div>`;
}

function whatNow(view: PaymentView, step: ClosedStep): Html {
  const { locale } = view.frame;
  return html`<div class="note">
    <p>
      ${sentences(locale, isLost(step) ? locale.t('money_unconfirmed') : locale.t('money_safe'), contactShop(view))}
    </p>
    ${supportLink(view)}
  </div>`;
}

/** Whether money was seen that the network never confirmed, so that the shop does not have it. */
function isLost(step: ClosedStep): boolean {
  return step.outcome === 'unconfirmed' && !step.paidLate;
}

function received(view: PaymentView, step: ClosedStep, quote: QuoteView): Html {
  const { locale } = view.frame;
  const places = placesOf(step, quote);
  const both = (units: bigint) => html`${crypto(units, quote, places)} ${worthOf(locale, units, { ...view, quote })}`;
  return facts([
    [locale.t('asked_for'), both(quote.owedUnits)],
    [locale.t(isLost(step) ? 'stage_seen' : 'received'), both(step.receivedUnits)],
    [locale.t('network'), networkName(quote.network)],
    [locale.t('transaction'), transactionFact(locale, { hash: step.transactionHash, explorer: quote.explorer })],
  ]);
}

/**
 * Whether the page may continue to the shop automatically. Not if money is unresolved or being refunded, because the
 * customer must read what to do about it. Not in a shop's frame either, where the shop's page decides, nor if the shop
 * asked not to.
 */
export function returnsByItself(
  { frame, refunds, returnsToShop }: PaymentView,
  step: CompletedStep | ClosedStep,
): boolean {
  const isSettled = step.kind === 'completed' || step.receivedUnits === 0n;
  return returnsToShop && isSettled && refunds.length === 0 && frame.embed === null;
}

/** Only for final states: before, the shop could mistake a visitor for a payer. Even then it proves nothing. */
function backToShop(view: PaymentView, step: CompletedStep | ClosedStep): Html {
  const { frame, paymentId, requestPath } = view;
  const { locale, branding, embed } = frame;
  const isUnpaid = step.kind === 'closed' && step.receivedUnits === 0n;
  const href = shopHref(step.kind === 'completed' ? view.successUrl : view.cancelUrl, paymentId);
  const request =
    requestPath &&
    html`<a class="button ${isUnpaid ? 'primary' : 'quiet'}" href="${pageHref(frame, requestPath)}"
      ><span>${locale.t('back_to_request')}</span></a
    >`;
  if (href === null) {
    return request ? html`<div class="actions">${request}</div>` : html`<p class="hint">${locale.t('close_page')}</p>`;
  }
  const shop = name(branding.projectName);
  const weight = step.kind === 'completed' || isUnpaid ? 'primary' : 'quiet';
  return html`<div class="actions">
    <a class="button ${weight}" href="${href}" data-return${embed !== null && html` target="_top"`}
      ><span>${locale.t(isUnpaid ? 'start_again' : 'back_to', { shop })}</span></a
    >
    ${
      returnsByItself(view, step) &&
      html`<p class="returning" hidden data-returning>
        <span data-returning-text></span> <button type="button" class="link" data-stay>${locale.t('stay')}</button>
      </p>`
    }
    ${request}
  </div>`;
}

/** The state of money that the shop refunds; the claim page is linked from the payment it belongs to. */
function refundNews(view: PaymentView): readonly Html[] {
  return view.refunds.map((refund) => newsOf(view, refund));
}

function newsOf({ frame }: PaymentView, refund: RefundNews): Html {
  const { locale } = frame;
  const amount = crypto(refund.units, refund);
  const path = pageHref(frame, refund.path);
  switch (refund.state) {
    case 'offered':
      return html`<section class="offer">
        <h3>${locale.t('refund_offer_title')}</h3>
        <p>${locale.t('refund_offer_text', { amount })}</p>
        <p class="actions"><a class="button" href="${path}">${locale.t('refund_offer_link')}</a></p>
      </section>`;
    case 'sending':
      return html`<p class="note">${locale.t('refund_sending', { amount })}</p>`;
    case 'sent':
      return html`<p class="note">${locale.t('refund_was_sent', { amount })}</p>`;
  }
}
