import type { Assets } from '../pages/assets.ts';
import { html, markupText, type Html } from '../pages/html.ts';
import { ICON, COIN } from '../pages/icon.ts';
import { renderBasics, renderExamples, renderQuickstart, renderWebhooksGuide } from './guide.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { objectId, renderObjects, renderTag, routesOf } from './reference.ts';

/** The whole documentation on one page, which needs no script. */
export function renderDocs(
  document: OpenApiDocument,
  assets: Pick<Assets, 'docsStylePath' | 'docsScriptPath'>,
  program: string,
): string {
  // The guide describes events.
  const tags = document.tags.filter(({ name }) => routesOf(document, name).length > 0);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Cointill API</title>
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="${ICON}" />
        <link rel="stylesheet" href="${assets.docsStylePath}" />
        <script type="module" src="${assets.docsScriptPath}"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="#content"><span class="coin" aria-hidden="true">${COIN}</span>Cointill API</a>
          <nav class="files" aria-label="The OpenAPI document as a file">
            <a href="/openapi.json">OpenAPI</a> <a href="/docs/yaml">YAML</a>
          </nav>
        </header>
        <div class="columns">
          <details class="contents" id="contents">
            <summary>Contents</summary>
            <nav aria-label="Contents">
              ${links('Guide', GUIDE)} ${tags.map(({ name }) => links(name, routeLinks(document, name)))}
              ${links('Objects', objectLinks(document))}
            </nav>
          </details>
          <main id="content" tabindex="-1">
            <h1>Take payments in crypto</h1>
            <p class="lead">
              Create a payment, send the customer to its payment page, and ship when a webhook tells you that the
              payment is completed. The money goes straight to your own wallet.
            </p>
            ${renderQuickstart(document, program)} ${renderExamples(document)} ${renderWebhooksGuide(document, program)}
            ${renderBasics(document)} ${tags.map((tag) => renderTag(document, tag))} ${renderObjects(document)}
          </main>
        </div>
        <p id="announcer" class="unseen" role="status"></p>
      </body>
    </html> `;
  return markupText(page);
}

interface Link {
  readonly id: string;
  readonly text: string;
  readonly method?: string;
}

const GUIDE: readonly Link[] = [
  { id: 'quickstart', text: 'Quickstart' },
  { id: 'examples', text: 'Three examples' },
  { id: 'webhooks-guide', text: 'Webhooks' },
  { id: 'basics', text: 'Keys, limits and formats' },
];

function routeLinks(document: OpenApiDocument, tag: string): readonly Link[] {
  return routesOf(document, tag).map(({ id, method, operation }) => ({ id, method, text: operation.summary }));
}

function objectLinks(document: OpenApiDocument): readonly Link[] {
  return Object.keys(document.components.schemas).map((name) => ({ id: objectId(name), text: name }));
}

function links(title: string, entries: readonly Link[]): Html {
  return html`<p class="heading">${title}</p>
    <ul>
      ${entries.map(
        ({ id, text, method }) =>
          html`<li>
            <a href="#${id}"
              >${method === undefined ? null : html`<span class="method ${method.toLowerCase()}">${method}</span>`}<span
                >${text}</span
              ></a
            >
          </li>`,
      )}
    </ul>`;
}
