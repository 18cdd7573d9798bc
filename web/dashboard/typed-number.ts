/** Whether a language writes decimals behind a comma or a point; Arabic's own sign counts as a point. */
export function decimalSign(intl: string): ',' | '.' {
  const parts = new Intl.NumberFormat(intl).formatToParts(1.5);
  return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.';
}

/** The zeros of the digits that people type: Arabic, Persian, Devanagari and full-width ones. */
const ZEROS = [0x660, 0x6f0, 0x966, 0xff10];
const DIGIT = /[٠-٩۰-۹०-९０-９]/g;
/** Signs of currencies, blanks and apostrophes between groups. */
const IGNORED = /[\s\u00a0\u202f'’\p{Sc}]/gu;
/** Groups of three digits, in India of two before the last. */
const GROUPS = /^[1-9]\d{0,2}([.,])(?:\d{2}\1)*\d{3}(?:\1\d{3})*$/;

/**
 * A number as people write it in their country, as a plain decimal such as `1234.5`; null if it is none. Where both
 * signs are in it, the last is the decimal sign. One sign before exactly three digits is read as `sign`, the reader's
 * own, says: `1.234` is 1,234 for a German and a little more than one for an American.
 */
export function plainNumber(typed: string, sign: ',' | '.'): string | null {
  const text = bare(typed, sign);
  const signs = [...text.matchAll(/[.,]/g)].map(([one]) => one);
  const last = signs.at(-1);
  if (last === undefined) return withoutSigns(text);
  const isDecimal = signs.every((one) => one === last)
    ? signs.length === 1 && (last === sign || !GROUPS.test(text))
    : signs.indexOf(last) === signs.length - 1;
  if (!isDecimal) return signs.every((one) => one === last) && GROUPS.test(text) ? withoutSigns(text) : null;
  const at = text.lastIndexOf(last);
  const [whole, fraction] = [text.slice(0, at), text.slice(at + 1)];
  if (!/^\d+$/.test(fraction) || (!/^\d*$/.test(whole) && !GROUPS.test(whole))) return null;
  return `${withoutSigns(whole) ?? '0'}.${fraction}`;
}

/**
 * An amount of coins as a plain decimal; null if it is none. To a German, `1.125` means 1,125 on a page and a little
 * more than one in what was copied from a wallet or a file. Because refunds are sent by it, the other sign before three
 * digits is refused.
 */
export function plainCoins(typed: string, sign: ',' | '.'): string | null {
  const [, other] = /^[1-9]\d{0,2}([.,])\d{3}$/.exec(bare(typed, sign)) ?? [];
  return other === undefined || other === sign ? plainNumber(typed, sign) : null;
}

/** ASCII digits with the signs between them. */
function bare(typed: string, sign: ',' | '.'): string {
  return typed
    .replaceAll(DIGIT, (digit) => asciiDigit(digit))
    .replaceAll(IGNORED, '')
    .replaceAll('٫', sign)
    .replaceAll('٬', '');
}

function withoutSigns(text: string): string | null {
  const digits = text.replaceAll(/[.,]/g, '');
  return /^\d+$/.test(digits) ? digits.replace(/^0+(?=\d)/, '') : null;
}

function asciiDigit(digit: string): string {
  const code = digit.charCodeAt(0);
  const zero = ZEROS.findLast((one) => one <= code) ?? code;
  return String(code - zero);
}
