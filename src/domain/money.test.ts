import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FIATS,
  maxAmountMinor,
  divCeil,
  divHalfUp,
  fiatDecimals,
  formatDecimal,
  greatestAmountMinor,
  isFiat,
  parseDecimal,
  parseFiatAmount,
} from './money.ts';

const units = fc.bigInt({ min: 0n, max: 10n ** 40n });
const decimals = fc.integer({ min: 0, max: 18 });

describe('rounding', () => {
  it('divCeil is the least quotient that does not fall short', () => {
    fc.assert(
      fc.property(units, fc.bigInt({ min: 1n, max: 10n ** 20n }), (dividend, divisor) => {
        const quotient = divCeil(dividend, divisor);
        expect(quotient * divisor).toBeGreaterThanOrEqual(dividend);
        expect((quotient - 1n) * divisor).toBeLessThan(dividend);
      }),
    );
  });

  it('divHalfUp is never further than half from the exact quotient, and halves go up', () => {
    fc.assert(
      fc.property(units, fc.bigInt({ min: 1n, max: 10n ** 20n }), (dividend, divisor) => {
        const doubledError = 2n * divHalfUp(dividend, divisor) * divisor - 2n * dividend;
        expect(doubledError).toBeGreaterThan(-divisor);
        expect(doubledError).toBeLessThanOrEqual(divisor);
      }),
    );
    expect(divHalfUp(5n, 2n)).toBe(3n);
    expect(divHalfUp(1n, 3n)).toBe(0n);
  });
});

describe('decimal text', () => {
  it('reads back every amount that it wrote', () => {
    fc.assert(
      fc.property(units, decimals, (amount, places) => {
        expect(parseDecimal(formatDecimal(amount, places), places)).toBe(amount);
      }),
    );
  });

  it('is the shortest plain decimal: no exponent, no zeros to spare', () => {
    fc.assert(
      fc.property(units, decimals, (amount, places) => {
        expect(formatDecimal(amount, places)).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });

  it.each([
    [1n, 8, '0.00000001'],
    [1n, 18, '0.000000000000000001'],
    [0n, 8, '0'],
    [100_000_000n, 8, '1'],
    [10n ** 30n, 0, `1${'0'.repeat(30)}`],
    [1_050n, 2, '10.5'],
    [-1_050n, 2, '-10.5'],
  ])('writes %s units of %i decimals as %s', (amount, places, text) => {
    expect(formatDecimal(amount, places)).toBe(text);
  });

  it.each(['', '.', '.5', '5.', '01', '00', '+1', '-1', '1e3', '1E3', ' 1', '1 ', '1,5', '0x10', 'NaN', '1.2.3', '١'])(
    'refuses %j, which is no plain decimal',
    (text) => {
      expect(parseDecimal(text, 18)).toBeNull();
    },
  );

  it('counts places that are not zero, and forgives zeros beyond them', () => {
    expect(parseDecimal('12.50', 1)).toBe(125n);
    expect(parseDecimal('12.55', 1)).toBeNull();
    expect(parseDecimal('7.000', 0)).toBe(7n);
    expect(parseDecimal('7.5', 0)).toBeNull();
  });
});

describe('a fiat amount', () => {
  it.each([
    [0.01, 'USD', 1n],
    [0.1, 'USD', 10n],
    [0.3, 'USD', 30n],
    [19.99, 'USD', 1_999n],
    [100, 'USD', 10_000n],
    [1e3, 'EUR', 100_000n],
    [999_999.99, 'USD', 99_999_999n],
    [1_000_000, 'USD', 100_000_000n],
    [10, 'JPY', 10n],
    [150_000_000, 'JPY', 150_000_000n],
    [100_000_000, 'INR', 10_000_000_000n],
  ] as const)('takes %d %s as %s minor units', (value, currency, minor) => {
    expect(parseFiatAmount(value, currency)).toEqual({ kind: 'ok', minor });
  });

  it.each([
    ['zero', 0, 'USD'],
    ['negative zero', -0, 'USD'],
    ['a negative amount', -1, 'USD'],
    ['NaN', Number.NaN, 'USD'],
    ['infinity', Number.POSITIVE_INFINITY, 'USD'],
    ['an exponent overflow', JSON.parse('1e400') as number, 'USD'],
    ['a float that only looks like 0.3', 0.1 + 0.2, 'USD'],
    ['three decimals', 1.005, 'USD'],
    ['less than a cent', 0.001, 'USD'],
    ['a number written with a negative exponent', 1e-7, 'USD'],
    ['the least number there is', Number.MIN_VALUE, 'USD'],
    ['a cent more than the most', 1_000_000.01, 'USD'],
    ['a number written with an exponent', 1e21, 'USD'],
    ['a huge number', Number.MAX_VALUE, 'USD'],
    ['half a yen', 10.5, 'JPY'],
    ['a yen more than the most', 150_000_001, 'JPY'],
    ['a paisa more than the most', 100_000_000.01, 'INR'],
  ] as const)('refuses %s', (_name, value, currency) => {
    expect(parseFiatAmount(value, currency)).toMatchObject({ kind: 'invalid' });
  });

  it('names the rule that was broken and the range that is allowed', () => {
    expect(parseFiatAmount(-5, 'USD')).toEqual({ kind: 'invalid', rule: 'must be a number from 0.01 to 1000000 USD' });
    expect(parseFiatAmount(0, 'USD')).toEqual({ kind: 'invalid', rule: 'must be a number from 0.01 to 1000000 USD' });
    expect(parseFiatAmount(2_000_000, 'USD')).toEqual({ kind: 'invalid', rule: 'must be from 0.01 to 1000000 USD' });
    expect(parseFiatAmount(0.001, 'USD')).toEqual({ kind: 'invalid', rule: 'must have at most 2 decimals' });
    expect(parseFiatAmount(10.5, 'JPY')).toMatchObject({ rule: expect.stringContaining('at most 0 decimals') });
    expect(parseFiatAmount(1e21, 'USD')).toMatchObject({ rule: expect.stringContaining('from 0.01 to 1000000 USD') });
  });

  it('names the most of its own currency', () => {
    expect(parseFiatAmount(2e8, 'JPY')).toEqual({ kind: 'invalid', rule: 'must be from 1 to 150000000 JPY' });
    expect(parseFiatAmount(2e8, 'INR')).toEqual({ kind: 'invalid', rule: 'must be from 0.01 to 100000000 INR' });
  });

  it('can be the million that it always could be, in every currency', () => {
    for (const currency of FIATS) expect(parseFiatAmount(1_000_000, currency)).toMatchObject({ kind: 'ok' });
  });

  it('takes over every amount in range exactly, in every currency', () => {
    fc.assert(
      fc.property(fc.constantFrom(...FIATS), fc.nat(), fc.boolean(), (currency, distance, isNearMost) => {
        const minor = isNearMost
          ? maxAmountMinor(currency) - BigInt(distance % 1_000)
          : 1n + BigInt(distance % 100_000_000);
        const value = JSON.parse(formatDecimal(minor, fiatDecimals(currency))) as number;
        expect(parseFiatAmount(value, currency)).toEqual({ kind: 'ok', minor });
      }),
    );
  });

  it('takes a number if and only if its text is a plain decimal in range', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        const plain = /^\d+(\.\d{1,2})?$/.test(String(value)) && value >= 0.01 && value <= 1_000_000;
        expect(parseFiatAmount(value, 'USD').kind).toBe(plain ? 'ok' : 'invalid');
      }),
    );
  });
});

it('an amount below nothing is written as its opposite with a sign', () => {
  expect([formatDecimal(-1n, 8), formatDecimal(-150n, 2), formatDecimal(-3n, 0)]).toEqual([
    '-0.00000001',
    '-1.5',
    '-3',
  ]);
});

describe('a currency code', () => {
  it('is known only as it is written, and never by what objects inherit', () => {
    expect(isFiat('USD')).toBe(true);
    for (const code of ['usd', 'US', '', 'XXX', 'toString', '__proto__', 'constructor'])
      expect(isFiat(code)).toBe(false);
  });
});

it('the greatest amount of several currencies is that of the one with the greatest', () => {
  expect(greatestAmountMinor([])).toBe(0n);
  expect(greatestAmountMinor(['USD', 'INR', 'EUR'])).toBe(maxAmountMinor('INR'));
  expect(greatestAmountMinor(['INR', 'USD'])).toBe(maxAmountMinor('INR'));
  expect(greatestAmountMinor(['USD'])).toBe(100_000_000n);
});
