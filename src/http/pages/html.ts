import { escapeHtml } from '../../domain/html.ts';

const MARKUP: unique symbol = Symbol('markup');

/**
 * Markup that is safe to send. Only `html` and `raw` create it: no parsed JSON or database row can be mistaken for it.
 */
export interface Html {
  readonly [MARKUP]: string;
}

/** The values that a template may contain. Texts are escaped; null and false leave nothing. */
export type Child = Html | readonly Html[] | string | number | bigint | null | false;

/**
 * A template tag that escapes every text, for element content and for attribute values. Attribute values must be in
 * double quotes; never place a child inside a tag name, an attribute name, a style or a script.
 */
export function html(template: TemplateStringsArray, ...children: readonly Child[]): Html {
  const parts = withoutIndentation(template);
  let markup = parts[0] ?? '';
  for (let index = 0; index < children.length; index += 1) {
    markup += markupOf(children[index] ?? null) + (parts[index + 1] ?? '');
  }
  return { [MARKUP]: markup };
}

const written = new Map<TemplateStringsArray, readonly string[]>();

/** Removes indentation, once per template; otherwise it would be a third of a page. */
function withoutIndentation(template: TemplateStringsArray): readonly string[] {
  let parts = written.get(template);
  if (parts === undefined) {
    parts = template.map((part) => part.replaceAll(/\s*\n\s*/g, '\n'));
    written.set(template, parts);
  }
  return parts;
}

/** Uses markup unchanged. Only for markup that this program wrote itself, never for input. */
export function raw(markup: string): Html {
  return { [MARKUP]: markup };
}

/** The finished markup as text, to be sent. */
export function markupText(markup: Html): string {
  return markup[MARKUP];
}

function markupOf(child: Child): string {
  if (child === null || child === false) return '';
  if (typeof child === 'string') return escapeText(child);
  if (typeof child === 'number' || typeof child === 'bigint') return String(child);
  if (MARKUP in child) return child[MARKUP];
  return child.map(markupText).join('');
}

/** Characters that show nothing but would move the cursor or ring in a terminal: all except tab and line breaks. */
const CONTROLS = /(?![\t\n\r])\p{Cc}/gu;
/** Everything that must be escaped in markup. */
const UNSAFE = /[&<>"']|[^\t\n\r -~]/;

function escapeText(text: string): string {
  // Most texts have nothing to escape, and checking is faster than replacing.
  if (!UNSAFE.test(text)) return text;
  const visible = text.replace(CONTROLS, '\ufffd');
  return asciiMarkup(escapeHtml(visible));
}

/**
 * Writes characters beyond ASCII as references: a page with a single such character takes three times as long to encode
 * and send. Control characters up to U+009F have no reference, so they become U+FFFD.
 */
export function asciiMarkup(markup: string): string {
  const ascii = markup.replace(/[^\0-\x7f]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `&#${code < 0xa0 ? 0xfffd : code};`;
  });
  // V8 keeps the result of replacing in a two-byte string as two-byte, even if it is ASCII.
  return Buffer.from(ascii, 'latin1').toString('latin1');
}
