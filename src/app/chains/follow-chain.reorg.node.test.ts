import { describe, expect, it } from 'vitest';
import { startAnvil } from '../../../test/anvil.ts';
import {
  quotedTwice,
  transitionsOf,
  BLOCK_MS,
  CONFIRMATIONS,
  etherShop,
  etherSource,
  eventsOf,
  OWED_WEI,
  setWallet,
} from './follow-chain.fixture.ts';

import { runDue } from '../payments/run-due.ts';

/** A shop with an order, and the way back to the chain as it is before anything is paid. */
async function orderBeforeFork() {
  const shop = await etherShop();
  const order = await shop.order();
  await shop.advance();
  return { shop, order, undo: await shop.checkpoint() };
}

describe('a reorganisation', () => {
  it.each([1, 3])(
    'of depth %i before completion takes the payment back to pending, and it comes again in another block',
    async (depth) => {
      const shop = await etherShop();
      await setWallet(shop.app, shop.app.projectId, undefined, 6);
      const order = await shop.order();
      await shop.advance(4);
      const fork = await shop.cursorHeight();
      const undo = await shop.checkpoint();
      await shop.pay(order.address, OWED_WEI);
      await shop.advance(depth - 1);
      expect((await shop.app.read(order.id)).status).toBe('confirming');

      await undo();
      await shop.mine(depth);
      expect((await shop.follow())[0]).toBe('rolled_back');
      expect(await shop.cursorHeight()).toBe((fork ?? 0) + depth);
      expect(await shop.app.read(order.id)).toMatchObject({
        status: 'pending',
        exception: 'none',
        received: { all: { seenUnits: 0n } },
      });
      expect(await shop.app.db.selectFrom('transfers').select(['state', 'block_height']).execute()).toEqual([
        { state: 'dropped', block_height: null },
      ]);

      const hash = await shop.pay(order.address, OWED_WEI);
      await shop.advance(5);
      expect(await shop.app.read(order.id)).toMatchObject({
        status: 'completed',
        exception: 'none',
        transactionHash: hash,
        received: { all: { confirmedUnits: OWED_WEI } },
      });
      expect(await transitionsOf(shop.app, order.id)).toEqual([
        'pending processing',
        'processing confirming',
        'confirming pending',
        'pending processing',
        'processing confirming',
        'confirming completed',
      ]);
      expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
    },
  );

  it('that only moves the transfer to another block leaves its first sight, and counts confirmations from there', async () => {
    const { shop, order, undo } = await orderBeforeFork();
    const hash = await shop.pay(order.address, OWED_WEI);
    const seenAt = shop.app.clock();
    const transaction = await shop.anvil.rpc('eth_getRawTransactionByHash', [hash]);
    await undo();
    await shop.mine(2);
    await shop.anvil.rpc('eth_sendRawTransaction', [transaction]);
    await shop.advance();
    const transfers = await shop.app.db
      .selectFrom('transfers')
      .select(['transaction_hash', 'state', 'first_seen_at', 'block_height'])
      .execute();
    expect(transfers).toEqual([
      { transaction_hash: hash, state: 'mined', first_seen_at: seenAt, block_height: await shop.cursorHeight() },
    ]);
    await shop.advance(CONFIRMATIONS - 2);
    expect((await shop.app.read(order.id)).status).toBe('confirming');
    await shop.advance();
    expect((await shop.app.read(order.id)).status).toBe('completed');
  });

  it('after completion is an alarm, and the alarm ends when the money is back', async () => {
    const { shop, order, undo } = await orderBeforeFork();
    const hash = await shop.pay(order.address, OWED_WEI);
    await shop.advance(CONFIRMATIONS);
    expect((await shop.app.read(order.id)).status).toBe('completed');

    await undo();
    await shop.advance(CONFIRMATIONS + 2);
    expect(await shop.app.read(order.id)).toMatchObject({
      status: 'completed',
      exception: 'reorged',
      transactionHash: hash,
      received: { all: { seenUnits: 0n } },
    });
    await shop.pay(order.address, OWED_WEI);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed', exception: 'none' });
    expect(await eventsOf(shop.app, order.id)).toEqual([
      'order.created',
      'order.confirming',
      'order.completed',
      'order.exception',
    ]);
  });

  it('that takes a payment back after its expiry leaves it an hour of grace', async () => {
    const shop = await etherShop();
    await setWallet(shop.app, shop.app.projectId, undefined, 20);
    const order = await shop.order({ lifetimeMs: 3 * BLOCK_MS });
    await shop.follow();
    const undo = await shop.checkpoint();
    await shop.pay(order.address, OWED_WEI);
    await shop.advance(5);
    await undo();
    await shop.advance(7);
    await runDue(shop.app, 100);
    expect(await shop.app.read(order.id)).toMatchObject({
      status: 'pending',
      graceUntil: shop.app.clock() + 60 * 60_000,
    });
    await shop.pay(order.address, OWED_WEI);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'confirming', exception: 'none' });
  });

  it('that leaves money only on an earlier quote brings that quote back', async () => {
    const shop = await etherShop();
    const { first, second } = await quotedTwice(shop);
    await shop.pay(first.address, OWED_WEI / 2n);
    const undo = await shop.checkpoint();
    await shop.pay(second.address, OWED_WEI / 2n);
    expect((await shop.app.read(first.id)).status).toBe('confirming');
    await undo();
    await shop.advance(2);
    expect(await shop.app.read(first.id)).toMatchObject({
      status: 'pending',
      exception: 'underpaid',
      quote: first.quote,
      received: { all: { seenUnits: OWED_WEI / 2n } },
    });
  });

  it('right after the first poll is rolled back too', async () => {
    const shop = await etherShop();
    await shop.mine(80);
    const undo = await shop.checkpoint();
    await shop.advance(10);
    expect(await shop.cursorHeight()).toBe(90);
    await undo();
    await shop.mine(11);
    expect((await shop.follow())[0]).toBe('rolled_back');
    expect(await shop.cursorHeight()).toBe(91);
  });

  it('is not believed while the node’s own branch is the shorter one', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.mine(2);
    const undo = await shop.checkpoint();
    await shop.pay(order.address, OWED_WEI);
    await shop.advance(CONFIRMATIONS);
    await undo();
    await shop.mine();
    expect(await shop.follow()).toEqual([]);
    expect(await shop.app.read(order.id)).toMatchObject({ status: 'completed', exception: 'none' });
  });
});

describe('a node', () => {
  it.each([50, 200])(
    'that was exchanged for one of another chain, %i blocks long, is refused with a message, and nothing changes',
    async (length) => {
      const shop = await etherShop();
      await shop.advance(70);
      const order = await shop.order();
      await shop.pay(order.address, OWED_WEI);
      await shop.advance(9);
      const before = await shop.app.read(order.id);
      const other = await startAnvil({ manualMining: true });
      try {
        await other.rpc('evm_setNextBlockTimestamp', [Math.floor(shop.app.clock() / 1_000)]);
        await other.mine(length);
        const follow = shop.follow(etherSource([other.url]));
        await expect(follow).rejects.toThrow(/a different chain than before.*ETHEREUM_RPC_URL/s);
      } finally {
        await other.stop();
      }
      expect(await shop.cursorHeight()).toBe(80);
      expect(await shop.app.read(order.id)).toEqual(before);
      await shop.mine();
      expect(await shop.follow()).toEqual(['advanced']);
    },
  );

  it('that gives its next block and its others from different branches changes nothing', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.follow();
    await shop.pay(order.address, OWED_WEI);
    const { source } = shop;
    const height = await shop.cursorHeight();
    await shop.mine();
    const torn = {
      ...source,
      blocks: async (wanted: number, count: number) => {
        const blocks = await source.blocks(wanted, count);
        return blocks.map((block) =>
          block.height <= (height ?? 0) ? block : { ...block, parentHash: `0x${'ab'.repeat(32)}` },
        );
      },
    };
    expect(await shop.follow(torn)).toEqual([]);
    expect((await shop.app.read(order.id)).status).toBe('confirming');
    expect(await shop.follow()).toEqual(['advanced']);
  });
});
