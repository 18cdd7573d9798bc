import type { Assets } from '../pages/assets.ts';
import { html, markupText, type Html } from '../pages/html.ts';
import { COIN, ICON } from '../pages/icon.ts';
import { pagePath, type GuideGroup, type GuidePage } from './guide-pages.ts';

export type DocsAssets = Pick<Assets, 'docsStylePath' | 'docsScriptPath'>;

/** A longer search finds nothing more. */
export const QUERY_LENGTH = 100;

/** The parts in which one page of the documentation differs from another. */
export interface FrameParts {
  readonly title: string;
  readonly contents: Html;
  readonly main: Html;
  /** The words in the search box. */
  readonly query?: string;
  /** The contents get a filter, because they are long. */
  readonly isFiltered?: boolean;
}

/** A whole page: the bar with the search, the contents and the main part. Needs no script. */
export function renderFrame(assets: DocsAssets, parts: FrameParts): string {
  const { title, contents, main, query = '', isFiltered = false } = parts;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="${ICON}" />
        <link rel="stylesheet" href="${assets.docsStylePath}" />
        <script type="module" src="${assets.docsScriptPath}"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          <a class="brand" href="/docs"
            ><span class="coin" aria-hidden="true">${COIN}</span><span>Cointill docs</span></a
          >
          <form class="search" role="search" action="/docs/search">
            <label class="unseen" for="q">Search the documentation</label>
            <input type="search" id="q" name="q" value="${query}" maxlength="${QUERY_LENGTH}" placeholder="Search" />
            <button>Search</button>
          </form>
        </header>
        <div class="columns">
          <details class="contents" id="contents">
            <summary>Contents</summary>
            <nav aria-label="Contents" ${isFiltered && html` data-filter`}>${contents}</nav>
          </details>
          <main id="content" tabindex="-1">${main}</main>
        </div>
        <p id="announcer" class="unseen" role="status"></p>
      </body>
    </html> `;
  return markupText(page);
}

export interface ContentsLink {
  readonly href: string;
  readonly text: string;
  readonly method?: string;
  readonly isCurrent?: boolean;
  /** Links to the headings of the current page. */
  readonly below?: readonly ContentsLink[];
}

/** A heading in the contents, with its links. */
export function renderLinks(title: string, entries: readonly ContentsLink[]): Html {
  return html`<p class="heading">${title}</p>
    ${renderList(entries)}`;
}

function renderList(entries: readonly ContentsLink[]): Html {
  return html`<ul>
    ${entries.map(
      ({ href, text, method, isCurrent = false, below = [] }) =>
        html`<li>
          <a href="${href}" ${isCurrent && html` aria-current="page"`}
            >${method === undefined ? null : html`<span class="method ${method.toLowerCase()}">${method}</span>`}<span
              >${text}</span
            ></a
          >${below.length === 0 ? null : renderList(below)}
        </li>`,
    )}
  </ul>`;
}

/**
 * The contents of every page: all pages, and the headings of the current one. The parts of the API reference, which
 * are many, stand before the guide.
 */
export function renderContents(
  groups: readonly GuideGroup[],
  current: GuidePage | '/docs' | '/docs/api' | null,
  parts: Html | null = null,
): Html {
  const start: readonly ContentsLink[] = [
    { href: '/docs', text: 'Start', isCurrent: current === '/docs' },
    { href: '/docs/api', text: 'API reference', isCurrent: current === '/docs/api' },
  ];
  return html`${renderLinks('Documentation', start)} ${parts}
  ${groups.map(({ title, pages }) =>
    renderLinks(
      title,
      pages.map((page) => ({
        href: pagePath(page.name),
        text: page.title,
        isCurrent: page === current,
        below: page === current ? headingLinks(page) : [],
      })),
    ),
  )}`;
}

function headingLinks({ sections }: GuidePage): readonly ContentsLink[] {
  return sections.filter(({ id }) => id !== '').map(({ id, heading }) => ({ href: `#${id}`, text: heading }));
}
