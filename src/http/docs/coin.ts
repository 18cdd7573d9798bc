import { html } from '../pages/html.ts';

/** Cointill's mark; decoration, so whoever shows it hides it from screen readers. */
export const COIN = html`<svg viewBox="0 0 32 32">
  <circle cx="16" cy="16" r="15" />
  <path d="M9 16.5l5 5 9.5-10.5" />
</svg>`;
