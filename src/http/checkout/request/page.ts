import type { Assets } from '../../pages/assets.ts';
import { html, type Child, type Html } from '../../pages/html.ts';
import { fiat, fiatWithCode, name, sentences } from '../language/format.ts';
import type { TextKey } from '../language/locale.ts';
import { facts, renderDocument, statusHeading, testBanner, type Refresh } from '../layout.ts';
import { pageHref, requestPath } from '../present.ts';
import { qrSvg } from '../steps/pay-step.ts';
import type { Page } from '../view.ts';
import { payForm } from './pay-form.ts';
import type { RequestStep, RequestView } from './view.ts';

/** How often the page's script looks whether somebody else's payment has ended. */
const LOOK_SECONDS = 15;

/**
 * The page of a payment request, complete without JavaScript. Status 200; 400 if it answers a form that was refused, or
 * 503 if there is no price.
 */
export function renderRequestPage(
  view: RequestView,
  assets: Pick<Assets, 'stylePath' | 'scriptPath'>,
  isRefusal = false,
): Page {
  const { frame, step, isTest } = view;
  const { locale, branding } = frame;
  const hasNoRate = step.kind === 'form' && step.notice === 'no_rate';
  return renderDocument({
    status: hasNoRate ? 503 : isRefusal ? 400 : 200,
    locale,
    frame,
    assets,
    title: `${locale.plain(titleOf(step))} - ${branding.projectName}`,
    test: isTest,
    refresh: refreshOf(view),
    band: isTest ? testBanner(locale, locale.t('test_request')) : null,
    path: requestPath(view.requestId),
    live: null,
    main: html`${notice(view)}
      <div class="layout request">
        <section class="summary">${summary(view)}</section>
        <section class="card" aria-labelledby="status-title">${card(view)} ${lastPayment(view)}</section>
        ${canBePaid(step) && code(view)}
      </div>`,
    footer: html`<p>
      ${sentences(locale, html`<span data-zone>${locale.t('times_utc')}</span>`, canBePaid(step) && locale.t('request_public'))}
    </p>`,
  });
}

function notice({ step, frame: { locale } }: RequestView): Html | null {
  if (step.kind !== 'form' || step.notice === null) return null;
  return html`<p class="notice" role="alert">${locale.t(`request_${step.notice}`)}</p>`;
}

/** The sum asked for, and what became of it. */
function summary(view: RequestView): Html {
  const { title, description, reference, amountMinor, currency, parts, expiresAt, step, frame, files } = view;
  const { locale } = frame;
  const money = (minor: bigint): Html | null => (minor === 0n ? null : fiat(locale, minor, currency));
  return html`<h1>${files === null || reference === null ? name(title) : withNumber(title, reference)}</h1>
    ${amountMinor !== null && html`<p class="fiat">${fiatWithCode(locale, amountMinor, currency)}</p>`}
    ${description && html`<p class="description" dir="auto">${name(description)}</p>`}
    ${facts([
      // The title has the number of an invoice.
      [locale.t('order'), files === null && reference && name(reference)],
      [locale.t('request_paid_so_far'), parts && money(parts.paidMinor)],
      [locale.t('request_pending'), parts && money(parts.pendingMinor)],
      [locale.t('request_left'), parts && parts.leftMinor !== amountMinor && money(parts.leftMinor)],
      [locale.t('request_due'), canBePaid(step) && files !== null && locale.day(files.dueOn)],
      [locale.t('request_until'), canBePaid(step) && expiresAt !== null && locale.dateTime(expiresAt)],
    ])}
    ${
      files &&
      html`<p class="files">
        <a href="${files.invoice}" download>${locale.t('request_invoice')}</a>
        ${files.receipt && html`<a href="${files.receipt}" download>${locale.t('request_receipt')}</a>`}
      </p>`
    }`;
}

/** The title of an invoice, whose number stays in one line if there is room. */
function withNumber(title: string, number: string): Html {
  const at = title.indexOf(number);
  const [from, to] = at < 0 ? [title.length, title.length] : [at, at + number.length];
  return html`<bdi
    >${title.slice(0, from)}<span class="unbroken">${title.slice(from, to)}</span>${title.slice(to)}</bdi
  >`;
}

const TITLES = {
  paying: 'request_paying_title',
  confirming: 'request_confirming_title',
  taken: 'request_taken_title',
  paid: 'request_paid_title',
  closed: 'request_closed_title',
  expired: 'request_expired_title',
  inactive: 'inactive_title',
} as const satisfies Record<Exclude<RequestStep['kind'], 'form'>, TextKey>;

function titleOf(step: RequestStep) {
  if (step.kind !== 'form') return TITLES[step.kind];
  return step.amountMinor === null ? 'request_amount_title' : 'request_pay_title';
}

function card(view: RequestView): Html {
  const { step, currency, frame, now } = view;
  const { locale, branding } = frame;
  const shop = name(branding.projectName);
  const title = locale.t(titleOf(step));
  switch (step.kind) {
    case 'form':
      return html`${statusHeading('plain', title, locale.t('request_pay_text'))} ${payForm(view, step)}`;
    case 'paying': {
      const text = step.isShared ? 'request_paying_shared' : 'request_paying_own';
      return html`${statusHeading('plain', title, locale.t(text, { amount: fiat(locale, step.amountMinor, currency) }))}
      ${link(view, step.path, 'request_go_on', 'primary')}`;
    }
    case 'confirming':
      return html`${statusHeading('waiting', title, locale.t('request_confirming_text'))}
      ${step.path && link(view, step.path, 'request_see_payment', 'quiet')}`;
    case 'taken': {
      const hint = step.until !== null && locale.t('request_taken_until', { time: locale.time(step.until, now) });
      return html`${statusHeading('attention', title, sentences(locale, locale.t('request_taken_text'), hint))}
      ${link(view, requestPath(view.requestId), 'try_again', 'quiet')}`;
    }
    case 'paid':
      return html`${statusHeading('done', title, locale.t('request_paid_text', { shop }))}
      ${
        step.shop &&
        html`<p class="actions">
          <a class="button" href="${step.shop}"><span>${locale.t('back_to', { shop })}</span></a>
        </p>`
      }`;
    case 'closed':
      return ended(view, title, locale.t('request_closed_text', { shop }));
    case 'expired':
      return ended(view, title, locale.t('request_expired_text', { time: locale.dateTime(step.at) }));
    case 'inactive':
      return html`${statusHeading('stopped', title, locale.t('inactive_text'))}
        <p>${locale.t('inactive_hint')}</p>`;
  }
}

function ended({ frame: { locale } }: RequestView, title: Html, text: Child): Html {
  return html`${statusHeading('stopped', title, text)}
    <p>${locale.t('request_ended_hint')}</p>`;
}

function link(
  { frame }: RequestView,
  path: string,
  text: 'request_go_on' | 'request_see_payment' | 'try_again',
  weight: 'primary' | 'quiet',
): Html {
  return html`<p class="actions">
    <a class="button ${weight}" href="${pageHref(frame, path)}"><span>${frame.locale.t(text)}</span></a>
  </p>`;
}

/** A visitor who has paid finds their receipt, even if the request goes on for others. */
function lastPayment(view: RequestView): Html | null {
  return view.lastPath === null ? null : link(view, view.lastPath, 'request_see_payment', 'quiet');
}

/** Whether its link is worth passing on: the code of a request that has ended would lead nowhere. */
function canBePaid({ kind }: RequestStep): boolean {
  return kind !== 'paid' && kind !== 'closed' && kind !== 'expired';
}

function refreshOf({ frame, step, requestId }: RequestView): Refresh | null {
  const isWaiting = step.kind === 'paying' || step.kind === 'confirming' || step.kind === 'taken';
  if (!isWaiting || !frame.autoRefresh) return null;
  return { seconds: LOOK_SECONDS, path: pageHref(frame, requestPath(requestId)), byScript: true };
}

/** The page's address as a code: folded away on a screen, part of the printed page. */
function code({ frame: { locale }, url, requestId }: RequestView): Html {
  const described = { id: 'qr', title: locale.plain('request_qr_title'), description: locale.plain('request_qr_text') };
  return html`<section class="details" aria-label="${locale.plain('request_scan')}">
    <details class="print-code" id="print-code">
      <summary>${locale.t('request_scan')}</summary>
    </details>
    <figure class="code">
      ${qrSvg(url, described)}
      <figcaption><bdi dir="ltr">${url}</bdi></figcaption>
    </figure>
    <p class="actions row">
      <button type="button" class="button quiet" hidden data-copy-page="${requestPath(requestId)}">
        <span>${locale.t('copy_link')}</span>
      </button>
      <button type="button" class="button quiet" hidden data-print>${locale.t('request_print')}</button>
    </p>
  </section>`;
}
