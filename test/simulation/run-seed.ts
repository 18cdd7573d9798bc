import type { TestDatabase } from '../database.ts';
import { Violation } from './always.ts';
import { checkBooks } from './books.ts';
import type { Connections } from './database.ts';
import { checkEnd, mend } from './finally.ts';
import { liveThrough } from './scenario.ts';
import { transitionsOf } from './snapshot.ts';
import { createWorld, type World } from './world.ts';
import { DEADLINE_MS } from '../deadline.ts';

/** The outcome of a seed. */
export interface SeedOutcome {
  readonly seed: number;
  /** The guarantee that did not hold; null if all did. */
  readonly violation: string | null;
  readonly story: readonly string[];
  /** The situations that occurred, transitions included. */
  readonly reached: ReadonlySet<string>;
  /** It still holds its connections. */
  readonly hangs: boolean;
}

/** A history takes a fraction of a second: one that takes this long waits for something that never comes. */
const PATIENCE_MS = 3 * DEADLINE_MS;

/** How many histories have their books checked, for that takes as long as the history itself. */
const BOOKS_EVERY = 4;

async function checkOwnBooks(world: World, connections: Connections): Promise<void> {
  const client = await connections.take();
  try {
    await checkBooks(world, client);
  } finally {
    connections.release(client);
  }
}

/** Lives through the history of one seed in a database that it clears first, and checks it. */
export async function runSeed(seed: number, database: TestDatabase, connections: Connections): Promise<SeedOutcome> {
  const world = await createWorld(seed, database, connections);
  const outcome = (violation: string | null): SeedOutcome => ({
    seed,
    violation,
    story: world.story,
    reached: world.reached,
    hangs: false,
  });
  const whole = async (): Promise<SeedOutcome> => {
    await liveThrough(world);
    await mend(world);
    await checkEnd(world, database.db);
    if (seed % BOOKS_EVERY === 0) await checkOwnBooks(world, connections);
    await remember(world);
    return outcome(null);
  };
  let timer: NodeJS.Timeout | undefined;
  const hanging = new Promise<SeedOutcome>((resolve) => {
    timer = setTimeout(() => resolve({ ...outcome('It hangs'), hangs: true }), PATIENCE_MS);
  });
  try {
    return await Promise.race([whole(), hanging]);
  } catch (error) {
    if (error instanceof Violation) return outcome(error.message);
    return outcome(`The simulation itself fails: ${error instanceof Error ? error.stack : String(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

async function remember(world: World): Promise<void> {
  const snapshot = await world.look();
  for (const payment of snapshot.payments) {
    for (const { from, to } of transitionsOf(snapshot, payment)) world.reached.add(`${from} > ${to}`);
    if (payment.exception !== 'none') world.reached.add(`${payment.exception} after ${payment.status}`);
  }
  for (const { state } of snapshot.transfers) world.reached.add(`transfer ${state}`);
}
