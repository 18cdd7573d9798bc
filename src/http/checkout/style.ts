import { createHash } from 'node:crypto';

/**
 * The style sheet of the payment and refund pages. One accent; amber is for test mode and warnings alone. Colour pairs keep
 * 4.5:1 for text and 3:1 for borders of controls (WCAG 2.2 AA) in both schemes; controls are at least 44 px high.
 */
export const CHECKOUT_CSS = `
:root {
  color-scheme: light dark;
  --page: #f4f6f5; --card: #ffffff; --sunken: #f2f5f4; --line: #dde4e1; --control: #7b8a85;
  --text: #14211d; --soft: #4f5e59;
  --accent: #0b6b5b; --accent-strong: #07503f; --on-accent: #ffffff; --accent-soft: #e2f2ee;
  --amber: #fff3d6; --amber-line: #e0a52b; --on-amber: #573b00; --red: #a3232c;
  --shadow: 0 1px 2px rgb(16 40 32 / 6%), 0 12px 32px -12px rgb(16 40 32 / 16%);
  --radius: 1rem;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1412; --card: #17201d; --sunken: #1f2a26; --line: #2c3a35; --control: #7f918b;
    --text: #e9f1ee; --soft: #a9b8b3;
    --accent: #5fd3b8; --accent-strong: #8be3cd; --on-accent: #05211b; --accent-soft: #17342d;
    --amber: #35290c; --amber-line: #b98a1e; --on-amber: #ffdf9a; --red: #ff9a9f;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%);
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3, p, dl, dd, ul, figure { margin: 0; padding: 0; }
ul { list-style: none; }
form { margin: 0; }
strong { font-weight: 650; }
bdi { unicode-bidi: isolate; }
a { color: var(--accent); text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; border-radius: .5rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.band {
  background: var(--amber); color: var(--on-amber);
  border-bottom: 6px solid; border-image: repeating-linear-gradient(135deg, var(--amber-line) 0 12px, transparent 12px 24px) 6;
}
.band p { max-width: 62rem; margin: 0 auto; padding: .625rem 1.25rem; font-size: .9375rem; }
.band strong {
  display: inline-block; margin-right: .375rem; padding: 0 .5rem; border: 1.5px solid currentcolor; border-radius: .375rem;
  font-size: .8125rem; text-transform: uppercase; letter-spacing: .06em;
}

.top, main, footer { width: 100%; max-width: 62rem; margin: 0 auto; padding-inline: 1.25rem; }
.top { display: flex; align-items: center; gap: .75rem; padding-block: 1.25rem .25rem; font-weight: 600; }
.monogram {
  flex: none; display: grid; place-items: center; width: 2.25rem; height: 2.25rem; border-radius: .75rem;
  background: var(--accent); color: var(--on-accent);
}
main { flex: 1; padding-block: .75rem 2rem; }
footer { padding-block: 1rem 2rem; color: var(--soft); font-size: .875rem; }
footer a { display: inline-block; padding-block: .75rem; }

.layout { display: grid; gap: 1.25rem; }
.label, dt { color: var(--soft); font-size: .875rem; font-weight: 500; }
.unit { color: var(--soft); font-size: 1rem; font-weight: 600; }
h1 { font-weight: 650; line-height: 1.2; }
h1 .label { display: block; margin-bottom: .125rem; line-height: 1.5; }
.fiat { font-size: 2rem; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.description { margin-top: .5rem; color: var(--soft); white-space: pre-line; }
.facts .description { margin: 0; color: inherit; }
.summary .facts { margin-top: 1rem; }
.facts { border-top: 1px solid var(--line); }
.facts > div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1.5rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
.facts dd { font-weight: 500; font-variant-numeric: tabular-nums; }

.card { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem; align-content: start; padding: 1.5rem 1.25rem; border: 1px solid var(--line); border-radius: var(--radius); background: var(--card); box-shadow: var(--shadow); }
.card.alone { max-width: 34rem; margin: 8vh auto 0; }
h2 { font-size: 1.25rem; line-height: 1.3; letter-spacing: -.01em; }
h3 { margin-bottom: .5rem; font-size: 1rem; }
.status { display: grid; grid-template-columns: auto minmax(0, 1fr); column-gap: .875rem; row-gap: .125rem; align-items: center; }
.status h2, .status p { grid-column: 2; }
.status p { color: var(--soft); }
.status p strong { color: var(--text); }
.status.plain { grid-template-columns: minmax(0, 1fr); }
.status.plain h2, .status.plain p { grid-column: 1; }
.mark { grid-row: 1 / span 2; width: 2.75rem; height: 2.75rem; padding: .375rem; border-radius: 50%; background: var(--sunken); align-self: start; }
.mark path { fill: none; stroke: var(--soft); stroke-width: 2.25; stroke-linecap: round; stroke-linejoin: round; }
.done .mark { background: var(--accent); }
.done .mark path { stroke: var(--on-accent); }
.attention .mark { background: var(--amber); }
.attention .mark path { stroke: var(--on-amber); }
.pulse { align-self: start; width: .875rem; height: .875rem; margin: .375rem .25rem 0; border-radius: 50%; background: var(--accent); animation: pulse 2s ease-out infinite; }
@keyframes pulse { from { box-shadow: 0 0 0 0 var(--accent); } to { box-shadow: 0 0 0 .75rem transparent; } }

.tokens, .networks ul { display: grid; gap: .625rem; }
.token {
  display: grid; grid-template-columns: minmax(0, 1fr); align-items: center; gap: 0 .875rem; position: relative; width: 100%; min-height: 3.25rem; padding: .625rem .875rem;
  border: 1.5px solid var(--control); border-radius: .75rem; background: var(--card); color: var(--text);
  font: inherit; text-align: start; cursor: pointer; list-style: none;
}
.token.with-coin { grid-template-columns: auto minmax(0, 1fr); }
.with-coin .coin { grid-row: 1 / span 2; }
.token::-webkit-details-marker { display: none; }
.token:hover { border-color: var(--accent); background: var(--accent-soft); }
.coin { flex: none; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; border-radius: 50%; background: var(--accent-soft); color: var(--accent-strong); font-size: .6875rem; font-weight: 700; letter-spacing: .02em; }
.coin-text > span, .on { color: var(--soft); }
.on { font-size: .9375rem; }
.on strong { color: var(--text); }
summary.token { padding-inline-end: 2.5rem; }
summary.token::after { content: ""; position: absolute; inset-inline-end: 1.125rem; top: calc(50% - .375rem); width: .5rem; height: .5rem; border: solid var(--soft); border-width: 0 2px 2px 0; transform: rotate(45deg); }
.asset[open] summary.token::after { top: calc(50% - .125rem); transform: rotate(225deg); }
.networks { margin: .625rem 0 .375rem .5rem; padding-inline-start: .875rem; border-inline-start: 3px solid var(--accent); display: grid; gap: .625rem; }

.pay { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem; }
.what { display: grid; gap: .75rem; align-content: start; }
.what > .label { margin-bottom: -.75rem; }
.amount { line-height: 1.2; }
.digits { font-size: clamp(1.5rem, 7.5vw, 2rem); font-weight: 650; letter-spacing: -.01em; font-variant-numeric: tabular-nums; -webkit-user-select: all; user-select: all; }
.digits.long { font-size: clamp(1.125rem, 5.6vw, 1.75rem); }
.network { display: flex; flex-wrap: wrap; gap: 0 .625rem; align-items: baseline; justify-self: start; padding: .375rem .875rem; border-radius: .75rem; background: var(--accent-soft); }
.network strong { font-size: 1.0625rem; color: var(--accent-strong); }
.warning, .note { padding: .75rem 1rem; border-radius: .75rem; font-size: .9375rem; }
.warning { border-inline-start: 4px solid var(--amber-line); background: var(--amber); color: var(--on-amber); }
.note { background: var(--sunken); }
.hint { color: var(--soft); font-size: .875rem; }
.where { display: grid; gap: .375rem; }
.address { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--sunken); }
.grouped { font-family: var(--mono); font-size: .9375rem; line-height: 1.7; -webkit-user-select: all; user-select: all; }
.grouped span { margin-inline-end: .625em; }
.grouped span:nth-of-type(even) { color: var(--accent-strong); font-weight: 650; }
.address .grouped { font-size: 1.0625rem; }
.code { justify-self: center; width: 100%; max-width: 15rem; text-align: center; }
.qr { display: block; width: 100%; height: auto; border-radius: .75rem; border: 1px solid var(--line); background: #fff; }
figcaption { margin-top: .375rem; color: var(--soft); font-size: .875rem; }

.button {
  display: flex; align-items: center; justify-content: center; min-height: 3rem; padding: .625rem 1.25rem; border: 1.5px solid transparent; border-radius: .75rem;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
.button:hover { background: var(--accent-strong); }
.quiet { border-color: var(--control); background: transparent; color: var(--text); }
.quiet:hover { background: var(--sunken); border-color: var(--accent); }
.button > bdi { margin-inline-start: .3em; }
.danger { border-color: var(--red); background: transparent; color: var(--red); }
.danger:hover { background: var(--red); color: var(--card); }
.actions { display: grid; gap: .5rem; }
.cancel summary { display: flex; align-items: center; justify-content: center; min-height: 2.75rem; color: var(--soft); text-decoration: underline; text-underline-offset: .2em; cursor: pointer; list-style: none; }
.cancel summary::-webkit-details-marker { display: none; }
.cancel form { display: grid; gap: .75rem; padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; }
.notice { max-width: 100%; margin-bottom: 1.25rem; padding: .875rem 1rem; border: 1.5px solid var(--red); border-radius: .75rem; background: var(--card); color: var(--red); font-weight: 500; }

.meter { display: grid; gap: .375rem; }
.meter label { color: var(--soft); font-size: .875rem; }
progress { width: 100%; height: .625rem; border: 0; border-radius: 1rem; background: var(--line); overflow: hidden; appearance: none; }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { border-radius: 1rem; background: var(--accent); }
progress::-moz-progress-bar { border-radius: 1rem; background: var(--accent); }

.claim { display: grid; gap: .75rem; }
.claim label { font-weight: 600; }
.claim input { width: 100%; min-height: 3rem; padding: .625rem .875rem; border: 1.5px solid var(--control); border-radius: .75rem; background: var(--page); color: var(--text); font: 1rem/1.5 var(--mono); }
.claim input[aria-invalid] { border-color: var(--red); }
.field-problem { color: var(--red); font-weight: 500; }

@media (min-width: 52rem) {
  .layout { grid-template-columns: minmax(0, 17rem) minmax(0, 1fr); gap: 2.5rem; align-items: start; }
  .layout { grid-template-rows: auto 1fr; row-gap: 1rem; }
  .summary { grid-area: 1 / 1; padding-top: 1.5rem; }
  .details { grid-area: 2 / 1; }
  .layout > .card { grid-area: 1 / 2 / span 2; }
  .card { padding: 2rem; }
  .token.with-coin { grid-template-columns: auto minmax(0, 1fr) auto; }
  .with-coin .coin { grid-row: 1; }
  .pay { grid-template-columns: minmax(0, 1fr) 13rem; column-gap: 2rem; }
  .where { grid-column: 1 / -1; grid-row: 2; }
  .code { grid-column: 2; grid-row: 1; }
}
@media (prefers-reduced-motion: reduce) {
  .pulse { animation: none; box-shadow: 0 0 0 .25rem var(--accent-soft); }
}
@media (forced-colors: active) {
  .qr { forced-color-adjust: none; }
  .pulse, .monogram { border: 2px solid CanvasText; }
}
@media print {
  :root { color-scheme: light; --page: #fff; --card: #fff; --text: #000; --soft: #333; --line: #999; --accent: #000; --accent-strong: #000; --on-accent: #fff; --sunken: #fff; --amber: #fff; --on-amber: #000; }
  .actions, .cancel, footer, .hint, .summary, .details { display: none; }
  .card { border: 0; box-shadow: none; padding: 0; }
  .layout { display: block; }
  .facts > div { break-inside: avoid; }
}
`;

/** Where the style sheet is served, immutable: another text gets another path. */
export const CHECKOUT_CSS_PATH = `/assets/checkout.${createHash('sha256').update(CHECKOUT_CSS).digest('hex').slice(0, 16)}.css`;
