import { describe, expect, it } from 'vitest';
import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import { NETWORK_FACTS } from '../../domain/networks.ts';
import { ChainUnavailableError, type NativeBalances, type NodeReport } from '../../rails/chain.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { readPolls, requestPoll } from '../../store/chains/chain.ts';
import { createChainFollower } from './follow-chain.ts';
import { etherRail, etherShop, type EtherShop } from './follow-chain.fixture.ts';
import { CUSTOMER, etherRefund, paidOrder } from '../refunds/refund-ether.fixture.ts';
import { claimRefund } from '../refunds/change-refund.ts';
import { awaitPoll } from '../refunds/unread-money.ts';
import { coinShop } from './follow-utxo.fixture.ts';

const report = (height: number | null): NodeReport => ({ node: 'https://node.example', height, problem: null });

/** The balances of a shop with an unpaid refund in ether, for which they are asked. */
async function toldBalances(shop: EtherShop): Promise<NativeBalances> {
  await etherRefund(shop, await paidOrder(shop));
  const { native } = shop.source;
  if (native === null || native === undefined) throw new Error('The source tells no balances.');
  return native;
}

describe('a requested poll', () => {
  it('is done once the newest block of every node was read, whichever answers first', async () => {
    const shop = await etherShop();
    await shop.follow();
    const { db } = shop.app;
    const done = async (): Promise<number | undefined> => (await readPolls(db, 'ethereum'))?.done;
    const next = ((await shop.cursorHeight()) ?? 0) + 1;
    const others = (...heights: readonly (number | null)[]) => ({
      ...shop.source,
      checkNodes: async () => heights.map(report),
    });
    await requestPoll(db, 'ethereum');
    await shop.follow(others(null));
    await shop.follow(others(next - 1, next));
    expect(await done()).toBe(0);
    await shop.mine(1);
    await shop.follow(others(next - 1, next));
    expect(await done()).toBe(1);
    await requestPoll(db, 'ethereum');
    await requestPoll(db, 'ethereum');
    await shop.follow();
    expect(await done()).toBe(3);
  });

  it('is not done by blocks of a branch that the node has left, though it has no higher block', async () => {
    const shop = await etherShop();
    await shop.follow();
    const { db } = shop.app;
    const done = async (): Promise<number | undefined> => (await readPolls(db, 'ethereum'))?.done;
    const undo = await shop.checkpoint();
    await shop.advance(2);
    await undo();
    await shop.mine(1, 13_000);
    await requestPoll(db, 'ethereum');
    await shop.follow();
    expect(await done()).toBe(0);
    await shop.advance(2);
    expect(await done()).toBe(1);
  });

  it('is done only when the balances were compared that a contract may have changed', async () => {
    const shop = await etherShop();
    const { db } = shop.app;
    const native = await toldBalances(shop);
    const isAway = new ChainUnavailableError('ethereum', 'eth_getBalance', []);
    let refusals = 2;
    const balancesAt: typeof native.balancesAt = async (...asked) => {
      refusals -= 1;
      if (refusals >= 0) throw isAway;
      return native.balancesAt(...asked);
    };
    const source = { ...shop.source, native: { ...native, balancesAt } };
    const follower = createChainFollower(shop.app, source);
    const follow = async (): Promise<number | undefined> => {
      while ((await follower.follow()) !== 'at_head');
      return (await readPolls(db, 'ethereum'))?.done;
    };
    await shop.mine(1);
    await requestPoll(db, 'ethereum');
    expect(await follow()).toBe(0);
    await shop.mine(1);
    expect(await follow()).toBe(1);
  });

  it('of a main chain is not done while the newest block is minutes old, as when the node has lost its network', async () => {
    const evmChain = () => ({ chainId: NETWORK_FACTS.ethereum.chainId, contract: null });
    const shop = await etherShop({ rail: (db) => etherRail(db, fixedRates(new Map()), evmChain) });
    const { db, clock } = shop.app;
    await shop.follow();
    const done = async (): Promise<number | undefined> => (await readPolls(db, 'ethereum'))?.done;
    clock.advance(5 * 60_000);
    await requestPoll(db, 'ethereum');
    // Where customers pay in tokens alone, too.
    for (const source of [shop.source, { ...shop.source, native: null }]) {
      await shop.follow(source);
      expect(await done()).toBe(0);
    }
    await shop.mine(1);
    await shop.follow();
    expect(await done()).toBe(1);
  });

  it('waits for no node that hangs, and counts the others', async () => {
    const asked: (number | undefined)[] = [];
    const shop = await etherShop();
    const { db } = shop.app;
    await shop.follow();
    const source: typeof shop.source = {
      ...shop.source,
      checkNodes: async (withinMs) => {
        asked.push(withinMs);
        return shop.source.checkNodes(withinMs);
      },
    };
    await requestPoll(db, 'ethereum');
    await shop.follow(source);
    expect((await readPolls(db, 'ethereum'))?.done).toBe(1);
    expect(asked).toEqual([expect.toSatisfy((ms: number) => ms <= 3_000)]);
  });

  it('is not done by what another process compared before it read further', async () => {
    const shop = await etherShop();
    const { db } = shop.app;
    const native = await toldBalances(shop);
    let isTold = true;
    const balancesAt: typeof native.balancesAt = async (...asked) => {
      if (isTold) return native.balancesAt(...asked);
      throw new ChainUnavailableError('ethereum', 'eth_getBalance', []);
    };
    const process = () => createChainFollower(shop.app, { ...shop.source, native: { ...native, balancesAt } });
    const [first, second] = [process(), process()];
    const follow = async (follower: typeof first): Promise<number | undefined> => {
      while ((await follower.follow()) !== 'at_head');
      return (await readPolls(db, 'ethereum'))?.done;
    };
    await shop.mine(1);
    await follow(first);
    isTold = false;
    await shop.mine(1);
    await follow(second);
    await requestPoll(db, 'ethereum');
    expect(await follow(first)).toBe(0);
    isTold = true;
    expect(await follow(first)).toBe(1);
  });

  it('is not done by nodes that lag behind what was read, and do not know the newest block', async () => {
    const shop = await etherShop();
    await shop.advance();
    const { db } = shop.app;
    const height = (await shop.cursorHeight()) ?? 0;
    await requestPoll(db, 'ethereum');
    const lagging = { ...shop.source, checkNodes: async () => [report(null), report(height - 1)] };
    await shop.follow(lagging);
    expect((await readPolls(db, 'ethereum'))?.done).toBe(0);
    await shop.follow({ ...lagging, checkNodes: async () => [report(height)] });
    expect((await readPolls(db, 'ethereum'))?.done).toBe(1);
  });

  it.each(['a poll', 'a survey'] as const)(
    'is not done by the nodes that are left after %s has heard of a higher block',
    async (by) => {
      const shop = await etherShop();
      await shop.advance();
      const { db, clock } = shop.app;
      const height = (await shop.cursorHeight()) ?? 0;
      const done = async (): Promise<number | undefined> => (await readPolls(db, 'ethereum'))?.done;
      const follower = createChainFollower(shop.app, { ...shop.source, checkNodes: async () => [report(told)] });
      let told = height;
      const follow = async (): Promise<void> => {
        while ((await follower.follow()) !== 'at_head');
      };
      if (by === 'a survey') follower.heard([report(height + 1)]);
      follower.heard([report(null)]);
      await requestPoll(db, 'ethereum');
      if (by === 'a poll') told = height + 1;
      await follow();
      told = height;
      await requestPoll(db, 'ethereum');
      await follow();
      expect(await done()).toBe(0);
      // A reorganisation ends what was told of the branch before.
      const undo = await shop.checkpoint();
      await shop.mine();
      told = height + 1;
      await requestPoll(db, 'ethereum');
      await follow();
      expect(await done()).toBe(3);
      told = height + 5;
      await requestPoll(db, 'ethereum');
      await follow();
      await undo();
      clock.advance(1_000);
      await shop.mine(1, 13_000);
      told = height + 1;
      await follow();
      await requestPoll(db, 'ethereum');
      await follow();
      expect(await done()).toBe(5);
    },
  );

  it('is done at once though a customer has just entered a refund’s address', async () => {
    const shop = await etherShop();
    const { db } = shop.app;
    const refund = await etherRefund(shop, await paidOrder(shop), { address: null });
    shop.app.clock.advance(1_000);
    await shop.advance();
    shop.app.clock.advance(1_000);
    expect(await claimRefund(shop.app, refund.id, CUSTOMER)).toMatchObject({ kind: 'done' });
    await requestPoll(db, 'ethereum');
    await shop.follow();
    expect((await readPolls(db, 'ethereum'))?.done).toBe(1);
  });

  it.each(['reads on', 'follows another branch'] as const)(
    'is not done by blocks that were not compared, as when another process %s at that moment',
    async (happens) => {
      const shop = await etherShop();
      const { db } = shop.app;
      const native = await toldBalances(shop);
      const undo = await shop.checkpoint();
      await shop.advance();
      const done = async (): Promise<number | undefined> => (await readPolls(db, 'ethereum'))?.done;
      const next = ((await shop.cursorHeight()) ?? 0) + (happens === 'reads on' ? 1 : 0);
      const other = async (): Promise<void> => {
        if (happens !== 'reads on') await undo();
        await shop.mine(1, 13_000);
        const balancesAt = () => Promise.reject(new ChainUnavailableError('ethereum', 'eth_getBalance', []));
        await shop.follow({ ...shop.source, native: { ...native, balancesAt } });
        expect(await shop.cursorHeight()).toBe(next);
      };
      let isFirst = true;
      const balancesAt: typeof native.balancesAt = async (...asked) => {
        const balances = await native.balancesAt(...asked);
        if (isFirst) await other();
        isFirst = false;
        return balances;
      };
      const checkNodes = async () => [report(next)];
      const follower = createChainFollower(shop.app, { ...shop.source, checkNodes, native: { ...native, balancesAt } });
      await requestPoll(db, 'ethereum');
      await follower.follow();
      expect(isFirst).toBe(false);
      expect(await done()).toBe(0);
      await shop.mine();
      while ((await follower.follow()) !== 'at_head');
      expect(await done()).toBe(1);
    },
  );

  it('is not done by balances that were compared, but saved by another process that could not', async () => {
    const shop = await etherShop();
    const { db } = shop.app;
    await shop.follow();
    const native = await toldBalances(shop);
    const [refund] = await db.selectFrom('refunds').select('address').execute();
    await shop.advance();
    const balancesAt: typeof native.balancesAt = async (...asked) => {
      const balances = await native.balancesAt(...asked);
      const isAway = () => Promise.reject(new ChainUnavailableError('ethereum', 'eth_getBalance', []));
      await shop.follow({ ...shop.source, native: { ...native, balancesAt: isAway } });
      return balances;
    };
    const follower = createChainFollower(shop.app, { ...shop.source, native: { ...native, balancesAt } });
    await shop.anvil.rpc('anvil_setBalance', [refund?.address, '0x1']);
    await shop.mine();
    await requestPoll(db, 'ethereum');
    while ((await follower.follow()) !== 'at_head');
    expect((await readPolls(db, 'ethereum'))?.done).toBe(0);
    await shop.mine();
    await shop.follow();
    expect((await readPolls(db, 'ethereum'))?.done).toBe(1);
  });

  it('is awaited for 15 seconds, however few answers a slow database gives meanwhile', async () => {
    const shop = await etherShop();
    await shop.follow();
    const times = [0, 14_999, 15_000];
    expect(await awaitPoll(shop.app, 'ethereum', undefined, () => times.shift() ?? NaN)).toBe(false);
    expect(times).toEqual([]);
  });

  it.each(utxoNodeKindsFor(import.meta.url))(
    'of %s is done only when the node may have seen all transactions, and lists them at once',
    async (kind) => {
      const shop = await coinShop(kind);
      const { mempool } = shop.source;
      if (mempool === null) throw new Error('The source has no mempool.');
      const { db } = shop.app;
      const done = async (): Promise<number | undefined> => (await readPolls(db, kind))?.done;
      await shop.follow();
      const follow = async (proof: 'mempool' | 'blocks' | 'nothing', follower = followerWith(proof)): Promise<void> => {
        while ((await follower.follow()) !== 'at_head');
      };
      const followerWith = (proof: 'mempool' | 'blocks' | 'nothing') =>
        createChainFollower(shop.app, {
          ...shop.source,
          mempool: {
            ...mempool,
            waiting: async () => {
              const waiting = await mempool.waiting();
              return waiting && { ...waiting, proof };
            },
          },
        });
      await requestPoll(db, kind);
      await follow('nothing');
      await follow('blocks');
      expect(await done()).toBe(0);
      const follower = followerWith('mempool');
      await follow('mempool', follower);
      expect(await done()).toBe(1);
      // It listed the mempool a moment ago, and would rest now.
      await requestPoll(db, kind);
      await follow('mempool', follower);
      expect(await done()).toBe(2);
    },
  );
});
