const MARKUP: unique symbol = Symbol('markup');

/** Markup that is safe to send. Only `html` and `raw` make it: no parsed JSON or database row can pass for it. */
export interface Html {
  readonly [MARKUP]: string;
}

/** What a template may hold. Texts are escaped; null and false leave nothing behind. */
export type Child = Html | readonly Html[] | string | number | bigint | null | false;

/**
 * Template tag that escapes every text it is given, for element content and for attribute values. Attribute values must
 * be written in double quotes; never place a child inside a tag name, an attribute name, a style or a script.
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

/** A third of a page would be the indentation of its templates. Done once for each place where a template stands. */
function withoutIndentation(template: TemplateStringsArray): readonly string[] {
  let parts = written.get(template);
  if (parts === undefined) {
    parts = template.map((part) => part.replaceAll(/\s*\n\s*/g, '\n'));
    written.set(template, parts);
  }
  return parts;
}

/** Takes markup over as it is. Only for markup that this program wrote itself, never for anything that came in. */
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

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * What shows nothing, but moves the cursor or rings in a terminal that the page is saved for: all but tab and line
 * breaks.
 */
const CONTROLS = /(?![\t\n\r])\p{Cc}/gu;
/** All that cannot stand in markup as it is. */
const UNSAFE = /[&<>"']|[^\t\n\r -~]/;

function escapeText(text: string): string {
  // Most texts have nothing to escape, and looking is quicker than replacing.
  if (!UNSAFE.test(text)) return text;
  const visible = text.replace(CONTROLS, '\ufffd');
  return asciiMarkup(visible.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? ''));
}

/**
 * Characters beyond ASCII as references: a page with a single one of them costs three times as much to encode and send.
 * The control characters up to U+009F have no reference, so they become U+FFFD.
 */
export function asciiMarkup(markup: string): string {
  const ascii = markup.replace(/[^\0-\x7f]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `&#${code < 0xa0 ? 0xfffd : code};`;
  });
  // The engine keeps what came of a wide text wide, whatever is in it now.
  return Buffer.from(ascii, 'latin1').toString('latin1');
}
