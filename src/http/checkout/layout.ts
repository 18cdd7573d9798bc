import { ICON } from '../pages/icon.ts';
import { html, markupText, raw, type Child, type Html } from '../pages/html.ts';
import { LANGUAGES, type Locale, scriptTexts } from './language/locale.ts';
import { pageHref } from './present.ts';
import type { Assets } from '../pages/assets.ts';
import { name } from './language/format.ts';
import type { Frame, Page } from './view.ts';

/**
 * Headers of every page here, in addition to those of every answer. Forms post only to this service; the way back to
 * the shop is a link, because `form-action` would also block a redirect to it. `same-origin` rather than `no-referrer`:
 * nothing leaks to the shop either way, but with the latter browsers send forms with `Origin: null`. `framedBy` are the
 * origins that may frame the page.
 */
export function pageHeaders(framedBy: readonly string[]): Readonly<Record<string, string>> {
  if (framedBy.length === 0) return UNFRAMED;
  return { ...COMMON, 'content-security-policy': `${POLICY}; frame-ancestors ${framedBy.join(' ')}` };
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'";

/** `cross-origin-opener-policy`: the page that opened this one cannot control its tab. Frames have no such policy. */
const COMMON = {
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=()',
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'same-origin',
  'x-robots-tag': 'noindex',
  vary: 'accept-language, accept-encoding',
} as const;

const UNFRAMED = {
  ...COMMON,
  'content-security-policy': `${POLICY}; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
} as const;

/**
 * The time and target of the automatic reload of a page without JavaScript. The path is given because the page may be
 * the answer to a POST.
 */
export interface Refresh {
  readonly seconds: number;
  readonly path: string;
  /** Whether only the script looks again: a reload by the browser would lose what the customer types. */
  readonly byScript?: boolean;
}

/** Data for the page's script. */
export interface Live {
  readonly version: string;
  readonly status: string;
  readonly page: string;
  readonly stream: string;
  readonly paymentId: string;
  readonly now: number;
  readonly final: boolean;
  /** The database does not answer, and the page may be outdated. */
  readonly stale: boolean;
}

export interface Document {
  readonly status: number;
  readonly locale: Locale;
  /** Null on pages that are not about a payment: they have neither the shop's branding nor a choice of language. */
  readonly frame: Frame | null;
  readonly assets: Pick<Assets, 'stylePath' | 'scriptPath'>;
  /** The window's title: the status, then the payee. */
  readonly title: string;
  readonly test: boolean;
  /** Only for browsers without JavaScript; the script polls without reloading the page. */
  readonly refresh: Refresh | null;
  /** The test-mode banner at the top. */
  readonly band: Html | null;
  /** The page's own path, without a query, for the choice of a language. */
  readonly path: string;
  readonly live: Live | null;
  readonly main: Html;
  readonly footer: Html;
}

/** The whole document, as it is sent. */
export function renderDocument(document: Document): Page {
  const { refresh, frame, locale, live, assets } = document;
  const accent = frame?.branding.accentPath ?? null;
  const page = html`<!doctype html>
    <html lang="${locale.code}" dir="${locale.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${windowTitle(document)}</title>
        ${refresh && refresh.byScript !== true && html`<noscript>${refreshTag(refresh)}</noscript>`}
        <meta name="color-scheme" content="light dark" />
        <meta name="format-detection" content="telephone=no" />
        <link rel="icon" href="${frame?.branding.iconPath ?? ICON}" />
        <link rel="stylesheet" href="${assets.stylePath}" />
        ${accent && html`<link rel="stylesheet" href="${accent}" />`}
        ${(frame ?? refresh) && html`<script type="module" src="${assets.scriptPath}"></script>`}
      </head>
      <body class="${frame?.embed ? 'embedded' : 'whole'}">
        ${document.band} ${frame && header(frame, document.path)}
        <aside id="connection" class="connection" hidden></aside>
        <main
          ${live ? liveData(live) : refresh && refreshData(refresh)}
          ${frame !== null && frame.embed !== null && html` data-embed="${frame.embed}"`}
        >
          ${document.main}
        </main>
        <footer>${frame && words(frame)} ${document.footer}</footer>
        <p id="announcer" class="unseen" role="status" aria-live="polite"></p>
        ${
          frame &&
          html`<script type="application/json" id="texts">
            ${scriptTexts(locale)}
          </script>`
        }
      </body>
    </html> `;
  return { status: document.status, html: markupText(page), isAscii: locale.isAscii };
}

function refreshTag({ seconds, path }: Refresh): Html {
  return html`<meta http-equiv="refresh" content="${seconds}; url=${path}" />`;
}

/** Data for the script, which polls the page and reloads it only when its title changes. */
function refreshData({ seconds, path }: Refresh): Html {
  return html`data-refresh="${seconds}" data-refresh-path="${path}"`;
}

function liveData(live: Live): Html {
  return html`id="live" data-version="${live.version}" data-status="${live.status}" data-page="${live.page}"
  data-stream="${live.stream}" data-payment="${live.paymentId}" data-now="${live.now}"
  ${live.final && html` data-final`} ${live.stale && html` data-stale`}`;
}

/**
 * Bidirectional controls would let a shop's name reorder the words around it; elements are isolated, a title cannot be.
 */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function windowTitle({ title, test }: Document): string {
  return `${test ? 'TEST: ' : ''}${title.replace(BIDI_CONTROLS, '')}`;
}

/** The shop's line of text, and its links to help, terms and imprint. */
function words({ branding, locale }: Frame): Html {
  const { pageText, supportUrl, termsUrl, imprintUrl } = branding;
  const links = [
    [supportUrl, 'support'],
    [termsUrl, 'terms'],
    [imprintUrl, 'imprint'],
  ] as const;
  const given = links.filter(([url]) => url !== null);
  return html`${pageText && html`<p class="words">${name(pageText)}</p>`}
  ${
    given.length > 0 &&
    html`<p class="links">
      ${given.map(
        ([url, key]) => html`<a href="${url}" rel="noopener noreferrer" target="_blank">${locale.t(key)}</a> `,
      )}
    </p>`
  }`;
}

/** The shop's logo or initial, and the choice of a language. */
function header(frame: Frame, path: string): Html {
  const { projectName, logo } = frame.branding;
  const initial = Array.from(projectName.trim())[0] ?? '';
  return html`<header class="top">
    ${
      logo === null
        ? html`<span class="monogram" aria-hidden="true">${initial.toUpperCase()}</span>`
        : html`<img class="logo" src="${logo.path}" width="${logo.width}" height="${logo.height}" alt="" />`
    }
    <span class="shop">${name(projectName)}</span>
    ${languageChoice(frame, path)}
  </header>`;
}

function languageChoice(frame: Frame, path: string): Html {
  const { locale } = frame;
  return html`<details class="languages" id="languages">
    <summary>
      <span class="unseen">${locale.t('language')}: </span>${GLOBE}<span class="own">${locale.name}</span>
    </summary>
    ${languageLinks(frame, path)}
  </details>`;
}

/** All pages of a language have the same links to the other languages; only the path differs. */
const linkPieces = new Map<string, readonly string[]>();
const PATH = '/PATH';

function languageLinks(frame: Frame, path: string): Html {
  const { locale, embed, autoRefresh } = frame;
  const links = (of: string): Html =>
    html`<ul>
      ${[...LANGUAGES.values()].map(
        ({ code, name, direction }) =>
          html`<li>
            <a
              href="${pageHref(frame, of, { lang: code })}"
              lang="${code}"
              hreflang="${code}"
              dir="${direction}"
              ${code === locale.code && html` aria-current="true"`}
              >${name}</a
            >
          </li>`,
      )}
    </ul>`;
  // The cache excludes frames, because any number of shops may frame the page.
  if (embed !== null) return links(path);
  const kind = `${locale.code} ${autoRefresh}`;
  let pieces = linkPieces.get(kind);
  if (pieces === undefined) {
    pieces = markupText(links(PATH)).split(PATH);
    linkPieces.set(kind, pieces);
  }
  return raw(pieces.join(path));
}

const GLOBE = html`<svg class="globe" aria-hidden="true" viewBox="0 0 24 24">
  <path
    d="M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM3.6 9h16.8M3.6 15h16.8M12 3c5 5.5 5 12.500 0 18M12 3c-5 5.500-5 12.500 0 18"
  />
</svg>`;

/** The banner that makes test mode unmistakable; `actions` is the form for simulations. */
export function testBanner(locale: Locale, text: Html, actions: Html | null = null): Html {
  return html`<aside class="banner" id="band" aria-label="${locale.plain('test_mode')}">
    <div class="banner-inside">
      <p><strong>${locale.t('test_mode')}</strong> ${text}</p>
      ${actions}
    </div>
  </aside>`;
}

/** The heading of the page's current status. The script announces it when it changes. */
export function statusHeading(tone: Tone, title: Child, text: Child): Html {
  return html`<div class="status ${tone}">
    ${TONE_ICONS[tone]}
    <h2 id="status-title">${title}</h2>
    <p>${text}</p>
  </div>`;
}

export type Tone = 'plain' | 'waiting' | 'done' | 'attention' | 'stopped';

const TONE_ICONS: Readonly<Record<Tone, Html | null>> = {
  plain: null,
  waiting: html`<span class="pulse" aria-hidden="true"></span>`,
  done: icon('M7 12.5l3.4 3.4L17.2 8.6'),
  attention: icon('M12 6.5v7M12 17v.2'),
  stopped: icon('M8 8l8 8M16 8l-8 8'),
};

function icon(path: string): Html {
  return html`<svg class="mark" aria-hidden="true" viewBox="0 0 24 24"><path d="${raw(path)}" /></svg>`;
}

/** A list of terms and values; rows without a value are left out, and so is a list without rows. */
export function facts(rows: readonly (readonly [Html, Html | string | null | false])[]): Html {
  const filled = rows.filter(([, value]) => value !== null && value !== false);
  if (filled.length === 0) return html``;
  return html`<dl class="facts">
    ${filled.map(
      ([term, value]) =>
        html`<div>
          <dt>${term}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}
