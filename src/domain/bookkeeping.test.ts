import { describe, expect, it } from 'vitest';
import { fiscalYearStart, isDatevAccount, isInOneMonth } from './bookkeeping.ts';

describe('the settings of DATEV', () => {
  it('begin the fiscal year in its month, before the day', () => {
    expect(fiscalYearStart('2026-01-01', 1)).toBe('2026-01-01');
    expect(fiscalYearStart('2026-06-30', 7)).toBe('2025-07-01');
    expect(fiscalYearStart('2026-07-01', 7)).toBe('2026-07-01');
    expect(fiscalYearStart('2026-11-30', 12)).toBe('2025-12-01');
  });

  it('are for days of one month', () => {
    const days = (from: string, to: string) => ({ from, to, zone: 'UTC' });
    expect(isInOneMonth(days('2026-06-01', '2026-06-30'))).toBe(true);
    expect(isInOneMonth(days('2026-06-30', '2026-07-01'))).toBe(false);
    expect(isInOneMonth(days('2025-06-01', '2026-06-01'))).toBe(false);
  });

  it('have accounts of digits, with one more for persons', () => {
    expect(['1460', '10000', '0420', '1'].every((text) => isDatevAccount(text, 4))).toBe(true);
    expect(['', '100000', '0000', '14a0', 'a1460', ' 1460', '1234567890'].some((text) => isDatevAccount(text, 4))).toBe(
      false,
    );
    expect(isDatevAccount('123456789', 8)).toBe(true);
    expect(isDatevAccount('1234567890', 12)).toBe(false);
  });
});
