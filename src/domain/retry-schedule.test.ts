import { describe, expect, it } from 'vitest';
import { MAX_DELIVERY_ATTEMPTS, nextAttemptDelayMs } from './retry-schedule.ts';

const MINUTE_MS = 60_000;

/** Fails every attempt and notes the wait before each retry. */
function waitsOfAFailingDelivery(): number[] {
  const waits: number[] = [];
  for (let failed = 1; ; failed += 1) {
    const wait = nextAttemptDelayMs(failed);
    if (wait === null) return waits;
    waits.push(wait);
  }
}

describe('the retry schedule', () => {
  it('retries at once, then after 1, 5, 30 minutes, 2, 6, 12, 24 and 24 hours', () => {
    expect(waitsOfAFailingDelivery().map((wait) => wait / MINUTE_MS)).toEqual([0, 1, 5, 30, 120, 360, 720, 1440, 1440]);
  });

  it('makes exactly ten attempts within 68 h 36 min', () => {
    const waits = waitsOfAFailingDelivery();
    expect(waits.length + 1).toBe(10);
    expect(MAX_DELIVERY_ATTEMPTS).toBe(10);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBe((68 * 60 + 36) * MINUTE_MS);
  });

  it('has nothing left after the tenth failure or later', () => {
    expect(nextAttemptDelayMs(9)).not.toBeNull();
    expect(nextAttemptDelayMs(10)).toBeNull();
    expect(nextAttemptDelayMs(11)).toBeNull();
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %s as a number of failed attempts', (failed) => {
    expect(() => nextAttemptDelayMs(failed)).toThrow(RangeError);
    expect(() => nextAttemptDelayMs(failed)).toThrow(`must be a positive integer, not ${failed}`);
  });
});
