import type { Assets } from '../pages/assets.ts';
import { assetName, crypto, fiatWithCode, grouped, name, networkLabel, sentences } from './language/format.ts';
import { html, type Html } from '../pages/html.ts';
import { facts, renderDocument, statusHeading, testBanner, type Refresh } from './layout.ts';
import { pageHref } from './present.ts';
import type { TextKey, Locale } from './language/locale.ts';
import { transactionFact } from './steps/parts.ts';
import type { Page, RefundStep, RefundView, ProblemView } from './view.ts';

/** Longer than any address; the server does the actual check. */
const MAX_ADDRESS_LENGTH = 128;

/** How often a page of a refund looks for news: the sandbox pays after 10 seconds, shops within days. */
const WAITING_SECONDS = { test: 5, live: 60 } as const;

/** The page where a customer enters the address for a refund. Status 200; 400 if the entered address was refused. */
export function renderRefundPage(view: RefundView, assets: Pick<Assets, 'stylePath' | 'scriptPath'>): Page {
  const { step, frame, mode } = view;
  const { locale, branding } = frame;
  return renderDocument({
    status: step.kind === 'form' && step.problem !== null ? 400 : 200,
    locale,
    frame,
    assets,
    title: `${locale.plain(TITLES[step.kind])} - ${branding.projectName}`,
    test: mode === 'test',
    refresh: refreshOf(view),
    band: mode === 'test' ? testBanner(locale, locale.t('test_refund')) : null,
    path: view.claimPath,
    live: null,
    main: html`<div class="layout">
      <section class="summary">
        <h1>
          <span class="label">${locale.t('refund_of')}</span>
          ${sum(view)}
        </h1>
        ${facts([
          [locale.t('order'), view.merchantOrderId && name(view.merchantOrderId)],
          [locale.t('payment'), name(view.paymentName)],
          [locale.t('refund_from'), name(branding.projectName)],
          [locale.t('you_get'), crypto(view.units, view)],
          [locale.t('network'), networkLabel(view.asset, view.network)],
        ])}
      </section>
      <section class="card" aria-labelledby="status-title">${card(view)}</section>
    </div>`,
    footer: html`<p>
      ${sentences(locale, html`<span data-zone>${locale.t('times_utc')}</span>`, locale.t(step.kind === 'form' ? 'private_refund' : 'private_refund_seen'))}
    </p>`,
  });
}

const TITLES = {
  form: 'claim_title',
  waiting: 'refund_waiting_title',
  completed: 'refund_sent_title',
  failed: 'refund_failed_title',
} as const satisfies Record<RefundStep['kind'], TextKey>;

/** The refunded amount in the payment's currency. Money in a token that was not quoted has no worth in it. */
function sum(view: RefundView): Html {
  const { locale } = view.frame;
  if (view.amountMinor === 0n) return html`<span class="fiat">${crypto(view.units, view)}</span>`;
  return html`<span class="fiat">${fiatWithCode(locale, view.amountMinor, view.currency)}</span>`;
}

function refreshOf({ step, mode, claimPath, frame }: RefundView): Refresh | null {
  const isOver = step.kind === 'completed' || step.kind === 'failed';
  if (isOver || !frame.autoRefresh) return null;
  // Meanwhile the shop may withdraw the refund, or another tab may give its address.
  return { seconds: WAITING_SECONDS[mode], path: pageHref(frame, claimPath), byScript: step.kind === 'form' };
}

function card(view: RefundView): Html {
  const { step, frame } = view;
  const { locale, branding } = frame;
  const shop = name(branding.projectName);
  switch (step.kind) {
    case 'form':
      return claimForm(view, step);
    case 'waiting':
      return html`${statusHeading('waiting', locale.t('refund_waiting_title'), locale.t('refund_waiting_text', { shop }))}
        ${facts([[locale.t('your_address'), grouped(step.address)]])}
        <p class="hint">${locale.t('refund_waiting_hint')}</p>`;
    case 'completed': {
      // The sandbox once completed refunds without an address.
      const text =
        step.address === ''
          ? locale.t('no_money_moved')
          : locale.t('refund_sent_text', { amount: crypto(view.units, view) });
      return html`${statusHeading('done', locale.t('refund_sent_title'), text)}
      ${facts([
        [locale.t('your_address'), step.address !== '' && grouped(step.address)],
        [locale.t('sent_at'), step.completedAt !== null && locale.dateTime(step.completedAt)],
        [locale.t('transaction'), transactionFact(locale, { hash: step.transactionHash, explorer: view.explorer })],
      ])}`;
    }
    case 'failed':
      return html`${statusHeading('stopped', locale.t('refund_failed_title'), locale.t('refund_failed_text'))}
        <p>${locale.t('refund_failed_hint', { shop })}</p>`;
  }
}

function claimForm(view: RefundView, { typed, problem }: RefundStep & { kind: 'form' }): Html {
  const { asset, frame } = view;
  const { locale, branding } = frame;
  const network = networkLabel(asset, view.network);
  const text = locale.t('claim_text', { shop: name(branding.projectName), amount: crypto(view.units, view) });
  return html`${statusHeading('plain', locale.t('claim_title'), text)}
    <form method="post" action="${pageHref(frame, view.claimPath)}" class="claim">
      <label for="address">${locale.t('claim_label', { name: assetName(asset), asset, network })}</label>
      ${problem !== null && html`<p class="field-problem" id="address-problem" role="alert">${locale.t(`claim_${problem}`, { asset, network })}</p>`}
      <input
        id="address"
        name="address"
        type="text"
        dir="ltr"
        value="${typed}"
        required
        maxlength="${MAX_ADDRESS_LENGTH}"
        autocomplete="off"
        autocapitalize="none"
        autocorrect="off"
        spellcheck="false"
        aria-describedby="${problem === null ? '' : 'address-problem '}address-hint"
        ${problem !== null && html` aria-invalid="true"`}
      />
      <p class="warning" id="address-hint">${locale.t('claim_warning', { asset, network })}</p>
      <button type="submit" class="button">${locale.t('claim_button')}</button>
    </form>`;
}

interface Problem {
  readonly status: number;
  readonly name: 'unknown_payment' | 'unknown_refund' | 'unknown_request' | 'leave_unknown' | 'too_many' | 'fault';
  readonly text: TextKey & ('unknown_text' | 'too_many_text' | 'fault_text');
  readonly body: Html;
  readonly refresh: Refresh | null;
}

/** The time after which a failed page is reloaded automatically. */
const PROBLEM_RETRY_SECONDS = 5;

/**
 * The page for a payment or refund that does not exist (404), too many requests (429; the caller adds `Retry-After`),
 * or a failure of the service (503). Does not reveal internal details.
 */
export function renderProblemPage(
  view: ProblemView,
  locale: Locale,
  assets: Pick<Assets, 'stylePath' | 'scriptPath'>,
): Page {
  const problem = problemOf(view, locale);
  return renderDocument({
    status: problem.status,
    locale,
    frame: null,
    assets,
    title: locale.plain(`${problem.name}_title`),
    test: false,
    refresh: problem.refresh,
    band: null,
    path: '/',
    live: null,
    main: html`<h1 class="unseen">${locale.t('crypto_payment')}</h1>
      <section class="card alone" aria-labelledby="status-title">
        ${statusHeading('attention', locale.t(`${problem.name}_title`), locale.t(problem.text))} ${problem.body}
      </section>`,
    footer: html`<p>${locale.t('problem_footer')}</p>`,
  });
}

function problemOf(view: ProblemView, locale: Locale): Problem {
  switch (view.kind) {
    case 'unknown_payment':
    case 'unknown_refund':
    case 'unknown_request':
    case 'leave_unknown':
      return {
        status: 404,
        name: view.kind,
        text: 'unknown_text',
        body: html`<p>${locale.t(`${view.kind}_hint`)}</p>`,
        refresh: null,
      };
    case 'too_many_requests': {
      const seconds = Math.max(1, Math.ceil(view.retryAfterSeconds));
      return {
        status: 429,
        name: 'too_many',
        text: 'too_many_text',
        body: html`<p>${locale.t('too_many_hint', { time: locale.duration(seconds * 1_000) })}</p>
          ${retryLink(locale, view.retryPath)}`,
        refresh: { seconds, path: view.retryPath },
      };
    }
    case 'fault':
      return {
        status: 503,
        name: 'fault',
        text: 'fault_text',
        body: html`<p>${locale.t('fault_hint')}</p>
          ${retryLink(locale, view.retryPath)}`,
        refresh: { seconds: PROBLEM_RETRY_SECONDS, path: view.retryPath },
      };
  }
}

function retryLink(locale: Locale, path: string): Html {
  return html`<p class="actions"><a class="button quiet" href="${path}">${locale.t('try_again')}</a></p>`;
}
