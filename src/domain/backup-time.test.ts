import { assert, integer, property } from 'fast-check';
import { expect, it } from 'vitest';
import { lastAt, parseDayTime } from './backup-time.ts';

it('reads a time of day and nothing else', () => {
  expect(parseDayTime('03:10')).toEqual({ hour: 3, minute: 10 });
  expect(parseDayTime('23:59')).toEqual({ hour: 23, minute: 59 });
  for (const text of ['24:00', '3:10', '03:60', '0310', '03:10:00', ' 03:10', ''])
    expect(parseDayTime(text)).toBeNull();
});

it('gives the last moment of that time of day, never a later one and never one a day ago', () => {
  const minutes = integer({ min: 0, max: 1_439 });
  assert(
    property(minutes, integer({ min: 0, max: 4_000_000_000_000 }), (time, now) => {
      const at = lastAt({ hour: Math.floor(time / 60), minute: time % 60 }, now);
      expect(at).toBeLessThanOrEqual(now);
      expect(now - at).toBeLessThan(86_400_000);
      const date = new Date(at);
      expect(date.getUTCHours() * 60 + date.getUTCMinutes()).toBe(time);
      expect(Math.abs(at % 60_000)).toBe(0);
    }),
  );
});

it('has come at its very first millisecond', () => {
  const at = Date.UTC(2026, 0, 15, 3, 10);
  expect(lastAt({ hour: 3, minute: 10 }, at)).toBe(at);
  expect(lastAt({ hour: 3, minute: 10 }, at - 1)).toBe(at - 86_400_000);
});
