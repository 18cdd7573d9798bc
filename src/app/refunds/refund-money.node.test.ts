import { describe, expect, it, onTestFinished } from 'vitest';

import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import { nodeLike } from '../../rails/utxo/source.fixture.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { COIN, CONFIRMATIONS, refundShop, nodeForTests, type RefundShop } from './refund-psbt.fixture.ts';

describe.each(utxoNodeKindsFor(import.meta.url))('the fee rate of a refund, on a real %s node', (kind) => {
  const node = nodeForTests({ kind });

  /** The node as it is when blocks are full: what it says of fees, in coins per 1,000 virtual bytes. */
  async function askedFor(rates: { readonly feerate?: number; readonly mempoolminfee?: number }): Promise<string> {
    const relay = await nodeLike(node(), ({ method }) => {
      if (method === 'estimatesmartfee' && rates.feerate !== undefined) return { result: { feerate: rates.feerate } };
      if (method === 'getmempoolinfo' && rates.mempoolminfee !== undefined) {
        return { result: { loaded: true, mempoolminfee: rates.mempoolminfee } };
      }
      return null;
    });
    return relay.url;
  }

  async function refundOf(shop: RefundShop) {
    return shop.refund(await shop.paid(COIN), COIN / 4n);
  }

  it('is never more than MAX_FEE_RATE: above it there is no PSBT, and the rate and the setting are named', async () => {
    const shop = await refundShop(node());
    const refund = await refundOf(shop);
    const unit = { bitcoin: 'sat', litecoin: 'litoshi' }[kind];
    const tooDear = await askedFor({ feerate: 0.010_000_01 });
    expect(await shop.show(refund, { urls: [tooDear] })).toMatchObject({
      paymentUri: expect.stringContaining(kind),
      psbt: {
        kind: 'none',
        message: expect.stringMatching(
          new RegExp(`^The node asks for a fee rate of 1000\\.001 ${unit}/vB, more than the 1000 .*MAX_FEE_RATE`),
        ),
      },
    });
    // A hijacked node that asks for all of the change.
    const absurd = await askedFor({ feerate: 5 });
    expect(await shop.show(refund, { urls: [absurd] })).toMatchObject({
      psbt: { kind: 'none', message: expect.stringContaining('500000 ') },
    });
    const highest = await askedFor({ feerate: 0.01 });
    const shown = await shop.psbtOf(refund, { urls: [highest] });
    expect(shown.feeUnits).toBe(141_000n);
    expect(shown.warnings).toEqual([]);
    expect(await shop.show(refund, { urls: [highest], maxFeeRate: 999 })).toMatchObject({ psbt: { kind: 'none' } });
  });

  it("is never below what the node's mempool takes, neither as estimated nor without an estimate", async () => {
    const shop = await refundShop(node());
    const refund = await refundOf(shop);
    const feeAt = async (rates: Parameters<typeof askedFor>[0]): Promise<bigint> =>
      (await shop.psbtOf(refund, { urls: [await askedFor(rates)] })).feeUnits;
    expect(await feeAt({})).toBe(1_410n);
    expect(await feeAt({ mempoolminfee: 0.0005 })).toBe(7_050n);
    expect(await feeAt({ feerate: 0.0002, mempoolminfee: 0.0005 })).toBe(7_050n);
    expect(await feeAt({ feerate: 0.0007, mempoolminfee: 0.0005 })).toBe(9_870n);
    // The full mempool of a hijacked node is no way around the cap.
    const absurd = await askedFor({ mempoolminfee: 1 });
    expect(await shop.show(refund, { urls: [absurd] })).toMatchObject({ psbt: { kind: 'none' } });
  });

  it('is named if the fee is a large part of the refund', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const refund = await shop.refund(payment, 100_000n);
    expect((await shop.psbtOf(refund, { feeRate: 100 })).warnings).toEqual(['The fee is 14 % of the refund.']);
  });
});

describe.each(utxoNodeKindsFor(import.meta.url))('a coin that is too young to be spent, on a real %s node', (kind) => {
  const node = nodeForTests({ kind, mweb: kind === 'litecoin' });

  it("completes its payment; a refund spends another one, and where there is none says when the miner's reward is mature", async () => {
    const shop = await refundShop(node());
    const order = await shop.order();
    await node().mine(1, order.address);
    await shop.mine(CONFIRMATIONS - 1);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed' });
    const refund = await shop.refund(order, COIN / 4n);
    const blocks = 100 - CONFIRMATIONS;
    const hours = { bitcoin: 'about 17 hours', litecoin: 'about 5 hours' }[kind];
    expect(await shop.show(refund)).toMatchObject({
      paymentUri: expect.stringContaining(kind),
      psbt: {
        kind: 'none',
        message: expect.stringMatching(
          new RegExp(`cannot be spent yet\\. .*has ${CONFIRMATIONS} of .* in ${blocks} blocks \\(${hours}\\)\\.`),
        ),
      },
    });
    // Another coin is spent meanwhile.
    const other = await shop.refund(await shop.paid(COIN), COIN / 4n);
    expect((await shop.psbtOf(other)).spends).toHaveLength(1);
    const later = await shop.refund(await shop.paid(COIN), COIN / 4n);
    await shop.pay(later);
    await shop.mine(blocks - 2 * CONFIRMATIONS - 1);
    expect((await shop.psbtOf(refund)).warnings).toHaveLength(0);
  });

  it('is spent from the very block on from which nodes take it', async () => {
    const shop = await refundShop(node());
    const order = await shop.order();
    await node().mine(1, order.address);
    await shop.mine(98);
    const refund = await shop.refund(order, COIN / 4n);
    expect(await shop.show(refund)).toMatchObject({
      psbt: { kind: 'none', message: expect.stringContaining('in 1 block (') },
    });
    await shop.mine(1);
    await shop.pay(refund);
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed' });
  });

  it.runIf(kind === 'litecoin')('may come out of MWEB: it is spent six blocks later', async () => {
    const height = Number(await node().rpc('getblockcount'));
    await node().mine(Math.max(0, 431 - height));
    await node().pegIn('5');
    await node().mine(1);
    const shop = await refundShop(node());
    const order = await shop.order();
    const coins = await node().rpc('listunspent');
    const others = Array.isArray(coins) ? coins.filter((coin: object) => 'vout' in coin && !('output_id' in coin)) : [];
    await node().rpc('lockunspent', [false, others.map(({ txid, vout }) => ({ txid, vout }))]);
    onTestFinished(async () => void (await node().rpc('lockunspent', [true])));
    await node().send(order.address, '1');
    await shop.mine(CONFIRMATIONS);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed' });
    const refund = await shop.refund(order, COIN / 4n);
    expect(await shop.show(refund)).toMatchObject({
      psbt: { kind: 'none', message: expect.stringMatching(/be spent yet\. It is paid out of MWEB.* in 4 blocks/) },
    });
    await shop.mine(3);
    expect(await shop.show(refund)).toMatchObject({ psbt: { message: expect.stringContaining('in 1 block (') } });
    await shop.mine(1);
    await shop.pay(refund);
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed' });
  });
});

describe.each(utxoNodeKindsFor(import.meta.url))(
  'an address of another chain, for a live refund on a real %s node',
  (kind) => {
    const node = nodeForTests({ kind });

    const others = {
      bitcoin: ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
      litecoin: ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', 'LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1'],
    }[kind];

    it('is refused, and what was taken before is never shown as a link to pay by', async () => {
      const shop = await refundShop(node());
      const payment = await shop.paid(COIN);
      for (const address of others) {
        await expect(shop.refund(payment, COIN / 4n, address)).rejects.toThrow(/chain \\"regtest\\"/);
      }
      const refund = await shop.refund(payment, COIN / 4n);
      const [address = ''] = others;
      await shop.app.db.updateTable('refunds').set({ address, watched_address: address }).execute();
      expect(await shop.show(refund)).toMatchObject({
        paymentUri: null,
        psbt: null,
        problem: expect.stringMatching(/main network.*cancel this refund/),
      });
    });
  },
);
