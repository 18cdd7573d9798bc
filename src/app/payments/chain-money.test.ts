import { describe, expect, it } from 'vitest';
import {
  BTC_QUOTE,
  CREATED_AT,
  ETH_QUOTE,
  EXPIRES_AT,
  MINUTE_MS,
  OWED_UNITS,
  receivedOf,
  paymentWith,
  transferWith,
} from '../../domain/payment.fixture.ts';
import type { Payment, Quote, Transfer } from '../../domain/payment.ts';
import type { ChainTransfer } from '../../rails/chain.ts';
import { arrival, distinct, moneyOf } from './chain-money.ts';
import { selects } from './change-payment.ts';

const PAID: ChainTransfer = { transactionHash: '0x1', index: 0, address: '0xa', asset: 'ETH', amount: 5n };

describe('a transfer in a block', () => {
  const others: readonly ChainTransfer[] = [
    { ...PAID, index: 1 },
    { ...PAID, asset: 'USDT' },
    { ...PAID, transactionHash: '0x2' },
  ];

  it('counts once, however often it is reported: by transaction, asset and output', () => {
    expect(distinct([PAID, ...others, { ...PAID }, { ...PAID, index: 1 }])).toEqual([PAID, ...others]);
  });

  it('is kept with its block, its time and its place in the list', () => {
    const block = { height: 7, hash: '0xb', parentHash: '0xa', timeMs: CREATED_AT, transfers: [...others, PAID] };
    const [found] = arrival('ethereum', block, PAID, 'payment', CREATED_AT + 1);
    expect(found).toMatchObject({
      paymentId: 'payment',
      blockHash: '0xb',
      transfer: {
        state: 'mined',
        firstSeenAt: CREATED_AT + 1,
        blockAt: CREATED_AT,
        blockHeight: 7,
        blockPosition: 3,
        amountUnits: 5n,
      },
    });
    // Contracts pass money on in no list.
    const passedOn = { ...PAID, transactionHash: '0x9' };
    expect(arrival('ethereum', block, passedOn, 'payment', 1)[0]?.transfer.blockPosition).toBeNull();
    expect(arrival('ethereum', block, PAID, undefined, 1)).toEqual([]);
  });

  it('has no block, time and place while it waits', () => {
    expect(arrival('ethereum', null, PAID, 'payment', 1)).toMatchObject([
      { blockHash: null, transfer: { state: 'seen', blockAt: null, blockHeight: null, blockPosition: null } },
    ]);
  });
});

describe('the quote that money counts on', () => {
  /** The newest first, as they are read. */
  const issued = (...quotes: readonly Quote[]) => quotes.map((quote) => ({ ...quote, paymentId: 'payment' }));
  const address = `0x${'a'.repeat(40)}`;
  const current = BTC_QUOTE;
  const payment = paymentWith({ quote: current });
  const ether: Quote = { ...ETH_QUOTE, address };
  const tether: Quote = { ...ether, asset: 'USDT', decimals: 6, owedUnits: 100n, toleranceUnits: 0n };
  const coins = transferWith({ address });
  const dollars = (amountUnits: bigint, facts: Partial<Transfer> = {}): Transfer =>
    transferWith({ address, asset: 'USDT', amountUnits, transactionHash: '0x7', ...facts });
  const late = { firstSeenAt: EXPIRES_AT + MINUTE_MS } as const;

  const assets = (own: Payment, transfers: readonly Transfer[], ...quotes: readonly Quote[]): readonly unknown[] =>
    moneyOf(own, transfers, issued(...quotes)).map((each) => (each.kind === 'money' ? each.quote?.asset : each.kind));

  it('is the current one while none that was given before is nearer to being paid', () => {
    expect(assets(payment, [], current, tether)).toEqual(['BTC']);
    const paidNow = paymentWith({ quote: ether });
    expect(assets(paidNow, [coins, dollars(100n)], ether, tether)).toEqual(['ETH']);
    // An equally close earlier quote does not replace the current one, even if it is newer.
    expect(assets(paidNow, [coins, dollars(100n)], tether, ether)).toEqual(['ETH']);
    expect(moneyOf(paymentWith({ quote: null }), [coins], issued(ether))).toEqual([]);
  });

  it('is the nearest one: paid in full and in time, then in full, then in part', () => {
    const half = { ...coins, amountUnits: OWED_UNITS / 2n };
    expect(assets(payment, [half, dollars(1n)], ether, tether)).toEqual(['ETH']);
    expect(assets(payment, [half, dollars(100n, late)], ether, tether)).toEqual(['USDT']);
    expect(assets(payment, [coins, dollars(100n, late)], tether, ether)).toEqual(['ETH']);
    expect(assets(payment, [{ ...coins, ...late }, dollars(100n)], ether, tether)).toEqual(['USDT']);
  });

  it('goes by the money that is there: not by what was dropped, nor by what came to another address', () => {
    expect(assets(payment, [{ ...coins, state: 'dropped' }], ether)).toEqual(['BTC']);
    expect(assets(payment, [{ ...coins, address: `0x${'b'.repeat(40)}` }], ether)).toEqual(['BTC']);
    expect(assets(payment, [{ ...coins, network: 'base' }], ether)).toEqual(['BTC']);
  });

  it('observes the loss on the current quote before an earlier one is restored', () => {
    const before = paymentWith({ quote: tether, received: receivedOf(coins) });
    expect(assets(before, [coins], ether, tether)).toEqual(['USDT', 'ETH']);
  });

  it('stays the one that a payment was completed on', () => {
    const done = paymentWith({ quote: tether, status: 'completed', completedOnUnits: 100n });
    expect(assets(done, [coins], ether, tether)).toEqual(['USDT']);
  });
});

it('a client sees a payment of its own project, mode and interface alone, and the command line sees all', () => {
  const payment = paymentWith();
  const { id, projectId, mode, api } = payment;
  expect(selects({ id }, payment)).toBe(true);
  expect(selects({ id, projectId, mode, api }, payment)).toBe(true);
  expect(selects({ id, projectId: 'another', mode, api }, payment)).toBe(false);
  expect(selects({ id, projectId, mode: 'test', api }, payment)).toBe(false);
  expect(selects({ id, projectId, mode, api: 'transaction' }, payment)).toBe(false);
});
