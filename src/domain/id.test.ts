import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ID_PREFIXES, decodeId, deliveryId, encodeId, firstUuidOf, parseUuid, uuidV7, type IdKind } from './id.ts';

const LATEST_MS = 2 ** 48 - 1;
const time = fc.integer({ min: 0, max: LATEST_MS });
const random = fc.uint8Array({ minLength: 10, maxLength: 10 });
const uuid = fc.uuid();
const kind = fc.constantFrom<IdKind>('order', 'refund', 'event', 'key', 'endpoint');
const SAMPLE = '019bbf3a-1234-7abc-8def-0123456789ab';

describe('a UUID of version 7', () => {
  it('carries its time, its version and its variant where RFC 9562 puts them', () => {
    fc.assert(
      fc.property(time, random, (nowMs, bytes) => {
        const text = uuidV7(nowMs, bytes);
        expect(text).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16)).toBe(nowMs);
      }),
    );
  });

  it('keeps 74 bits of randomness: each random bit beside version and variant shows', () => {
    const none = uuidV7(0, new Uint8Array(10));
    const shown = Array.from({ length: 80 }, (_, bit) => {
      const bytes = new Uint8Array(10);
      bytes[bit >> 3] = 1 << (bit & 7);
      return uuidV7(0, bytes);
    }).filter((text) => text !== none);
    expect(new Set(shown).size).toBe(74);
  });

  it('sorts as text by time', () => {
    fc.assert(
      fc.property(time, time, random, random, (a, b, one, other) => {
        fc.pre(a !== b);
        expect(uuidV7(a, one) < uuidV7(b, other)).toBe(a < b);
      }),
    );
  });

  it('is never less than the first of its millisecond, and always less than the first of the next one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: LATEST_MS - 1 }), random, (nowMs, bytes) => {
        const text = uuidV7(nowMs, bytes);
        expect(firstUuidOf(nowMs) <= text && text < firstUuidOf(nowMs + 1)).toBe(true);
        expect(parseUuid(firstUuidOf(nowMs))).toBe(firstUuidOf(nowMs));
      }),
    );
    expect(firstUuidOf(-1)).toBe(firstUuidOf(0));
    // Beyond its 48 bits the time begins anew, and the form stays.
    expect(firstUuidOf(2 ** 48 + 5)).toBe(firstUuidOf(5));
    expect(uuidV7(2 ** 48 + 5, new Uint8Array(10))).toBe(uuidV7(5, new Uint8Array(10)));
    expect(firstUuidOf(1.5)).toBe(firstUuidOf(1));
  });

  it('takes a clock with fractions of a millisecond', () => {
    expect(uuidV7(1_768_478_400_000.75, new Uint8Array(10))).toBe(uuidV7(1_768_478_400_000, new Uint8Array(10)));
  });
});

describe('an identifier', () => {
  it('decodes to the UUID that it was made of', () => {
    fc.assert(
      fc.property(uuid, kind, (value, own) => {
        expect(decodeId(own, encodeId(own, value))).toBe(value);
      }),
    );
  });

  it('is nothing under another prefix', () => {
    fc.assert(
      fc.property(uuid, kind, kind, (value, own, other) => {
        fc.pre(other !== own);
        expect(decodeId(other, encodeId(own, value))).toBeNull();
      }),
    );
  });

  it('is the only text for its UUID: whatever decodes encodes to itself, and only 128 bits decode', () => {
    const digit = fc.constantFrom(...'0123456789abcdefghjkmnpqrstvwxyz'.split(''));
    fc.assert(
      fc.property(fc.string({ unit: digit, minLength: 26, maxLength: 26 }), (digits) => {
        const value = decodeId('order', `ord_${digits}`);
        expect(value === null ? null : encodeId('order', value)).toBe(/^[0-7]/.test(digits) ? `ord_${digits}` : null);
      }),
    );
  });

  it('is the prefix and 26 characters that nobody misreads, the same for upper and lower case', () => {
    fc.assert(
      fc.property(uuid, kind, (value, own) => {
        const id = encodeId(own, value);
        expect(id.slice(ID_PREFIXES[own].length)).toMatch(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/);
        expect(encodeId(own, value.toUpperCase())).toBe(id);
      }),
    );
  });

  it('sorts as text like its UUID, so that newer identifiers come later', () => {
    fc.assert(
      fc.property(uuid, uuid, (a, b) => {
        expect(encodeId('order', a) < encodeId('order', b)).toBe(a < b);
      }),
    );
  });

  it('writes the least and the greatest value', () => {
    expect(encodeId('order', '00000000-0000-0000-0000-000000000000')).toBe(`ord_${'0'.repeat(26)}`);
    expect(encodeId('order', 'ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe(`ord_7${'z'.repeat(25)}`);
  });

  it('is refused when it is nearly one', () => {
    const id = encodeId('order', SAMPLE);
    const nearly = [
      '',
      'ord_',
      id.slice(0, -1),
      `${id}0`,
      id.toUpperCase(),
      id.slice(4),
      `re_${id.slice(4)}`,
      `ord-${id.slice(4)}`,
      ` ${id.slice(0, -1)}`,
      `${id.slice(0, -1)}u`,
      `${id.slice(0, -1)}\u0000`,
      `${id.slice(0, -2)}💰`,
      `ord_8${'0'.repeat(25)}`,
      `ord_z${id.slice(5)}`,
      SAMPLE,
    ];
    for (const text of nearly) expect(decodeId('order', text)).toBeNull();
    expect(decodeId('order', id)).toBe(SAMPLE);
  });
});

describe('a UUID in a path', () => {
  it('is taken in either case and given back in lower case', () => {
    expect(parseUuid(SAMPLE.toUpperCase())).toBe(SAMPLE);
  });

  it('is refused when it is malformed', () => {
    const bare = SAMPLE.replaceAll('-', '');
    for (const text of ['', bare, `{${SAMPLE}}`, `${SAMPLE}\n`, ` ${SAMPLE}`, SAMPLE.slice(1), `g${SAMPLE.slice(1)}`]) {
      expect(parseUuid(text)).toBeNull();
    }
  });
});

it('a delivery is named by its number', () => {
  expect(deliveryId(12_345_678_901_234_567_890n)).toBe('dlv_12345678901234567890');
});
