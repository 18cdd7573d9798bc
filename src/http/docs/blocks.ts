import { html, type Html } from '../pages/html.ts';

export interface CodeOptions {
  /** The caption above the block, also for screen readers. */
  readonly label: string;
  readonly language: string;
  /** The name of a request that can be run unchanged; tests run all of them. */
  readonly curl?: string;
}

/** Code to read or copy. It can be focused by keyboard, because it may be wider than the page. */
export function codeBlock(code: string, { label, language, curl }: CodeOptions): Html {
  return html`<figure class="code" data-language="${language}">
    <figcaption>${label}</figcaption>
    <pre
      tabindex="0"
      role="group"
      aria-label="${label}"
      ${curl !== undefined && html` data-curl="${curl}"`}
    ><code>${code}</code></pre>
  </figure>`;
}

/** A text that may contain `code` and **strong words**. */
export function inline(text: string): readonly Html[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
    return html`${part}`;
  });
}

/** Paragraphs of such text, separated by empty lines. */
export function paragraphs(text: string): readonly Html[] {
  return text.split('\n\n').map((part) => html`<p>${inline(part)}</p>`);
}
