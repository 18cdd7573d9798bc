import type { FastifyInstance } from 'fastify';
import { refusalOf, refuseMails } from '../../app/notifications/customer-mails.ts';
import { html, type Html } from '../pages/html.ts';
import type { Assets } from '../pages/assets.ts';
import { frameOf, localeOf, sendPage, type PageRequest } from './frame.ts';
import { name } from './language/format.ts';
import { renderDocument, statusHeading } from './layout.ts';
import { pageHref } from './present.ts';
import { renderProblemPage } from './refund-page.ts';
import type { Checkout } from './show-payment.ts';
import type { Frame, Page } from './view.ts';

const page = { config: { guard: { kind: 'page' } }, schema: { hide: true } } as const;

/**
 * The page where a customer refuses more mails. It asks for a click, because mail programs open links by themselves;
 * they refuse with a POST to the same address (RFC 8058).
 */
export function leaveRoutes(app: FastifyInstance, checkout: Checkout): void {
  const { app: core, access, assets } = checkout;
  void app.register(async (scope) => {
    // The bodies of mail programs say nothing, and have several types.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { bodyLimit: 8_192, parseAs: 'string' }, (_request, _body, done) => done(null));
    for (const [method, state, find] of [
      ['GET', 'ask', refusalOf],
      ['POST', 'done', refuseMails],
    ] as const) {
      scope.route<PageRequest>({
        method,
        url: '/mails/:id',
        ...page,
        handler: async (request, reply) => {
          const { id } = request.params;
          const found = await find(core, id);
          if (found === null) {
            return sendPage(request, reply, renderProblemPage({ kind: 'leave_unknown' }, localeOf(request), assets));
          }
          const { frame, framedBy } = await frameOf(access, request, found.projectId);
          const path = `/mails/${encodeURIComponent(id)}`;
          return sendPage(request, reply, renderLeavePage({ state, frame, path }, assets), framedBy);
        },
      });
    }
  });
}

interface LeaveView {
  readonly state: 'ask' | 'done';
  readonly frame: Frame;
  /** The page's own path. */
  readonly path: string;
}

/** The page that asks whether a customer wants no more mails, or says that they get none. */
export function renderLeavePage(
  { state, frame, path }: LeaveView,
  assets: Pick<Assets, 'stylePath' | 'scriptPath'>,
): Page {
  const { locale, branding } = frame;
  const title = state === 'ask' ? 'leave_title' : ('left_title' as const);
  const shop = name(branding.projectName);
  const body: Html =
    state === 'ask'
      ? html`${statusHeading('plain', locale.t(title), locale.t('leave_text', { shop }))}
          <form method="post" action="${pageHref(frame, path)}">
            <p class="actions"><button type="submit" class="button">${locale.t('leave_yes')}</button></p>
          </form>`
      : statusHeading('done', locale.t(title), locale.t('left_text', { shop }));
  return renderDocument({
    status: 200,
    locale,
    frame,
    assets,
    title: `${locale.plain(title)} - ${branding.projectName}`,
    test: false,
    refresh: null,
    band: null,
    path,
    live: null,
    main: html`<h1 class="unseen">${locale.t('crypto_payment')}</h1>
      <section class="card alone" aria-labelledby="status-title">${body}</section>`,
    footer: html``,
  });
}
