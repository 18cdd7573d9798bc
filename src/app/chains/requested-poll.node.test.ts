import { describe, expect, it } from 'vitest';
import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import type { NodeReport } from '../../rails/chain.ts';
import { readPolls, requestPoll } from '../../store/chains/chain.ts';
import { createChainFollower } from './follow-chain.ts';
import { etherShop } from './follow-chain.fixture.ts';
import { coinShop } from './follow-utxo.fixture.ts';

const report = (height: number | null): NodeReport => ({ node: 'https://node.example', height, problem: null });

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

  it.each(utxoNodeKindsFor(import.meta.url))(
    'of %s is done only when the node may have seen all transactions, and lists them at once',
    async (kind) => {
      const shop = await coinShop(kind);
      const { mempool } = shop.source;
      if (mempool === null) throw new Error('The source has no mempool.');
      const { db } = shop.app;
      const done = async (): Promise<number | undefined> => (await readPolls(db, kind))?.done;
      await shop.follow();
      const follow = async (proof: 'mempool' | 'nothing', follower = followerWith(proof)): Promise<void> => {
        while ((await follower.follow()) !== 'at_head');
      };
      const followerWith = (proof: 'mempool' | 'nothing') =>
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
