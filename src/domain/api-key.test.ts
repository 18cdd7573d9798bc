import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatKey, parseKey } from './api-key.ts';
import { KEY_KINDS, MODES } from './permission.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const random = fc.uint8Array({ minLength: 64, maxLength: 64 }).filter((bytes) => usable(bytes).length >= 32);
const kind = fc.constantFrom(...KEY_KINDS);
const mode = fc.constantFrom(...MODES);

/** The bytes that favour no character: below the last whole multiple of 62. */
function usable(bytes: Uint8Array): readonly number[] {
  return [...bytes].filter((byte) => byte < 4 * 62);
}

describe('an API key', () => {
  it('says its kind and mode, and reads back as them', () => {
    fc.assert(
      fc.property(kind, mode, random, (own, ownMode, bytes) => {
        const key = formatKey(own, ownMode, bytes);
        expect(key).toMatch(/^[sp]k_(test|live)_[0-9A-Za-z]{38}$/);
        expect(key.startsWith(`${own === 'secret' ? 'sk' : 'pk'}_${ownMode}_`)).toBe(true);
        expect(parseKey(key)).toEqual({ kind: own, mode: ownMode });
      }),
    );
  });

  it('has 32 characters of chance, each as likely as another, and six of the CRC-32 of all before them', () => {
    fc.assert(
      fc.property(random, (bytes) => {
        const key = formatKey('secret', 'live', bytes);
        const chance = usable(bytes).slice(0, 32);
        expect(key.slice(8, 40)).toBe(chance.map((byte) => BASE62.charAt(byte % 62)).join(''));
        const sum = key
          .slice(40)
          .split('')
          .reduce((value, digit) => value * 62 + BASE62.indexOf(digit), 0);
        expect(sum).toBe(crc32(key.slice(0, 40)));
      }),
    );
  });

  it('is nothing with a character that no key has, though its checksum were right', () => {
    const head = `sk_live_${'a'.repeat(31)}-`;
    let sum = '';
    for (let left = crc32(head), digit = 0; digit < 6; digit += 1, left = Math.floor(left / 62)) {
      sum = BASE62.charAt(left % 62) + sum;
    }
    expect(parseKey(head + sum)).toBeNull();
  });

  it('is not made of too little chance', () => {
    expect(() => formatKey('secret', 'live', new Uint8Array(31))).toThrow('Too few random bytes');
    expect(() => formatKey('secret', 'live', new Uint8Array(64).fill(248))).toThrow('Too few random bytes');
    expect(parseKey(formatKey('secret', 'live', new Uint8Array(32).fill(247)))).not.toBeNull();
  });

  it('is refused with any one character wrong, missing or too many', () => {
    const key = formatKey(
      'public',
      'test',
      Uint8Array.from({ length: 64 }, (_, index) => index * 3),
    );
    for (let at = 0; at < key.length; at += 1) {
      const other = key[at] === 'a' ? 'b' : 'a';
      expect(parseKey(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
      expect(parseKey(key.slice(0, at) + key.slice(at + 1))).toBeNull();
      expect(parseKey(key.slice(0, at) + other + key.slice(at))).toBeNull();
    }
    for (const text of ['', `${key}\n`, ` ${key}`, `${key}a`, `a${key}`]) expect(parseKey(text)).toBeNull();
  });
});
