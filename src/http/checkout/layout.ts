import { html, markupText, raw, type Child, type Html } from './html.ts';
import { CHECKOUT_CSS_PATH } from './style.ts';
import { utcTime } from './format.ts';
import type { Page, TestProgress } from './view.ts';

/**
 * The policy that every page here is sent with. Forms post to this service only; the way back to the shop is a link,
 * because `form-action` would also stop a redirect to it.
 */
export const CHECKOUT_CSP =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/**
 * Headers of every page here. `same-origin`, not `no-referrer`: nothing leaks to the shop either way, but browsers send
 * forms with `Origin: null` under the latter.
 */
export const CHECKOUT_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CHECKOUT_CSP,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex',
};

/** When and where to a page without JavaScript goes on by itself. The path is given because a POST may have been answered. */
export interface Refresh {
  readonly seconds: number;
  readonly path: string;
}

export interface Document {
  readonly status: number;
  /** Of the window: what is going on, then who is paid. */
  readonly title: string;
  readonly test: boolean;
  readonly refresh: Refresh | null;
  /** Above everything: the band of test mode. */
  readonly band: Html | null;
  readonly header: Html | null;
  readonly main: Html;
  readonly footer: Html;
}

/** A coin with a tick, in the accent colour. */
const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#0b6b5b"/>' +
      '<path d="M9 16.5l5 5 9.5-10.5" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>',
  );

/** The whole document, as it is sent. */
export function renderDocument(document: Document): Page {
  const { refresh } = document;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${windowTitle(document)}</title>
        ${refresh && html`<meta http-equiv="refresh" content="${refresh.seconds}; url=${refresh.path}" />`}
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <meta name="format-detection" content="telephone=no" />
        <link rel="icon" href="${ICON}" />
        <link rel="stylesheet" href="${CHECKOUT_CSS_PATH}" />
      </head>
      <body>
        ${document.band} ${document.header && html`<header class="top">${document.header}</header>`}
        <main>${document.main}</main>
        <footer>${document.footer}</footer>
      </body>
    </html> `;
  return { status: document.status, html: markupText(page) };
}

/** Bidirectional controls would let a shop's name turn the words around it; elements are isolated, a title cannot be. */
const BIDI_CONTROLS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function windowTitle({ title, test }: Document): string {
  return `${test ? 'TEST – ' : ''}${title.replace(BIDI_CONTROLS, '')}`;
}

/** Text of the merchant, kept apart from the direction of the words around it. */
export function theirs(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** The shop's name with its initial. */
export function shopHeader(projectName: string): Html {
  const initial = Array.from(projectName.trim())[0] ?? '';
  return html`<span class="monogram" aria-hidden="true">${initial.toUpperCase()}</span>
    <span class="shop">${theirs(projectName)}</span>`;
}

/** The band that makes test mode unmistakable. */
export function testBand(text: Html): Html {
  return html`<aside class="band" aria-label="Test mode">
    <p><strong>Test mode</strong> ${text}</p>
  </aside>`;
}

/** What test mode does with a payment. */
export function testText(test: TestProgress, now: number): Html {
  switch (test.kind) {
    case 'completes':
      return html`No real money. This payment completes by itself at ${utcTime(test.at, now)}.`;
    case 'expires':
      return html`No real money. This payment expires by itself at ${utcTime(test.at, now)}.`;
    case 'by_hand':
      return html`No real money. This payment goes on when its next step is simulated.`;
    case 'ended':
      return html`This was a test: no real money moved.`;
  }
}

/** What the page is about now, announced politely when it changes. */
export function statusHeading(tone: Tone, title: Child, text: Child): Html {
  return html`<div class="status ${tone}" role="status" aria-live="polite">
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

/** A term and its value, for lists of facts; rows without a value are left out. */
export function facts(rows: readonly (readonly [string, Html | string | null])[]): Html {
  const filled = rows.filter(([, value]) => value !== null);
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
