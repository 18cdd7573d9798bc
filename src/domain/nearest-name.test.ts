import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { distance, nearestName } from './nearest-name.ts';

describe('the distance of two texts', () => {
  it.each([
    ['', '', 0],
    ['abc', 'abc', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['amount', 'amuont', 1],
    ['amount', 'amont', 1],
    ['amount', 'amoount', 1],
    ['amount', 'amaunt', 1],
    ['ab', 'ba', 1],
    ['abcd', 'badc', 2],
    ['abc', 'ca', 3],
    ['kitten', 'sitting', 3],
  ])('from %j to %j is %i', (from, to, expected) => {
    expect(distance(from, to)).toBe(expected);
  });

  it('is the same both ways, 0 between equal texts alone, and at most the longer length', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(distance(a, b)).toBe(distance(b, a));
        expect(distance(a, b) === 0).toBe(a === b);
        expect(distance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
        expect(distance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
      }),
    );
  });
});

describe('the name that was probably meant', () => {
  const NAMES = ['success_url', 'cancel_url', 'amount', 'currency', 'id'];

  it.each([
    ['successUrl', 'success_url'],
    ['Success-URL', 'success_url'],
    ['sucess_url', 'success_url'],
    ['scuess_url', 'success_url'],
    ['amuont', 'amount'],
    ['currancy', 'currency'],
    ['ID', 'id'],
  ])('by %j is %j', (name, expected) => {
    expect(nearestName(NAMES, name)).toBe(expected);
  });

  it.each(['', 'it', 'xd', 'colour', 'amnts', 'scess_rl'])('by %j is none', (name) => {
    expect(nearestName(NAMES, name)).toBeNull();
  });

  it('is the nearest, and the first of those that are as near', () => {
    expect(nearestName(['amounts', 'amount'], 'amoumt')).toBe('amount');
    expect(nearestName(['amounta', 'amountb'], 'amountc')).toBe('amounta');
  });

  it('is compared by its first 64 characters alone', () => {
    const long = 'a'.repeat(64);
    expect(nearestName([long], `${long}bbbb`)).toBe(long);
    expect(nearestName([long], `${'a'.repeat(61)}bbbb`)).toBeNull();
  });
});
