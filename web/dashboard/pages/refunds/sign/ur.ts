/**
 * Uniform Resources (BCR-2020-005 and BCR-2024-001 of Blockchain Commons), by which wallets with a camera read a PSBT
 * from animated QR codes: first the parts of the message, and after them sums of parts, so that a wallet need not wait
 * for a missed part.
 */
export interface UrEncoder {
  /** The number of parts; later ones are sums of them. */
  readonly count: number;
  /** Part `place` from 1, in upper case, which makes smaller QR codes. */
  part(place: number): Promise<string>;
}

/** A size that hardware wallets' cameras can read: a part is a QR code of 57 modules. */
const MAX_PART_BYTES = 120;
const MIN_PART_BYTES = 10;

/** `psbt`: BIP 174, in bytes. The type's name is the one that all wallets read; `ur:psbt` came later. */
export function psbtUr(psbt: Uint8Array): UrEncoder {
  const head = cborHead(BYTES, psbt.length);
  const message = new Uint8Array(head.length + psbt.length);
  message.set(head);
  message.set(psbt, head.length);
  return createUrEncoder('crypto-psbt', message, MAX_PART_BYTES);
}

/** `message` is CBOR. */
export function createUrEncoder(type: string, message: Uint8Array, maxPartBytes: number): UrEncoder {
  const length = partLength(message.length, maxPartBytes);
  const count = Math.ceil(message.length / length);
  const checksum = crc32(message);
  const mixed = (places: readonly number[]): Uint8Array => {
    const sum = new Uint8Array(length);
    for (const place of places) {
      message.subarray(place * length, (place + 1) * length).forEach((byte, at) => (sum[at] = (sum[at] ?? 0) ^ byte));
    }
    return sum;
  };
  return {
    count,
    part: async (place) => {
      if (count === 1) return `ur:${type}/${bytewords(message)}`.toUpperCase();
      const data = mixed(await partsIn(place, count, checksum));
      const head = [place, count, message.length, checksum].flatMap((one) => cborHead(UNSIGNED, one));
      const body = Uint8Array.of(...cborHead(ARRAY, 5), ...head, ...cborHead(BYTES, data.length), ...data);
      return `ur:${type}/${place}-${count}/${bytewords(body)}`.toUpperCase();
    },
  };
}

/** Parts of equal length, as few as fit. */
function partLength(messageLength: number, maxPartBytes: number): number {
  const most = Math.max(1, Math.floor(messageLength / MIN_PART_BYTES));
  const count = Math.min(most, Math.ceil(messageLength / maxPartBytes));
  return Math.ceil(messageLength / count);
}

/** The parts whose sum is part `place`; the reader computes them in the same way. */
async function partsIn(place: number, count: number, checksum: number): Promise<readonly number[]> {
  if (place <= count) return [place - 1];
  const seed = new DataView(new ArrayBuffer(8));
  seed.setUint32(0, place);
  seed.setUint32(4, checksum);
  const random = await createRandom(new Uint8Array(seed.buffer));
  const degree = chooseDegree(count, random);
  const left = Array.from({ length: count }, (_, index) => index);
  const shuffled: number[] = [];
  while (left.length > 0) shuffled.push(...left.splice(Math.floor(random() * left.length), 1));
  return shuffled.slice(0, degree);
}

/** 1 to `count`, each with a weight of its inverse, by the alias method in the specification's order. */
function chooseDegree(count: number, random: () => number): number {
  const weights = Array.from({ length: count }, (_, index) => 1 / (index + 1));
  const sum = weights.reduce((total, one) => total + one, 0);
  const scaled = weights.map((one) => (one * count) / sum);
  const chances: number[] = Array.from({ length: count }, () => 1);
  const aliases: number[] = Array.from({ length: count }, () => 0);
  const [small, large]: [number[], number[]] = [[], []];
  for (let index = count - 1; index >= 0; index -= 1) ((scaled[index] ?? 0) < 1 ? small : large).push(index);
  for (;;) {
    const [less, more] = [small.at(-1), large.at(-1)];
    if (less === undefined || more === undefined) break;
    small.pop();
    large.pop();
    const chance = scaled[less] ?? 0;
    chances[less] = chance;
    aliases[less] = more;
    const rest = (scaled[more] ?? 0) + (chance - 1);
    scaled[more] = rest;
    (rest < 1 ? small : large).push(more);
  }
  const [first, second] = [random(), random()];
  const index = Math.floor(count * first);
  return 1 + (second < (chances[index] ?? 1) ? index : (aliases[index] ?? 0));
}

const MASK = (1n << 64n) - 1n;
const rotated = (value: bigint, by: bigint): bigint => ((value << by) | (value >> (64n - by))) & MASK;

/** Xoshiro256** (Blackman, Vigna), seeded with a SHA-256: numbers from 0 to 1. */
export async function createRandom(seed: Uint8Array<ArrayBuffer>): Promise<() => number> {
  const state = new BigUint64Array(4);
  const digest = new DataView(await crypto.subtle.digest('SHA-256', seed));
  for (let place = 0; place < 4; place += 1) state[place] = digest.getBigUint64(8 * place);
  return () => {
    const [a = 0n, b = 0n, c = 0n, d = 0n] = state;
    const result = (rotated((b * 5n) & MASK, 7n) * 9n) & MASK;
    const [third, fourth] = [c ^ a, d ^ b];
    state[0] = a ^ fourth;
    state[1] = b ^ third;
    state[2] = third ^ ((b << 17n) & MASK);
    state[3] = rotated(fourth, 45n);
    return Number(result) / 2 ** 64;
  };
}

/** Major types of RFC 8949. */
const [UNSIGNED, BYTES, ARRAY] = [0, 2, 4];

/** The head of a CBOR item, whose argument takes as few bytes as it can. */
function cborHead(major: number, value: number): readonly number[] {
  const type = major << 5;
  if (value < 24) return [type | value];
  const size = value < 0x100 ? 1 : value < 0x10000 ? 2 : 4;
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, value);
  return [type | { 1: 24, 2: 25, 4: 26 }[size], ...new Uint8Array(view.buffer).subarray(4 - size)];
}

/** Each byte as the first and last letter of its word (BCR-2020-012), with a checksum at the end. */
function bytewords(bytes: Uint8Array): string {
  const checksum = new DataView(new ArrayBuffer(4));
  checksum.setUint32(0, crc32(bytes));
  return [...bytes, ...new Uint8Array(checksum.buffer)].map((byte) => LETTERS.slice(2 * byte, 2 * byte + 2)).join('');
}

const LETTERS =
  'aeadaoaxaaahamatayasbkbdbnbtbabsbebybgbwbbbzcmchcscfcycwcecackctcxclcpcndkdadsdidedtdrdndwdpdmdl' +
  'dyeheyeoeeecenemetesftfrfnfsfmfhfzfpfwfxfyfefgflfdgagegrgsgtglgwgdgygmgughgohfhghdhkhthphhhlhyhe' +
  'hnhsidiaieihiyioisinimjejzjnjtjljojsjpjkjykpkoktkskkknkgkekikblblalylflslrlplnltloldlelulklgmnmy' +
  'mhmemomumwmdmtmsmknlnyndnsntnnnenboyoeotoxonolospdptpkpypspmplpepfpaprqdqzrerprlrorhrdrkrfryrnrs' +
  'rtsesasrssskswstspsosgsbsfsntotktitttdtetytltbtstptatnuyuoutueurvtvyvovlvevwvavdvswlwdwmwpwewyws' +
  'wtwnwzwfwkykynylyaytzszoztzczezm';

/** CRC-32 as in Ethernet and zip files. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
