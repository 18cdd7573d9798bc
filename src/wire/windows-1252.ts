/** The characters of the bytes 0x80 to 0x9F; a full stop stands for a byte without a character. */
const HIGH = '€.‚ƒ„…†‡ˆ‰Š‹Œ.Ž..‘’“”•–—˜™š›œ.žŸ';
const BYTES = new Map(
  Array.from(HIGH).flatMap((char, index) => (char === '.' ? [] : [[char, String.fromCharCode(0x80 + index)] as const])),
);
/** Characters whose code is not their byte. */
const OTHERS = /[^\0-\x7F\xA0-\xFF]/gu;
const UNKNOWN = '?';

/**
 * A text in characters of Windows-1252: a letter that it lacks loses its accent (`č` becomes `c`); any other character
 * becomes a question mark.
 */
export function inWindows1252(text: string): string {
  return text.normalize('NFC').replaceAll(OTHERS, (char) => (BYTES.has(char) ? char : plainLetter(char)));
}

/** The bytes of a text in Windows-1252, as a string in which each character is one byte (Latin-1). */
export function windows1252(text: string): string {
  return inWindows1252(text).replaceAll(OTHERS, (char) => BYTES.get(char) ?? UNKNOWN);
}

/** Letters alone: the plain form of a wide quotation mark would end a quoted field. */
function plainLetter(char: string): string {
  const plain = char.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return /^[A-Za-z]+$/.test(plain) ? plain : UNKNOWN;
}
