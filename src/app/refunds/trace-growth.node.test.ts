import { describe, expect, it } from 'vitest';
import { REFUND_LIFETIME_MS } from '../../domain/refund.ts';
import { paidTwice } from '../../store/refunds/refund-payouts.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { CONFIRMATIONS } from '../chains/follow-chain.fixture.ts';
import { cancelRefund } from './change-refund.ts';
import { runDueRefunds } from './end-refunds.ts';
import { showEther } from './refund-ether.fixture.ts';
import { AWAY, followerOf, PART, safeShop, sourceWith } from './safe-shop.fixture.ts';

/** How many blocks later nodes are asked for the last time: 1, 2, 4 … 32 blocks after the time before. */
const LAST = 63;

/** A shop with a refund, whose nodes answer about blocks as the test says: nothing is traced at first. */
async function untracedShop() {
  const shop = await safeShop();
  const refund = await shop.refund();
  await shop.advance();
  const can = { trace: (_height: number): boolean => false, tellBalances: (_height: number): boolean => true };
  let traced: number[] = [];
  const source = sourceWith(shop, (native) => ({
    balancesAt: (holders, block) =>
      can.tellBalances(block.height) ? native.balancesAt(holders, block) : Promise.reject(AWAY),
    internalTransfers: (block, addresses) => {
      traced.push(block.height);
      return can.trace(block.height) ? native.internalTransfers(block, addresses) : Promise.resolve(null);
    },
  }));
  const follow = followerOf(shop, source);
  /** Mines blocks, one by one, and returns how many traces each cost. */
  const steps = async (count: number): Promise<readonly number[]> => {
    const counts: number[] = [];
    for (let step = 0; step < count; step += 1) {
      traced = [];
      await shop.mine();
      await follow();
      counts.push(traced.length);
    }
    return counts;
  };
  return {
    shop,
    refund,
    can,
    steps,
    /** Mines blocks that are read together. */
    stride: async (blocks: number): Promise<void> => {
      await shop.mine(blocks);
      await follow();
    },
    height: async (): Promise<number> => (await shop.cursorHeight()) ?? 0,
    pay: (units = PART): Promise<string> => shop.safe.send('pay', [refund.address], { valueWei: units }),
    cancel: (isForced = false) => cancelRefund(shop.app, { id: refund.id, isForced }, null, shop.poll),
    status: () => shop.statusOf(refund),
    warnings: () => shop.warningsOf(refund),
    payout: async () => (await findRefund(shop.app.db, refund.id))?.transactionHash,
  };
}

const everything = (): boolean => true;

describe('a refund that a contract pays in a block that no node traces at first', () => {
  it('completes once a node traces that block, and its warning ends', async () => {
    const { can, pay, steps, warnings, payout } = await untracedShop();
    const hash = await pay();
    await steps(3);
    expect(await warnings()).toHaveLength(1);
    can.trace = everything;
    await steps(2);
    expect(await warnings()).toEqual([]);
    await steps(CONFIRMATIONS);
    expect(await payout()).toBe(hash);
  });

  it('is not cancelled while nodes are asked about it, six times in 63 blocks, unless somebody insists', async () => {
    const { pay, steps, warnings, cancel } = await untracedShop();
    await pay();
    await steps(1);
    const counts = await steps(LAST - 1);
    expect(counts.flatMap((count, index) => (count > 0 ? [[index + 1, count]] : []))).toEqual([
      [1, 1],
      [3, 1],
      [7, 1],
      [15, 1],
      [31, 1],
    ]);
    expect(await cancel()).toMatchObject({ kind: 'refused', message: expect.stringContaining('The nodes are asked') });
    expect(await steps(1)).toEqual([1]);
    expect(await warnings()).toHaveLength(1);
    expect(await cancel()).toMatchObject({ kind: 'done' });
  });

  it('is paid after all though somebody cancelled it, and completes no refund that was made later', async () => {
    const { shop, refund, can, pay, steps, cancel } = await untracedShop();
    const hash = await pay();
    await steps(1);
    expect(await cancel(true)).toMatchObject({ kind: 'done' });
    const next = await shop.refund(refund.address);
    can.trace = everything;
    await steps(CONFIRMATIONS);
    const shown = await showEther(shop, refund);
    expect(shown).toMatchObject({ call: null, problem: expect.stringContaining(`${hash} paid exactly this amount`) });
    expect(await shop.statusOf(next)).toBe('pending');
  });

  it('completes too when money came once more before, and the warning counts both', async () => {
    const { can, pay, steps, warnings, payout } = await untracedShop();
    const hash = await pay();
    await steps(1);
    await pay(PART * 2n);
    await steps(4);
    expect(await warnings()).toEqual([expect.stringContaining('grew by 0.0075 ETH')]);
    can.trace = everything;
    await steps(4 + CONFIRMATIONS);
    expect(await payout()).toBe(hash);
  });

  it.each([
    ['many blocks come at once after the node is well again', 1, 100],
    ['it was paid in the first of many blocks that came at once, of which three failed', 100, 1],
    ['nodes trace only after many more blocks came at once', 200, 1],
  ])('completes too when %s', async (_, failing, tracing) => {
    const { can, pay, stride, steps, payout } = await untracedShop();
    const hash = await pay();
    for (let blocks = failing; blocks > 0; blocks -= 100) await stride(Math.min(blocks, 100));
    can.trace = everything;
    await stride(tracing);
    await steps(CONFIRMATIONS);
    expect(await payout()).toBe(hash);
  });

  it('completes too when no node was asked for it the last time, because three other blocks failed before', async () => {
    const { shop, can, pay, stride, steps, height, payout } = await untracedShop();
    const other = await shop.refund();
    const hash = await pay();
    await steps(1);
    const paidAt = await height();
    await steps(LAST - 20);
    await shop.safe.send('pay', [other.address], { valueWei: PART * 2n });
    const failing = await height();
    can.trace = (block) => block !== paidAt && (block <= failing || block > failing + 3);
    await stride(20);
    can.trace = everything;
    await steps(1 + CONFIRMATIONS);
    expect(await payout()).toBe(hash);
  });

  it('can be cancelled though nobody asks about it any more, because payments go to its address since', async () => {
    const { shop, refund, pay, steps, cancel } = await untracedShop();
    await pay();
    await steps(1);
    expect(await cancel()).toMatchObject({ kind: 'refused' });
    await shop.app.db.updateTable('wallets').set({ source: refund.address, kind: 'treasury' }).execute();
    await steps(1);
    expect(await cancel()).toMatchObject({ kind: 'done' });
  });

  it('completes too when nodes tell no balances at the last time that they are to be asked', async () => {
    const { can, pay, steps, height, cancel, payout } = await untracedShop();
    const hash = await pay();
    await steps(1);
    const last = (await height()) + LAST;
    await steps(33);
    can.trace = everything;
    can.tellBalances = (block) => block !== last;
    await steps(LAST - 33);
    expect(await cancel()).toMatchObject({ kind: 'refused' });
    await steps(1);
    expect(await payout()).toBe(hash);
  });

  it('does not expire before nodes were asked for the last time', async () => {
    const { shop, can, pay, steps, status, payout } = await untracedShop();
    await shop.mine(1, REFUND_LIFETIME_MS - 60_000);
    const hash = await pay();
    await steps(1);
    await shop.mine(1, 120_000);
    await steps(1);
    expect([await runDueRefunds(shop.app, 10), await status()]).toEqual([0, 'pending']);
    can.trace = everything;
    await steps(4);
    expect([await status(), await payout()]).toEqual(['completed', hash]);
  });

  it('completes too together with an equal one that was made later', async () => {
    const { shop, refund, can, steps, stride, pay } = await untracedShop();
    await pay(PART * 2n);
    await steps(2);
    const second = await shop.refund(refund.address);
    await steps(1);
    const hashes = [await pay(), await pay()];
    await stride(1);
    can.trace = everything;
    await steps(8 + CONFIRMATIONS);
    const paid = [await findRefund(shop.app.db, refund.id), await findRefund(shop.app.db, second.id)];
    expect(new Set(paid.map((one) => one?.transactionHash))).toEqual(new Set(hashes));
  });

  it('and that somebody else pays again is listed as paid twice', async () => {
    const { shop, refund, can, pay, steps } = await untracedShop();
    await pay();
    await steps(1);
    await shop.anvil.transfer(refund.address, PART);
    await steps(CONFIRMATIONS);
    expect(await shop.statusOf(refund)).toBe('completed');
    can.trace = everything;
    await steps(4);
    expect(await paidTwice(shop.app.db, refund.paymentId)).toHaveLength(1);
  });
});

describe('growth that no node explained', () => {
  it('stays a warning where an earlier version saved it, whatever is traced later', async () => {
    const { shop, can, pay, steps, warnings } = await untracedShop();
    await pay(PART * 2n);
    await steps(1);
    const earlier = { untraced_blocks: [], next_trace_height: null };
    await shop.app.db.updateTable('refund_balances').set(earlier).execute();
    await pay(PART * 3n);
    await steps(1);
    can.trace = everything;
    await steps(2);
    expect(await warnings()).toHaveLength(1);
  });

  it('hides no payout that comes later, when its own blocks are gone', async () => {
    const { can, pay, steps, height, payout } = await untracedShop();
    await pay(PART * 2n);
    await steps(LAST + 2);
    const wellFrom = await height();
    can.trace = (block) => block >= wellFrom;
    const hash = await pay();
    expect(await steps(1)).toEqual([1]);
    await steps(CONFIRMATIONS);
    expect(await payout()).toBe(hash);
  });

  it('hides no payout whose block failed too, once the times of many older blocks are over', async () => {
    const { can, pay, steps, stride, height, payout } = await untracedShop();
    await pay(PART * 2n);
    await stride(20);
    await steps(LAST + 2);
    const wellFrom = await height();
    const hash = await pay();
    await steps(8);
    can.trace = (block) => block > wellFrom;
    await steps(8 + CONFIRMATIONS);
    expect(await payout()).toBe(hash);
  });

  it('stops neither cancelling nor expiry forever, though contracts pay its address again and again', async () => {
    const { shop, refund, pay, steps, stride, cancel } = await untracedShop();
    for (let times = 0; times < 6; times += 1) {
      await pay(PART * 2n);
      await stride(90);
    }
    await steps(1);
    expect(await shop.statusOf(refund)).toBe('pending');
    expect(await cancel()).toMatchObject({ kind: 'done' });
  });

  it('stays a warning, and later money that nodes trace costs one trace and adds nothing to it', async () => {
    const { can, pay, steps, warnings, cancel } = await untracedShop();
    await pay(PART * 2n);
    await steps(LAST + 2);
    can.trace = everything;
    await pay(PART * 3n);
    expect(await steps(3)).toEqual([1, 0, 0]);
    expect(await warnings()).toEqual([expect.stringContaining('grew by 0.005 ETH')]);
    expect(await cancel()).toMatchObject({ kind: 'done' });
  });

  it('costs one trace a block where each block pays its address and one is not traced', async () => {
    const { can, pay, steps, height, cancel } = await untracedShop();
    const bad = (await height()) + 1;
    can.trace = (block) => block !== bad;
    const counts: number[] = [];
    for (let block = 0; block <= LAST; block += 1) {
      await pay(PART * 2n);
      counts.push(...(await steps(1)));
    }
    expect(counts.filter((count) => count > 1)).toHaveLength(6);
    expect(Math.max(...counts)).toBe(2);
    expect(await cancel()).toMatchObject({ kind: 'done' });
  });
});
