import { describe, expect, it } from 'vitest';
import { encodeId } from '../../domain/id.ts';
import type { Refund } from '../../domain/refund.ts';
import type { ChainSource } from '../../rails/chain.ts';
import { MAX_LATE_PAYOUT_MS } from '../../domain/refund-payout.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { CONFIRMATIONS, eventsOf, OWED_WEI, type EtherShop } from '../chains/follow-chain.fixture.ts';
import { showEther } from './refund-ether.fixture.ts';
import { cancelRefund } from './change-refund.ts';
import {
  AWAY,
  followerOf,
  freshAddress,
  minePayout,
  PART,
  safeShop,
  sourceWith,
  traceless,
} from './safe-shop.fixture.ts';

const paidBy = (transactionHash: string) => ({ status: 'completed', transactionHash });

/** The refund once its payout would be deep enough. */
async function laterOn(shop: EtherShop, { id }: Refund): Promise<Refund | null> {
  await shop.advance(CONFIRMATIONS);
  return findRefund(shop.app.db, id);
}

/** A refund that the safe has paid, in no block so far, and the way back to the chain as it was before. */
async function paidAfterFork() {
  const shop = await safeShop();
  const refund = await shop.refund();
  await shop.advance();
  const takeBack = await shop.checkpoint();
  await shop.safe.send('pay', [refund.address], { valueWei: PART });
  return { shop, refund, takeBack };
}

describe('a refund that a contract pays', () => {
  it('completes with the hash of the transaction that it was paid within', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    const hash = await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.advance();
    expect(await shop.statusOf(refund)).toBe('pending');
    const shown = await showEther(shop, refund);
    expect(shown).toMatchObject({ call: null, problem: expect.stringContaining(hash) });
    expect(await laterOn(shop, refund)).toMatchObject(paidBy(hash));
  });

  it('completes too when other money came to the same address before, in the same block and after', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.pay(refund.address, PART * 3n);
    await shop.safe.send('pay', [refund.address], { valueWei: PART * 2n });
    await shop.advance();
    await shop.anvil.transfer(refund.address, 7n);
    const hash = await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.advance();
    await shop.pay(refund.address, PART * 3n);
    expect(await laterOn(shop, refund)).toMatchObject(paidBy(hash));
  });

  it('completes too when it was paid while no block was followed', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.mine(3);
    const hash = await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.advance(5);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
  });

  it('waits again when a reorganisation takes that back, and completes once it is paid again', async () => {
    const { shop, refund, takeBack } = await paidAfterFork();
    await shop.advance(CONFIRMATIONS);
    expect(await shop.statusOf(refund)).toBe('completed');
    await takeBack();
    await shop.advance(CONFIRMATIONS + 2, 13_000);
    expect(await shop.statusOf(refund)).toBe('pending');
    expect(await eventsOf(shop.app, refund.paymentId)).toContain('refund.reorged');
    const hash = await shop.safe.send('pay', [refund.address], { valueWei: PART });
    expect(await laterOn(shop, refund)).toMatchObject(paidBy(hash));
  });

  it.each([
    ['before', [0]],
    ['after', [1]],
    ['before and after', [0, 1]],
  ])('completes too when no node tells its balance %s the first block that was read since', async (_, untold) => {
    const shop = await safeShop();
    const refund = await shop.refund();
    const before = (await shop.cursorHeight()) ?? 0;
    const hash = await shop.safe.send('pay', [refund.address], { valueWei: PART });
    let isAway = true;
    const told = sourceWith(shop, (native) => ({
      balancesAt: (holders, block) =>
        isAway && untold.includes(block.height - before) ? Promise.reject(AWAY) : native.balancesAt(holders, block),
    }));
    // Several blocks in one answer may be too many for a node.
    const source: ChainSource = { ...told, blocks: (height, count) => told.blocks(height, Math.min(count, 2)) };
    await shop.mine();
    await shop.follow(source);
    // After a restart too.
    await shop.mine(4);
    await shop.follow(sourceWith(shop, () => ({ balancesAt: () => Promise.reject(AWAY) })));
    isAway = false;
    await shop.mine();
    await shop.follow(source);
    expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'refused' });
    expect(await laterOn(shop, refund)).toMatchObject(paidBy(hash));
  });

  it('completes too when another process saves the block first, whom no node tells balances', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.advance();
    let isFirst = true;
    const source = sourceWith(shop, (native) => ({
      internalTransfers: async (...asked) => {
        const transfers = await native.internalTransfers(...asked);
        if (isFirst) await shop.follow(sourceWith(shop, () => ({ balancesAt: () => Promise.reject(AWAY) })));
        isFirst = false;
        return transfers;
      },
    }));
    const follow = followerOf(shop, source);
    const hash = await minePayout(shop, refund);
    await follow();
    expect(await shop.statusOf(refund)).toBe('pending');
    await shop.mine();
    await follow();
    expect(await laterOn(shop, refund)).toMatchObject(paidBy(hash));
  });

  it('completes too when no node traces a block before', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    const untraced = ((await shop.cursorHeight()) ?? 0) + 1;
    const source = sourceWith(shop, (native) => ({
      internalTransfers: (block, addresses) =>
        block.height === untraced ? Promise.resolve(null) : native.internalTransfers(block, addresses),
    }));
    await shop.mine();
    const hash = await minePayout(shop, refund);
    await shop.follow(source);
    expect(await laterOn(shop, refund)).toMatchObject(paidBy(hash));
  });

  it('completes too when an earlier version has noted a height that is not read any more', async () => {
    const { shop, refund } = await paidAfterFork();
    await shop.app.db.updateTable('refund_balances').set({ balance_units: null, looked_height: 1_000_000 }).execute();
    await shop.mine();
    await shop.follow(sourceWith(shop, () => ({ balancesAt: () => Promise.reject(AWAY) })));
    await shop.advance();
    expect(await laterOn(shop, refund)).toMatchObject({ status: 'completed' });
  });

  it('counts nothing that is on a branch which another process has left', async () => {
    const { shop, refund, takeBack } = await paidAfterFork();
    const follow = followerOf(shop, shop.source);
    await shop.anvil.transfer(refund.address, PART * 2n);
    await shop.mine(2);
    await follow();
    await takeBack();
    await shop.mine(3, 13_000);
    await shop.follow(sourceWith(shop, () => ({ balancesAt: () => Promise.reject(AWAY) })));
    const hash = await minePayout(shop, refund);
    await follow();
    expect(await laterOn(shop, refund)).toMatchObject(paidBy(hash));
  });

  it('and that no node can trace stays pending, and whoever is about to pay it is warned', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.mine();
    await shop.follow(traceless(shop));
    expect(await shop.warningsOf(refund)).toEqual([]);
    await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.mine();
    await shop.follow(traceless(shop));
    await shop.mine(CONFIRMATIONS);
    await shop.follow(traceless(shop));
    expect(await shop.statusOf(refund)).toBe('pending');
    expect(await shop.warningsOf(refund)).toEqual([
      expect.stringMatching(/grew by 0\.0025 ETH up to block \d+.*may already have paid this refund/),
    ]);
  });
});

describe('the warning that a contract may have paid a refund', () => {
  it('is also given for what was paid while no node reported balances, and disappears with a reorganisation of its block', async () => {
    const { shop, refund, takeBack } = await paidAfterFork();
    await shop.mine();
    await shop.follow(sourceWith(shop, () => ({ balancesAt: () => Promise.reject(AWAY) })));
    expect(await shop.warningsOf(refund)).toEqual([]);
    await shop.mine();
    const takeBackLast = await shop.checkpoint();
    await shop.mine();
    await shop.follow(traceless(shop));
    expect(await shop.warningsOf(refund)).toHaveLength(1);
    await takeBackLast();
    await shop.mine(2, 13_000);
    await shop.follow(traceless(shop));
    expect(await shop.warningsOf(refund)).toHaveLength(1);
    await takeBack();
    await shop.advance(5, 14_000);
    expect(await shop.warningsOf(refund)).toEqual([]);
    expect(await shop.statusOf(refund)).toBe('pending');
  });

  it('is also given for the second of two equal refunds, of whose payouts nodes trace one', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    shop.app.clock.advance(1);
    const second = await shop.refund(refund.address);
    await minePayout(shop, refund);
    await minePayout(shop, refund);
    const height = ((await shop.cursorHeight()) ?? 0) + 2;
    const source = sourceWith(shop, (native) => ({
      internalTransfers: (block, addresses) =>
        block.height === height ? Promise.resolve(null) : native.internalTransfers(block, addresses),
    }));
    await shop.follow(source);
    await shop.mine(CONFIRMATIONS);
    await shop.follow(source);
    expect([await shop.statusOf(refund), await shop.statusOf(second)]).toEqual(['completed', 'pending']);
    expect(await shop.warningsOf(second)).toHaveLength(1);
  });

  it('is given after three blocks that no node traces, because customers wait for what is in the others', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.mine(20);
    await minePayout(shop, refund);
    let calls = 0;
    await shop.follow(sourceWith(shop, () => ({ internalTransfers: async () => ((calls += 1), null) })));
    expect(calls).toBe(3);
    expect(await shop.warningsOf(refund)).toHaveLength(1);
  });

  it('is also given for a balance before that nodes have forgotten, of which nobody knows since when it is there', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    const before = (await shop.cursorHeight()) ?? 0;
    await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.mine(150);
    const source = sourceWith(shop, (native) => ({
      balancesAt: (holders, block) =>
        block.height > before ? native.balancesAt(holders, block) : Promise.reject(AWAY),
    }));
    await shop.follow(source);
    expect(await shop.cursorHeight()).toBe(before + 150);
    expect(await shop.warningsOf(refund)).toHaveLength(1);
  });
});

describe('the warning that a contract may have paid a refund, once that is cancelled,', () => {
  it('is given at the next refund of the same money', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.mine();
    await shop.follow(traceless(shop));
    const cancelled = await cancelRefund(shop.app, { id: refund.id, isForced: true }, null, shop.poll);
    expect(cancelled).toMatchObject({ kind: 'done' });
    const next = await shop.refund();
    expect(await shop.warningsOf(next)).toEqual([
      expect.stringMatching(
        new RegExp(`^The balance of ${refund.address} .* already have paid ${encodeId('refund', refund.id)}, a refund`),
      ),
    ]);
  });
});

describe('what a contract pays to a refund that was cancelled', () => {
  it('is known at the next refund of the same money, as what a plain account pays is', async () => {
    const shop = await safeShop();
    const refund = await shop.refund(freshAddress(), OWED_WEI);
    await shop.advance();
    expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
    const hash = await shop.safe.send('pay', [refund.address], { valueWei: OWED_WEI });
    await shop.advance();
    const next = await shop.refund(refund.address, OWED_WEI);
    const shown = await showEther(shop, next);
    expect(shown).toMatchObject({ call: null, problem: expect.stringContaining(`${hash} paid exactly the amount`) });
    await shop.advance(CONFIRMATIONS);
    expect(await shop.statusOf(next)).toBe('pending');
  });

  it('is warned of where no node traces', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.advance();
    expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
    await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.mine();
    await shop.follow(traceless(shop));
    expect(await shop.warningsOf(await shop.refund())).toEqual([
      expect.stringContaining(`may already have paid ${encodeId('refund', refund.id)}, a refund`),
    ]);
  });

  it('is not looked for any more once nobody would take a payment for it', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.advance();
    expect(await cancelRefund(shop.app, { id: refund.id }, null, shop.poll)).toMatchObject({ kind: 'done' });
    await shop.advance(1, MAX_LATE_PAYOUT_MS + 1_000);
    await shop.safe.send('pay', [refund.address], { valueWei: PART });
    await shop.mine();
    await shop.follow(traceless(shop));
    expect(await shop.warningsOf(await shop.refund())).toEqual([]);
  });
});

describe('the addresses of refunds', () => {
  it('raise no warning by money of another amount, traced or listed', async () => {
    const shop = await safeShop();
    const refund = await shop.refund();
    await shop.safe.send('pay', [refund.address], { valueWei: PART * 2n });
    await shop.advance();
    await shop.anvil.transfer(refund.address, PART * 2n);
    await shop.mine();
    await shop.follow(traceless(shop));
    expect(await shop.statusOf(refund)).toBe('pending');
    expect(await shop.warningsOf(refund)).toEqual([]);
  });

  it('cost one query of balances a block, and no trace while nothing arrives', async () => {
    const shop = await safeShop();
    const calls: string[] = [];
    const source = sourceWith(shop, (native) => ({
      balancesAt: (...args) => (calls.push('balances'), native.balancesAt(...args)),
      internalTransfers: (...args) => (calls.push('trace'), native.internalTransfers(...args)),
    }));
    const follow = followerOf(shop, source);
    const step = async (): Promise<void> => {
      await shop.mine();
      await follow();
    };
    // The first look is at the ended order too.
    await step();
    calls.length = 0;
    await step();
    expect(calls).toEqual([]);
    const [first] = [await shop.refund(), await shop.refund()];
    await step();
    expect(calls).toEqual(['balances', 'balances']);
    await step();
    expect(calls).toEqual(['balances', 'balances', 'balances']);
    await shop.safe.send('pay', [first.address], { valueWei: PART });
    await step();
    expect(calls.slice(3)).toEqual(['balances', 'trace']);
  });
});
