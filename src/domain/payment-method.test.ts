import { expect, it } from 'vitest';
import { allTokens } from './asset.ts';
import { coinName } from './coin-choice.ts';
import { coinOfMethod, methodId } from './payment-method.ts';

it('each coin has a method id of its own, of capitals, digits and hyphens', () => {
  const ids = allTokens().map(methodId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[A-Z0-9]+-[A-Z0-9]+$/.test(id))).toEqual([]);
  expect(ids).toEqual(expect.arrayContaining(['BTC-CHAIN', 'LTC-CHAIN', 'ETH-CHAIN', 'ETH-BASE', 'USDT-ETHEREUM']));
});

it('the id of a coin is read in any case, and as WooCommerce writes it', () => {
  for (const token of allTokens()) {
    const id = methodId(token);
    for (const text of [id, id.toLowerCase(), id.replace('-', '_')]) expect(coinOfMethod(text)).toBe(coinName(token));
  }
});

it.each(['BTC', 'BTC_CHAIN', 'BTC-OnChain', 'BTC_BitcoinLike', 'btc-chain'])('%s is Bitcoin', (text) => {
  expect(coinOfMethod(text)).toBe('BTC/bitcoin');
});

it('an asset alone without a chain of its own is that asset on all networks', () => {
  expect(coinOfMethod('USDT')).toBe('USDT');
  expect(coinOfMethod('ETH')).toBe('ETH/ethereum');
});

it.each(['BTC-LN', 'BTC_LightningLike', 'BTC-LightningNetwork', 'XMR', 'USDT-CHAIN', 'USDT-TRON', 'BTC-', ''])(
  '%s is no coin of ours',
  (text) => {
    expect(coinOfMethod(text)).toBeNull();
  },
);
