/** The settings of a file, and the lines that set nothing. */
export interface EnvFile {
  readonly settings: Readonly<Record<string, string>>;
  /** Names that no variable can have, such as `export PORT`. systemd skips them too. */
  readonly refused: readonly string[];
  /** The first quote that does not end on its line: the lines below may have become part of its value. */
  readonly openQuote: { readonly name: string; readonly line: number } | null;
}

const NAME = /^[A-Za-z_]\w*$/;
const SPACE = /[ \t]/;
const LINE_END = /[\n\r]/;
const LINE_ENDS = /\r\n?|\n/g;
/** The characters before which a backslash counts in double quotes. */
const ESCAPED = /["\\`$]/;

/**
 * Reads a file of settings as systemd reads its `EnvironmentFile=` (systemd.exec(5)):
 *
 * - One `NAME=value` a line; the last of several lines for one name counts.
 * - `#` and `;` begin a comment only at the beginning of a line. `$` and `&` have no meaning.
 * - Quotes count only at the beginning of a value. In single quotes every character stands for itself; in double quotes
 *   a backslash makes one of `"\$` and the backtick stand for itself.
 * - Outside of quotes a backslash makes the next character stand for itself; at the end of a line it continues the
 *   value on the next line. Blanks around the value do not belong to it.
 *
 * No setting has a line break, so reading ends at a quote that is not closed on its line. (systemd before version 254
 * also took the line after a comment that ends with a backslash for a comment.)
 */
export function parseEnvFile(text: string): EnvFile {
  const settings: Record<string, string> = {};
  const refused: string[] = [];
  let at = 0;
  while (at < text.length) {
    const start = text.charAt(at);
    if (SPACE.test(start) || LINE_END.test(start)) at += 1;
    else if (start === '#' || start === ';') at = endOfLine(text, at);
    else {
      const end = endOfLine(text, at);
      const equals = text.indexOf('=', at + 1);
      if (equals === -1 || equals > end) at = end;
      else {
        const name = text.slice(at, equals).trimEnd();
        const value = readValue(text, equals + 1);
        if (value.openQuoteAt !== null) {
          const line = [...text.slice(0, value.openQuoteAt).matchAll(LINE_ENDS)].length + 1;
          return { settings, refused, openQuote: { name, line } };
        }
        if (NAME.test(name)) settings[name] = value.text;
        else refused.push(name);
        at = value.end;
      }
    }
  }
  return { settings, refused, openQuote: null };
}

function endOfLine(text: string, from: number): number {
  const length = text.slice(from).search(LINE_END);
  return length === -1 ? text.length : from + length;
}

interface Value {
  readonly text: string;
  readonly end: number;
  /** The position of the first quote that is not closed on its line. */
  readonly openQuoteAt: number | null;
}

/** Reads from behind the equals sign to the end of the value. */
function readValue(text: string, from: number): Value {
  let value = '';
  /** The length without trailing blanks, which belong to the value only if more text follows them. */
  let kept = 0;
  let isPlain = false;
  let at = from;
  while (at < text.length && !LINE_END.test(text.charAt(at))) {
    const char = text.charAt(at);
    if (!isPlain && (char === "'" || char === '"')) {
      const quoted = readQuoted(text, at + 1, char);
      if (quoted === null) return { text: '', end: text.length, openQuoteAt: at };
      value += quoted.text;
      kept = value.length;
      at = quoted.end;
    } else if (char === '\\') {
      const next = text.charAt(at + 1);
      isPlain = true;
      if (!LINE_END.test(next)) value += next;
      kept = value.length;
      at += 2;
    } else {
      if (isPlain || !SPACE.test(char)) value += char;
      if (!SPACE.test(char)) {
        isPlain = true;
        kept = value.length;
      }
      at += 1;
    }
  }
  return { text: value.slice(0, kept), end: at, openQuoteAt: null };
}

/** Null if the quote is not closed before a line break or the end of the file. */
function readQuoted(text: string, from: number, quote: string): { readonly text: string; readonly end: number } | null {
  let value = '';
  let at = from;
  while (text.charAt(at) !== quote) {
    const char = text.charAt(at);
    if (char === '' || LINE_END.test(char)) return null;
    if (quote === '"' && char === '\\') {
      const next = text.charAt(at + 1);
      value += ESCAPED.test(next) ? next : next === '\n' ? '' : `\\${next}`;
      at += 2;
    } else {
      value += char;
      at += 1;
    }
  }
  return { text: value, end: at + 1 };
}
