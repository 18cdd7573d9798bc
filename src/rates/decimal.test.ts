import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ONE, midPrice, quotientE8, readDecimal } from './decimal.ts';

/** 10^-8 of a decimal text. */
function priceE8(value: unknown): bigint | null {
  const decimal = readDecimal(value);
  return decimal === null ? null : quotientE8(decimal, ONE);
}

describe('readDecimal', () => {
  it.each([
    ['30300.10000', 3_030_010_000_000n],
    ['0.00000001', 1n],
    ['0.000000005', 1n],
    ['0.000000004', null],
    [7616.5, 761_650_000_000n],
    [6.8e-7, 68n],
    ['1e3', 100_000_000_000n],
    ['12345678901234567890.12345678', 1_234_567_890_123_456_789_012_345_678n],
  ])('reads %s exactly, to the nearest 10^-8', (value, price) => {
    expect(priceE8(value)).toBe(price);
  });

  it.each([
    '',
    '-1',
    '+1',
    '1,000',
    ' 1',
    '.5',
    '1.',
    'NaN',
    'Infinity',
    '0x10',
    '1e999',
    NaN,
    Infinity,
    -1,
    null,
    {},
    [1],
  ])('refuses %j', (value) => {
    expect(readDecimal(value)).toBeNull();
  });

  it('reads every text with eight decimals as it stands', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), (units) => {
        const digits = units.toString().padStart(9, '0');
        expect(priceE8(`${digits.slice(0, -8)}.${digits.slice(-8)}`)).toBe(units);
      }),
    );
  });
});

describe('quotientE8', () => {
  it('is never further than half a unit from the exact quotient', () => {
    const natural = fc.bigInt({ min: 1n, max: 10n ** 20n });
    const scale = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(natural, scale, natural, scale, (above, aboveScale, below, belowScale) => {
        const price = quotientE8({ units: above, scale: aboveScale }, { units: below, scale: belowScale }) ?? 0n;
        const exact = above * 10n ** BigInt(8 + belowScale);
        const unit = below * 10n ** BigInt(aboveScale);
        const distance = price * unit - exact;
        expect((distance < 0n ? -distance : distance) * 2n).toBeLessThanOrEqual(unit);
      }),
    );
  });

  it('has no price of nothing or by nothing', () => {
    expect(quotientE8({ units: 0n, scale: 0 }, ONE)).toBeNull();
    expect(quotientE8(ONE, { units: 0n, scale: 3 })).toBeNull();
  });
});

describe('midPrice', () => {
  it('is the exact middle, whatever the number of decimals', () => {
    const middle = midPrice('1.01', '1.02001');
    expect(middle && quotientE8(middle, ONE)).toBe(101_500_500n);
  });

  it('is none from a book that is empty, crossed or wider than 2 %', () => {
    expect(midPrice('0', '0')).toBeNull();
    expect(midPrice('100', '99.9')).toBeNull();
    expect(midPrice('100', '102.00001')).toBeNull();
    expect(midPrice(undefined, '100')).toBeNull();
    expect(midPrice('100', '102')).not.toBeNull();
  });
});
