import { expect, it } from 'vitest';
import type { RefundNews, WrongMoney } from './view.ts';
import { notRefunded } from './show-payment.ts';

it('a refund hides the wrong money of its own token alone, not of the same asset on another network', () => {
  const wrong = (network: WrongMoney['network']): WrongMoney => ({ asset: 'USDT', network, units: 5n, decimals: 6 });
  const refund: RefundNews = {
    path: '/refund/re_1',
    state: 'sending',
    units: 5n,
    decimals: 6,
    asset: 'USDT',
    network: 'ethereum',
  };
  expect(notRefunded([wrong('ethereum'), wrong('polygon')], [refund])).toEqual([wrong('polygon')]);
});
