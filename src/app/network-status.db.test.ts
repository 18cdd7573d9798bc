import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../test/harness.ts';
import { moveCursor, startCursor } from '../store/chain.ts';
import { saveNodes, saveProblem } from '../store/network-states.ts';
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

const problemOf = async (app: TestApp): Promise<string | null | undefined> =>
  (await networkStatus(app, ['ethereum']))[0]?.problem;

it('a network that is followed to its newest block is well', async () => {
  expect(await problemOf(await followed())).toBeNull();
});

it('a network without a new block for long is told of, until one comes', async () => {
  const app = await followed();
  app.clock.advance(4 * MINUTE_MS);
  await heard(app, 100);
  expect(await problemOf(app)).toBeNull();
  app.clock.advance(2 * MINUTE_MS);
  await heard(app, 100);
  expect(await problemOf(app)).toBe('no new block for 360 s');
  await app.db.transaction().execute((trx) => moveCursor(trx, 'ethereum', [block(101, app.clock())], app.clock()));
  await heard(app, 101);
  expect(await problemOf(app)).toBeNull();
});

it('a network whose nodes do not answer is told of, with what to do', async () => {
  const app = await followed();
  await heard(app, null, 'connect ECONNREFUSED');
  expect(await problemOf(app)).toBe(
    'no node answers: http://node:8545: connect ECONNREFUSED. Start one, or set ETHEREUM_RPC_URL to one that does',
  );
});

it('a network that nobody follows, that lags or that cannot be followed is told of', async () => {
  const app = await followed();
  await heard(app, 200);
  expect(await problemOf(app)).toBe('catching up, 100 blocks behind');
  await saveProblem(app.db, 'ethereum', 'another chain');
  expect(await problemOf(app)).toBe('another chain');
  app.clock.advance(2 * MINUTE_MS);
  expect(await problemOf(app)).toMatch(/^nobody follows it/);
});
