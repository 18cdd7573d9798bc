import { describe, expect, it } from 'vitest';
import { payerOf } from '../../../test/e2e/live-utxo-nodes.fixture.ts';
import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import { etherShop, OWED_WEI } from '../chains/follow-chain.fixture.ts';
import { MAX_LATE_PAYOUT_MS } from '../../domain/refund-payout.ts';
import { irregularPayouts } from './refund-cover.ts';
import { CUSTOMER, etherRefund, paidOrder, showEther } from './refund-ether.fixture.ts';
import { COIN, CONFIRMATIONS, refundShop, nodeForTests } from './refund-psbt.fixture.ts';
import { cancelRefund } from './change-refund.ts';

const LOST = /no longer confirmed on the chain.*Wait until the money is confirmed again, or cancel this refund/;

describe.each(utxoNodeKindsFor(import.meta.url))('a refund that the money on a real %s node', (kind) => {
  const node = nodeForTests({ kind });

  it('does not cover any more is not shown for signing until the money is back, and the oldest is covered first', async () => {
    const shop = await refundShop(node());
    // Other payments give the wallet enough.
    await shop.paid(COIN);
    const payer = payerOf(node());
    const order = await shop.order();
    const paid = await payer.pay([[order.address, COIN]]);
    await shop.mine(CONFIRMATIONS);
    const older = await shop.refund(order, COIN / 2n);
    shop.app.clock.advance(1_000);
    const newer = await shop.refund(order, COIN / 4n);
    for (const refund of [older, newer]) await shop.psbtOf(refund);
    const instead = await payer.sign([], { coin: paid.coin, feeUnits: 500_000n });
    await payer.reorganise(CONFIRMATIONS, [instead]);
    await shop.follow();
    await shop.mine(CONFIRMATIONS);
    for (const refund of [older, newer]) {
      expect(await shop.show(refund)).toMatchObject({
        refund: { status: 'pending' },
        psbt: null,
        paymentUri: null,
        call: null,
        problem: expect.stringMatching(LOST),
      });
    }
    await payer.pay([[order.address, COIN / 2n]]);
    await shop.mine(CONFIRMATIONS);
    expect(await shop.show(older)).toMatchObject({ psbt: { kind: 'ok' }, problem: null });
    expect(await shop.show(newer)).toMatchObject({ psbt: null, problem: expect.stringMatching(LOST) });
    await payer.pay([[order.address, COIN / 2n]]);
    await shop.mine(CONFIRMATIONS);
    expect(await shop.show(newer)).toMatchObject({ psbt: { kind: 'ok' }, problem: null });
  });

  it('was given back with already, by one that was cancelled and paid all the same, is not shown for signing', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const address = await node().newAddress();
    const cancelled = await shop.refund(payment, COIN, address);
    // Another payment gives the wallet enough for both.
    await shop.paid(2n * COIN);
    const shown = await shop.psbtOf(cancelled);
    expect(await cancelRefund(shop.app, { id: cancelled.id, isForced: true })).toMatchObject({ kind: 'done' });
    shop.app.clock.advance(1_000);
    const next = await shop.refund(payment, COIN, await node().newAddress());
    await shop.psbtOf(next);
    const hash = String(await node().rpc('sendrawtransaction', [shop.signed(shown).hex]));
    await shop.mine(1);
    expect(await shop.show(next)).toMatchObject({
      psbt: null,
      paymentUri: null,
      call: null,
      problem: expect.stringMatching(new RegExp(`${hash}.*re_.*cancelled.*Do not pay.*cancel this`, 'i')),
    });
    expect(await irregularPayouts(shop.app, payment.id)).toMatchObject([{ kind: 'cancelled', hashes: [hash] }]);
    await expect(shop.refund(payment, COIN / 4n)).rejects.toThrow(/Nothing is left/);
  });

  it('was given back with, as it seems, by one that was cancelled and paid from other coins, is shown on demand only', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    await shop.paid(COIN);
    const address = await node().newAddress();
    const cancelled = await shop.refund(payment, COIN, address);
    await shop.psbtOf(cancelled);
    expect(await cancelRefund(shop.app, { id: cancelled.id, isForced: true })).toMatchObject({ kind: 'done' });
    const { hash } = await payerOf(node()).pay([[address, COIN]]);
    await shop.mine(1);
    const next = await shop.refund(payment, COIN, await node().newAddress());
    expect(await shop.show(next)).toMatchObject({ psbt: null, problem: expect.stringContaining(hash) });
    expect(await shop.show(cancelled)).toMatchObject({ problem: expect.stringContaining(hash) });
    const shown = await shop.show(next, { notPaidBy: [hash] });
    expect(shown).toMatchObject({ psbt: { kind: 'ok' }, problem: null });
  });
});

describe('a refund in ether that the money on the chain', () => {
  it('does not cover any more is not shown for signing until the money is back', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.advance(1);
    const undo = await shop.checkpoint();
    const hash = await shop.pay(order.address, OWED_WEI);
    const raw = String(await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]));
    await shop.advance(3);
    const older = await etherRefund(shop, order);
    const newer = await etherRefund(shop, order, { address: CUSTOMER, amountMinor: 2_000n });
    for (const refund of [older, newer]) expect(await showEther(shop, refund)).toMatchObject({ problem: null });
    await undo();
    await shop.advance(6, 13_000);
    for (const refund of [older, newer]) {
      expect(await showEther(shop, refund)).toMatchObject({
        paymentUri: null,
        call: null,
        problem: expect.stringMatching(LOST),
      });
    }
    await shop.anvil.rpc('eth_sendRawTransaction', [raw]);
    await shop.advance(3);
    for (const refund of [older, newer]) expect(await showEther(shop, refund)).toMatchObject({ problem: null });
  });

  it('was given back with, as it seems, by one that was cancelled, is shown on demand only', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    const cancelled = await etherRefund(shop, order, { amountMinor: 3_000n });
    await cancelRefund(shop.app, { id: cancelled.id, isForced: true });
    const undo = await shop.checkpoint();
    const hash = await shop.pay(CUSTOMER, cancelled.units);
    const raw = String(await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]));
    await shop.mine(1);
    const next = await etherRefund(shop, order, { amountMinor: 3_000n });
    const withheld = {
      call: null,
      problem: expect.stringMatching(new RegExp(`${hash}.*cancelled.*${hash} did not pay it`)),
    };
    expect(await showEther(shop, next)).toMatchObject(withheld);
    expect(await showEther(shop, next, [hash])).toMatchObject({ problem: null });
    expect(await showEther(shop, cancelled)).toMatchObject({
      refund: { status: 'failed' },
      problem: expect.stringContaining(hash),
    });
    expect(await irregularPayouts(shop.app, order.id)).toMatchObject([{ kind: 'cancelled', hashes: [hash] }]);
    // Mined anew, it is the same guess.
    await undo();
    await shop.anvil.rpc('eth_sendRawTransaction', [raw]);
    await shop.advance(4, 13_000);
    expect(await showEther(shop, next)).toMatchObject(withheld);
    expect(await showEther(shop, next, [hash])).toMatchObject({ problem: null });
  });

  it('is not given back with by what pays the address of a cancelled one long after, or another amount', async () => {
    const shop = await etherShop();
    const order = await paidOrder(shop);
    const cancelled = await etherRefund(shop, order, { amountMinor: 3_000n });
    await cancelRefund(shop.app, { id: cancelled.id, isForced: true });
    await shop.pay(CUSTOMER, cancelled.units - 1n);
    await shop.mine(1, MAX_LATE_PAYOUT_MS);
    await shop.pay(CUSTOMER, cancelled.units);
    const next = await etherRefund(shop, order, { amountMinor: 3_000n });
    expect(await showEther(shop, next)).toMatchObject({ problem: null });
    expect(await showEther(shop, cancelled)).toMatchObject({ problem: null });
  });
});
