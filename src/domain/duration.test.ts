import { expect, it } from 'vitest';
import { parseDuration } from './duration.ts';

it('reads weeks, days, hours, minutes and seconds', () => {
  expect(parseDuration('PT61M')).toBe(61 * 60_000);
  expect(parseDuration('P1DT2H3M4S')).toBe(((24 + 2) * 60 + 3) * 60_000 + 4_000);
  expect(parseDuration('P2W')).toBe(14 * 24 * 60 * 60_000);
  expect(parseDuration('PT0S')).toBe(0);
});

it.each(['', 'P', 'PT', 'P1DT', '61M', 'PT-5M', '-PT5M', 'P1Y', 'P1M', 'PT1.5H', 'pt5m', 'PT5M ', 'PT5M1H', 'PT1e3S'])(
  'does not read "%s"',
  (text) => {
    expect(parseDuration(text)).toBeNull();
  },
);
