import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ASSET_CODES } from './asset-code.ts';
import {
  allTokens,
  fiatValue,
  isAssetCode,
  quoteUnits,
  rateIn,
  shownDecimals,
  tokenOf,
  unitsAtRate,
  usdCents,
} from './asset.ts';
import { NETWORKS, isNetwork } from './networks.ts';
import { FIATS, maxAmountMinor, fiatDecimals, formatDecimal, pow10 } from './money.ts';

const DOLLAR = 100_000_000n;
const token = fc.constantFrom(...allTokens());
const fiat = fc.constantFrom(...FIATS);
const amount = fc.bigInt({ min: 1n, max: maxAmountMinor('INR') });
/** From a ten-thousandth of a dollar to ten million of them. */
const price = fc.bigInt({ min: DOLLAR / 10_000n, max: DOLLAR * 10_000_000n });

describe('a quote', () => {
  it('never asks for less than the amount is worth, and for less than one shown unit more', () => {
    fc.assert(
      fc.property(amount, fiat, price, price, token, (minor, currency, fiatPrice, assetPrice, { decimals }) => {
        const owed = quoteUnits(minor, currency, fiatPrice, assetPrice, decimals);
        // Both sides of owed / 10^decimals × assetPrice ≥ minor / 10^fiatDecimals × fiatPrice, without the fractions.
        const scale = pow10(fiatDecimals(currency));
        const worth = minor * fiatPrice * pow10(decimals);
        const shownUnit = pow10(decimals - shownDecimals(decimals));
        expect(owed * assetPrice * scale).toBeGreaterThanOrEqual(worth);
        expect((owed - shownUnit) * assetPrice * scale).toBeLessThan(worth);
      }),
    );
  });

  it('is exactly the number that is shown: at most 8 decimals, without an exponent', () => {
    fc.assert(
      fc.property(amount, fiat, price, price, token, (minor, currency, fiatPrice, assetPrice, { decimals }) => {
        const owed = quoteUnits(minor, currency, fiatPrice, assetPrice, decimals);
        expect(owed).toBeGreaterThan(0n);
        expect(formatDecimal(owed, decimals)).toMatch(/^\d+(\.\d{1,8})?$/);
      }),
    );
  });

  it.each([
    ['100 USD in BTC at 60,000', '0.00166667', 10_000n, 60_000n * DOLLAR, 8],
    ['100 USD in ETH at 3,000', '0.03333334', 10_000n, 3_000n * DOLLAR, 18],
    ['100 USD in USDT at 1', '100', 10_000n, DOLLAR, 6],
    ['100 USD in 18-decimal USDT at 1', '100', 10_000n, DOLLAR, 18],
    ['a cent in BTC at 1,000,000', '0.00000001', 1n, 1_000_000n * DOLLAR, 8],
  ] as const)('of %s is %s', (_name, shown, minor, assetPrice, decimals) => {
    expect(formatDecimal(quoteUnits(minor, 'USD', DOLLAR, assetPrice, decimals), decimals)).toBe(shown);
  });

  it('is worth the amount again, within one shown unit and a rounding', () => {
    fc.assert(
      fc.property(amount, fiat, price, price, token, (minor, currency, fiatPrice, assetPrice, { decimals }) => {
        const owed = quoteUnits(minor, currency, fiatPrice, assetPrice, decimals);
        const shownUnit = pow10(decimals - shownDecimals(decimals));
        const worth = (units: bigint): bigint => fiatValue(units, decimals, assetPrice, currency, fiatPrice);
        expect(worth(owed)).toBeGreaterThanOrEqual(minor);
        expect(worth(owed - shownUnit)).toBeLessThanOrEqual(minor);
      }),
    );
  });

  it('counts a yen as a whole one, since it has no decimals', () => {
    expect(quoteUnits(1_500n, 'JPY', DOLLAR / 150n, DOLLAR, 6)).toBe(9_999_990n);
  });
});

describe('the amount in US cents', () => {
  it('is the amount itself in US dollars, and rounds to the nearest cent else', () => {
    fc.assert(
      fc.property(amount, (minor) => {
        expect(usdCents(minor, 'USD', DOLLAR)).toBe(minor);
      }),
    );
    expect(usdCents(1n, 'EUR', 150_000_000n)).toBe(2n);
    expect(usdCents(1n, 'EUR', 149_999_999n)).toBe(1n);
    expect(usdCents(1_500n, 'JPY', 666_667n)).toBe(1_000n);
  });
});

describe('tokens', () => {
  it('start with each asset on its default network', () => {
    for (const code of ASSET_CODES) {
      expect(allTokens().find((each) => each.asset === code)).toEqual(tokenOf(code));
    }
    expect(tokenOf('ETH')?.network).toBe('ethereum');
  });

  it('exist only where the asset lives', () => {
    expect(tokenOf('USDT', 'bsc')?.decimals).toBe(18);
    expect(tokenOf('USDT', 'base')).toBeNull();
    expect(tokenOf('BTC', 'ethereum')).toBeNull();
  });

  it('have a positive dust limit of at most a few cents, below which nothing is quoted', () => {
    for (const each of allTokens()) {
      expect(each.dustUnits).toBeGreaterThan(0n);
      expect(each.dustUnits).toBeLessThanOrEqual(pow10(each.decimals - 2));
    }
  });

  it('are known only by their exact codes, and never by what objects inherit', () => {
    for (const code of ASSET_CODES) expect(isAssetCode(code)).toBe(true);
    for (const network of NETWORKS) expect(isNetwork(network)).toBe(true);
    for (const other of ['btc', '', 'DOGE', 'toString', '__proto__']) {
      expect(isAssetCode(other)).toBe(false);
      expect(isNetwork(other)).toBe(false);
    }
  });
});

describe('a rate', () => {
  it('is the price of a whole unit in a currency, to the nearest hundred-millionth', () => {
    expect(rateIn(DOLLAR, 60_000n * DOLLAR)).toBe(60_000n * DOLLAR);
    expect(rateIn(3n * DOLLAR, DOLLAR)).toBe(33_333_333n);
    expect(rateIn(3n * DOLLAR, 2n * DOLLAR)).toBe(66_666_667n);
  });

  it('gives the units that an amount buys, rounded down to the shown decimals', () => {
    expect(unitsAtRate(2_500n, 'USD', 60_000n * DOLLAR, 8)).toBe(41_666n);
    expect(unitsAtRate(2_500n, 'JPY', 60_000n * DOLLAR, 8)).toBe(4_166_666n);
    const ether = unitsAtRate(1_000n, 'USD', 3_000n * DOLLAR, 18);
    expect(ether % 10n ** BigInt(18 - shownDecimals(18))).toBe(0n);
    expect(ether / 10n ** BigInt(18 - shownDecimals(18))).toBe(10n ** BigInt(shownDecimals(18)) / 300n);
  });
});
