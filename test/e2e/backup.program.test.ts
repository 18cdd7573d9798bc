import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { program, textAt } from '../../src/cli/program.fixture.ts';
import { emptyDatabase, testDatabase } from '../database.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { client, eventually, testService } from '../program.ts';

const ORDER = { amount: 12.5, currency: 'USD', crypto_currency: 'USDC', network: 'ethereum' };
const PASSPHRASE = 'four words are enough';

async function folder(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-backups-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

/** A service that has sold something and has an endpoint, whose secret only its key opens. */
async function shop(
  env: Readonly<Record<string, string>> = {},
  finished: (end: () => Promise<void>) => void = onTestFinished,
) {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600', ...env }, 'ready', finished);
  const { first, stop } = await service.start();
  const { projectId = '', key = '' } = first ?? {};
  const api = client(service.sandbox, key);
  const { body } = await api('/v1/orders', ORDER);
  await service.command(`webhook create --project ${projectId} --mode test --url http://127.0.0.1:9/ --events all`);
  return { service, stop, key, projectId, orderId: textAt(body, 'id') };
}

/** Tests that leave a shop as it was have one together. */
let shared: Awaited<ReturnType<typeof shop>>;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  shared = await shop({}, (end) => void ends.push(end));
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

it('a restored shop continues as it was: payments, keys, and webhooks that are signed as before', async () => {
  const { service, key, projectId, orderId } = shared;
  const dir = await folder();
  const passphraseFile = path.join(dir, 'passphrase');
  await writeFile(passphraseFile, `${PASSPHRASE}\n`);
  const file = path.join(dir, 'shop.backup');
  // The service is running meanwhile.
  const made = await service.cointill.json('backup', file, '--passphrase-file', passphraseFile);
  expect(made).toMatchObject({
    file,
    encrypted: true,
    database: 'embedded',
    key: 'file',
    rows: { payments: 1, events: 1 },
  });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const checked = await service.cointill.json('backup', 'check', file, '--passphrase-file', passphraseFile);
  expect(checked).toMatchObject({ ok: true, rows: { payments: 1, webhook_endpoints: 1 } });

  const copy = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' }, 'bare');
  const to = copy.cointill.dataDir;
  await copy.cointill.json('restore', file, '--data-dir', to, '--passphrase-file', passphraseFile);
  await copy.start();
  const [before, after] = await Promise.all(
    [service.sandbox, copy.sandbox].map((url) => client(url, key)(`/v1/orders/${orderId}`)),
  );
  expect(after?.status).toBe(200);
  expect(after?.body).toEqual({ ...Object(before?.body), payment_url: expect.stringContaining(orderId) });
  // It is signed with the endpoint's own secret, which only the key in the backup can decrypt.
  const endpoints = (await copy.command(`webhook list --project ${projectId}`)) as readonly { readonly id: string }[];
  const test = await copy.cointill.run('webhook', 'test', endpoints[0]?.id ?? '');
  expect(test.stderr).not.toMatch(/encrypted with another key/);
  expect((await client(copy.sandbox, key)('/v1/orders', ORDER)).status).toBe(200);
});

it('a backup of an embedded database goes into a server of one’s own, and the other way', async () => {
  const { service, key, orderId } = shared;
  const dir = await folder();
  await service.cointill.json('backup', dir);
  const [name = ''] = await readdir(dir);
  expect(name).toMatch(/^cointill-[\dTZ-]+\.backup$/);

  const url = await emptyDatabase();
  const own = await testService({ DATABASE_URL: url, SANDBOX_COMPLETE_AFTER_SECONDS: '3600' });
  await own.cointill.json('restore', path.join(dir, name), '--to', url);
  await own.start();
  expect((await client(own.sandbox, key)(`/v1/orders/${orderId}`)).status).toBe(200);

  const second = path.join(dir, 'own.backup');
  expect(await own.cointill.json('backup', second)).toMatchObject({ database: 'postgres', key: 'file' });
  const back = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '3600' }, 'bare');
  await back.cointill.json('restore', second, '--data-dir', back.cointill.dataDir);
  await back.start();
  expect((await client(back.sandbox, key)(`/v1/orders/${orderId}`)).status).toBe(200);
});

it('of a folder only the newest backups are kept, and nothing else in it is touched', async () => {
  const { service } = shared;
  const dir = await folder();
  await writeFile(path.join(dir, 'notes.txt'), 'mine');
  for (const day of ['19', '20', '21']) {
    await writeFile(path.join(dir, `cointill-2026-11-${day}T03-10-00Z.backup`), 'cointill backup 1\n');
  }
  const made = await service.cointill.json('backup', dir, '--keep', '2');
  expect(made).toMatchObject({
    removed: ['cointill-2026-11-19T03-10-00Z.backup', 'cointill-2026-11-20T03-10-00Z.backup'],
  });
  expect((await readdir(dir)).toSorted()).toEqual(
    ['cointill-2026-11-21T03-10-00Z.backup', path.basename(textAt(made, 'file')), 'notes.txt'].toSorted(),
  );
});

it('with SECRET_KEY the key stays out of the file, and a restore wants the same one', async () => {
  const secretKey = 'a secret key of more than 32 characters';
  const { service } = await shop({ SECRET_KEY: secretKey });
  const dir = await folder();
  const file = path.join(dir, 'a.backup');
  const { stdout } = await service.cointill.run('backup', file);
  expect(stdout).toMatch(new RegExp(`^Database +embedded, in ${service.cointill.dataDir}\n`));
  expect(stdout).toMatch(
    /can read your customers' data\..*--passphrase-file\.\nThe backup does not contain SECRET_KEY/,
  );
  expect(await service.cointill.json('backup', file)).toMatchObject({
    key: 'setting',
    replaced: expect.stringMatching(/^\d{4}-/),
  });
  const restore = async (env: Readonly<Record<string, string>>) => {
    const to = await program(env);
    return to.run('restore', file, '--data-dir', path.join(to.dataDir, 'new'));
  };
  expect(await restore({})).toMatchObject({ code: 1, stderr: expect.stringContaining('Set SECRET_KEY as it was') });
  expect(await restore({ SECRET_KEY: `${secretKey}.` })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The backup was made with another SECRET_KEY'),
  });
  expect(await restore({ SECRET_KEY: secretKey })).toMatchObject({ code: 0 });
});

it('a backup that holds no key, since there is none, is made and says so', async () => {
  const { url } = await testDatabase();
  const cointill = await program({ DATABASE_URL: url });
  const dir = await folder();
  const warning = `Warning: the backup contains no key for webhook secrets, because there is no secret.key in ${cointill.dataDir} and SECRET_KEY is not set.`;
  for (const target of [['a.backup'], ['b.backup', '--json']]) {
    const [name = '', ...more] = target;
    const { code, stderr } = await cointill.run('backup', path.join(dir, name), ...more);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(warning) });
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }
  await writeFile(path.join(cointill.dataDir, 'secret.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, {
    mode: 0o600,
  });
  expect(await cointill.run('backup', path.join(dir, 'c.backup'))).toMatchObject({ code: 0, stderr: '' });
});

it('what cannot be backed up or restored ends with 1, the reason, and nothing half done', async () => {
  const { service } = shared;
  const dir = await folder();
  const file = path.join(dir, 'a.backup');
  await service.cointill.json('backup', file);
  const refused = async (message: RegExp, ...args: readonly string[]): Promise<void> => {
    const { code, stderr, stdout } = await service.cointill.run(...args);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  };
  await refused(/no folder/, 'backup', path.join(dir, 'missing/a.backup'));
  await writeFile(path.join(dir, 'letter'), 'Dear Sir');
  await refused(/not a Cointill backup/, 'backup', path.join(dir, 'letter'));
  await refused(/is a folder\. Give one of the backups in it/, 'backup', 'check', dir);
  await refused(/is a folder\. Give one of the backups in it/, 'restore', dir, '--data-dir', path.join(dir, 'new'));
  const pipe = path.join(dir, 'pipe');
  system('mkfifo', pipe);
  await refused(/is a pipe or a device, not a file\. Give - as the target/, 'backup', pipe);
  await refused(/is a pipe or a device\. Write the backup to a file first/, 'backup', 'check', pipe);
  await rm(pipe);
  await refused(/is not empty/, 'restore', file, '--data-dir', service.cointill.dataDir);
  const { url } = await testDatabase();
  await refused(/database is not empty/, 'restore', file, '--to', url);
  await refused(/There is no file/, 'restore', path.join(dir, 'b.backup'), '--data-dir', path.join(dir, 'new'));
  const bytes = await readFile(file);
  await writeFile(path.join(dir, 'cut.backup'), bytes.subarray(0, bytes.length - 100));
  await refused(/damaged/, 'restore', path.join(dir, 'cut.backup'), '--data-dir', path.join(dir, 'new'));
  await refused(/damaged/, 'backup', 'check', path.join(dir, 'cut.backup'));
  expect((await readdir(dir)).toSorted()).toEqual(['a.backup', 'cut.backup', 'letter']);
  expect(await readFile(path.join(dir, 'letter'), 'utf8')).toBe('Dear Sir');

  const elsewhere = await program();
  const none = await elsewhere.run('backup', path.join(dir, 'none.backup'));
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no database in') });
  expect(await readdir(elsewhere.dataDir)).toEqual([]);
});

it('a check names TMPDIR, its folder and the way out where that cannot be used', async () => {
  const { service } = shared;
  const dir = await folder();
  const file = path.join(dir, 'a.backup');
  await service.cointill.json('backup', file);
  const missing = await program({ TMPDIR: path.join(dir, 'missing') });
  expect(await missing.run('backup', 'check', file)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^There is no folder .*missing for temporary files .*set TMPDIR to another one\.\n$/),
  });
  const closed = await program({ TMPDIR: '/proc' });
  expect(await closed.run('backup', 'check', file)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^No folder can be made in \/proc .*set TMPDIR to another folder\.\n$/),
  });
});

it.runIf(mayMount())(
  'a check on a disk that it fills, of 20 MB or of 60, names the disk and TMPDIR, and leaves nothing there',
  async () => {
    const { service } = await shop();
    const handle = await service.openDatabase();
    await sql`
      insert into events (id, project_id, mode, payment_id, type, body, created_at)
      select gen_random_uuid(), e.project_id, e.mode, e.payment_id, e.type, repeat(md5(n::text), 40), e.created_at
      from events e cross join generate_series(1, 20000) n`.execute(handle.db);
    const dir = await folder();
    const file = path.join(dir, 'a.backup');
    await service.cointill.json('backup', file);
    // Started by root, the embedded database runs as another user, who needs access.
    await chmod(dir, 0o755);
    for (const megabytes of [20, 60]) {
      const disk = path.join(dir, `disk of ${megabytes}`);
      await mkdir(disk);
      system('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'none', disk);
      onTestFinished(() => system('umount', '-l', disk));
      const cointill = await program({ TMPDIR: disk });
      expect(await cointill.run('backup', 'check', file)).toEqual({
        code: 1,
        stdout: '',
        stderr: `The disk that holds ${disk} is full: the whole database must fit there. Free some space, or set TMPDIR to another folder, on a larger disk.\n`,
      });
      expect(await readdir(disk)).toEqual([]);
    }
  },
);

/** A program of the system. */
function system(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}

function mayMount(): boolean {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'cointill-mount-'));
  try {
    system('mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', dir);
    system('umount', dir);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(dir);
  }
}

it('to standard output goes the backup alone, and a reader that ends early is a fault', async () => {
  const { service } = shared;
  const dir = await folder();
  const bin = path.join(import.meta.dirname, '../../bin/cointill');
  const env = { PATH: process.env['PATH'] ?? '', HOME: dir, DATA_DIR: service.cointill.dataDir };
  const run = (shell: string): Promise<number | null> =>
    new Promise((resolve) => {
      spawn('bash', ['-o', 'pipefail', '-c', shell], { env, stdio: 'ignore' }).once('exit', resolve);
    });
  const file = path.join(dir, 'piped.backup');
  expect(await run(`${bin} backup - --json 2> ${dir}/told > ${file}`)).toBe(0);
  expect(JSON.parse(await readFile(path.join(dir, 'told'), 'utf8'))).toMatchObject({
    file: null,
    rows: { payments: 1 },
  });
  expect(await service.cointill.json('backup', 'check', file)).toMatchObject({ ok: true });
  expect(await run(`${bin} backup - > /dev/full`)).toBe(1);
  expect(await run(`${bin} backup - | head -c 100`)).toBe(1);
});

it('a service with BACKUP_DIR makes its backups by itself, and shows when the last good one was', async () => {
  const dir = await folder();
  const startedAt = Date.now();
  const service = await testService({ BACKUP_DIR: dir, BACKUP_KEEP: '3' });
  const { running } = await service.start();
  const [line] = await running.waitFor(/\{.*made the scheduled backup.*\}/);
  expect(JSON.parse(line)).toMatchObject({
    file: expect.stringContaining(`${dir}/cointill-`),
    bytes: expect.any(Number),
    duration_ms: expect.any(Number),
    payments: 0,
  });
  const ready = await (await fetch(`${service.live}/readyz`)).json();
  expect(ready).toMatchObject({ status: 'ready', checks: { backups: 'ok' } });
  const name = await eventually(
    'a backup is there',
    async () => (await readdir(dir)).find((one) => one.endsWith('.backup')) ?? null,
  );
  expect(await service.cointill.json('backup', 'check', path.join(dir, name))).toMatchObject({ ok: true });
  const at = await eventually(
    'the metric is there',
    async () => {
      const scrape = await (await fetch(`${service.live}/metrics`)).text();
      return /^cointill_backup_last_success_timestamp_seconds (\S+)$/m.exec(scrape)?.[1] ?? null;
    },
    3 * DEADLINE_MS,
  );
  expect(Number(at)).toBeGreaterThan(startedAt / 1000 - 1);
});

it('a service whose BACKUP_DIR is not there starts, and says at once what is wrong and what to do', async () => {
  const dir = path.join(await folder(), 'missing');
  const service = await testService({ BACKUP_DIR: dir });
  const { running } = await service.start();
  await running.waitFor(/BACKUP_DIR: There is no folder .*missing\. Create it, or give another folder\./);
  const ready = await fetch(`${service.live}/readyz`);
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({
    status: 'degraded',
    checks: { backups: `BACKUP_DIR: There is no folder ${dir}. Create it, or give another folder.` },
  });
});
