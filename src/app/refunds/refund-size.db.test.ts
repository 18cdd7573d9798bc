import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../test/harness.ts';
import { allTokens, rateIn, unitsAtRate } from '../../domain/asset.ts';
import { FIATS, fiatDecimals } from '../../domain/money.ts';
import { NO_REPORTS } from '../../domain/problems.ts';
import { fixedOver, fixedRates } from '../../rates/fixed.ts';
import { createLiveRates } from '../../rates/live.ts';
import type { PriceSource, RateSource } from '../../rates/source.ts';
import { sandboxRail } from '../../modes/sandbox-rail.ts';
import { amountNow, RATE_COUNTS_MS } from './refund-size.ts';

const BITCOIN = { asset: 'BTC', network: 'bitcoin' };
const EUROS = { mode: 'live', currency: 'EUR' } as const;

/** Markets of which each says the same of BTC and EUR, at the time of the clock. */
async function market(clock: () => number, maxAgeMs: number) {
  const source = (name: string): PriceSource => ({
    name,
    everyMs: 0,
    read: () => {
      const price = { unit: 'USD', at: clock(), referenceForMs: null } as const;
      const prices = [
        { ...price, code: 'BTC', price: 6_000_000_000_000n },
        { ...price, code: 'EUR', price: 110_000_000n },
      ] as const;
      return Promise.resolve({ prices, problem: null });
    },
  });
  const sources = ['one', 'two', 'three'].map(source);
  const rates = createLiveRates({ sources, clock, maxAgeMs, timeoutMs: 1_000, backOffMs: 1_000, problems: NO_REPORTS });
  await rates.refresh();
  return rates;
}

const appOf = (rates: RateSource, clock: () => number) => ({ clock, railFor: () => sandboxRail(rates, 1) });

describe('an amount at the rate of now', () => {
  it('buys at the rate that is shown, to the last unit that can be sent, and never more', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 100_000_000n }),
        fc.constantFrom(...FIATS),
        fc.constantFrom(...allTokens()),
        fc.bigInt({ min: 1_000_000n, max: 200_000_000n }),
        fc.bigInt({ min: 10_000_000n, max: 20_000_000_000_000n }),
        (amountMinor, currency, { decimals }, fiatPrice, assetPrice) => {
          const rate = rateIn(fiatPrice, assetPrice);
          const units = unitsAtRate(amountMinor, currency, rate, decimals);
          // The worth of units and the amount, both in the same tiny unit: nothing is rounded.
          const worth = (some: bigint): bigint => some * rate * 10n ** BigInt(fiatDecimals(currency));
          const amount = amountMinor * 10n ** BigInt(decimals + 8);
          const step = 10n ** BigInt(Math.max(0, decimals - 8));
          expect(units % step).toBe(0n);
          expect(worth(units) <= amount && worth(units + step) > amount).toBe(true);
        },
      ),
    );
  });

  it('has the market’s rate in the payment’s currency, its time, and a minute to be confirmed', async () => {
    const clock = manualClock();
    const rates = await market(clock, 120_000);
    const pricedAt = clock();
    clock.advance(7_000);
    const now = amountNow(appOf(rates, clock), EUROS, BITCOIN, 10_000n);
    // 60,000 / 1.10, and 100 EUR of it.
    expect(now).toEqual({
      kind: 'ok',
      rate: 5_454_545_454_545n,
      units: 183_333n,
      decimals: 8,
      at: pricedAt,
      until: clock() + RATE_COUNTS_MS,
    });
    const fixed = fixedOver(new Map([['BTC', 6_000_000_000_000n]]), rates);
    expect(amountNow(appOf(fixed, clock), EUROS, BITCOIN, 10_000n)).toMatchObject({ units: 183_333n, at: pricedAt });
    const dollars = { mode: 'live', currency: 'USD' } as const;
    expect(amountNow(appOf(fixed, clock), dollars, BITCOIN, 10_000n)).toMatchObject({ units: 166_666n, at: clock() });
  });

  it('is refused once the market’s price is stale, and where nobody prices the coin', async () => {
    const clock = manualClock();
    const rates = await market(clock, 120_000);
    clock.advance(120_001);
    expect(amountNow(appOf(rates, clock), EUROS, BITCOIN, 10_000n)).toEqual({
      kind: 'no_rate',
      message: 'No current EUR price is available. Try again shortly.',
    });
    const none = fixedRates(new Map());
    expect(amountNow(appOf(none, clock), { ...EUROS, currency: 'USD' }, BITCOIN, 1n)).toMatchObject({
      kind: 'no_rate',
    });
    expect(amountNow(appOf(rates, clock), EUROS, { asset: 'BTC', network: 'ethereum' }, 1n)).toMatchObject({
      kind: 'refused',
    });
  });
});
