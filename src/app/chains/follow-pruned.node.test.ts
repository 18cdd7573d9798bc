import { Address } from '@scure/btc-signer';
import { describe, expect, it } from 'vitest';
import { utxoNodeKindsFor, type UtxoNode, type UtxoNodeKind } from '../../../test/litecoind.ts';
import type { ChainSource } from '../../rails/chain.ts';
import { nodeLike, paramsOf, sourceOf } from '../../rails/utxo/source.fixture.ts';
import { createChainFollower } from './follow-chain.ts';
import { coinShop, type CoinShop } from './follow-utxo.fixture.ts';

const HOUR_MS = 60 * 60_000;
const REFUSAL = { error: { code: -1, message: 'Block not available (pruned data)' } };
const SLOW = { timeout: 300_000 };

describe.each(utxoNodeKindsFor(import.meta.url))('a pruned %s node', (kind) => {
  /**
   * Litecoin Core cuts its files at 128 MB, so that a short chain is never pruned: there the answers are those of a
   * pruned node.
   */
  const options = kind === 'bitcoin' ? ['-prune=1', '-fastprune'] : [];

  it('follows a reorganisation to its fork, although the oldest blocks that were read are pruned', SLOW, async () => {
    const shop = await coinShop(kind, options);
    const { node, app } = shop;
    await shop.follow();
    await mineAway(node, 1_000);
    await shop.follow();
    const order = await shop.order();
    await node.send(order.address, '0.3');
    const [left] = await node.mine(1);
    await shop.follow();
    expect(await shop.statusOf(order)).toBe('confirming');

    const source = await pruned(kind, node, [37, 100, 250]);
    await node.rpc('invalidateblock', [left]);
    const chain = await node.mine(3);
    expect(chain).not.toContain(left);
    await follow(shop, source);
    expect(await cursorOf(shop)).toEqual({ height: 1_104, hash: chain[2] });
    expect(await shop.statusOf(order)).toBe('completed');
    const transfers = await app.db.selectFrom('transfers').select(['state', 'block_hash']).execute();
    expect(transfers).toEqual([{ state: 'confirmed', block_hash: chain[0] }]);
  });

  it('of another chain is refused by the hash of a block that it has pruned', SLOW, async () => {
    const shop = await coinShop(kind, options);
    await shop.follow();
    await mineAway(shop.node, 1_000);
    const source = await pruned(kind, shop.node, [37, 100]);
    const { db } = shop.app;
    await db
      .updateTable('chain_blocks')
      .set({ hash: 'ab'.repeat(32) })
      .execute();
    await db
      .updateTable('chain_cursors')
      .set({ hash: 'ab'.repeat(32) })
      .execute();
    // The node's next block does not follow on the cursor's.
    await db.updateTable('chain_cursors').set({ height: 1_090 }).execute();
    await expect(follow(shop, source)).rejects.toThrow(/a different chain than before, because even block 37/);
  });

  it(
    'that no longer has the next block is told of: which one, and that a node which has it is needed',
    SLOW,
    async () => {
      const shop = await coinShop(kind, options);
      await shop.follow();
      await mineAway(shop.node, 1_000);
      const source = await pruned(kind, shop.node, [102, 250]);
      await expect(follow(shop, source)).rejects.toThrow(
        `it has pruned block 102 (JSON-RPC error -1: Block not available (pruned data)). ` +
          `Add a node that still has block 102, such as one that is not pruned, to ${kind.toUpperCase()}_RPC_URL`,
      );
      expect((await cursorOf(shop))?.height).toBe(101);
    },
  );

  it(
    'is read for the first time from before the first address on, past which older blocks may be pruned',
    SLOW,
    async () => {
      const shop = await coinShop(kind, options);
      const { node, app } = shop;
      await mineAway(node, 638);
      app.clock.advance(10 * HOUR_MS);
      await shop.setNodeClock(0);
      const order = await shop.order();
      await node.send(order.address, '0.3');
      await mineAway(node, 262);
      // The search for the start steps over block 489.
      const source = await pruned(kind, node, [489]);
      expect(await createChainFollower(app, source).follow()).toBe('advanced');
      expect((await cursorOf(shop))?.height).toBe(739);
      await follow(shop, source);
      expect(await shop.statusOf(order)).toBe('completed');
    },
  );
});

/** To nobody: a wallet that is told of each block makes mining slow. */
async function mineAway(node: UtxoNode, count: number): Promise<void> {
  const nobody = Address(paramsOf(node.kind).address).encode({ type: 'wpkh', hash: new Uint8Array(20).fill(7) });
  await node.mine(count, nobody);
}

/** Prunes the node as far as it goes, and makes sure that these blocks are gone. */
async function pruned(kind: UtxoNodeKind, node: UtxoNode, gone: readonly number[]): Promise<ChainSource> {
  const hashes = await Promise.all(gone.map((height) => node.rpc('getblockhash', [height])));
  if (kind === 'litecoin') {
    const relay = await nodeLike(node, ({ method, params }) =>
      method === 'getblock' && Array.isArray(params) && hashes.includes(params[0]) ? REFUSAL : null,
    );
    return sourceOf(kind, [relay.url]);
  }
  await node.rpc('pruneblockchain', [Number(await node.rpc('getblockcount')) - 288]);
  for (const hash of hashes) expect(await node.answer('getblock', [hash, 0])).toMatchObject(REFUSAL);
  return sourceOf(kind, [node.url]);
}

async function follow({ app }: CoinShop, source: ChainSource): Promise<void> {
  const follower = createChainFollower(app, source);
  while ((await follower.follow()) !== 'at_head');
}

async function cursorOf({ app }: CoinShop) {
  return app.db.selectFrom('chain_cursors').select(['height', 'hash']).executeTakeFirst();
}
