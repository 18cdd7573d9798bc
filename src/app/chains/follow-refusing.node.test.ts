import { expect, it, onTestFinished } from 'vitest';
import { startAnvil } from '../../../test/anvil.ts';
import { forwardTo, type NodeAnswer, type NodeCall } from '../../../test/rpc-node.ts';
import { ChainUnavailableError, type ChainSource } from '../../rails/chain.ts';
import { nodeThat } from '../../rails/evm/source.fixture.ts';
import { createChainFollower } from './follow-chain.ts';
import {
  CONFIRMATIONS,
  etherShop,
  etherSource,
  eventsOf,
  OWED_WEI,
  paidUnfollowed,
  type EtherShop,
} from './follow-chain.fixture.ts';

const ORDERS = 3;

/** True for this share of the times that it is asked, the same in each run. */
function chance(share: number): () => boolean {
  let state = 42;
  return () => (state = (state * 48_271) % 0x7fffffff) / 0x7fffffff < share;
}

/** Follows until the order has this status; how often a round failed. */
async function failuresUntil(shop: EtherShop, urls: readonly string[], id: string, status: string): Promise<number> {
  const source = etherSource(urls);
  onTestFinished(() => source.close());
  const follower = createChainFollower(shop.app, source);
  let failures = 0;
  for (let rounds = 0; rounds < 40; rounds += 1) {
    await follower.follow().catch((fault: unknown) => {
      if (!(fault instanceof ChainUnavailableError)) throw fault;
      failures += 1;
    });
    if ((await shop.app.read(id)).status === status) return failures;
  }
  throw new Error(`the order is not ${status} after 40 rounds, of which ${failures} failed`);
}

const SINGLE: NodeAnswer = { error: { code: -32_005, message: 'too many requests' } };

it.each([0.1, 0.3, 0.5])(
  'a node that refuses %d of single calls slows a chain, and does not stop it',
  async (share) => {
    const shop = await etherShop();
    const refuses = chance(share);
    const answer = (call: NodeCall): NodeAnswer | Promise<NodeAnswer> =>
      refuses() ? SINGLE : forwardTo(shop.anvil.url, call);
    const noBatches = await nodeThat(
      (call) => (refuses() ? { status: 503, text: '' } : forwardTo(shop.anvil.url, call)),
      {
        batch: () => ({ error: { code: -32_600, message: 'batches are not allowed' } }),
      },
    );
    const byEntry = await nodeThat(answer);
    const byBatch = await nodeThat((call) => forwardTo(shop.anvil.url, call), {
      batch: () => (refuses() ? { status: 429, text: '' } : null),
    });
    for (const urls of [[noBatches.url], [byEntry.url], [byBatch.url], [noBatches.url, byBatch.url]]) {
      const order = await shop.order();
      await shop.anvil.transfer(order.address, OWED_WEI);
      await shop.mine(CONFIRMATIONS);
      expect(await failuresUntil(shop, urls, order.id, 'completed')).toBeLessThanOrEqual(2);
    }
  },
);

it('answers of another chain, mixed up or cut, in the middle of a stride record nothing and take nothing back', async () => {
  const shop = await etherShop();
  const other = await startAnvil({ chainId: 4_711 });
  onTestFinished(() => other.stop());
  await other.mine(40);
  const isWrong = chance(0.3);
  let wrongs = 0;
  const node = await nodeThat(
    async (call) => {
      if (!isWrong()) return forwardTo(shop.anvil.url, call);
      const { text = '' } = await forwardTo(other.url, call);
      const kinds = [{ text }, { text: text.slice(0, -5) }, { text: text.replace(/"id":\d+/, '"id":0') }];
      return kinds[(wrongs += 1) % kinds.length] ?? { text };
    },
    { batch: () => ({ status: 413, text: '' }) },
  );
  const source = etherSource([node.url]);
  onTestFinished(() => source.close());
  const follower = createChainFollower(shop.app, source);
  const orders = [];
  for (let made = 0; made < ORDERS; made += 1) {
    const order = await shop.order();
    orders.push(order);
    await shop.anvil.transfer(order.address, OWED_WEI);
    await shop.mine(CONFIRMATIONS);
    // Whatever it makes of such answers may fail, as long as it saves none of them.
    for (let rounds = 0; rounds < 3; rounds += 1) await follower.follow().catch(() => null);
  }
  await shop.advance(2);
  expect(wrongs).toBeGreaterThan(20);
  for (const { id } of orders) {
    expect(await eventsOf(shop.app, id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
  }
  const rows = await shop.app.db.selectFrom('transfers').select(['amount_units', 'state']).execute();
  expect(rows).toEqual(orders.map(() => ({ amount_units: OWED_WEI, state: 'confirmed' })));
  const blocks = await shop.app.db.selectFrom('chain_blocks').select(['height', 'hash']).execute();
  for (const { height, hash } of blocks) {
    expect(await shop.anvil.rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false])).toMatchObject({ hash });
  }
});

it('single answers of another chain take back no block that the node still has', async () => {
  const { shop, order } = await paidUnfollowed();
  await shop.follow();
  const other = await startAnvil({ chainId: 4_711 });
  onTestFinished(() => other.stop());
  await other.mine(5);
  const wrong = etherSource([other.url], 4_711);
  onTestFinished(() => wrong.close());
  const height = (await shop.cursorHeight()) ?? 0;
  const mixed: ChainSource = {
    ...shop.source,
    blocks: (from, count) => wrong.blocks(from, count),
    hashAt: (at) => (at === height ? wrong : shop.source).hashAt(at),
  };
  expect(await shop.follow(mixed)).toEqual([]);
  expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming']);
  await shop.advance(CONFIRMATIONS);
  expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
});
