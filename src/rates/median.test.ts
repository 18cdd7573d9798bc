import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judge, median, type Vote } from './median.ts';

const NOW = 1_800_000_000_000;
const MAX_AGE_MS = 120_000;

function market(price: bigint, ageMs = 0): Vote {
  return { source: 'market', price, at: NOW - ageMs, maxAgeMs: MAX_AGE_MS, kind: 'market' };
}

function reference(price: bigint, ageMs = 0): Vote {
  return { source: 'reference', price, at: NOW - ageMs, maxAgeMs: 3_600_000, kind: 'reference' };
}

function priceOf(...votes: readonly Vote[]): bigint | null {
  return judge(votes, NOW).price;
}

/** Any price, and prices near 60,000 as honest markets have them. */
const anyPrice = fc.bigInt({ min: 1n, max: 10n ** 16n });
const nearPrice = fc.bigInt({ min: 5_990_000n, max: 6_010_000n });
const age = fc.integer({ min: 0, max: 2 * MAX_AGE_MS });

describe('median', () => {
  it('is the middle one, or the mean of the middle two with halves up', () => {
    expect(median([3n, 1n, 2n])).toBe(2n);
    expect(median([4n, 1n, 2n, 10n])).toBe(3n);
    expect(median([1n, 2n])).toBe(2n);
    expect(median([7n])).toBe(7n);
    expect(() => median([])).toThrow(RangeError);
  });
});

describe('judge', () => {
  it('drops an outlier and takes the median of the rest', () => {
    expect(priceOf(market(1000n), market(1002n), market(1004n), market(5000n))).toBe(1002n);
    expect(priceOf(market(1000n), market(1002n), market(1n))).toBe(1000n);
  });

  it('agrees up to 2 % from the median and no further', () => {
    expect(priceOf(market(10_000n), market(10_000n), market(10_200n), market(10_200n))).toBe(10_100n);
    expect(priceOf(market(9_800n), market(10_000n))).toBe(9_900n);
    expect(priceOf(market(9_500n), market(10_000n))).toBeNull();
  });

  it('has no price from a single source, nor from none', () => {
    expect(priceOf(market(1000n))).toBeNull();
    expect(priceOf()).toBeNull();
    expect(priceOf(market(1000n), market(1000n, MAX_AGE_MS + 1))).toBeNull();
  });

  it('has no price when half the sources contradict the others', () => {
    expect(priceOf(market(1000n), market(1000n), market(2000n), market(2000n))).toBeNull();
    expect(priceOf(market(1000n), market(1000n), market(2000n), market(3000n), market(4000n))).toBeNull();
    expect(priceOf(market(1000n), market(1300n), market(2000n), market(2010n), market(5000n))).toBeNull();
  });

  it('uses a vote up to its age and not a millisecond longer', () => {
    expect(priceOf(market(1000n, MAX_AGE_MS), market(1000n))).toBe(1000n);
    expect(priceOf(market(1000n, MAX_AGE_MS + 1), market(1000n))).toBeNull();
  });

  it('uses no vote of the future, except for a small step of our own clock', () => {
    expect(priceOf(market(1000n, -5_000), market(1000n))).toBe(1000n);
    expect(priceOf(market(1000n, -5_001), market(1000n))).toBeNull();
  });

  it('lets a reference confirm a single market, contradict it, and never make a price', () => {
    expect(priceOf(market(1000n), reference(1010n, 3_000_000))).toBe(1000n);
    expect(priceOf(market(1000n), reference(1100n))).toBeNull();
    expect(priceOf(reference(1000n), reference(1000n), reference(1000n))).toBeNull();
    expect(priceOf(market(1000n), reference(1000n, 3_600_001))).toBeNull();
  });

  it('finds with a reference which of two markets is wrong', () => {
    expect(priceOf(market(1000n), market(1300n), reference(1005n))).toBe(1000n);
  });

  it('says until when the verdict stands', () => {
    expect(judge([market(1000n, 100_000), market(1000n, 1_000)], NOW).until).toBe(NOW + 20_000);
  });

  it('a single lying source among three or more markets never moves the price out of the span of the honest ones', () => {
    const honest = fc.array(fc.oneof(nearPrice, anyPrice), { minLength: 2, maxLength: 8 });
    const references = fc.array(nearPrice, { maxLength: 2 });
    fc.assert(
      fc.property(honest, fc.oneof(nearPrice, anyPrice), references, (prices, lie, confirming) => {
        const votes = [...prices, lie].map((price) => market(price));
        const price = priceOf(...votes, ...confirming.map((each) => reference(each)));
        if (price === null) return;
        const sorted = prices.toSorted((a, b) => Number(a - b));
        expect(price).toBeGreaterThanOrEqual(sorted[0] ?? 0n);
        expect(price).toBeLessThanOrEqual(sorted.at(-1) ?? 0n);
      }),
      { numRuns: 2_000 },
    );
  });

  it('a single lying source cannot take the price away while two honest markets agree', () => {
    fc.assert(
      fc.property(fc.array(nearPrice, { minLength: 2, maxLength: 8 }), anyPrice, (prices, lie) => {
        expect(priceOf(...[...prices, lie].map((price) => market(price)))).not.toBeNull();
      }),
      { numRuns: 1_000 },
    );
  });

  it('stale votes change nothing, whatever they say', () => {
    const vote = fc.record({ price: fc.oneof(nearPrice, anyPrice), ageMs: age, isMarket: fc.boolean() });
    fc.assert(
      fc.property(fc.array(vote, { maxLength: 8 }), fc.array(anyPrice, { maxLength: 8 }), (given, stale) => {
        const votes = given.map(({ price, ageMs, isMarket }) => (isMarket ? market : reference)(price, ageMs));
        const old = stale.flatMap((price) => [market(price, MAX_AGE_MS + 1), reference(price, 3_600_001)]);
        expect(judge([...votes, ...old], NOW)).toEqual(judge(votes, NOW));
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not depend on the order of the votes', () => {
    fc.assert(
      fc.property(fc.array(nearPrice, { minLength: 2, maxLength: 8 }), (prices) => {
        const votes = prices.map((price) => market(price));
        expect(judge(votes.toReversed(), NOW)).toEqual(judge(votes, NOW));
      }),
    );
  });
});
