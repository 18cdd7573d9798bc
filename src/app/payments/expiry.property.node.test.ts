import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { newPayment, testApp } from '../../../test/harness.ts';
import { testDatabase } from '../../../test/database.ts';
import { tokenOf } from '../../domain/asset.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { pow10 } from '../../domain/money.ts';
import type { ChainBlock, ChainSource, WaitingTransactions } from '../../rails/chain.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { setWallet } from '../../store/wallets/wallets.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { createChainFollower } from '../chains/follow-chain.ts';
import { etherShop } from '../chains/follow-chain.fixture.ts';
import { runDue } from './run-due.ts';
import { DEADLINE_MS } from '../../../test/deadline.ts';

const MINUTE_MS = 60_000;

it('an ether order does not expire by a block that is dated ahead, but by one that was taken in after its expiry', async () => {
  const shop = await etherShop();
  await shop.advance(1);
  const order = await shop.order({ lifetimeMs: MINUTE_MS });
  const ahead = Math.floor(shop.app.clock() / 1_000) + 2 * 3_600;
  await shop.anvil.rpc('evm_setNextBlockTimestamp', [ahead]);
  await shop.anvil.rpc('anvil_mine', [1]);
  await shop.follow();
  // The node is away from here on.
  shop.app.clock.advance(2 * MINUTE_MS);
  await runDue(shop.app, 10);
  expect((await shop.app.read(order.id)).status).toBe('pending');
  await shop.anvil.rpc('anvil_mine', [1]);
  await shop.follow();
  shop.app.clock.advance(2 * MINUTE_MS);
  await runDue(shop.app, 10);
  expect((await shop.app.read(order.id)).status).toBe('expired');
});

type Step =
  | { readonly kind: 'wait'; readonly ms: number }
  /** A block is mined, dated so far from the true time. */
  | { readonly kind: 'mine'; readonly offMs: number }
  | { readonly kind: 'follow'; readonly proof: WaitingTransactions['proof'] | 'loading' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 1, max: 3 * MINUTE_MS }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('mine'),
      offMs: fc.integer({ min: -60 * MINUTE_MS, max: 120 * MINUTE_MS }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('follow'),
      proof: fc.constantFrom<WaitingTransactions['proof'] | 'loading'>('mempool', 'blocks', 'nothing', 'loading'),
    }),
  },
);

/** A chain of empty blocks, whose node says of itself what a test wants. */
function emptyChain(network: Network, startAt: number) {
  const hashOf = (height: number): string => height.toString(16).padStart(64, '0');
  const blocks: ChainBlock[] = [];
  let proof: WaitingTransactions['proof'] | 'loading' = 'mempool';
  const mine = (timeMs: number): void => {
    const height = blocks.length;
    blocks.push({ height, hash: hashOf(height + 1), parentHash: hashOf(height), timeMs, transfers: [] });
  };
  mine(startAt);
  const source: ChainSource = {
    network,
    head: async () => ({ height: blocks.length - 1, hash: hashOf(blocks.length) }),
    hashAt: async (height) => blocks[height]?.hash ?? null,
    header: async (height) => blocks[height] ?? null,
    block: async (height) => blocks[height] ?? null,
    blocks: async (height, count) => blocks.slice(height, height + count),
    dropReverted: async (_block, matched) => matched,
    checkNodes: async () => [],
    mempool:
      network === 'ethereum'
        ? null
        : {
            waiting: async () => (proof === 'loading' ? null : { hashes: [], proof }),
            transfersOf: async () => [],
            doubtsOf: async () => new Map(),
          },
    close: async () => {},
  };
  return { source, mine, newestAt: () => blocks.at(-1)?.timeMs ?? 0, say: (next: typeof proof) => void (proof = next) };
}

it.each([
  ['litecoin', 'LTC'],
  ['ethereum', 'ETH'],
] as const)(
  'whatever the dates of blocks, no %s order expires unless the network was read after its expiry',
  async (network, asset) => {
    const database = await testDatabase();
    let expired = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
        for (const table of ['chain_cursors', 'chain_blocks'] as const) await database.db.deleteFrom(table).execute();
        const app = await testApp({ database, live: ({ db }) => railOf(db, network, asset) });
        await app.db.transaction().execute((trx) =>
          setWallet(trx, {
            id: crypto.randomUUID(),
            projectId: app.projectId,
            network,
            kind: 'xpub',
            source: 'made up',
            firstAddress: 'made up',
            confirmations: null,
            toleranceBasisPoints: null,
            createdAt: app.clock(),
          }),
        );
        const chain = emptyChain(network, app.clock());
        const token = { asset, network: null };
        const order = await app.pay(newPayment(app.projectId, { mode: 'live', token, lifetimeMs: 2 * MINUTE_MS }));
        let seenUpTo = 0;
        for (const each of steps) {
          if (each.kind === 'wait') app.clock.advance(each.ms);
          else if (each.kind === 'mine') chain.mine(app.clock() + each.offMs);
          else {
            chain.say(each.proof);
            const follower = createChainFollower(app, chain.source);
            while ((await follower.follow()) !== 'at_head');
            const byBlocks = Math.min(chain.newestAt(), app.clock());
            if (network === 'ethereum' || each.proof === 'blocks') seenUpTo = Math.max(seenUpTo, byBlocks);
            else if (each.proof === 'mempool') seenUpTo = app.clock();
          }
          await runDue(app, 10);
          const { status } = await app.read(order.id);
          if (status !== 'expired') continue;
          expired += 1;
          expect(seenUpTo).toBeGreaterThanOrEqual(order.expiresAt);
          return;
        }
      }),
      { numRuns: 60 },
    );
    expect(expired).toBeGreaterThan(0);
  },
  3 * DEADLINE_MS,
);

function railOf(db: Parameters<typeof chainRail>[0]['db'], network: Network, asset: AssetCode) {
  return chainRail({
    db,
    rates: fixedRates(new Map([[asset, pow10(10)]])),
    tokens: [tokenOf(asset, network)].filter((token) => token !== null),
    openWallet: () => ({ addressAt: someAddress }),
    evmChain: () => null,
    payoutChain: () => 'main',
  });
}

function someAddress(index: number): string {
  return `0x${crypto
    .randomUUID()
    .replaceAll('-', '')
    .padEnd(40, String(index % 10))}`;
}
