import { describe, expect, it } from 'vitest';
import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import { saveNodes } from '../../store/chains/chain.ts';
import { coinShop, type CoinShop } from './follow-utxo.fixture.ts';
import { networkStatus } from './network-status.ts';

const MINUTE_MS = 60_000;
const SHORT = { lifetimeMs: MINUTE_MS };

describe.each(utxoNodeKindsFor(import.meta.url))('what a %s node proves by showing nothing', (kind) => {
  /** The problem that the operator sees, once the nodes were checked. */
  async function problemOf({ app, source }: CoinShop): Promise<string | null | undefined> {
    await saveNodes(app.db, kind, await source.checkNodes(), app.clock());
    return (await networkStatus(app, [kind]))[0]?.problem;
  }

  it('while it is still loading the chain no order expires, which is reported, and the blocks that it has count', async () => {
    const shop = await coinShop(kind, ['-maxtipage=1']);
    const [unpaid, paid] = [await shop.order(SHORT), await shop.order(SHORT)];
    await shop.follow();
    // Its newest block is an hour old.
    await shop.node.halt();
    await shop.node.restart();
    expect(await shop.node.rpc('getblockchaininfo')).toMatchObject({ initialblockdownload: true });
    await shop.node.send(paid.address, '0.3');
    await shop.follow();
    expect(await shop.app.read(paid.id)).toMatchObject({ status: 'processing' });
    for (let round = 0; round < 3; round += 1) {
      shop.app.clock.advance(2 * MINUTE_MS);
      await shop.follow();
      expect(await shop.statusOf(unpaid)).toBe('pending');
    }
    expect(await problemOf(shop)).toMatch(
      /still loading the chain \(initial block download.*no payment expires\. Mine/,
    );

    // Long overdue payments are polled once a minute.
    shop.app.clock.advance(2 * MINUTE_MS);
    await shop.setNodeClock(0);
    await shop.node.mine(1);
    await shop.follow();
    expect(await shop.statusOf(unpaid)).toBe('expired');
    expect(await shop.statusOf(paid)).toBe('confirming');
    expect(await problemOf(shop)).toBeNull();
  });

  it('nothing about waiting transactions before the mempool was read: a block dated two hours ahead expires no order', async () => {
    const shop = await coinShop(kind);
    await shop.setNodeClock(119 * MINUTE_MS);
    await shop.node.mine(1);
    await shop.follow();
    const order = await shop.order(SHORT);
    // The node is away from here on.
    shop.app.clock.advance(MINUTE_MS + 1);
    expect(await shop.statusOf(order)).toBe('pending');
    shop.app.clock.advance(MINUTE_MS);
    await shop.follow();
    expect(await shop.statusOf(order)).toBe('expired');
  });

  it('a node that relays no unmined transactions proves only what its blocks prove, which is reported', async () => {
    const shop = await coinShop(kind, ['-blocksonly=1']);
    const order = await shop.order(SHORT);
    shop.app.clock.advance(MINUTE_MS);
    await shop.follow();
    expect(await shop.statusOf(order)).toBe('pending');
    expect(await problemOf(shop)).toMatch(/accepts no transactions \(-blocksonly\).* Start the node without/);
    await shop.setNodeClock(MINUTE_MS);
    await shop.node.mine(1);
    shop.app.clock.advance(MINUTE_MS);
    await shop.follow();
    expect(await shop.statusOf(order)).toBe('expired');
  });
});
