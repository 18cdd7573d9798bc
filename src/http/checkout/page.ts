import { formatFiat } from './format.ts';
import { html, type Html } from './html.ts';
import { chooseCard } from './choose-step.ts';
import { closedCard, completedCard } from './final-step.ts';
import { facts, renderDocument, shopHeader, testBand, testText, theirs, type Refresh } from './layout.ts';
import { payCard } from './pay-step.ts';
import { checkingCard, confirmingCard, detectedCard, unavailableCard } from './progress-step.ts';
import { paymentPath } from './safe-url.ts';
import { NOTICES, type Notice, type Page, type PaymentView } from './view.ts';

/**
 * The payment page, whole and usable without JavaScript. Status 200; where the view carries a notice, the status of the
 * refusal (400, or 503 without a price), so that it can answer the refused POST itself.
 */
export function renderPaymentPage(view: PaymentView): Page {
  return renderDocument({
    status: view.notice === null ? 200 : view.notice === 'price_unavailable' ? 503 : 400,
    title: `${windowTitle(view)} · ${view.projectName}`,
    test: view.test !== null,
    refresh: view.autoRefresh ? refreshOf(view) : null,
    band: view.test && testBand(testText(view.test, view.now)),
    header: shopHeader(view.projectName),
    main: html`${view.notice && html`<p class="notice" role="alert">${NOTICE_TEXTS[view.notice]}</p>`}
      <div class="layout">
        <section class="summary">${summary(view)}</section>
        <section class="card" aria-labelledby="status-title">${card(view)}</section>
        ${view.step.kind !== 'completed' && details(view)}
      </div>`,
    footer: footer(view),
  });
}

/** The notice that a text from outside names, or null. */
export function parseNotice(text: string): Notice | null {
  return NOTICES.find((notice) => notice === text) ?? null;
}

const NOTICE_TEXTS: Readonly<Record<Notice, string>> = {
  money_seen:
    'Not changed: money for this payment was already seen on the network, so it can no longer be cancelled or paid with another token.',
  not_open: 'Not changed: this payment is no longer open.',
  expired: 'Not changed: the time to pay has run out.',
  token_unavailable: 'Not changed: this payment cannot be made with that token. Choose another one.',
  amount_too_small: 'Not changed: the amount is too small to be sent with that token. Choose another one.',
  price_unavailable:
    'Not changed: there is no fresh price for that token right now. Try again in a minute or choose another one.',
};

function card(view: PaymentView): Html {
  const { step } = view;
  switch (step.kind) {
    case 'choose':
      return chooseCard(view, step);
    case 'unavailable':
      return unavailableCard(view, step.canCancel);
    case 'pay':
      return payCard(view, step);
    case 'checking':
      return checkingCard();
    case 'detected':
      return detectedCard(step);
    case 'confirming':
      return confirmingCard(step, step.confirmations);
    case 'completed':
      return completedCard(view, step);
    case 'closed':
      return closedCard(view, step);
  }
}

/** Longer ones would push what to do below the edge of a phone's screen; they stand with the details instead. */
const SHORT_DESCRIPTION = 120;

function summary(view: PaymentView): Html {
  return html`<h1>
      <span class="label">Payment of</span> <span class="fiat">${formatFiat(view.amountMinor, view.currency)}</span>
      <span class="unit">${view.currency}</span>
    </h1>
    ${hasShortDescription(view) && view.description && html`<p class="description">${theirs(view.description)}</p>`}`;
}

/** Below the card on phones, beside it on wide screens. Null when there is nothing to say. */
function details(view: PaymentView): Html | null {
  const description = hasShortDescription(view) ? null : view.description;
  if (description === null && view.merchantOrderId === null && view.transactionNumber === null) return null;
  return html`<section class="details" aria-label="Details">
    ${facts([
      ['For', description && html`<span class="description">${theirs(description)}</span>`],
      ['Order', view.merchantOrderId && theirs(view.merchantOrderId)],
      ['Payment', view.transactionNumber],
    ])}
  </section>`;
}

function hasShortDescription({ description }: PaymentView): boolean {
  return description !== null && description.length <= SHORT_DESCRIPTION;
}

function windowTitle(view: PaymentView): string {
  const { step } = view;
  switch (step.kind) {
    case 'choose':
      return 'Choose how to pay';
    case 'unavailable':
      return 'No way to pay yet';
    case 'pay':
      return step.receivedUnits > 0n ? 'Partly paid' : 'Waiting for payment';
    case 'checking':
      return 'Time is over';
    case 'detected':
      return 'Payment detected';
    case 'confirming':
      return 'Confirming';
    case 'completed':
      return 'Paid';
    case 'closed':
      return step.paidLate ? 'Paid late' : CLOSED_TITLES[step.outcome];
  }
}

const CLOSED_TITLES = {
  expired: 'Expired',
  cancelled: 'Cancelled',
  underpaid: 'Failed',
  unconfirmed: 'Failed',
} as const;

/** What a page waits for is shown soon; while the customer reads and copies, or chooses, the page is left in peace. */
const WATCHING_SECONDS = 5;
const PAYING_SECONDS = 15;

/**
 * When the page loads itself again. Never while the customer chooses, except at the moment that ends the choice; a
 * deadline that lies nearer than the usual pause is met.
 */
function refreshOf(view: PaymentView): Refresh | null {
  const { step, test } = view;
  if (step.kind === 'completed' || step.kind === 'closed') return null;
  const path = paymentPath(view.paymentId);
  const watching = step.kind === 'detected' || step.kind === 'confirming' || step.kind === 'checking';
  if (watching) return { seconds: WATCHING_SECONDS, path };
  const dueAt = test?.kind === 'completes' ? Math.min(test.at, view.payUntilAt) : view.payUntilAt;
  // A second later, when the worker has drawn the deadline; then often, until it has.
  const dueInSeconds = dueAt > view.now ? Math.ceil((dueAt - view.now) / 1_000) + 1 : WATCHING_SECONDS;
  return { seconds: step.kind === 'choose' ? dueInSeconds : Math.min(PAYING_SECONDS, dueInSeconds), path };
}

function footer(view: PaymentView): Html {
  const path = paymentPath(view.paymentId);
  const isFinal = view.step.kind === 'completed' || view.step.kind === 'closed';
  return html`${
      refreshOf(view) &&
      (view.autoRefresh
        ? html`<p>This page updates itself. <a href="${path}?refresh=off">Stop updating</a></p>`
        : html`<p>This page does not update itself. <a href="${path}">Update now and go on updating</a></p>`)
    }
    <p>
      All times are in UTC. The address of this page is private: whoever has it can see
      ${isFinal ? 'this payment' : 'and cancel this payment'}.
    </p>`;
}
