import { assert, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MIN_SKIP, skipOf } from './recovery.ts';

const DAY_MS = 86_400_000;
const busiestDay = integer({ min: 0, max: 200_000 });
const time = integer({ min: 0, max: 60 * DAY_MS });

describe('what a recovery passes over', () => {
  it('is never less than a thousand, and at least twice the busiest day for every day that is lost', () => {
    assert(
      property(busiestDay, time, (busiest, lostMs) => {
        const skip = skipOf(busiest, lostMs);
        expect(skip).toBeGreaterThanOrEqual(MIN_SKIP);
        expect(skip).toBeGreaterThanOrEqual((2 * busiest * lostMs) / DAY_MS);
      }),
    );
  });

  it('lets the later one of two restores of a backup begin beyond all that the first can have sold by then', () => {
    assert(
      property(busiestDay, time, time, (busiest, first, between) => {
        const sold = Math.floor((2 * busiest * between) / DAY_MS);
        expect(skipOf(busiest, first + between)).toBeGreaterThanOrEqual(skipOf(busiest, first) + sold);
      }),
    );
  });

  it.each([
    [0, 0, 1_000],
    [3, DAY_MS, 1_506],
    [3, 7 * DAY_MS, 4_542],
    [3, 30 * DAY_MS, 4_680],
    [1_000, 2 * DAY_MS, 7_000],
    [3, -DAY_MS, 1_000],
  ])('with a busiest day of %i, %i ms ago, is %i', (busiest, lostMs, skip) => {
    expect(skipOf(busiest, lostMs)).toBe(skip);
  });
});
