import { describe, expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { sql } from 'kysely';
import { testRates } from '../../rates/fixed.ts';
import { addressGaps } from '../../store/wallets/wallets.ts';
import { account, etherRail, liveOrder, setWallet, xpubOf } from './follow-chain.fixture.ts';
import { createProject } from '../projects/projects.ts';
import { moveCursor, startCursor, saveNodes, saveProblem } from '../../store/chains/chain.ts';
import { networkStatus } from './network-status.ts';

const MINUTE_MS = 60_000;

/** Ethereum as a worker that follows it would leave it: one block a moment ago. */
async function followed(): Promise<TestApp> {
  const app = await testApp();
  const now = app.clock();
  await app.db.transaction().execute((trx) => startCursor(trx, 'ethereum', block(100, now), now));
  await heard(app, 100);
  return app;
}

const block = (height: number, at: number) => ({ height, hash: `0x${height}`, blockAt: at });

const heard = (app: TestApp, height: number | null, problem: string | null = null): Promise<void> =>
  saveNodes(app.db, 'ethereum', [{ node: 'http://node:8545', height, problem }], app.clock());

const statusOf = async (app: TestApp) => (await networkStatus(app, ['ethereum']))[0];

const problemOf = async (app: TestApp): Promise<string | null | undefined> => (await statusOf(app))?.problem;

it('a network that is followed to its newest block is well', async () => {
  expect(await problemOf(await followed())).toBeNull();
});

it('a network without a new block for a long time is reported until one arrives', async () => {
  const app = await followed();
  app.clock.advance(4 * MINUTE_MS);
  await heard(app, 100);
  expect(await problemOf(app)).toBeNull();
  app.clock.advance(2 * MINUTE_MS);
  await heard(app, 100);
  expect(await statusOf(app)).toMatchObject({ problem: 'no new block for 360 s', problemKind: 'stalled' });
  await app.db.transaction().execute((trx) => moveCursor(trx, 'ethereum', [block(101, app.clock())], app.clock()));
  await heard(app, 101);
  expect(await problemOf(app)).toBeNull();
});

it('a network of slow blocks is stalled only after twenty of its mean times: Bitcoin after 200 minutes', async () => {
  const app = await testApp();
  const now = app.clock();
  const heardOf = (): Promise<void> =>
    saveNodes(app.db, 'bitcoin', [{ node: 'http://node:8332', height: 100, problem: null }], app.clock());
  await app.db.transaction().execute((trx) => startCursor(trx, 'bitcoin', block(100, now), now));
  const problem = async () => (await networkStatus(app, ['bitcoin']))[0]?.problem;
  app.clock.set(now + 200 * MINUTE_MS);
  await heardOf();
  expect(await problem()).toBeNull();
  app.clock.advance(1_000);
  await heardOf();
  expect(await problem()).toBe('no new block for 12001 s');
});

it('a network whose nodes do not answer is reported with the way out', async () => {
  const app = await followed();
  await heard(app, null, 'connect ECONNREFUSED');
  expect(await statusOf(app)).toMatchObject({
    problem:
      'no node answers: http://node:8545: connect ECONNREFUSED. Start a node, or set ETHEREUM_RPC_URL to a node that answers',
    problemKind: 'no_answer',
  });
});

it('the newest block that is known is never below the last that was read, while nodes are asked but now and then', async () => {
  const app = await followed();
  const blocks = [101, 102, 103].map((height) => block(height, app.clock()));
  await app.db.transaction().execute((trx) => moveCursor(trx, 'ethereum', blocks, app.clock()));
  const read = async () => (await networkStatus(app, ['ethereum']))[0];
  expect(await read()).toMatchObject({ height: 103, cursor: { height: 103 }, lagBlocks: 0, nodes: [{ height: 100 }] });
  await heard(app, 110);
  expect(await read()).toMatchObject({ height: 110, cursor: { height: 103 }, lagBlocks: 7 });
  // A node that does not answer says nothing of the chain.
  await heard(app, null, 'connect ECONNREFUSED');
  expect(await read()).toMatchObject({ height: null, cursor: { height: 103 }, lagBlocks: null });
});

it('a network that nobody follows, that lags or that cannot be followed is reported', async () => {
  const app = await followed();
  await heard(app, 200);
  expect(await statusOf(app)).toMatchObject({ problem: 'catching up, 100 blocks behind', problemKind: 'behind' });
  await saveProblem(app.db, 'ethereum', 'another chain');
  expect(await statusOf(app)).toMatchObject({ problem: 'another chain', problemKind: 'halted' });
  app.clock.advance(2 * MINUTE_MS);
  expect(await statusOf(app)).toMatchObject({
    problem: expect.stringMatching(/^no worker follows this network/),
    problemKind: 'not_followed',
  });
});

describe('the gap of a wallet', () => {
  const shop = (): Promise<TestApp> => testApp({ live: (database) => etherRail(database.db, testRates()) });
  const order = async (app: TestApp, projectId: string, count: number) => {
    let last = await app.pay(liveOrder(projectId));
    for (let more = 1; more < count; more += 1) last = await app.pay(liveOrder(projectId));
    return last;
  };
  const warningsOf = async (app: TestApp): Promise<readonly string[] | undefined> =>
    (await networkStatus(app, ['ethereum']))[0]?.warnings;
  /** A payment to the newest address of the payment, in a state. */
  const paid = (app: TestApp, paymentId: string, state: string) =>
    sql`
      insert into transfers (network, transaction_hash, output_index, payment_id, address, asset, amount_units, state, first_seen_at)
      select network, '0x1', 0, payment_id, address, asset, 1, ${state}, now() from payment_addresses
      where payment_id = ${paymentId}
      on conflict (network, transaction_hash, asset, output_index) do update set state = excluded.state`.execute(
      app.db,
    );

  it('is reported from the 21st unpaid address on, with the way out, until one of them is paid', async () => {
    const app = await shop();
    await setWallet(app, app.projectId);
    await order(app, app.projectId, 20);
    expect(await addressGaps(app.db)).toEqual([
      { projectId: app.projectId, network: 'ethereum', gap: 20, nextIndex: 20 },
    ]);
    expect(await warningsOf(app)).toEqual([]);
    const last = await order(app, app.projectId, 1);
    expect(await warningsOf(app)).toEqual([
      `21 addresses of the ethereum wallet of project ${app.projectId} were handed out or skipped after the last address that received money. ` +
        "Most wallets stop looking after 20 addresses without money, so raise the wallet's gap limit to 41 or more. Then the wallet finds later payments",
    ]);
    await paid(app, last.id, 'dropped');
    expect(await warningsOf(app)).toHaveLength(1);
    await paid(app, last.id, 'mined');
    expect(await warningsOf(app)).toEqual([]);
    expect(await addressGaps(app.db)).toMatchObject([{ gap: 0 }]);
  });

  it('takes nothing away from a network that is well', async () => {
    const app = await shop();
    const now = app.clock();
    await app.db.transaction().execute((trx) => startCursor(trx, 'ethereum', block(100, now), now));
    await heard(app, 100);
    await setWallet(app, app.projectId);
    await order(app, app.projectId, 21);
    expect(await networkStatus(app, ['ethereum'])).toMatchObject([{ problem: null, warnings: [expect.any(String)] }]);
  });

  it('is reported as ten thousand or more if none of the newest was paid', async () => {
    const app = await shop();
    await setWallet(app, app.projectId);
    const first = await order(app, app.projectId, 1);
    await paid(app, first.id, 'confirmed');
    await app.db.updateTable('address_indexes').set({ next_index: 11_200 }).execute();
    await order(app, app.projectId, 1);
    expect(await addressGaps(app.db)).toMatchObject([{ gap: 10_000, nextIndex: 11_201 }]);
    expect(await warningsOf(app)).toEqual([
      expect.stringMatching(/^10000 or more addresses .* gap limit to 11221 or more/),
    ]);
  });

  it('counts from the first address that was ever handed out, not from those that another till used', async () => {
    const app = await shop();
    await setWallet(app, app.projectId);
    await app.db.updateTable('address_indexes').set({ next_index: 500 }).execute();
    expect(await addressGaps(app.db)).toMatchObject([{ gap: 0 }]);
    await order(app, app.projectId, 3);
    expect(await addressGaps(app.db)).toMatchObject([{ gap: 3 }]);
  });

  it('is one for projects and settings that share one wallet', async () => {
    const app = await shop();
    const second = await createProject(app, 'Another shop');
    if (second.kind !== 'done') throw new Error(second.code);
    const other = second.project.id;
    for (const projectId of [app.projectId, other]) await setWallet(app, projectId);
    const last = await order(app, other, 22);
    await paid(app, last.id, 'seen');
    expect((await addressGaps(app.db)).map(({ gap }) => gap)).toEqual([0, 0]);
    for (const xpub of [xpubOf(account(7)), xpubOf(account())]) await setWallet(app, other, xpub);
    expect((await addressGaps(app.db)).map(({ gap }) => gap)).toEqual([0, 0]);
  });

  it('says nothing of deposit contracts, which no wallet has to find', async () => {
    const app = await shop();
    await setWallet(app, app.projectId);
    await order(app, app.projectId, 21);
    await app.db.updateTable('wallets').set({ kind: 'treasury' }).execute();
    expect(await addressGaps(app.db)).toEqual([]);
    expect(await warningsOf(app)).toEqual([]);
  });
});
