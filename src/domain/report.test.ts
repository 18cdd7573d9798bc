import { describe, expect, it } from 'vitest';
import { dayProblem, daysOfPeriod, PERIODS, spanOf } from './report.ts';

describe('a period of a report', () => {
  it('is of whole months of its zone, which the same moment may see differently', () => {
    const now = Date.parse('2026-11-30T23:30:00Z');
    const seen = (zone: string) =>
      PERIODS.map((period) => daysOfPeriod(period, zone, now)).map(({ from, to }) => [from, to]);
    expect(seen('UTC')).toEqual([
      ['2026-11-01', '2026-11-30'],
      ['2026-10-01', '2026-10-31'],
      ['2026-10-01', '2026-12-31'],
      ['2026-07-01', '2026-09-30'],
      ['2026-01-01', '2026-12-31'],
      ['2025-01-01', '2025-12-31'],
    ]);
    expect(seen('Europe/Berlin').slice(0, 2)).toEqual([
      ['2026-12-01', '2026-12-31'],
      ['2026-11-01', '2026-11-30'],
    ]);
    expect(daysOfPeriod('last_month', 'UTC', Date.parse('2024-03-31T12:00:00Z'))).toMatchObject({
      from: '2024-02-01',
      to: '2024-02-29',
    });
    expect(daysOfPeriod('last_quarter', 'UTC', Date.parse('2026-01-01T00:00:00Z'))).toMatchObject({
      from: '2025-10-01',
      to: '2025-12-31',
    });
  });

  it('begins and ends at midnight of its zone, also where clocks are changed in between', () => {
    const hours = (zone: string, from: string, to: string): number => {
      const { startAt, endAt } = spanOf({ from, to, zone });
      return (endAt - startAt) / 3_600_000;
    };
    expect(spanOf({ from: '2026-10-01', to: '2026-10-31', zone: 'Europe/Berlin' })).toEqual({
      startAt: Date.parse('2026-09-30T22:00:00Z'),
      endAt: Date.parse('2026-10-31T23:00:00Z'),
    });
    expect(hours('Europe/Berlin', '2026-10-25', '2026-10-25')).toBe(25);
    expect(hours('Europe/Berlin', '2026-03-29', '2026-03-29')).toBe(23);
    expect(hours('Europe/Berlin', '2026-03-01', '2026-03-31')).toBe(31 * 24 - 1);
  });
});

it('a day of a report is one that there is, and for which every time zone has midnight', () => {
  expect(['1971-01-01', '2028-02-29', '9990-12-31'].map(dayProblem)).toEqual([null, null, null]);
  for (const text of [
    '',
    '2026-1-31',
    '2026-02-30',
    '2027-02-29',
    '2026-01-31T00:00:00Z',
    '-002026-01-31',
    '0x7e8-01-01',
  ]) {
    expect(dayProblem(text)).toBe('must be a day such as 2026-01-31.');
  }
  for (const text of ['1970-12-31', '9991-01-01', '0001-01-01']) {
    expect(dayProblem(text)).toBe('must be a day between 1971-01-01 and 9990-12-31.');
  }
});
