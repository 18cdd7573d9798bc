import { describe, expect, it, onTestFinished } from 'vitest';
import {
  CONFIRMATIONS,
  etherShop,
  etherSource,
  eventsOf,
  OWED_WEI,
  type EtherShop,
} from '../app/chains/follow-chain.fixture.ts';
import type { ChainSource } from '../rails/chain.ts';
import { readPolls, saveProblem } from '../store/chains/chain.ts';
import { holdLease } from '../store/leases.ts';
import { startNode } from '../../test/rpc-node.ts';
import { watchChain } from './watch-chain.ts';
import { DEADLINE_MS } from '../../test/deadline.ts';
import { noteProblems } from '../../test/problems.ts';

/** A worker that notes which heights it asked for; it stops when the test ends. */
function startWatcher(shop: EtherShop, holder: string, source: ChainSource = shop.source) {
  const asked: number[] = [];
  const errors: { readonly subject: string; readonly at: number; readonly problem: unknown }[] = [];
  let onAsked: (() => void) | null = null;
  let onFailed: (() => void) | null = null;
  const noting: ChainSource = {
    ...source,
    blocks: (height, count) => {
      asked.push(height);
      onAsked?.();
      return source.blocks(height, count);
    },
  };
  const problems = noteProblems(({ subject, problem }) => {
    errors.push({ subject, problem, at: performance.now() });
    onFailed?.();
  });
  const loop = watchChain(shop.app, noting, holder, problems);
  onTestFinished(() => loop.stop());
  return {
    asked,
    errors,
    loop,
    /** Resolves when it asks the node for a block. */
    asks: () => new Promise<void>((resolve) => (onAsked = resolve)),
    fails: () => new Promise<void>((resolve) => (onFailed = resolve)),
  };
}

/** Wakes watchers until the cursor has come to a height. */
async function untilHeight(shop: EtherShop, height: number, ...watchers: readonly ReturnType<typeof startWatcher>[]) {
  await expect
    .poll(
      async () => {
        for (const { loop } of watchers) loop.wake();
        return shop.cursorHeight();
      },
      { timeout: DEADLINE_MS, interval: 20 },
    )
    .toBe(height);
}

describe('a chain', () => {
  it('is followed by one of two watchers, and by the other as soon as that one stops', async () => {
    const shop = await etherShop();
    const order = await shop.order();
    await shop.mine(3);
    const first = startWatcher(shop, 'first');
    await first.asks();
    const second = startWatcher(shop, 'second');
    await shop.anvil.transfer(order.address, OWED_WEI);
    // A second apart, so that the clock stays within the lease.
    await shop.mine(CONFIRMATIONS, 1_000);
    await untilHeight(shop, 6, first, second);
    expect(second.asked).toEqual([]);

    await first.loop.stop();
    const before = first.asked.length;
    await shop.mine(1, 1_000);
    await untilHeight(shop, 7, second);
    expect(first.asked.length).toBe(before);
    expect(await eventsOf(shop.app, order.id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
    expect([...first.errors, ...second.errors]).toEqual([]);
  });

  it('has no problem any more once its watcher is back and well, whatever another one saved meanwhile', async () => {
    const shop = await etherShop();
    const { db, clock } = shop.app;
    const watcher = startWatcher(shop, 'first');
    await shop.mine(1, 1_000);
    await untilHeight(shop, 1, watcher);
    const other = { holder: 'other', until: new Date(clock() + 12_000) };
    await db.updateTable('leases').set(other).execute();
    // The first one's lease is over, and the other one's is not.
    clock.advance(6_000);
    await saveProblem(db, 'ethereum', 'The node is away.');
    clock.advance(6_000);
    const problem = async () => (watcher.loop.wake(), (await readPolls(db, 'ethereum'))?.problem);
    await expect.poll(problem, { timeout: DEADLINE_MS }).toBeNull();
  });

  it('is taken over from a dead watcher when its lease has run out, and not before', async () => {
    const shop = await etherShop();
    const now = shop.app.clock();
    await holdLease(shop.app.db, 'chain ethereum', 'dead', now, now + 6_000);
    const watcher = startWatcher(shop, 'living');
    // Stopping ends after at least one whole attempt.
    await watcher.loop.stop();
    expect(watcher.asked).toEqual([]);
    shop.app.clock.advance(6_000);
    await startWatcher(shop, 'living').asks();
  });

  it('keeps its watcher while a slow node is waited for', async () => {
    const shop = await etherShop();
    const { source } = shop;
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const slow = startWatcher(shop, 'slow', { ...source, head: async () => (await answered, source.head()) });
    await expect.poll(() => leaseEnd(shop)).not.toBeNull();
    const end = await leaseEnd(shop);
    shop.app.clock.advance(5_000);
    slow.loop.wake();
    await expect.poll(() => leaseEnd(shop), { timeout: DEADLINE_MS }).toBe((end ?? 0) + 5_000);
    answer();
    await slow.asks();
  });
});

async function leaseEnd(shop: EtherShop): Promise<number | null> {
  const row = await shop.app.db.selectFrom('leases').select('until').executeTakeFirst();
  return row?.until ?? null;
}

describe('a node that fails', () => {
  it('is retried after growing delays, and no error shows its credentials', async () => {
    const shop = await etherShop();
    const dead = await startNode(() => ({ result: null }));
    await dead.stop();
    const url = dead.url.replace('http://', 'http://merchant:s3cr3t-word@') + '/v3/s3cr3t-path';
    const watcher = startWatcher(shop, 'a', etherSource([url]));
    await watcher.fails();
    watcher.loop.wake();
    await watcher.fails();
    const failures = () => watcher.errors.filter(({ subject }) => subject === 'watching ethereum');
    await expect.poll(() => failures().length, { timeout: DEADLINE_MS }).toBeGreaterThan(1);
    const [first, second] = failures();
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(1_900);
    for (const { problem: error } of watcher.errors) {
      expect(error).toBeInstanceOf(Error);
      const { message, stack, cause } = error as Error;
      expect(message).toContain(new URL(dead.url).host);
      expect(JSON.stringify([message, stack, String(cause), error])).not.toMatch(/s3cr3t|merchant/);
    }
    expect(await shop.cursorHeight()).toBeNull();
  });

  it('by being on the wrong chain is reported, and the chain is followed on another node', async () => {
    const shop = await etherShop();
    const wrong = await startNode(({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : { result: null }));
    onTestFinished(() => wrong.stop());
    const { noted, ...problems } = noteProblems();
    const watcher = startWatcher(shop, 'a', etherSource([wrong.url, shop.anvil.url], undefined, problems));
    await shop.mine(2);
    await untilHeight(shop, 2, watcher);
    expect(watcher.errors).toEqual([]);
    expect([...new Set(noted.map(({ subject, problem }) => `${subject}: ${String(problem)}`))]).toEqual([
      expect.stringMatching(
        /^ethereum node .*is on chain 1, but ethereum is expected to be chain 31337.*ETHEREUM_RPC_URL/,
      ),
    ]);
  });
});
