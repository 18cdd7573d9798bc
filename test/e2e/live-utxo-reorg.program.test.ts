import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { utxoNodeKindsFor } from '../litecoind.ts';
import { openShop, OWED, OWED_COINS, POLL, type LiveOrder, type UtxoShop } from './live-utxo.fixture.ts';
import type { Signed } from './live-utxo-nodes.fixture.ts';

const PAID = ['order.created', 'order.confirming', 'order.completed'];

describe.each(utxoNodeKindsFor(import.meta.url))('reorganisations on a real %s node', (kind) => {
  let shop: UtxoShop;
  beforeAll(async () => {
    shop = await openShop({ kind, nodeOptions: ['-walletbroadcast=0'] });
  });
  afterAll(() => shop?.close());

  /** An order that is paid in full by a transaction in a block, with so many blocks on it and below them. */
  async function minedOrder(deep: number): Promise<LiveOrder & { readonly paid: Signed }> {
    const order = await shop.order();
    const paid = await shop.pay([[order.address, OWED]]);
    await shop.node.mine(deep);
    await shop.becomes(order.id, { confirmations: deep, amount_received: OWED_COINS });
    return { ...order, paid };
  }

  /** Spends what a transaction spent for somebody else. */
  const doubleSpend = async ({ coin }: Signed): Promise<Signed> =>
    shop.sign([[await shop.node.newAddress(), OWED]], { coin });

  describe.each([1, 6])('of %i blocks', (depth) => {
    describe('before completion', () => {
      beforeAll(() => shop.setWallet(depth + 1));

      it('a transfer that waits again counts as seen, and completes the order once it is as deep as it must be in the new chain', async () => {
        const { id, paid } = await minedOrder(depth);
        await shop.reorganise(depth);
        await shop.becomes(id, { status: 'confirming', confirmations: 0, amount_received: OWED_COINS });
        await shop.node.mine(depth);
        await shop.becomes(id, { status: 'confirming', confirmations: depth });
        await shop.node.mine(1);
        await shop.becomes(id, { status: 'completed', exception: 'none', transaction_hash: paid.hash });
        await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
      });

      it('a transfer that is double-spent in the new chain takes the order back to pending, where it can be paid again', async () => {
        const { id, address, paid } = await minedOrder(depth);
        await shop.reorganise(depth, [await doubleSpend(paid)]);
        await shop.becomes(id, { status: 'pending', confirmations: 0, amount_received: 0, exception: 'none' });
        const again = await shop.pay([[address, OWED]]);
        await shop.node.mine(depth + 1);
        await shop.becomes(id, { status: 'completed', amount_received: OWED_COINS, transaction_hash: again.hash });
        await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
      });

      it('a transfer that the new chain holds at another height is as deep as it is there', async () => {
        const { id, paid } = await minedOrder(depth);
        // Two blocks above the fork instead of one.
        const [first] = [await shop.node.rpc('getblockhash', [(await shop.height()) - depth + 1])];
        await shop.node.rpc('invalidateblock', [first]);
        await shop.mineOnly(1);
        await shop.mineOnly(depth, [paid]);
        await shop.becomes(id, { status: 'confirming', confirmations: depth });
        await shop.node.mine(1);
        await shop.becomes(id, { status: 'completed', transaction_hash: paid.hash });
        await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
      });
    });

    describe('after completion', () => {
      beforeAll(() => shop.setWallet(depth));

      it('money that waits again raises the alarm, and the alarm ends when it is mined again', async () => {
        const { id, paid } = await minedOrder(depth);
        await shop.becomes(id, { status: 'completed', exception: 'none' });
        await shop.reorganise(depth);
        await shop.becomes(id, { status: 'completed', exception: 'reorged', confirmations: 0 });
        await expect.poll(() => shop.heard(id), POLL).toEqual([...PAID, 'order.exception']);
        expect(shop.events(id)[3]?.data).toMatchObject({ status: 'completed', exception: 'reorged' });
        await shop.node.mine(1);
        await shop.becomes(id, { status: 'completed', exception: 'none', transaction_hash: paid.hash });
        await expect.poll(() => shop.heard(id), POLL).toEqual([...PAID, 'order.exception']);
      });

      it('money that is double-spent in the new chain raises the alarm for good, until it is paid again', async () => {
        const { id, address, paid } = await minedOrder(depth);
        await shop.becomes(id, { status: 'completed', exception: 'none' });
        await shop.reorganise(depth, [await doubleSpend(paid)]);
        await shop.becomes(id, { status: 'completed', exception: 'reorged', amount_received: 0, confirmations: 0 });
        await shop.node.mine(depth + 1);
        // A later payment is seen later: by then those blocks have been taken in.
        await minedOrder(depth);
        expect(await shop.read(id)).toMatchObject({ status: 'completed', exception: 'reorged', amount_received: 0 });
        await expect.poll(() => shop.heard(id), POLL).toEqual([...PAID, 'order.exception']);
        await shop.pay([[address, OWED]]);
        await shop.node.mine(depth);
        await shop.becomes(id, { status: 'completed', exception: 'none', amount_received: OWED_COINS });
        await expect.poll(() => shop.heard(id), POLL).toEqual([...PAID, 'order.exception']);
      });
    });
  });

  it('one that happens while the service is down is rolled back at its start, before and after completion', async () => {
    await shop.setWallet(10);
    const waits = await minedOrder(6);
    await shop.setWallet(3);
    const completed = await minedOrder(3);
    await shop.becomes(completed.id, { status: 'completed' });
    await shop.stop();
    await shop.reorganise(10, [await doubleSpend(waits.paid), await doubleSpend(completed.paid)]);
    await shop.start();
    await shop.becomes(waits.id, { status: 'pending', amount_received: 0, exception: 'none' });
    await shop.becomes(completed.id, { status: 'completed', amount_received: 0, exception: 'reorged' });
    await expect.poll(() => shop.heard(waits.id), POLL).toEqual(['order.created', 'order.confirming']);
    await expect.poll(() => shop.heard(completed.id), POLL).toEqual([...PAID, 'order.exception']);
  });

  it('as long as the node’s new chain is shorter, and when it goes back to the old one, nothing is taken back', async () => {
    await shop.setWallet(3);
    const { id } = await minedOrder(3);
    await shop.becomes(id, { status: 'completed' });
    const first = await shop.node.rpc('getblockhash', [(await shop.height()) - 2]);
    await shop.node.rpc('invalidateblock', [first]);
    await shop.mineOnly(1);
    const unharmed = { status: 'completed', exception: 'none', confirmations: 3 };
    // Once these are seen, the service has read the shorter chain, and then the old one again.
    const [during, after] = [await shop.order(), await shop.order()];
    await shop.pay([[during.address, OWED]]);
    await shop.becomes(during.id, { status: 'confirming' });
    expect(await shop.read(id)).toMatchObject(unharmed);
    await shop.node.rpc('reconsiderblock', [first]);
    await shop.pay([[after.address, OWED]]);
    await shop.becomes(after.id, { status: 'confirming' });
    expect(await shop.read(id)).toMatchObject(unharmed);
    await expect.poll(() => shop.heard(id), POLL).toEqual(PAID);
  });

  it('only what was in the blocks that are gone is taken back', async () => {
    await shop.setWallet(2);
    const below = await minedOrder(2);
    const above = await minedOrder(2);
    await shop.reorganise(2, [await doubleSpend(above.paid)]);
    await shop.becomes(above.id, { exception: 'reorged' });
    expect(await shop.read(below.id)).toMatchObject({ status: 'completed', exception: 'none' });
    await expect.poll(() => shop.heard(below.id), POLL).toEqual(PAID);
  });
});
