import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { program } from '../../src/cli/program.fixture.ts';
import { openDatabase } from '../../src/store/database.ts';
import { emptyDatabase, testDatabase } from '../database.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { newPayment, testApp } from '../harness.ts';

const POINTS = isNight ? 40 : 2;
/** Time for this many runs, each of a command. */
const LONG = { timeout: POINTS * DEADLINE_MS };
const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');

async function folder(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-killed-'));
  // Started by root, the embedded database runs as another user, who needs access.
  await chmod(dir, 0o755);
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A database with payments enough that copying them takes a while. */
async function shop(): Promise<string> {
  const database = await testDatabase();
  const app = await testApp({ database });
  for (let count = 0; count < 5; count += 1) await app.pay(newPayment(app.projectId));
  await sql`
    insert into events (id, project_id, mode, payment_id, type, body, created_at)
    select gen_random_uuid(), e.project_id, e.mode, e.payment_id, e.type, e.body || repeat(md5(n::text), 8), e.created_at
    from events e cross join generate_series(1, 4000) n`.execute(app.db);
  return database.url;
}

interface Run {
  readonly code: number | null;
  readonly durationMs: number;
}

/** Runs a command, and kills it after so long; null: lets it end. */
function run(args: readonly string[], env: Readonly<Record<string, string>>, killAfterMs: number | null): Promise<Run> {
  const { PATH = '', HOME = '' } = process.env;
  const startedAt = performance.now();
  const child = spawn(PROGRAM, args, { env: { PATH, HOME, ...env }, stdio: 'ignore' });
  const timer = killAfterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      if (timer !== null) clearTimeout(timer);
      resolve({ code, durationMs: performance.now() - startedAt });
    });
  });
}

/** Points spread over the time that a whole run took, the first while the program still starts. */
function points({ durationMs }: Run): readonly number[] {
  return Array.from({ length: POINTS }, (_, point) => (durationMs * (point + 1)) / (POINTS + 1));
}

it(
  'a backup that is killed at any point leaves the one before as it was, and no half one under its name',
  LONG,
  async () => {
    const env = { DATABASE_URL: await shop(), DATA_DIR: await folder() };
    const dir = await folder();
    const file = path.join(dir, 'shop.backup');
    const whole = await run(['backup', file], env, null);
    expect(whole.code).toBe(0);
    let before = await readFile(file);
    for (const after of points(whole)) {
      const { code } = await run(['backup', file], env, after);
      const now = await readFile(file);
      // A backup that finished before it could be killed must be a good one.
      const isWhole = code === 0 || now.equals(before) || (await isGood(file));
      expect(isWhole, `killed after ${after} ms`).toBe(true);
      before = now;
    }
    expect((await run(['backup', file], env, null)).code).toBe(0);
    expect(await isGood(file)).toBe(true);
  },
);

async function isGood(file: string): Promise<boolean> {
  const cointill = await program();
  return (await cointill.run('backup', 'check', file)).code === 0;
}

it('a restore into a database that is killed at any point leaves it empty, or was through', LONG, async () => {
  const source = { DATABASE_URL: await shop(), DATA_DIR: await folder() };
  const file = path.join(await folder(), 'shop.backup');
  expect((await run(['backup', file], source, null)).code).toBe(0);
  const env = { DATA_DIR: await folder() };
  const first = await emptyDatabase();
  const whole = await run(['restore', file, '--to', first], env, null);
  expect(whole.code).toBe(0);
  const to = await emptyDatabase();
  const handle = openDatabase({ connectionString: to }, { maxConnections: 1, onError: () => {} });
  onTestFinished(() => handle.close());
  for (const after of points(whole)) {
    const { code } = await run(['restore', file, '--to', to], env, after);
    if (code === 0) break;
    const { rows } = await sql<{ tables: bigint }>`
      select count(*) as tables from pg_tables where schemaname = 'public'`.execute(handle.db);
    if (rows[0]?.tables === 0n) continue;
    // It was killed between the commit and its exit.
    const events = await sql<{ count: bigint }>`select count(*) from events`.execute(handle.db);
    expect(events.rows[0]?.count, `killed after ${after} ms`).toBeGreaterThan(4_000n);
    break;
  }
});

it(
  'a restore into a folder that is killed at any point leaves none, and the next one clears up after it',
  LONG,
  async () => {
    const source = { DATABASE_URL: await shop(), DATA_DIR: await folder() };
    const file = path.join(await folder(), 'shop.backup');
    expect((await run(['backup', file], source, null)).code).toBe(0);
    const home = await folder();
    const whole = await run(['restore', file, '--data-dir', path.join(home, 'first')], {}, null);
    expect(whole.code).toBe(0);
    const dataDir = path.join(home, 'second');
    let made = false;
    for (const after of points(whole)) {
      const { code } = await run(['restore', file, '--data-dir', dataDir], {}, after);
      made = await stat(dataDir).then(
        () => true,
        () => false,
      );
      if (code === 0 || made) break;
    }
    // If it was killed after the folder got its name, the folder is complete.
    const last = made ? whole : await run(['restore', file, '--data-dir', dataDir], {}, null);
    expect(last.code).toBe(0);
    expect((await readdir(home)).toSorted()).toEqual(['first', 'second']);
    const events = await run(['payment', 'list', '--json'], { DATA_DIR: dataDir }, null);
    expect(events.code).toBe(0);
  },
);
