/**
 * Identifiers. Records are keyed by UUIDs of version 7 (RFC 9562: 48 bits of time, 74 random bits), so that rows made
 * together lie together. Outside, a UUID is written as it is (transactions, projects) or as a prefix and 26 characters of
 * Crockford's base32 (orders, refunds, events …), which is reversible: there is no second column to look up.
 */

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A UUID of version 7 from a time in epoch milliseconds and at least ten random bytes. */
export function uuidV7(nowMs: number, random: Uint8Array): string {
  const byte = (index: number): number => random[index] ?? 0;
  const hex = (value: number): string => HEX[value & 0xff] ?? '00';
  const time = Math.trunc(nowMs).toString(16).padStart(12, '0').slice(-12);
  const a = hex(0x70 | (byte(0) & 0x0f)) + hex(byte(1));
  const b = hex(0x80 | (byte(2) & 0x3f)) + hex(byte(3));
  const node = hex(byte(4)) + hex(byte(5)) + hex(byte(6)) + hex(byte(7)) + hex(byte(8)) + hex(byte(9));
  return `${time.slice(0, 8)}-${time.slice(8)}-${a}-${b}-${node}`;
}

/** The least UUID of version 7 that a time in epoch milliseconds can have: ids of records made earlier are smaller. */
export function firstUuidOf(atMs: number): string {
  const time = Math.max(0, Math.trunc(atMs)).toString(16).padStart(12, '0').slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical (lower-case) form of a UUID text, or null. */
export function parseUuid(text: string): string | null {
  return UUID.test(text) ? text.toLowerCase() : null;
}

const HEX_DIGITS = '0123456789abcdef';
/** Crockford's alphabet: no i, l, o, u, so nothing is misread and no words arise. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The prefixes of identifiers that are not plain UUIDs. */
export const ID_PREFIXES = {
  order: 'ord_',
  refund: 're_',
  event: 'evt_',
  key: 'key_',
  endpoint: 'we_',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** A payment writes its id several times over (its own, in its page's address, in its metadata), so the last one is kept. */
const last = { uuid: '', text: '' };

/** `ord_` and the UUID's 128 bits in 26 base32 characters. */
export function encodeId(kind: IdKind, uuid: string): string {
  if (last.uuid !== uuid) {
    last.text = base32(uuid);
    last.uuid = uuid;
  }
  return ID_PREFIXES[kind] + last.text;
}

function base32(uuid: string): string {
  let text = '';
  let held = 0;
  // 130 bits in 26 characters: two leading zero bits, then the 32 hex digits of the UUID.
  let bits = 2;
  for (let index = 0; index < uuid.length; index += 1) {
    const code = uuid.charCodeAt(index);
    if (code === 45) continue;
    held = (held << 4) | (code < 58 ? code - 48 : (code | 0x20) - 87);
    bits += 4;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET.charAt((held >> bits) & 31);
      held &= (1 << bits) - 1;
    }
  }
  return text;
}

/** The value of each base32 character by its code; -1 for all others. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** The UUID of an identifier that `encodeId` wrote, or null for anything else. */
export function decodeId(kind: IdKind, text: string): string | null {
  const prefix = ID_PREFIXES[kind];
  if (text.length !== prefix.length + 26 || !text.startsWith(prefix)) return null;
  let hex = '';
  let held = 0;
  // The first two of the 130 bits stand for nothing and must be zero, as encodeId wrote them.
  let bits = -2;
  for (let index = prefix.length; index < text.length; index += 1) {
    const digit = DIGITS[text.charCodeAt(index)] ?? -1;
    if (digit < 0) return null;
    held = (held << 5) | digit;
    bits += 5;
    if (index === prefix.length && held > 7) return null;
    while (bits >= 4) {
      bits -= 4;
      hex += HEX_DIGITS.charAt((held >> bits) & 15);
      held &= (1 << bits) - 1;
    }
  }
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A delivery's number as it is shown. */
export function deliveryId(number: bigint): string {
  return `dlv_${number}`;
}
