import { html, type Html } from '../pages/html.ts';

/** Copies a text. Shown by the script, because copying needs it. */
export function copyButton(text: string, label: string): Html {
  return html`<button type="button" class="copy" hidden data-copy="${text}">${COPY}<span>${label}</span></button>`;
}

const COPY = html`<svg aria-hidden="true" viewBox="0 0 24 24"><path d="M9 9h10v11H9zM5 15V4h10" /></svg>`;
