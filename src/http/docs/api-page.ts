import { html, type Html } from '../pages/html.ts';
import { renderContents, renderFrame, renderLinks, type ContentsLink } from './frame.ts';
import { renderBasics, renderExamples, renderWebhooksGuide } from './guide.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import type { Site } from './plain-pages.ts';
import { objectId, renderObjects, renderTag, routesOf } from './reference.ts';

/** The reference of both APIs on one page: examples, webhooks, rules, every endpoint and every object. */
export function renderApiPage({ document, groups, assets, words }: Site): string {
  // The part about webhooks describes events.
  const tags = document.tags.filter(({ name }) => routesOf(document, name).length > 0);
  return renderFrame(assets, {
    title: 'API reference – Cointill',
    isFiltered: true,
    contents: renderContents(
      groups,
      '/docs/api',
      html`${renderLinks('On this page', PARTS)}
      ${tags.map(({ name }) => renderLinks(name, routeLinks(document, name)))}
      ${renderLinks('Objects', objectLinks(document))} ${renderLinks('As a file', FILES)}`,
    ),
    main: renderMain(document, tags, words.program),
  });
}

function renderMain(document: OpenApiDocument, tags: OpenApiDocument['tags'], program: string): Html {
  return html`<h1>API reference</h1>
    <p class="lead">
      Create a payment, send the customer to its payment page, and ship when a webhook tells you that the payment is
      completed. The money goes straight to your own wallet.
    </p>
    <p class="lead">New here? Begin with the <a href="/docs#quickstart">quickstart</a>.</p>
    ${renderExamples(document)} ${renderWebhooksGuide(document, program)} ${renderBasics(document)}
    ${tags.map((tag) => renderTag(document, tag))} ${renderObjects(document)}`;
}

const PARTS: readonly ContentsLink[] = [
  { href: '#examples', text: 'Three examples' },
  { href: '#webhooks-guide', text: 'Webhooks' },
  { href: '#basics', text: 'Keys, limits and formats' },
];
const FILES: readonly ContentsLink[] = [
  { href: '/openapi.json', text: 'OpenAPI' },
  { href: '/docs/yaml', text: 'YAML' },
];

function routeLinks(document: OpenApiDocument, tag: string): readonly ContentsLink[] {
  return routesOf(document, tag).map(({ id, method, operation }) => ({
    href: `#${id}`,
    method,
    text: operation.summary,
  }));
}

function objectLinks(document: OpenApiDocument): readonly ContentsLink[] {
  return Object.keys(document.components.schemas).map((name) => ({ href: `#${objectId(name)}`, text: name }));
}
