import { html, type Html } from './html.ts';
import { renderDocument, statusHeading, type Refresh } from './layout.ts';
import type { Page, ProblemView } from './view.ts';

interface Problem {
  readonly status: number;
  readonly title: string;
  readonly text: string;
  readonly body: Html;
  readonly refresh: Refresh | null;
}

/** How soon a page that failed is tried again by itself. */
const TROUBLE_RETRY_SECONDS = 15;

/**
 * The page for a payment or refund that does not exist (404), too many requests (429; the caller adds `Retry-After`), or
 * trouble of the service (503). Says nothing of what went wrong inside.
 */
export function renderProblemPage(view: ProblemView): Page {
  const problem = problemOf(view);
  return renderDocument({
    status: problem.status,
    title: problem.title,
    test: false,
    refresh: problem.refresh,
    band: null,
    header: null,
    main: html`<h1 class="unseen">Crypto payment</h1>
      <section class="card alone" aria-labelledby="status-title">
        ${statusHeading('attention', problem.title, problem.text)} ${problem.body}
      </section>`,
    footer: html`<p>If this keeps happening, contact the shop that sent you here.</p>`,
  });
}

function problemOf(view: ProblemView): Problem {
  switch (view.kind) {
    case 'unknown_payment':
      return {
        status: 404,
        title: 'There is no such payment',
        text: 'The link is wrong or incomplete.',
        body: html`<p>
          Open it again from the shop, or copy it whole. Please send nothing to any address until you see the right
          payment.
        </p>`,
        refresh: null,
      };
    case 'unknown_refund':
      return {
        status: 404,
        title: 'There is no such refund',
        text: 'The link is wrong or incomplete.',
        body: html`<p>Copy the link whole from the message that the shop sent you.</p>`,
        refresh: null,
      };
    case 'too_many_requests': {
      const seconds = Math.max(1, Math.ceil(view.retryAfterSeconds));
      return {
        status: 429,
        title: 'Too many requests',
        text: 'This page was asked for too often from your connection.',
        body: html`<p>
            It opens again by itself in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}. A payment that you have sent
            is not affected.
          </p>
          ${retryLink(view.retryPath)}`,
        refresh: { seconds, path: view.retryPath },
      };
    }
    case 'trouble':
      return {
        status: 503,
        title: 'The payment page is not available right now',
        text: 'The trouble is on our side. The page tries again by itself.',
        body: html`<p>
            A payment that you have sent is not lost: it will be found on the network. Please do not send it twice.
          </p>
          ${retryLink(view.retryPath)}`,
        refresh: { seconds: TROUBLE_RETRY_SECONDS, path: view.retryPath },
      };
  }
}

function retryLink(path: string): Html {
  return html`<p class="actions"><a class="button quiet" href="${path}">Try again</a></p>`;
}
