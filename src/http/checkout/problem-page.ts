import type { Assets } from '../pages/assets.ts';
import { html, type Html } from '../pages/html.ts';
import { renderDocument, statusHeading, type Refresh } from './layout.ts';
import type { Locale, TextKey } from './language/locale.ts';
import type { Page, ProblemView } from './view.ts';

interface Problem {
  readonly status: number;
  readonly name: 'unknown_payment' | 'unknown_refund' | 'too_many' | 'fault';
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
