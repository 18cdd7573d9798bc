import { expect, it } from 'vitest';
import { testApp } from '../../test/harness.ts';
import { startCursor } from '../store/chains/chain.ts';
import type { Network } from '../domain/networks.ts';
import type { Database } from '../store/database.ts';
import { createClockWatch } from './clock-watch.ts';
import { createServiceClock, RIGHT_CLOCK } from './service-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A process whose clock is ahead of the machine's, which is the database's too. */
function aheadBy(ms: number, db: Database) {
  let ahead = ms;
  const [elapsed, awake] = [() => performance.now(), () => performance.now()];
  const clock = createServiceClock({ machine: () => Date.now() + ahead, elapsed, awake });
  return { clock, look: createClockWatch(db, clock, 10_000), set: (byMs: number) => void (ahead += byMs) };
}

/** The newest block is dated so long before now. */
async function block(db: Database, network: Network, height: number, agoMs: number): Promise<void> {
  const at = Date.now();
  await db.deleteFrom('chain_blocks').execute();
  await db.deleteFrom('chain_cursors').execute();
  const cursor = { height, hash: `0x${height}`, blockAt: at - agoMs };
  await db.transaction().execute((trx) => startCursor(trx, network, cursor, at));
  await db
    .updateTable('chain_cursors')
    .set({ at_head_at: new Date(at) })
    .execute();
}

it('a process whose clock differs from the database’s by hours says so with its sign, and makes no payments', async () => {
  const { db } = await testApp();
  for (const ms of [2 * HOUR, -2 * HOUR]) {
    const { look } = aheadBy(ms, db);
    const state = await look();
    expect(Math.round(state.aheadMs / MINUTE)).toBe(ms / MINUTE);
    expect(state).toMatchObject({ isWrong: true, refusal: expect.stringContaining('2 h') });
    expect(state.problem).toContain('compared with the database');
  }
  expect(await aheadBy(20_000, db).look()).toEqual(RIGHT_CLOCK);
  expect(await aheadBy(MINUTE, db).look()).toMatchObject({ isWrong: false, refusal: null });
});

it('a database on the same machine never confirms a step of the clock', async () => {
  const { db } = await testApp();
  const { clock, look, set } = aheadBy(-24 * HOUR, db);
  // The machine's clock was a day behind while the process began, and is set as the database's is.
  set(24 * HOUR);
  const state = await look();
  expect(Math.round(clock.now() / HOUR)).toBe(Math.round((Date.now() - 24 * HOUR) / HOUR));
  expect(state).toMatchObject({ isWrong: false, refusal: expect.stringContaining('was set by 24 h') });
});

it('blocks prove a clock that is behind beyond what their dates may be ahead, and never stop payments alone', async () => {
  const { db } = await testApp();
  const { look } = aheadBy(0, db);
  await block(db, 'bitcoin', 1, -119 * MINUTE);
  expect(await look()).toEqual(RIGHT_CLOCK);
  await block(db, 'bitcoin', 2, -3 * HOUR);
  expect(await look()).toMatchObject({ isWrong: false, refusal: null });
  const { aheadMs, problem } = await look();
  expect(Math.round(aheadMs / MINUTE)).toBe(-60);
  expect(problem).toContain('1 h behind, compared with the newest block of bitcoin'.replace('1 h', '60 min'));
});

it('blocks of EVM chains that have just come prove a clock that is ahead, and old ones prove nothing', async () => {
  const { db } = await testApp();
  const { look } = aheadBy(0, db);
  await block(db, 'ethereum', 1, 5 * HOUR);
  expect(await look()).toEqual(RIGHT_CLOCK);
  expect(await look()).toEqual(RIGHT_CLOCK);
  await block(db, 'ethereum', 2, 12_000);
  expect(await look()).toEqual(RIGHT_CLOCK);
  await block(db, 'ethereum', 3, 200_000);
  const { aheadMs, problem } = await look();
  expect(Math.round(aheadMs / 1_000)).toBe(200 - 60 - 10);
  expect(problem).toContain('ahead, compared with the newest block of ethereum');
});
