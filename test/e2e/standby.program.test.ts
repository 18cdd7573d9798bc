import path from 'node:path';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import { emptyDatabase, testDatabase } from '../database.ts';
import { WAIT } from '../deadline.ts';
import { client as apiClient, testService } from '../program.ts';
import { streaming, standby as detachedStandby, type Standby } from '../standby.ts';
import { withLongRead } from '../../src/backup/database.ts';
import { readFigures } from '../../src/store/figures/figures.ts';
import { openDatabase, type DatabaseHandle } from '../../src/store/database.ts';
import { openLongRead, StandbyError } from '../../src/store/long-reads.ts';

function open(primary: { readonly url: string }, standby: { readonly url: string }): DatabaseHandle {
  const to = (url: string) => ({ connectionString: url });
  const handle = openDatabase(to(primary.url), { maxConnections: 4, onError: () => {}, standby: to(standby.url) });
  onTestFinished(() => handle.close());
  return handle;
}

/** Reads the number of leases called `name` by a long read. */
async function seen(handle: DatabaseHandle, name: string, patienceMs: number): Promise<number> {
  const { client, catchUp } = await openLongRead(handle, patienceMs);
  try {
    await catchUp();
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::integer as count from leases where name = $1',
      [name],
    );
    return rows[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}

const save = (handle: DatabaseHandle, name: string) =>
  sql`insert into leases values (${name}, 'x', now())`.execute(handle.db);

const PATIENT_MS = 20_000;
const SHORT_MS = 200;

it('a long read on a standby sees all that was committed before it was asked, and leaves no mark behind', async () => {
  const { primary, standby, run } = await streaming();
  const handle = open(primary, standby);
  for (let round = 0; round < 20; round += 1) {
    await save(handle, `round ${round}`);
    expect(await seen(handle, `round ${round}`, PATIENT_MS)).toBe(1);
  }
  // A standby that stands still is waited for.
  await run('standby', 'select pg_wal_replay_pause()');
  await save(handle, 'late');
  const waiting = seen(handle, 'late', PATIENT_MS);
  await vi.waitFor(async () => {
    const { rows } = await sql`select from leases where name like 'standby %'`.execute(handle.db);
    expect(rows).toHaveLength(1);
  }, WAIT);
  await run('standby', 'select pg_wal_replay_resume()');
  expect(await waiting).toBe(1);
  const { rows } = await sql`select from leases where name like 'standby %'`.execute(handle.db);
  expect(rows).toEqual([]);
});

it('a standby that is behind, stops or becomes a primary is named for what it is, and the next read works again', async () => {
  const { primary, standby, run, stopStandby } = await streaming();
  const handle = open(primary, standby);
  const problem = async (): Promise<StandbyError> => {
    const fault: unknown = await seen(handle, 'x', SHORT_MS).catch((error: unknown) => error);
    if (fault instanceof StandbyError) return fault;
    throw new Error(`The standby was read: ${String(fault)}`);
  };
  await run('standby', 'select pg_wal_replay_pause()');
  await save(handle, 'x');
  const late = await problem();
  expect(late.message).toMatch(
    /^The standby of DATABASE_READ_URL is (\d+ seconds? \(0\.\d MB of changes\)|0\.\d MB of changes) behind, and did not catch up within 0\.2 s\. Look at .*, or unset DATABASE_READ_URL, and the primary is read instead\.$/,
  );
  expect(late.inShort).toMatch(/^The copy of the database that files are read from is .* behind\. Try again/);
  await run('standby', 'select pg_wal_replay_resume()');
  expect(await seen(handle, 'x', PATIENT_MS)).toBe(1);
  await run('standby', 'select pg_promote()');
  expect((await problem()).message).toMatch(/^DATABASE_READ_URL leads to a server that is no standby \(any more\)\./);
  await stopStandby();
  expect((await problem()).message).toMatch(/^The standby of DATABASE_READ_URL takes no connection \(.+\)\. Start it/);
});

it('another database, and an older copy that follows nobody, are not read from', async () => {
  const { url } = await testDatabase();
  const [other, ours] = [await detachedStandby(), await streaming()];
  const notOurs = /^DATABASE_READ_URL leads to another database than DATABASE_URL, or to a copy/;
  await expect(seen(open({ url }, other), 'x', SHORT_MS)).rejects.toThrow(notOurs);
  const empty = ours.standby.url.replace(/[^/]+$/, 'postgres');
  await expect(seen(open(ours.primary, { url: empty }), 'x', SHORT_MS)).rejects.toThrow(notOurs);
  await expect(seen(open(ours.primary, { url: await emptyDatabase() }), 'x', SHORT_MS)).rejects.toThrow(/no standby/);
  // A copy that no longer follows: the same identifiers, and what is written now never arrives.
  await ours.run('standby', "alter system set primary_conninfo = ''");
  await ours.run('standby', 'select pg_reload_conf()');
  await vi.waitFor(async () => expect(await ours.run('standby', 'select from pg_stat_wal_receiver')).toEqual([]), WAIT);
  const handle = open(ours.primary, ours.standby);
  await sql`insert into leases select 'n' || n, 'x', now() from generate_series(1, 20000) n`.execute(handle.db);
  await expect(seen(handle, 'n1', SHORT_MS)).rejects.toThrow(/[1-9]\d*\.\d MB of changes\)? behind/);
});

it('nobody is stopped whose number is that of the server process of a long read', async () => {
  const { primary, standby } = await streaming();
  const handle = open(primary, standby);
  const read = await openLongRead(handle);
  const ended = new Promise((resolve) => void read.client.once('end', resolve));
  const running = read.client.query('select pg_sleep(600)').catch((error: unknown) => error);
  await read.endProcess();
  expect(await running).toMatchObject({ code: '57P01' });
  await ended;
  // The same number, but another session.
  const next = await openLongRead(handle);
  await read.endProcess();
  expect((await next.client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await next.client.end();
});

it('a standby that vanishes under a read is named, and so is one that ended the read', async () => {
  const { primary, standby, stopStandby } = await streaming();
  const handle = open(primary, standby);
  const reading = withLongRead(handle, undefined, (client) => client.query('select pg_sleep(600)'));
  const fault: Promise<unknown> = reading.catch((error: unknown) => error);
  const isReading = sql<{ calls: number }>`select from pg_stat_activity where query = 'select pg_sleep(600)'`;
  const there = open(standby, standby);
  await vi.waitFor(async () => expect((await isReading.execute(there.db)).rows).toHaveLength(1), WAIT);
  await stopStandby();
  expect(String(await fault)).toMatch(/The standby of DATABASE_READ_URL went away during the read \(.+\)\. Try again/);
  await save(handle, 'sold meanwhile');
});

it('the gauge says whether a standby confirms commits', async () => {
  const { primary, standby, run, stopStandby } = await streaming();
  const handle = open(primary, standby);
  const isSynchronous = async () => (await readFigures(handle.db, Date.now)).isSynchronous;
  expect(await isSynchronous()).toBe(false);
  await run('primary', "alter system set synchronous_standby_names = 'second'");
  await run('primary', 'select pg_reload_conf()');
  await vi.waitFor(async () => expect(await isSynchronous()).toBe(true), WAIT);
  await run('primary', 'create role plain login; grant select on all tables in schema public to plain');
  const plain = open({ url: primary.url.replace(/\/\/[^@]+@/, '//plain@') }, standby);
  expect((await readFigures(plain.db, Date.now)).isSynchronous).toBe(true);
  await run('primary', 'alter role plain set synchronous_commit = local');
  const hasty = open({ url: primary.url.replace(/\/\/[^@]+@/, '//plain@') }, standby);
  expect((await readFigures(hasty.db, Date.now)).isSynchronous).toBe(false);
  await stopStandby();
  await vi.waitFor(async () => expect(await isSynchronous()).toBe(false), WAIT);
  // Nobody confirms any more: what waits is let go, so that the test can end.
  await run('primary', 'alter system reset synchronous_standby_names');
  await run('primary', 'select pg_reload_conf()');
});

/** The service and the commands with settings for both servers. */
async function shop({ primary, standby }: { readonly primary: Standby; readonly standby: Standby }) {
  const service = await testService({ DATABASE_URL: primary.url, DATABASE_READ_URL: standby.url });
  const { first } = await service.start();
  const call = apiClient(service.sandbox, String(first?.key));
  const order = () => call('/v1/orders', { amount: 25, currency: 'USD', crypto_currency: 'BTC' });
  return { service, projectId: String(first?.projectId), order };
}

it('exports, statements and backups come from the standby, whole, and say so when it is gone', async () => {
  const both = await streaming();
  const { service, projectId, order } = await shop(both);
  expect((await order()).status).toBe(200);
  const file = path.join(service.cointill.dataDir, 'a.backup');
  const made = Object(await service.cointill.json('backup', file));
  expect(made.rows.payments).toBe(1);
  expect((await order()).status).toBe(200);
  const days = ['--project', projectId, '--mode', 'test', '--period', 'this_month'];
  const exported = await service.cointill.run('report', 'export', ...days, '--report', 'payments');
  expect(exported.stdout.trim().split('\n')).toHaveLength(3);
  const statement = Object(await service.cointill.json('report', 'statement', ...days));
  expect(statement).toMatchObject({ verdict: expect.any(String) });
  await both.stopStandby();
  const noExport = await service.cointill.run('report', 'export', ...days, '--report', 'payments');
  expect([noExport.code, noExport.stderr]).toEqual([
    1,
    expect.stringMatching(/^The standby of DATABASE_READ_URL takes no connection/),
  ]);
  const gone = await service.cointill.run('backup', file);
  expect([gone.code, gone.stderr]).toEqual([
    1,
    expect.stringMatching(/The standby of DATABASE_READ_URL takes no connection \(.*\)\. Start it/),
  ]);
  const check = Object(await service.cointill.json('backup', 'check', file));
  expect(check.rows.payments).toBe(1);
  expect((await order()).status).toBe(200);
});
