import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { emptyDatabase, testDatabase } from '../../test/database.ts';
import { newPayment, testApp } from '../../test/harness.ts';
import { DEADLINE_MS } from '../../test/deadline.ts';
import { readConfig } from '../config/config.ts';
import { openDatabase } from '../store/database.ts';
import { MigrationError } from '../store/migration-files.ts';
import { writeBackupFile, type BackupTarget } from './backup-file.ts';
import { makeBackup } from './make-backup.ts';
import { restoreBackup } from './restore-backup.ts';

const log = pino({ level: 'silent' });

async function folder(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-backups-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

function backup(url: string, dataDir: string, target: BackupTarget, onProgress = (): void => {}) {
  const config = readConfig({ DATABASE_URL: url, DATA_DIR: dataDir }, dataDir);
  return makeBackup({ config, log, target, passphrase: null, clock: Date.now, onProgress });
}

function restoring(file: string) {
  return { secretKey: null, secretKeyPrevious: null, file, passphrase: async () => null, log, onProgress: () => {} };
}

function restore(file: string, url: string, keyDir: string) {
  return restoreBackup(restoring(file), { kind: 'postgres', url, keyDir }, async () => null);
}

it('a backup shows one moment of a shop that sells meanwhile: no payment without its event and its count', async () => {
  const app = await testApp();
  const dir = await folder();
  let isSelling = true;
  const sell = async (): Promise<void> => {
    while (isSelling) {
      await app.pay(newPayment(app.projectId));
      await app.pay(newPayment(app.projectId, { api: 'transaction', token: null }));
    }
  };
  await app.pay();
  const selling = Promise.all([sell(), sell(), sell()]);
  const file = path.join(dir, 'a.backup');
  const { manifest } = await backup(app.database.url, dir, { kind: 'file', file });
  isSelling = false;
  await selling;

  const url = await emptyDatabase();
  await restore(file, url, dir);
  const handle = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
  onTestFinished(() => handle.close());
  const { rows } = await sql<{ payments: bigint; counted: bigint; events: bigint; numbers: bigint; last: number }>`
    select (select count(*) from payments) as payments, (select sum(payments) from payment_day_counts) as counted,
      (select count(distinct payment_id) from events) as events,
      (select count(*) from payments where transaction_number is not null) as numbers,
      (select coalesce(max(last), 0) from transaction_counters) as last`.execute(handle.db);
  const [row] = rows;
  expect(row?.counted).toBe(row?.payments);
  expect(row?.events).toBe(row?.payments);
  expect(row?.numbers).toBe(BigInt(row?.last ?? -1));
  expect(manifest.tables.find(({ name }) => name === 'payments')?.rows).toBe(Number(row?.payments));
});

it('a target that fails half-way leaves no file, and the one before as it was', async () => {
  const app = await testApp();
  await app.pay();
  const dir = await folder();
  const file = path.join(dir, 'a.backup');
  await backup(app.database.url, dir, { kind: 'file', file });
  const before = await readFile(file);
  const fail = (): never => {
    throw new Error('the disk is full');
  };
  await expect(backup(app.database.url, dir, { kind: 'file', file }, fail)).rejects.toThrow('the disk is full');
  expect(await readdir(dir)).toEqual(['a.backup']);
  expect((await readFile(file)).equals(before)).toBe(true);
});

it('a database of a newer version, and one that is not Cointill’s, are not backed up by halves', async () => {
  const dir = await folder();
  const target = { kind: 'file', file: path.join(dir, 'a.backup') } as const;
  const { url, db } = await testDatabase();
  await sql`insert into migrations (name) values ('9999_future.sql')`.execute(db);
  await expect(backup(url, dir, target)).rejects.toThrow(MigrationError);
  await expect(backup(await emptyDatabase(), dir, target)).rejects.toThrow(/contains no Cointill tables/);
  expect(await readdir(dir)).toEqual([]);
});

it('a database whose schema does not fit is not backed up, and one that does not fit is not restored', async () => {
  const dir = await folder();
  const file = path.join(dir, 'a.backup');
  const { url, db } = await testDatabase();
  // Tables without rows may have had other columns: nothing of them is restored.
  await sql`alter table delivery_retries add column of_former_times integer`.execute(db);
  await backup(url, dir, { kind: 'file', file });
  await restore(file, await emptyDatabase(), dir);

  await sql`alter table projects add column extra integer`.execute(db);
  await sql`insert into projects (id, name, created_at) values (gen_random_uuid(), 'Shop', now())`.execute(db);
  await backup(url, dir, { kind: 'file', file });
  const refusal = restore(file, await emptyDatabase(), dir);
  await expect(refusal).rejects.toThrow(MigrationError);
  await expect(refusal).rejects.toThrow(
    'The schema of the backup does not fit this version of Cointill: column "extra" of relation "projects" does not exist. Use the version that made it.',
  );

  await sql`update migrations set checksum = 'another' where name = '0001_foundation.sql'`.execute(db);
  await expect(backup(url, dir, { kind: 'file', file })).rejects.toThrow(
    'The schema of the database does not fit this version of Cointill: its migration 0001_foundation.sql had another text. Use the version that made it.',
  );
});

it('a restore that fails leaves none of the folders that it made for the key', async () => {
  const app = await testApp();
  const dir = await folder();
  const keyDir = path.join(dir, 'keys');
  await mkdir(keyDir);
  await writeFile(path.join(keyDir, 'secret.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
  const file = path.join(dir, 'a.backup');
  await backup(app.database.url, keyDir, { kind: 'file', file });
  // Occupied by what was backed up.
  await expect(restore(file, app.database.url, path.join(dir, 'new/data'))).rejects.toThrow(
    /The database is not empty/,
  );
  expect((await readdir(dir)).toSorted()).toEqual(['a.backup', 'keys']);
});

it('of two restores into one database at once the second says that another one is at work there', async () => {
  const app = await testApp();
  const dir = await folder();
  const file = path.join(dir, 'a.backup');
  await backup(app.database.url, dir, { kind: 'file', file });
  const url = await emptyDatabase();
  const first = restoreBackup(restoring(file), { kind: 'postgres', url, keyDir: dir }, async () =>
    restore(file, url, dir).then(
      () => 'restored',
      (error: unknown) => String(error),
    ),
  );
  expect((await first).result).toMatch(/Something else is being restored into this database.* Name another empty/);
  await expect(restore(file, url, dir)).rejects.toThrow(/The database is not empty/);
});

it('what is left of killed backups is removed, and a file of somebody else’s never', async () => {
  const app = await testApp();
  const dir = await folder();
  const old = new Date(Date.now() - 3_600_000);
  for (const [name, text] of [
    ['a.backup.unfinished-999999999-01234567', 'cointill backup 1\n'],
    ['b.backup.unfinished-999999999-01234567', ''],
    // Its number may be another process's by now.
    [`c.backup.unfinished-${process.pid}-01234567`, 'cointill backup 1\n'],
    ['mine.unfinished-999999999-01234567', 'not a backup'],
  ] as const) {
    await writeFile(path.join(dir, name), text);
    await utimes(path.join(dir, name), old, old);
  }
  await writeFile(path.join(dir, 'c.backup.unfinished-999999999-76543210'), 'cointill backup 1\n');
  await backup(app.database.url, dir, { kind: 'file', file: path.join(dir, 'a.backup') });
  expect((await readdir(dir)).toSorted()).toEqual([
    'a.backup',
    // Written to a moment ago, perhaps by another machine.
    'c.backup.unfinished-999999999-76543210',
    'mine.unfinished-999999999-01234567',
  ]);
});

it('a backup that the database keeps waiting is not taken for a killed one by the next into the same folder', async () => {
  const app = await testApp();
  const dir = await folder();
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const old = new Date(Date.now() - 3_600_000);
  await app.db.transaction().execute(async (trx) => {
    await sql`lock table payments in access exclusive mode`.execute(trx);
    const waiting = backup(app.database.url, dir, { kind: 'file', file: path.join(dir, 'a.backup') });
    const waits = sql`select 1 from pg_locks where not granted and relation = 'payments'::regclass`;
    const soon = { timeout: DEADLINE_MS };
    await expect.poll(async () => (await waits.execute(trx)).rows, soon).toHaveLength(1);
    const [name = ''] = await readdir(dir);
    const file = path.join(dir, name);
    await utimes(file, old, old);
    await vi.advanceTimersByTimeAsync(60_000);
    await expect.poll(async () => (await stat(file)).mtimeMs, soon).toBeGreaterThan(old.getTime() + 1_000);
    const failing = writeBackupFile({ kind: 'file', file: path.join(dir, 'b.backup') }, Date.now(), async () => {
      throw new Error('as if');
    });
    await expect(failing).rejects.toThrow('as if');
    expect(await readdir(dir)).toEqual([name]);
    await sql`rollback`.execute(trx);
    await waiting;
  });
  expect(await readdir(dir)).toEqual(['a.backup']);
});

it('backups into one folder in the same second take nobody’s name, and the oldest of them is the one that goes', async () => {
  const dir = await folder();
  const now = Date.UTC(2026, 10, 22, 3, 10, 0);
  const write = (text: string, keep: number | null = null) =>
    writeBackupFile({ kind: 'folder', folder: dir, keep }, now, (sink) =>
      sink(Buffer.from(`cointill backup 1\n${text}`)),
    );
  await Promise.all(Array.from({ length: 8 }, (_, index) => write(String(index))));
  const files = await readdir(dir);
  const texts = await Promise.all(files.map((name) => readFile(path.join(dir, name), 'utf8')));
  expect(texts.toSorted()).toEqual(Array.from({ length: 8 }, (_, index) => `cointill backup 1\n${index}`).toSorted());
  const { removed, file } = await write('newest', 2);
  expect(removed).toHaveLength(7);
  expect(removed[0]).toBe('cointill-2026-11-22T03-10-00Z.backup');
  expect((await readdir(dir)).toSorted()).toEqual([
    'cointill-2026-11-22T03-10-00Z-8.backup',
    path.basename(file ?? ''),
  ]);
});

it('a file that was named is replaced by the next backup, where its link leads, and nothing but a backup ever is', async () => {
  const dir = await folder();
  const write = (file: string, text: string) =>
    writeBackupFile({ kind: 'file', file }, Date.now(), (sink) => sink(Buffer.from(`cointill backup 1\n${text}`)));
  const elsewhere = path.join(dir, 'elsewhere.backup');
  const linked = path.join(dir, 'latest.backup');
  await symlink('elsewhere.backup', linked);
  expect(await write(linked, 'first')).toMatchObject({ file: elsewhere, replacedAt: null });
  const { mtimeMs } = await stat(elsewhere);
  expect(await write(linked, 'second')).toMatchObject({ file: elsewhere, replacedAt: mtimeMs });
  expect(await readFile(elsewhere, 'utf8')).toBe('cointill backup 1\nsecond');
  expect((await readdir(dir)).toSorted()).toEqual(['elsewhere.backup', 'latest.backup']);
  await expect(write('/dev/stdout', 'x')).rejects.toThrow(/^\/dev\/stdout is /);
  await expect(write('/dev/null', 'x')).rejects.toThrow(/is a pipe or a device, not a file\. Give - as the target/);
  await expect(write('/proc/x.backup', 'x')).rejects.toThrow(
    /cannot be written to \/proc: no file can be created there\./,
  );
  await expect(write(path.join(elsewhere, 'x'), 'x')).rejects.toThrow(/elsewhere.backup is a file, not a folder/);
  await expect(write(path.join(dir, `${'x'.repeat(250)}.backup`), 'x')).rejects.toThrow(/the name is too long/);
});

it('of those that bear the name of a backup only backups are counted, and only they are removed', async () => {
  const dir = await folder();
  await writeFile(path.join(dir, 'cointill-2020-01-01T00-00-00Z.backup'), 'Dear Sir');
  await mkdir(path.join(dir, 'cointill-2020-01-02T00-00-00Z.backup'));
  await symlink('gone', path.join(dir, 'cointill-2020-01-03T00-00-00Z.backup'));
  const write = (day: number) =>
    writeBackupFile({ kind: 'folder', folder: dir, keep: 1 }, Date.UTC(2026, 10, day), (sink) =>
      sink(Buffer.from('cointill backup 1\n')),
    );
  expect((await write(21)).removed).toEqual([]);
  expect((await write(22)).removed).toEqual(['cointill-2026-11-21T00-00-00Z.backup']);
  expect((await readdir(dir)).toSorted()).toEqual([
    'cointill-2020-01-01T00-00-00Z.backup',
    'cointill-2020-01-02T00-00-00Z.backup',
    'cointill-2020-01-03T00-00-00Z.backup',
    'cointill-2026-11-22T00-00-00Z.backup',
  ]);
});

it('a backup stays when the older ones cannot be removed, and the fault says so', async () => {
  const dir = await folder();
  // Not even root reads a link that leads to itself.
  await symlink('cointill-2026-11-20T03-10-00Z.backup', path.join(dir, 'cointill-2026-11-20T03-10-00Z.backup'));
  const writing = writeBackupFile({ kind: 'folder', folder: dir, keep: 1 }, Date.UTC(2026, 10, 22), (sink) =>
    sink(Buffer.from('cointill backup 1\n')),
  );
  await expect(writing).rejects.toThrow(/The backup was made .* cannot be removed/);
  expect(await readdir(dir)).toContain('cointill-2026-11-22T00-00-00Z.backup');
});
