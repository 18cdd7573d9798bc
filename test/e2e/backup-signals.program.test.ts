import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { program, type Running } from '../../src/cli/program.fixture.ts';
import { emptyDatabase, testDatabase } from '../database.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { newPayment, testApp } from '../harness.ts';
import { client, eventually, isAlive, testService } from '../program.ts';

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const POINTS = isNight ? 40 : 2;
/** Time for this many runs, each of a command that starts a database of its own. */
const LONG = { timeout: 5 * POINTS * DEADLINE_MS };
const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');
/** More than a pipe takes that nobody reads, and enough that loading it takes a while. */
const MAX_EVENTS = `
  insert into events (id, project_id, mode, payment_id, type, body, created_at)
  select gen_random_uuid(), e.project_id, e.mode, e.payment_id, e.type, e.body || md5(n::text) || md5((-n)::text), e.created_at
  from events e cross join generate_series(1, 10000) n`;

async function folder(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-stopped-'));
  // Started by root, the embedded database runs as another user, who needs access.
  await chmod(dir, 0o755);
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A shop on a server of one's own. */
async function shop() {
  const database = await testDatabase();
  const app = await testApp({ database });
  await app.pay(newPayment(app.projectId));
  await sql.raw(MAX_EVENTS).execute(app.db);
  return { app, url: database.url };
}

/** Holds a table on a connection that may wait as long as it likes, and tells who waits for it. */
async function locked(url: string, table: string) {
  const holder = new Client({ connectionString: url });
  await holder.connect();
  onTestFinished(() => holder.end());
  await holder.query(`begin; lock table ${table} in access exclusive mode`);
  const waiting = async (): Promise<unknown> => {
    const { rows } = await holder.query('select pid from pg_locks where not granted and relation = $1::regclass', [
      table,
    ]);
    return rows[0] ?? null;
  };
  return { waiting, release: () => holder.query('rollback') };
}

async function isStopped(running: Running, signal: keyof typeof CODES): Promise<void> {
  running.signal(signal);
  expect(await running.ended).toEqual({
    code: CODES[signal],
    stdout: '',
    stderr: `Stopped by ${signal} before the command was done. Any incomplete output was deleted.\n`,
  });
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  'a backup that %s ends while it waits for the database leaves no file and no session there, and says so in one line',
  async (signal) => {
    const { url } = await shop();
    const dir = await folder();
    const cointill = await program({ DATABASE_URL: url });
    const { waiting } = await locked(url, 'payments');
    const running = cointill.start('backup', dir);
    await eventually('the backup waits for the table', waiting);
    expect(await readdir(dir)).toHaveLength(1);
    await isStopped(running, signal);
    expect(await waiting()).toBeNull();
    expect(await readdir(dir)).toEqual([]);
  },
);

it('a backup that is stopped while nobody reads it stops the database that it had started', async () => {
  const service = await testService();
  const { first, stop } = await service.start();
  await client(service.sandbox, first?.key ?? '')('/v1/orders', {
    amount: 5,
    currency: 'USD',
    crypto_currency: 'USDC',
    network: 'ethereum',
  });
  const handle = await service.openDatabase();
  await sql.raw(MAX_EVENTS).execute(handle.db);
  await stop();
  const { PATH = '', HOME = '' } = process.env;
  const running = spawn(PROGRAM, ['backup', '-'], {
    env: { PATH, HOME, DATA_DIR: service.cointill.dataDir },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => running.once('exit', resolve));
  const pid = await eventually('its database runs', () => service.postmasterPid());
  running.kill('SIGTERM');
  expect(await ended).toBe(143);
  expect(isAlive(pid)).toBe(false);
});

/** Runs a command whole, and then again and again, each stopped at another point of the time that it took. */
async function stoppedAtPoints(
  run: () => Promise<Running>,
  isLeft: (code: number | null, afterMs: number) => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  expect((await (await run()).ended).code).toBe(0);
  const wholeMs = performance.now() - startedAt;
  await isLeft(0, wholeMs);
  const codes: (number | null)[] = [];
  for (let point = 1; point <= POINTS; point += 1) {
    const afterMs = (wholeMs * point) / (POINTS + 1);
    const running = await run();
    const timer = setTimeout(() => running.signal('SIGINT'), afterMs);
    const { code, stderr } = await running.ended;
    clearTimeout(timer);
    codes.push(code);
    expect(stderr).toBe(
      code === 130 ? 'Stopped by SIGINT before the command was done. Any incomplete output was deleted.\n' : '',
    );
    await isLeft(code, afterMs);
  }
  expect(codes).toContain(130);
  // Null: the signal came before the program handled signals.
  expect(codes.filter((code) => code !== 130 && code !== 0 && code !== null)).toEqual([]);
}

it('a check that is stopped at any point leaves nothing in TMPDIR, and no server', LONG, async () => {
  const { url } = await shop();
  const dir = await folder();
  const home = await folder();
  const file = path.join(dir, 'shop.backup');
  expect((await (await program({ DATABASE_URL: url })).run('backup', file)).code).toBe(0);
  const cointill = await program({ TMPDIR: home });
  await stoppedAtPoints(
    async () => cointill.start('backup', 'check', file),
    async (_code, afterMs) => expect(await readdir(home), `after ${afterMs} ms`).toEqual([]),
  );
});

it('a restore that is stopped at any point leaves no folder, or was through', LONG, async () => {
  const { url } = await shop();
  const file = path.join(await folder(), 'shop.backup');
  expect((await (await program({ DATABASE_URL: url })).run('backup', file)).code).toBe(0);
  const home = await folder();
  const cointill = await program();
  let restores = 0;
  await stoppedAtPoints(
    async () => cointill.start('restore', file, '--data-dir', path.join(home, String((restores += 1)))),
    async (code, afterMs) => {
      expect(await readdir(home), `after ${afterMs} ms`).toEqual(code === 0 ? [String(restores)] : []);
      await rm(path.join(home, String(restores)), { recursive: true, force: true });
    },
  );
});

it('a restore into a server of one’s own that is stopped while it waits there leaves no table and no session', async () => {
  const { url } = await shop();
  const file = path.join(await folder(), 'shop.backup');
  expect((await (await program({ DATABASE_URL: url })).run('backup', file)).code).toBe(0);
  const to = await emptyDatabase();
  const other = new Client({ connectionString: to });
  await other.connect();
  onTestFinished(() => other.end());
  // Creating the same table waits until this transaction ends.
  await other.query('begin; create table payments (id int)');
  const waiting = async (): Promise<unknown> => {
    const { rows } = await other.query(
      'select pid from pg_locks where not granted and pid in (select pid from pg_stat_activity where datname = current_database())',
    );
    return rows[0] ?? null;
  };
  const running = (await program()).start('restore', file, '--to', to);
  await eventually('the restore waits', waiting);
  await isStopped(running, 'SIGTERM');
  expect(await waiting()).toBeNull();
  await other.query('rollback');
  expect((await other.query("select 1 from pg_tables where schemaname = 'public'")).rows).toEqual([]);
});

it('a service that is stopped while it makes its backup ends it, and leaves nothing in BACKUP_DIR', async () => {
  const { app, url } = await shop();
  const dir = await folder();
  const service = await testService({ DATABASE_URL: url, BACKUP_DIR: dir });
  const { waiting, release } = await locked(url, 'change_outputs');
  const { stop } = await service.start();
  await eventually('the backup waits for the table', waiting);
  expect((await stop()).code).toBe(0);
  expect(await waiting()).toBeNull();
  await release();
  expect(await readdir(dir)).toEqual([]);
  const { rows } = await sql`select problem from backups`.execute(app.db);
  expect(rows).toEqual([]);
});
