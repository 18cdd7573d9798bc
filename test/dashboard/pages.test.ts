import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatsOf } from '../../web/dashboard/formats.ts';
import { paymentsSearch } from '../../web/dashboard/pages/payments/search.ts';
import { moneyShares } from '../../web/dashboard/pages/payments/shares.ts';
import { niceTop } from '../../web/dashboard/ui/chart/scale.ts';

const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 18 }))
  .map(([units, decimals]) => {
    const digits = units.toString().padStart(decimals + 1, '0');
    return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  });

describe('the bar of a payment’s money', () => {
  it('shows the exact shares that are confirmed, only seen, and in excess', () => {
    const shares = (expected: string, received: string, confirmed: string) =>
      moneyShares({ expected, received, confirmed });
    expect(shares('0.00616', '0.00576', '0.00576')).toEqual({ confirmed: 93.5, seen: 0, excess: 0 });
    expect(shares('120', '120', '30')).toEqual({ confirmed: 25, seen: 75, excess: 0 });
    expect(shares('120', '150', '150')).toEqual({ confirmed: 80, seen: 0, excess: 20 });
    expect(shares('0', '0', '0')).toEqual({ confirmed: 0, seen: 0, excess: 0 });
  });

  it('never exceeds its length, whatever was received', () => {
    fc.assert(
      fc.property(decimal, decimal, decimal, (expected, received, confirmed) => {
        const shares = moneyShares({ expected, received, confirmed });
        const parts = [shares.confirmed, shares.seen, shares.excess];
        for (const part of parts) expect(part).toBeGreaterThanOrEqual(0);
        expect(shares.confirmed + shares.seen + shares.excess).toBeLessThanOrEqual(100.0001);
      }),
    );
  });
});

describe('the scale of a chart', () => {
  it('ends above every value, and never at 0', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (max) => {
        expect(niceTop(max)).toBeGreaterThanOrEqual(max);
        expect(niceTop(max)).toBeGreaterThan(0);
      }),
    );
    expect(niceTop(2_050)).toBe(3_000);
    expect(niceTop(0)).toBe(3);
  });
});

describe("the filters in the list's URL", () => {
  it('are read if they are known, and ignored otherwise', () => {
    expect(
      paymentsSearch({ status: 'open', period: '7d', search: 'NW-1', exception: 'underpaid', show: 'ord_1' }),
    ).toEqual({ status: 'open', period: '7d', search: 'NW-1', exception: 'underpaid', show: 'ord_1' });
    expect(paymentsSearch({ status: 'toString', period: '8d', search: '', exception: 'none', other: 1 })).toEqual({});
    expect(paymentsSearch({ search: 'x'.repeat(10_000_000) }).search).toHaveLength(255);
  });
});

describe('formats', () => {
  const formats = formatsOf('en', ['de-AT', 'en-GB'], 'Europe/Berlin');

  it('follow the person’s own variant of English, and their time zone', () => {
    expect(formats.exactTime('2026-11-22T13:01:07.000Z')).toBe('22 Nov 2026, 14:01:07');
    expect(formats.day('2026-11-22')).toBe('22 Nov');
  });

  it('keep every digit of an amount', () => {
    expect(formatsOf('en', [], 'UTC').fiat('9007199254740993.05', 'USD')).toBe('$9,007,199,254,740,993.05');
  });

  it('never make anything appear older than it is', () => {
    const now = Date.parse('2026-11-22T13:00:00.000Z');
    expect(formats.relative('2026-11-22T12:58:01.000Z', now)).toBe('1 min ago');
    expect(formats.relative('2026-11-22T11:00:01.000Z', now)).toBe('1 hr ago');
    expect(formats.relative('2026-11-20T11:00:01.000Z', now)).toBe('20 Nov 2026');
  });
});
