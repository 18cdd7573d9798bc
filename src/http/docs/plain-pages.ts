import { escapeHtml } from '../../domain/html.ts';
import { html, raw, type Html } from '../pages/html.ts';
import { renderContents, renderFrame, type DocsAssets } from './frame.ts';
import { renderQuickstart } from './guide.ts';
import { fillMarks, pagePath, type GuideGroup, type GuidePage, type OwnWords } from './guide-pages.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import { MAX_RESULTS, type SearchResult } from './search.ts';

/** Everything that the pages are made of. */
export interface Site {
  readonly document: OpenApiDocument;
  readonly groups: readonly GuideGroup[];
  readonly words: OwnWords;
  readonly assets: DocsAssets;
  /** The contents where no page is the current one, made once for all searches. */
  readonly contents: Html;
}

/** `/docs`: the quickstart, and every page with one line about it. */
export function renderStart({ document, groups, words, assets }: Site): string {
  return renderFrame(assets, {
    title: 'Cointill documentation',
    contents: renderContents(groups, '/docs'),
    main: html`<h1>Take payments in crypto</h1>
      <p class="lead">
        Create a payment, send the customer to its payment page, and ship when a webhook tells you that the payment is
        completed. The money goes straight to your own wallet. The <a href="/docs/api">API reference</a> shows every
        endpoint.
      </p>
      ${renderQuickstart(document, words.program)}
      ${groups.map(
        ({ title, pages }) =>
          html`<section class="part">
            <h2>${title}</h2>
            <dl class="fields">${pages.map(renderEntry)}</dl>
          </section>`,
      )}`,
  });
}

function renderEntry({ name, title, about }: GuidePage): Html {
  return html`<div>
    <dt><a href="${pagePath(name)}">${title}</a></dt>
    <dd>${about}</dd>
  </div>`;
}

/** One page of the guide. */
export function renderGuidePage({ groups, words, assets }: Site, page: GuidePage): string {
  const escaped: OwnWords = {
    live: escapeHtml(words.live),
    sandbox: escapeHtml(words.sandbox),
    machine: escapeHtml(words.machine),
    program: escapeHtml(words.program),
  };
  return renderFrame(assets, {
    title: `${page.title} – Cointill`,
    contents: renderContents(groups, page),
    main: html`<article class="prose">${raw(fillMarks(page.html, escaped))}</article>
      <p class="source"><a href="${pagePath(page.name)}.md">This page as Markdown</a></p>`,
  });
}

/** The results of a search. */
export function renderResults({ contents, assets }: Site, query: string, results: readonly SearchResult[]): string {
  return renderFrame(assets, {
    title: query === '' ? 'Search – Cointill' : `${query} – Search – Cointill`,
    contents,
    query,
    main: html`<h1>Search</h1>
      <p class="lead">${countLine(query, results.length)}</p>
      <ol class="results">
        ${results.map(renderResult)}
      </ol>`,
  });
}

function countLine(query: string, count: number): string {
  if (query === '') return 'Enter words to search for in all pages.';
  if (count === 0) return `Nothing was found for “${query}”. Try fewer or other words.`;
  if (count === MAX_RESULTS) return `The ${count} best pages for “${query}”`;
  return `${count} ${count === 1 ? 'page' : 'pages'} for “${query}”`;
}

function renderResult({ path, title, heading, excerpt }: SearchResult): Html {
  return html`<li>
    <h2><a href="${path}">${title}${heading === '' ? null : `: ${heading}`}</a></h2>
    <p>${excerpt.map(({ text, isHit }) => (isHit ? html`<mark>${text}</mark>` : html`${text}`))}</p>
  </li>`;
}

/** The page in the place of one that does not exist. */
export function renderMissing({ contents, assets }: Site): string {
  return renderFrame(assets, {
    title: 'Not found – Cointill',
    contents,
    main: html`<h1>This page does not exist</h1>
      <p class="lead">Search for it above, choose a page in the contents, or <a href="/docs">start over</a>.</p>`,
  });
}

/** `/llms.txt`: the pages with one line each, as https://llmstxt.org describes. */
export function renderLlmsText({ groups, words }: Site): string {
  const lines = [
    '# Cointill',
    '',
    '> Self-hosted crypto payment service: create a payment, send the customer to its payment page, and ship when a webhook',
    '> says that the payment is completed. The money goes straight to the wallet of the merchant.',
    '',
    '## API',
    '',
    `- [OpenAPI](${words.live}/openapi.json): every endpoint, object and event of both APIs`,
    `- [API reference](${words.live}/docs/api): the same as a page, with an example for each endpoint`,
    ...groups.flatMap(({ title, pages }) => [
      '',
      `## ${title}`,
      '',
      ...pages.map((page) => `- [${page.title}](${words.live}${pagePath(page.name)}.md): ${page.about}`),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}
