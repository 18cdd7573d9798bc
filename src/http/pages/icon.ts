import { html } from './html.ts';

/** A coin with a tick, in the accent colour. */
export const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#0b6b5b"/>' +
      '<path d="M9 16.5l5 5 9.5-10.5" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>',
  );

/** Cointill's mark; pages hide it from screen readers, because it is decoration. */
export const COIN = html`<svg viewBox="0 0 32 32">
  <circle cx="16" cy="16" r="15" />
  <path d="M9 16.5l5 5 9.5-10.5" />
</svg>`;
