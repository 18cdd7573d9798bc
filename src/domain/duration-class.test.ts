import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { classMiddleMs, durationClass, medianMs } from './duration-class.ts';

const DURATION = fc.integer({ min: 0, max: 10 * 366 * 86_400_000 });

it('a class is never further from a duration in it than 1.6 %, or half a second', () => {
  fc.assert(
    fc.property(DURATION, (ms) => {
      const seconds = Math.floor(ms / 1_000) * 1_000;
      expect(Math.abs(classMiddleMs(durationClass(ms)) - seconds)).toBeLessThanOrEqual(Math.max(500, ms * 0.016));
    }),
  );
});

it('the middle of a class is half a second, or half a class, after its beginning', () => {
  expect([0, 10, 63, 64, 65].map(classMiddleMs)).toEqual([500, 10_500, 63_500, 65_000, 67_000]);
  expect(classMiddleMs(durationClass(128_000))).toBe(130_000);
});

it('classes are in the order of the durations, without a gap at a power of two', () => {
  fc.assert(
    fc.property(DURATION, DURATION, (a, b) => {
      const [less, more] = a < b ? [a, b] : [b, a];
      expect(durationClass(less)).toBeLessThanOrEqual(durationClass(more));
    }),
  );
  for (let bits = 6; bits < 25; bits += 1) {
    expect(durationClass(2 ** bits * 1_000) - durationClass((2 ** bits - 1) * 1_000)).toBe(1);
  }
});

it('the median is that of the durations, as exactly as their classes', () => {
  fc.assert(
    fc.property(fc.array(DURATION, { minLength: 1, maxLength: 50 }), (durations) => {
      const counts = new Map<number, number>();
      for (const ms of durations) counts.set(durationClass(ms), (counts.get(durationClass(ms)) ?? 0) + 1);
      const median = durations.toSorted((a, b) => a - b)[Math.ceil(durations.length / 2) - 1] ?? 0;
      expect(medianMs(counts)).toBe(classMiddleMs(durationClass(median)));
    }),
  );
  expect(medianMs(new Map())).toBeNull();
  expect(medianMs(new Map([[5, 0]]))).toBeNull();
});
