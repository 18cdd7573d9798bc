import type { FastifyInstance } from 'fastify';
import type { Mode } from '../../domain/permission.ts';
import type { Assets } from '../pages/assets.ts';
import { html, markupText, type Html } from '../pages/html.ts';
import { ICON, COIN } from '../pages/icon.ts';
import { sendFile, servedText, type ServedFile } from '../served-file.ts';

export interface HomeOptions {
  /** The mode of the address. */
  readonly side: Mode;
  readonly baseUrls: Readonly<Record<Mode, string>>;
  /** The dashboard's full address; null if there is none, or if not everybody can reach it. */
  readonly dashboardUrl: string | null;
  readonly assets: Pick<Assets, 'docsStylePath'>;
}

/** The page has no script, sends nothing and cannot be framed. */
const HEADERS = {
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const;

/** `GET /`: a page that says what runs at this address, with links. Made once; everybody gets the same bytes. */
export function homeRoute(options: HomeOptions): (app: FastifyInstance) => void {
  let making: Promise<ServedFile> | null = null;
  return (app) => {
    app.get('/', { config: { guard: { kind: 'docs' } }, schema: { hide: true } }, async (request, reply) => {
      making ??= servedText(renderHome(options), 'text/html; charset=utf-8', HEADERS);
      return sendFile(request, reply, await making);
    });
  };
}

const TITLES: Readonly<Record<Mode, string>> = { live: 'Cointill', test: 'Cointill sandbox' };
const LEADS: Readonly<Record<Mode, string>> = {
  live: 'This is the API for real payments. It accepts live keys.',
  test: 'This is the API for trying things out. It accepts test keys, and no money moves.',
};
const OTHERS: Readonly<Record<Mode, readonly [other: Mode, name: string, about: string]>> = {
  live: ['test', 'Sandbox', 'the same API with test keys, where no money moves'],
  test: ['live', 'Live API', 'the same API with live keys, for real payments'],
};

function renderHome({ side, baseUrls, dashboardUrl, assets }: HomeOptions): string {
  const [other, name, about] = OTHERS[side];
  return markupText(
    html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="robots" content="noindex" />
          <title>${TITLES[side]}</title>
          <meta name="color-scheme" content="light dark" />
          <link rel="icon" href="${ICON}" />
          <link rel="stylesheet" href="${assets.docsStylePath}" />
        </head>
        <body>
          <header class="top">
            <span class="brand"><span class="coin" aria-hidden="true">${COIN}</span>${TITLES[side]}</span>
          </header>
          <main id="content">
            <h1>Cointill is running</h1>
            <p class="lead">${LEADS[side]}</p>
            <section class="part">
              <dl class="fields">
                ${row('/docs', 'Documentation', 'a quickstart, the guide, every endpoint, and a search')}
                ${dashboardUrl === null ? null : row(dashboardUrl, 'Dashboard', 'payments, webhooks, keys and people')}
                ${row(`${baseUrls[other]}/`, name, about)} ${row('/openapi.json', 'OpenAPI', 'the API description')}
                ${row('/healthz', 'Health', 'whether this process answers')}
                ${row('/readyz', 'Readiness', 'whether this process can do its work')}
              </dl>
            </section>
            <section class="part">
              <h2>Did you come here to pay?</h2>
              <p>You cannot pay on this page. Open the complete payment link that the shop gave you.</p>
            </section>
          </main>
        </body>
      </html> `,
  );
}

function row(href: string, name: string, about: string): Html {
  return html`<div>
    <dt><a href="${href}">${name}</a></dt>
    <dd>${about}</dd>
  </div>`;
}
