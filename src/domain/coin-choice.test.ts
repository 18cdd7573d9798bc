import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allTokens } from './asset.ts';
import { ALL_COINS, cheapFirst, coinName, isPayableIn, offeredCoins, withFirst } from './coin-choice.ts';

const ALL = allTokens();
const names = ALL.map(coinName);
const someCoins = fc.subarray([...ALL]);
const someNames = fc.shuffledSubarray([...names, 'DOGE/dogecoin']);

describe('the coins that are offered', () => {
  it('are all of them in the usual order where nothing was chosen', () => {
    fc.assert(
      fc.property(someCoins, (coins) => {
        expect(offeredCoins(coins, ALL_COINS)).toEqual(coins);
      }),
    );
  });

  it('are exactly those that can be paid and are not switched off, in the chosen order and then in the usual one', () => {
    fc.assert(
      fc.property(someCoins, someNames, someNames, (coins, order, off) => {
        const offered = offeredCoins(coins, { order, off }).map(coinName);
        const possible = coins.map(coinName).filter((name) => !off.includes(name));
        expect(offered).toEqual([
          ...order.filter((name) => possible.includes(name)),
          ...possible.filter((name) => !order.includes(name)),
        ]);
      }),
    );
  });
});

it('a page lists the same coins with cheap networks before others of their asset, which stay in their order', () => {
  fc.assert(
    fc.property(someCoins, (coins) => {
      const listed = cheapFirst(coins);
      expect(listed.map(coinName).toSorted()).toEqual(coins.map(coinName).toSorted());
      expect([...new Set(listed.map(({ asset }) => asset))]).toEqual([...new Set(coins.map(({ asset }) => asset))]);
    }),
  );
  const networksOf = (coins: typeof ALL) => coins.filter(({ asset }) => asset === 'USDT').map(({ network }) => network);
  const usual = networksOf(ALL).filter((network) => network !== 'ethereum');
  expect(usual).toContain('polygon');
  expect(networksOf(cheapFirst(ALL))).toEqual([...usual, 'ethereum']);
});

it('a coin or all of an asset can come first, and the others stay in their order', () => {
  expect(withFirst(ALL, null)).toBe(ALL);
  expect(withFirst(ALL, 'DOGE/dogecoin')).toEqual(ALL);
  const coinFirst = withFirst(ALL, 'USDT/polygon').map(coinName);
  expect(coinFirst).toEqual(['USDT/polygon', ...names.filter((name) => name !== 'USDT/polygon')]);
  const isUsdt = (name: string) => name.startsWith('USDT/');
  const assetFirst = withFirst(ALL, 'USDT').map(coinName);
  expect(assetFirst).toEqual([...names.filter(isUsdt), ...names.filter((name) => !isUsdt(name))]);
});

it('a payment is payable in each of its coins and in all coins of its assets, or in all', () => {
  const coin = { asset: 'USDT', network: 'polygon' } as const;
  expect([null, ['BTC', 'USDT'], ['USDT/polygon']].map((coins) => isPayableIn(coins, coin))).toEqual([
    true,
    true,
    true,
  ]);
  expect([[], ['BTC'], ['USDT/tron', 'USDC/polygon']].map((coins) => isPayableIn(coins, coin))).not.toContain(true);
});

it('a coin is named by asset and network', () => {
  expect(coinName({ asset: 'USDT', network: 'polygon' })).toBe('USDT/polygon');
});
