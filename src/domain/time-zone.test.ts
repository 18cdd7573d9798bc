import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { dayAfter, dayAt, hourAt, isTimeZone, nextDay, startOfDay } from './time-zone.ts';

const iso = (at: number): string => new Date(at).toISOString();

it('a day begins at midnight of its zone, whatever the zone', () => {
  expect(iso(startOfDay('UTC', '2026-11-22'))).toBe('2026-11-22T00:00:00.000Z');
  expect(iso(startOfDay('Europe/Berlin', '2026-11-22'))).toBe('2026-11-21T23:00:00.000Z');
  expect(iso(startOfDay('Asia/Kathmandu', '2026-11-22'))).toBe('2026-11-21T18:15:00.000Z');
  expect(iso(startOfDay('Pacific/Kiritimati', '2026-11-22'))).toBe('2026-11-21T10:00:00.000Z');
  expect(iso(startOfDay('Pacific/Niue', '2026-11-22'))).toBe('2026-11-22T11:00:00.000Z');
});

it('days follow one another without a gap over a year, also where clocks change', () => {
  for (const zone of ['Europe/Berlin', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', 'Africa/Cairo']) {
    let day = '2026-01-01';
    let at = startOfDay(zone, day);
    const lengths = new Set<number>();
    for (let n = 0; n < 365; n += 1) {
      const next = nextDay(zone, at);
      day = dayAfter(day);
      expect([next, dayAt(zone, next), dayAt(zone, next - 1)]).toEqual([startOfDay(zone, day), day, dayAfter(day, -1)]);
      lengths.add((next - at) / 3_600_000);
      at = next;
    }
    expect(lengths.size).toBe(3);
  }
});

it('the hour is the one that clocks of the zone show', () => {
  const hours = (zone: string, ...times: readonly string[]) => times.map((time) => hourAt(zone, Date.parse(time)));
  // Clocks go back on this day, and forward on the other.
  expect(hours('Europe/Berlin', '2026-10-25T06:59Z', '2026-10-25T07:00Z', '2026-03-29T06:00Z')).toEqual([7, 8, 8]);
  expect(hours('Asia/Kathmandu', '2026-11-21T18:14Z', '2026-11-21T18:15Z')).toEqual([23, 0]);
});

it('eight o’clock comes once a day, wherever and whenever clocks change', () => {
  const change = fc.constantFrom<[zone: string, day: string][]>(
    ['Europe/Berlin', '2026-10-25'],
    ['Europe/Berlin', '2027-03-28'],
    ['America/New_York', '2026-03-08'],
    ['America/New_York', '2026-11-01'],
    ['Australia/Lord_Howe', '2026-10-04'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['America/Santiago', '2026-09-06'],
    ['Africa/Cairo', '2026-04-24'],
    ['Pacific/Chatham', '2026-09-27'],
    ['Asia/Kathmandu', '2026-06-15'],
  );
  fc.assert(
    fc.property(change, fc.nat(25 * 60), ([zone, day], minute) => {
      const start = startOfDay(zone, day);
      const at = Math.min(start + minute * 60_000, nextDay(zone, start) - 1);
      const clock = new Date(at).toLocaleTimeString('sv-SE', { timeZone: zone });
      expect(hourAt(zone, at) >= 8).toBe(clock >= '08:00:00');
    }),
  );
});

it('a name that is no zone is known as such', () => {
  expect(['Europe/Berlin', 'UTC'].map(isTimeZone)).toEqual([true, true]);
  expect(['', 'Europe/Nowhere', "'; drop"].map(isTimeZone)).toEqual([false, false, false]);
});
