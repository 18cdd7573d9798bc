import { KEY_KINDS, MODES, type KeyKind, type Mode } from './permission.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;

const PREFIXES = new Map<string, { readonly kind: KeyKind; readonly mode: Mode }>(
  KEY_KINDS.flatMap((kind) =>
    MODES.map((mode) => [`${kind === 'secret' ? 'sk' : 'pk'}_${mode}_`, { kind, mode }] as const),
  ),
);
const PREFIX_LENGTH = 'sk_test_'.length;
const KEY = new RegExp(`^[sp]k_(?:test|live)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * The text of a key: prefix, 32 random base62 characters and a 6-character checksum, so that secret scanners recognise
 * it and a typo is refused without a database lookup. `random` needs 64 bytes; bytes that would favour some characters
 * are skipped.
 */
export function formatKey(kind: KeyKind, mode: Mode, random: Uint8Array): string {
  let secret = '';
  for (const byte of random) {
    if (byte < 248 && secret.length < SECRET_LENGTH) secret += BASE62.charAt(byte % 62);
  }
  if (secret.length < SECRET_LENGTH) throw new Error('Too few random bytes for a key; give 64.');
  const head = `${kind === 'secret' ? 'sk' : 'pk'}_${mode}_${secret}`;
  return head + checksum(head);
}

/** The kind and mode stated by a well-formed key; null for anything else, such as a typo. */
export function parseKey(text: string): { readonly kind: KeyKind; readonly mode: Mode } | null {
  if (!KEY.test(text)) return null;
  const head = text.slice(0, -CHECKSUM_LENGTH);
  if (checksum(head) !== text.slice(-CHECKSUM_LENGTH)) return null;
  return PREFIXES.get(text.slice(0, PREFIX_LENGTH)) ?? null;
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 of the text as six base62 digits. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index += 1) {
    crc = (CRC_TABLE[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  let value = (crc ^ 0xffffffff) >>> 0;
  let digits = '';
  for (let position = 0; position < CHECKSUM_LENGTH; position += 1) {
    digits = BASE62.charAt(value % 62) + digits;
    value = Math.floor(value / 62);
  }
  return digits;
}
