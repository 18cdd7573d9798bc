import { chooseCard } from './steps/choose-step.ts';
import { cameLate, closedCard, completedCard, returnsByItself } from './steps/final-step.ts';
import { fiatWithCode, name, sentences } from './language/format.ts';
import { html, type Html } from '../pages/html.ts';
import { facts, renderDocument, testBanner, type Refresh } from './layout.ts';
import { pageHref, paymentPath, shopHref } from './present.ts';
import { payCard } from './steps/pay-step.ts';
import { checkingCard, confirmingCard, detectedCard, unavailableCard } from './steps/progress-step.ts';
import { simulations, testText, wrongMoneyNote } from './steps/parts.ts';
import type { Assets } from '../pages/assets.ts';
import { once, type Locale, type TextKey } from './language/locale.ts';
import type { ClosedStep, CompletedStep, Page, PaymentView, Step } from './view.ts';

/**
 * The payment page, complete and usable without JavaScript. Status 200; if the view has a notice, the status of the
 * refusal (400, or 503 without a price), so that the page can answer the refused POST itself.
 */
export function renderPaymentPage(view: PaymentView, assets: Pick<Assets, 'stylePath' | 'scriptPath'>): Page {
  const { frame, test, notice, readAt } = view;
  const { locale } = frame;
  const refresh = refreshOf(view);
  return renderDocument({
    status: readAt !== null || notice === 'price_unavailable' ? 503 : notice === null ? 200 : 400,
    locale,
    frame,
    assets,
    title: `${locale.plain(titleOf(view.step))} - ${frame.branding.projectName}`,
    test: test !== null,
    refresh,
    band: test && testBanner(locale, testText(view, test), simulations(view, test)),
    path: paymentPath(view.paymentId),
    live: {
      version: view.version,
      status: statusOf(view.step),
      page: pageHref(frame, paymentPath(view.paymentId), isChoosingAgain(view.step) ? { choose: 'token' } : {}),
      stream: paymentPath(view.paymentId, 'events'),
      paymentId: view.paymentId,
      now: view.now,
      final: isFinal(view.step),
      stale: readAt !== null,
    },
    main: html`${view.readAt !== null && html`<p class="notice stale" role="alert">${locale.t('stale', { time: locale.time(view.readAt, view.now) })}</p>`}
      ${notice && html`<p class="notice" role="alert">${locale.t(`notice_${notice}`)}</p>`}
      <div class="layout">
        <section class="summary">${summary(view)}</section>
        <section class="card" aria-labelledby="status-title">
          ${stages(view)} ${wrongMoneyNote(view)} ${card(view)}
        </section>
        ${view.step.kind !== 'completed' && details(view)}
      </div>`,
    footer: html`${byItself(view, refresh)} ${footer(view)}`,
  });
}

function card(view: PaymentView): Html {
  const { step } = view;
  switch (step.kind) {
    case 'choose':
      return chooseCard(view, step);
    case 'unavailable':
      return unavailableCard(view, step);
    case 'pay':
      return payCard(view, step);
    case 'checking':
      return checkingCard(view);
    case 'detected':
      return detectedCard(view, step);
    case 'confirming':
      return confirmingCard(view, step, step.confirmations);
    case 'completed':
      return completedCard(view, step);
    case 'closed':
      return closedCard(view, step);
  }
}

const STAGES = ['stage_pay', 'stage_seen', 'stage_confirmed', 'stage_done'] as const;
const STAGE_OF: Readonly<Partial<Record<Step['kind'], number>>> = { pay: 0, detected: 1, confirming: 2, completed: 3 };

/** The progress of a payment that is under way. */
function stages({ step, frame: { locale } }: PaymentView): Html | null {
  const at = STAGE_OF[step.kind];
  return at === undefined ? null : (stageLists(locale)[at] ?? null);
}

const stageLists = once((locale) => STAGES.map((_stage, at) => stageList(locale, at)));

function stageList(locale: Locale, at: number): Html {
  const last = STAGES.length - 1;
  const stageClass = (index: number): string => (index < at || at === last ? 'past' : index === at ? 'now' : 'next');
  return html`<ol class="stages" aria-label="${locale.plain('stages')}">
    ${STAGES.map((key, index) => html`<li class="${stageClass(index)}" ${index === at && html` aria-current="step"`}>${locale.t(key)}</li>`)}
  </ol>`;
}

/** A longer description would push the instructions off a phone's screen; it is shown with the details instead. */
const SHORT_DESCRIPTION = 120;

function summary(view: PaymentView): Html {
  const { locale } = view.frame;
  return html`<h1>
      <span class="label">${locale.t('payment_of')}</span>
      <span class="fiat">${fiatWithCode(locale, view.amountMinor, view.currency)}</span>
    </h1>
    ${hasShortDescription(view) && view.description && html`<p class="description">${name(view.description)}</p>`}`;
}

/** Below the card on phones, beside it on wide screens. Null if there is nothing to say. */
function details(view: PaymentView): Html | null {
  const { locale } = view.frame;
  const description = hasShortDescription(view) ? null : view.description;
  if (description === null && view.merchantOrderId === null && view.transactionNumber === null) return null;
  return html`<section class="details" aria-label="${locale.plain('details')}">
    ${facts([
      [locale.t('for'), description && html`<span class="description" dir="auto">${name(description)}</span>`],
      [locale.t('order'), view.merchantOrderId && name(view.merchantOrderId)],
      [locale.t('payment'), view.transactionNumber && name(view.transactionNumber)],
    ])}
  </section>`;
}

function hasShortDescription({ description }: PaymentView): boolean {
  return description !== null && description.length <= SHORT_DESCRIPTION && !description.includes('\n');
}

/** The text for the current status, the same as in the card's heading. */
function titleOf(step: Step) {
  switch (step.kind) {
    case 'choose':
      return 'choose_title';
    case 'unavailable':
      return step.why === 'inactive' ? 'inactive_title' : 'unavailable_title';
    case 'pay':
      return step.receivedUnits > 0n ? 'part_title' : 'pay_title';
    case 'checking':
      return 'checking_title';
    case 'detected':
      return 'detected_title';
    case 'confirming':
      return 'confirming_title';
    case 'completed':
      return 'completed_title';
    case 'closed':
      return cameLate(step) ? 'late_title' : CLOSED_TITLES[step.outcome];
  }
}

const CLOSED_TITLES = {
  expired: 'expired_title',
  cancelled: 'cancelled_title',
  underpaid: 'failed_title',
  unconfirmed: 'failed_title',
} as const satisfies Record<ClosedStep['outcome'], TextKey>;

/** The status for the script and for the shop's page. */
function statusOf(step: Step): string {
  if (step.kind !== 'closed') return step.kind;
  return step.outcome === 'underpaid' || step.outcome === 'unconfirmed' ? 'failed' : step.outcome;
}

function isFinal(step: Step): boolean {
  return step.kind === 'completed' || step.kind === 'closed';
}

/** The customer has a token and is choosing another one: the page must not return to the first automatically. */
function isChoosingAgain(step: Step): boolean {
  return step.kind === 'choose' && step.current !== null;
}

/**
 * How often the page reloads: often while it waits for something; rarely while the customer reads, copies or chooses.
 */
const WATCHING_SECONDS = 5;
const PAYING_SECONDS = 15;
/**
 * The time for which the receipt is shown before a page that watched the payment continues to the shop (WCAG 2.2.1).
 */
const RETURN_SECONDS = 20;
/**
 * A customer who returns from the shop later than this wants to see the page, so it does not continue to the shop
 * again.
 */
const RETURN_WITHIN_MS = 120_000;

/**
 * When the page reloads itself without a script. Never while the customer chooses, except at the moment that ends the
 * choice; earlier than usual if a deadline is near. At the end it continues to the shop, but only from a page that was
 * open until then.
 */
function refreshOf(view: PaymentView): Refresh | null {
  const { step, test, frame } = view;
  if (!frame.autoRefresh) return null;
  if (step.kind === 'completed' || step.kind === 'closed') return returnOf(view, step);
  const path = pageHref(frame, paymentPath(view.paymentId), { watching: '1' });
  const watching = step.kind === 'detected' || step.kind === 'confirming' || step.kind === 'checking';
  if (watching) return { seconds: WATCHING_SECONDS, path };
  const dueAt = test?.kind === 'completes' ? Math.min(test.at, view.payUntilAt) : view.payUntilAt;
  // A second after the deadline, when the worker has applied it; then often, until it has.
  const dueInSeconds = dueAt > view.now ? Math.ceil((dueAt - view.now) / 1_000) + 1 : WATCHING_SECONDS;
  return { seconds: step.kind === 'choose' ? dueInSeconds : Math.min(PAYING_SECONDS, dueInSeconds), path };
}

function returnOf(view: PaymentView, step: CompletedStep | ClosedStep): Refresh | null {
  const [url, endedAt] =
    step.kind === 'completed' ? [view.successUrl, step.completedAt] : [view.cancelUrl, step.endedAt];
  const shop = shopHref(url, view.paymentId);
  const goes = returnsByItself(view, step) && view.frame.watching && view.now < endedAt + RETURN_WITHIN_MS;
  return shop !== null && goes ? { seconds: RETURN_SECONDS, path: shop } : null;
}

/** The reload of the page without a script, and the way to stop it. */
function byItself(view: PaymentView, refresh: Refresh | null): Html | null {
  const { frame, step } = view;
  const { locale, autoRefresh } = frame;
  const path = paymentPath(view.paymentId);
  const stop = pageHref(frame, path, { refresh: 'off' });
  if (isFinal(step)) {
    if (refresh === null) return null;
    return html`<noscript>
      <p>${locale.t('returning', { seconds: refresh.seconds })} <a href="${stop}">${locale.t('stay')}</a></p>
    </noscript>`;
  }
  const go = pageHref({ ...frame, autoRefresh: true }, path);
  return html`<noscript>
    <p>
      ${autoRefresh ? locale.t('updates_itself') : locale.t('not_updating')}
      <a href="${autoRefresh ? stop : go}">${autoRefresh ? locale.t('stop_updating') : locale.t('update_now')}</a>
    </p>
  </noscript>`;
}

function footer(view: PaymentView): Html {
  const { frame, step } = view;
  const { locale } = frame;
  return html`<p>
    ${sentences(
      locale,
      html`<span data-zone>${locale.t('times_utc')}</span>`,
      'canCancel' in step && step.canCancel ? locale.t('private_open') : locale.t('private_final'),
    )}
  </p>`;
}
