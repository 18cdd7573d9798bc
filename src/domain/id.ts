/**
 * Identifiers. Records are keyed by version 7 UUIDs (RFC 9562: 48 bits of time, 74 random bits), so that rows created
 * together are stored together. Clients see a UUID either as it is (transactions, projects) or as a prefix and 26
 * characters of Crockford's base32 (orders, refunds, events …). The latter can be decoded, so no second column is
 * needed to look records up.
 */

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A version 7 UUID from a time in epoch milliseconds and at least ten random bytes. */
export function uuidV7(nowMs: number, random: Uint8Array): string {
  const byte = (index: number): number => random[index] ?? 0;
  const hex = (value: number): string => HEX[value & 0xff] ?? '00';
  const time = Math.trunc(nowMs).toString(16).padStart(12, '0').slice(-12);
  const a = hex(0x70 | (byte(0) & 0x0f)) + hex(byte(1));
  const b = hex(0x80 | (byte(2) & 0x3f)) + hex(byte(3));
  const node = hex(byte(4)) + hex(byte(5)) + hex(byte(6)) + hex(byte(7)) + hex(byte(8)) + hex(byte(9));
  return `${time.slice(0, 8)}-${time.slice(8)}-${a}-${b}-${node}`;
}

/** The smallest version 7 UUID of a time in epoch milliseconds: ids of records created earlier are smaller. */
export function firstUuidOf(atMs: number): string {
  const time = Math.max(0, Math.trunc(atMs)).toString(16).padStart(12, '0').slice(-12);
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical (lower-case) form of a UUID, or null. */
export function parseUuid(text: string): string | null {
  return UUID.test(text) ? text.toLowerCase() : null;
}

const HEX_DIGITS = '0123456789abcdef';
/** Crockford's alphabet leaves out i, l, o and u, so that nothing is misread and no words arise. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** The prefixes of identifiers that are not plain UUIDs. */
export const ID_PREFIXES = {
  order: 'ord_',
  invoice: 'inv_',
  request: 'req_',
  refund: 're_',
  event: 'evt_',
  key: 'key_',
  endpoint: 'we_',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** A payment's id is written several times in one answer (id, page URL, metadata), so the last result is cached. */
const last = { uuid: '', text: '' };

/** `ord_` and the UUID's 128 bits as 26 base32 characters. */
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
  // 26 characters are 130 bits: two leading zero bits, then the 32 hex digits of the UUID.
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

/** The value of each base32 character by its code; -1 for all other characters. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** The UUID of an identifier written by `encodeId`; null for anything else. */
export function decodeId(kind: IdKind, text: string): string | null {
  const prefix = ID_PREFIXES[kind];
  if (text.length !== prefix.length + 26 || !text.startsWith(prefix)) return null;
  let hex = '';
  let held = 0;
  // The first two of the 130 bits are padding and must be zero, as encodeId writes them.
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

/** The UUIDs of identifiers that begin with a text, from the least to the greatest; null if it begins none. */
export function idsBeginning(kind: IdKind, text: string): { readonly from: string; readonly to: string } | null {
  const length = ID_PREFIXES[kind].length + 26;
  if (text.length <= ID_PREFIXES[kind].length) return null;
  const [from, to] = [decodeId(kind, text.padEnd(length, '0')), decodeId(kind, text.padEnd(length, 'z'))];
  return from === null || to === null ? null : { from, to };
}

/** Eight hex digits are the time to a minute; fewer are more likely something else. */
const LEAST_OF_UUID = /^[0-9a-f]{8}(?:-[0-9a-f-]*)?$/;
const LEAST_UUID = '00000000-0000-0000-0000-000000000000';

/** The UUIDs that begin with a text in lower case, which has at least eight digits; null if it begins none. */
export function uuidsBeginning(text: string): { readonly from: string; readonly to: string } | null {
  if (!LEAST_OF_UUID.test(text)) return null;
  const rest = LEAST_UUID.slice(text.length);
  const [from, to] = [parseUuid(text + rest), parseUuid(text + rest.replaceAll('0', 'f'))];
  return from === null || to === null ? null : { from, to };
}

/** A delivery's number as clients see it. */
export function deliveryId(number: bigint): string {
  return `dlv_${number}`;
}
