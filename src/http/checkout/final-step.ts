import { crypto, grouped, name, networkName } from './format.ts';
import { html, type Html } from '../pages/html.ts';
import { facts, statusHeading } from './layout.ts';
import type { TextKey } from './locale.ts';
import { refundNews } from './refund-news.ts';
import { shopHref } from './safe-url.ts';
import type { ClosedStep, CompletedStep, PaymentView, QuoteView } from './view.ts';

/** Paid: the receipt, and the way back to the shop. */
export function completedCard(view: PaymentView, step: CompletedStep): Html {
  const { locale, branding } = view.frame;
  const { quote } = step;
  const shop = name(branding.projectName);
  return html`${statusHeading('done', locale.t('completed_title'), locale.t('completed_text', { shop }))}
    ${unusual(view, step)} ${refundNews(view)} ${backToShop(view, step)}
    <section class="receipt" aria-labelledby="receipt-title">
      <h3 id="receipt-title">${locale.t('receipt')}</h3>
      ${facts([
        [locale.t('paid_to'), shop],
        [locale.t('for'), view.description && name(view.description)],
        [locale.t('amount'), html`${name(locale.fiat(view.amountMinor, view.currency))} ${view.currency}`],
        [locale.t('paid'), quote && crypto(step.receivedUnits, quote)],
        [locale.t('network'), quote && networkName(quote.network)],
        [locale.t('completed_at'), locale.dateTime(step.completedAt)],
        [locale.t('order'), view.merchantOrderId && name(view.merchantOrderId)],
        [locale.t('payment'), name(view.transactionNumber ?? view.paymentId)],
        [locale.t('transaction'), step.transactionHash === null ? null : grouped(step.transactionHash)],
        [locale.t('test'), view.test && locale.t('no_money_moved')],
      ])}
      <p class="actions print">
        <button type="button" class="button quiet" hidden data-print>${locale.t('print')}</button>
      </p>
    </section>`;
}

function unusual({ frame: { locale } }: PaymentView, { exception, quote, receivedUnits }: CompletedStep): Html | null {
  const note = (text: Html): Html => html`<p class="note">${text}</p>`;
  switch (exception) {
    case 'none':
      return null;
    case 'overpaid':
      return quote && note(locale.t('overpaid', { amount: crypto(receivedUnits - quote.owedUnits, quote) }));
    case 'underpaid':
      return quote && note(locale.t('underpaid_accepted', { amount: crypto(quote.owedUnits, quote) }));
    case 'paid_late':
      return note(locale.t('late_accepted'));
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
const LATE = { title: 'late_title', text: 'late_text' } as const;

/** Ended without being paid in full and in time; says what happens to money that did arrive. */
export function closedCard(view: PaymentView, step: ClosedStep): Html {
  const { locale } = view.frame;
  const { title, text } = step.paidLate ? LATE : CLOSED[step.outcome];
  const { quote } = step;
  const arrived = step.receivedUnits > 0n;
  return html`${statusHeading(arrived ? 'attention' : 'stopped', locale.t(title), locale.t(text))}
  ${quote && arrived && html`${received(view, step, quote)} ${view.refunds.length === 0 && whatNow(view, step)}`}
  ${!arrived && html`<p>${locale.t('nothing_came')}</p>`} ${refundNews(view)} ${backToShop(view, step)}`;
}

function whatNow(view: PaymentView, step: ClosedStep): Html {
  const { locale } = view.frame;
  return html`<p class="note">
    ${isLost(step) ? locale.t('money_unconfirmed') : locale.t('money_safe')}
    ${locale.t('contact_shop', { payment: name(view.transactionNumber ?? view.paymentId) })}
  </p>`;
}

/** Money that the network never confirmed was seen, but the shop does not have it. */
function isLost(step: ClosedStep): boolean {
  return step.outcome === 'unconfirmed' && !step.paidLate;
}

function received({ frame: { locale } }: PaymentView, step: ClosedStep, quote: QuoteView): Html {
  return facts([
    [locale.t('asked_for'), crypto(quote.owedUnits, quote)],
    [locale.t(isLost(step) ? 'stage_seen' : 'received'), crypto(step.receivedUnits, quote)],
    [locale.t('network'), networkName(quote.network)],
    [locale.t('transaction'), step.transactionHash === null ? null : grouped(step.transactionHash)],
  ]);
}

/**
 * Whether the page may lead to the shop automatically. Not if money is unresolved or being refunded, because the
 * customer must read what to do about it. Not in a shop's frame either, where the shop's page decides.
 */
export function returnsByItself({ frame, refunds }: PaymentView, step: CompletedStep | ClosedStep): boolean {
  const isSettled = step.kind === 'completed' || step.receivedUnits === 0n;
  return isSettled && refunds.length === 0 && frame.embed === null;
}

/** Only for final states: before, the shop could mistake a visitor for a payer. It proves nothing even then. */
function backToShop(view: PaymentView, step: CompletedStep | ClosedStep): Html {
  const { frame, paymentId } = view;
  const { locale, branding, embed } = frame;
  const [url, weight] = step.kind === 'completed' ? [view.successUrl, 'primary'] : [view.cancelUrl, 'quiet'];
  const href = shopHref(url, paymentId);
  if (href === null) return html`<p class="hint">${locale.t('close_page')}</p>`;
  return html`<div class="actions">
    <a class="button ${weight}" href="${href}" data-return${embed !== null && html` target="_top"`}
      ><span>${locale.t('back_to', { shop: name(branding.projectName) })}</span></a
    >
    ${
      returnsByItself(view, step) &&
      html`<p class="returning" hidden data-returning>
        <span data-returning-text></span> <button type="button" class="link" data-stay>${locale.t('stay')}</button>
      </p>`
    }
  </div>`;
}
