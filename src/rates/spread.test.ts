import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteUnits } from '../domain/asset.ts';
import { fixedOver, fixedRates } from './fixed.ts';
import { withSpread } from './spread.ts';

const rates = fixedRates(
  new Map([
    ['BTC', 6_000_000_000_000n],
    ['EUR', 110_000_000n],
  ]),
);

describe('withSpread', () => {
  it('lowers what an asset counts for and leaves fiat currencies and missing prices alone', () => {
    const spread = withSpread(rates, 150);
    expect(spread.usdPrice('BTC')).toBe(5_910_000_000_000n);
    expect(spread.usdPrice('EUR')).toBe(110_000_000n);
    expect(spread.usdPrice('USD')).toBe(100_000_000n);
    expect(spread.usdPrice('ETH')).toBeNull();
    expect(withSpread(rates, 0).usdPrice('BTC')).toBe(6_000_000_000_000n);
  });

  it('never lets a customer owe less than without it, nor less than its share more', () => {
    const price = fc.bigInt({ min: 10_000n, max: 10n ** 14n });
    fc.assert(
      fc.property(
        price,
        fc.integer({ min: 0, max: 9_999 }),
        fc.bigInt({ min: 1n, max: 10n ** 8n }),
        (usd, bp, minor) => {
          const plain = fixedRates(new Map([['BTC', usd]]));
          const lowered = withSpread(plain, bp).usdPrice('BTC') ?? 0n;
          expect(lowered * 10_000n).toBeLessThanOrEqual(usd * BigInt(10_000 - bp));
          const owed = quoteUnits(minor, 'USD', 100_000_000n, lowered, 8);
          expect(owed).toBeGreaterThanOrEqual(quoteUnits(minor, 'USD', 100_000_000n, usd, 8));
        },
      ),
    );
  });

  it('has no price where it would round to nothing', () => {
    expect(withSpread(fixedRates(new Map([['BTC', 1n]])), 1).usdPrice('BTC')).toBeNull();
  });

  it.each([-1, 10_000, 0.5, NaN])('refuses %d basis points', (basisPoints) => {
    expect(() => withSpread(rates, basisPoints)).toThrow(RangeError);
  });
});

describe('fixedOver', () => {
  it('puts a fixed price above every source, and asks the sources for the others', () => {
    const both = fixedOver(new Map([['BTC', 1n]]), rates);
    expect(both.usdPrice('BTC')).toBe(1n);
    expect(both.usdPrice('EUR')).toBe(110_000_000n);
    expect(both.usdPrice('LTC')).toBeNull();
  });
});
