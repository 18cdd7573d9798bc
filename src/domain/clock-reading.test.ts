import { describe, expect, it } from 'vitest';
import { clockOffset, weightFor, type ClockReading } from './clock-reading.ts';

const LIMIT_MS = 30_000;

const reading = (source: string, earliest: number, latest = earliest, weight = 1): ClockReading => ({
  source,
  earliest,
  latest,
  weight,
});

describe('how far a clock is off', () => {
  const off = (readings: readonly ClockReading[], at: number, least = 1) => clockOffset(readings, at, LIMIT_MS, least);

  it('is not known without readings, within their ranges, or up to the limit', () => {
    expect(off([], 0)).toBeNull();
    expect(off([reading('a', 100_000, 200_000)], 150_000)).toBeNull();
    expect(off([reading('a', 100_000, 200_000)], 230_000)).toBeNull();
    expect(off([reading('a', 100_000, 200_000)], 70_000)).toBeNull();
  });

  it('is the distance to the range, ahead or behind', () => {
    expect(off([reading('a', 100_000, 200_000)], 230_001)).toEqual({ ms: 30_001, sources: ['a'] });
    expect(off([reading('a', 100_000, 200_000)], 69_999)).toEqual({ ms: -30_001, sources: ['a'] });
  });

  it('is the least that any of the sources proves', () => {
    expect(off([reading('a', 0), reading('b', 50_000)], 100_000)).toEqual({ ms: 50_000, sources: ['a', 'b'] });
    expect(off([reading('a', 200_000), reading('b', 150_000)], 100_000)).toEqual({ ms: -50_000, sources: ['a', 'b'] });
  });

  it('needs sources of the least weight, or more', () => {
    expect(off([reading('a', 0)], 100_000, 2)).toBeNull();
    expect(off([reading('a', 0), reading('b', 0)], 100_000, 2)).not.toBeNull();
    expect(off([reading('a', 0, 0, 2)], 100_000, 2)).not.toBeNull();
  });

  it('needs more weight than those that contradict, and one that cannot does not', () => {
    const wrong = reading('a', 0);
    expect(off([wrong, reading('b', 100_000)], 100_000)).toBeNull();
    expect(off([wrong, reading('b', 120_000)], 100_000)).toBeNull();
    expect(off([wrong, reading('b', 300_000)], 100_000)).toBeNull();
    expect(off([reading('a', 0, 0, 2), reading('b', 100_000)], 100_000)).toEqual({ ms: 100_000, sources: ['a'] });
    // A block only proves that it is not earlier: a clock that is ahead of it is no contradiction.
    expect(off([wrong, reading('block', 50_000, Infinity)], 100_000)).toEqual({ ms: 100_000, sources: ['a'] });
    expect(off([wrong, reading('block', 120_000, Infinity)], 100_000)).toBeNull();
  });
});

describe('the weight for one time against another', () => {
  it('is that of the readings that are nearer to it by more than the limit', () => {
    const readings = [reading('a', 0, 0, 2), reading('b', 10_000, 10_000, 3), reading('c', 100_000, 100_000, 5)];
    expect(weightFor(readings, 0, 100_000, LIMIT_MS)).toBe(5);
    expect(weightFor(readings, 100_000, 0, LIMIT_MS)).toBe(5);
    expect(weightFor(readings, 0, 30_000, LIMIT_MS)).toBe(0);
    expect(weightFor([reading('a', 0)], 0, 30_000, LIMIT_MS)).toBe(0);
    expect(weightFor([reading('a', 0)], 0, 30_001, LIMIT_MS)).toBe(1);
    expect(weightFor([reading('a', 0)], 0, -30_001, LIMIT_MS)).toBe(1);
    expect(weightFor([], 0, 100_000, LIMIT_MS)).toBe(0);
  });
});
