import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyDatabase } from '../../test/database.ts';
import { program } from './program.fixture.ts';

const ROOT = path.join(import.meta.dirname, '../..');
/** A user that every machine has, and that is nobody of ours. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

/** A folder with a backup whose key is in it. */
async function start() {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'cointill-restore-'));
  await chmod(dir, 0o755);
  onTestFinished(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const file = path.join(dir, 'shop.backup');
  await copyFile(path.join(ROOT, 'test/e2e/backups/0013-plain.backup'), file);
  return { dir, file, cointill: await program() };
}

describe('restore', () => {
  it('refuses what it cannot do by the name of what was given, with the rule and the way out', async () => {
    const { dir, file, cointill } = await start();
    const told = async (...args: readonly string[]) => {
      const { code, stderr, stdout } = await cointill.run('restore', ...args);
      expect(stdout).toBe('');
      return { code, stderr };
    };
    const given = path.join(dir, 'new');
    expect(await told('-', '--data-dir', given)).toEqual({
      code: 2,
      stderr: expect.stringContaining('needs a file, not standard input'),
    });
    for (const args of [[file], [file, '--data-dir', given, '--to', 'postgres://a/b']]) {
      expect(await told(...args)).toEqual({
        code: 2,
        stderr: expect.stringMatching(/exactly one of --data-dir .* --to/),
      });
    }
    for (const [to, message] of [
      ['mysql://a/b', /--to must be the URL of a database/],
      ['postgres://a:b@c:99999/d', /--to is not a valid URL/],
      ['postgres://a/b?sslmode=strict', /--to: sslmode must be one of/],
    ] as const) {
      const { code, stderr } = await told(file, '--to', to);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
      expect(stderr).not.toContain('DATABASE_URL');
    }
    expect(await told(file, '--to', 'postgres://a:b@127.0.0.1:1/c')).toEqual({
      code: 1,
      stderr: expect.stringMatching(/cannot be reached .* or correct --to\./),
    });
    expect(await told(dir, '--data-dir', given)).toEqual({
      code: 1,
      stderr: expect.stringMatching(/is a folder\. Give one of the backups in it/),
    });
    expect(await told(file, '--data-dir', path.join(dir, 'missing/new'))).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /No folder can be made in .*missing \(ENOENT.* choose another folder with --data-dir/,
      ),
    });
    expect(await readdir(dir)).toEqual(['shop.backup']);
  });

  it('and a check say in their help what a passphrase file is for there, and what --skip counts from', async () => {
    const cointill = await program();
    const helpOf = async (...args: readonly string[]): Promise<string> => {
      const { code, stdout } = await cointill.run(...args, '--help');
      expect(code).toBe(0);
      return stdout.replaceAll(/\s+/g, ' ');
    };
    expect(await helpOf('backup')).toContain('--passphrase-file <file> encrypt the backup:');
    expect(await helpOf('backup', 'check')).toContain('--passphrase-file <file> open an encrypted backup:');
    const help = await helpOf('restore');
    expect(help).toContain('--passphrase-file <file> open an encrypted backup:');
    expect(help).toContain('--skip counts from the addresses and numbers at which the restored copies began');
  });

  it('into a database of one’s own says before it begins that the key cannot be put into DATA_DIR', async () => {
    const { dir, file } = await start();
    const blocked = path.join(dir, 'letter');
    await writeFile(blocked, 'Dear Sir');
    const cointill = await program({ DATA_DIR: path.join(blocked, 'data') });
    const { code, stderr } = await cointill.run('restore', file, '--to', await emptyDatabase());
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        /key of the backup goes into DATA_DIR, but .*data cannot be written .*Set DATA_DIR as/,
      ),
    });
  });

  it('into a database of one’s own leaves another key that is in DATA_DIR, and says so before it begins', async () => {
    const { dir, file } = await start();
    const key = path.join(dir, 'secret.key');
    await writeFile(key, `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
    const cointill = await program({ DATA_DIR: dir });
    // Nobody answers there: it is found out without asking.
    const { code, stderr } = await cointill.run('restore', file, '--to', 'postgres://a:b@127.0.0.1:1/c');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/The secret\.key in .* differs from .*Set DATA_DIR to/),
    });
    expect((await stat(key)).size).toBe(45);
  });

  it('is noted beside the backup, and names earlier ones', async () => {
    const { dir, file, cointill } = await start();
    const first = path.join(dir, 'first');
    expect(await cointill.json('restore', file, '--data-dir', first)).toMatchObject({
      earlier_restores: [],
      noted_in: path.join(dir, 'cointill-restores.jsonl'),
      note_problem: null,
    });
    const { code, stdout } = await cointill.run('restore', file, '--data-dir', path.join(dir, 'zweiter Lä den'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/Start the service with DATA_DIR='\S+\/zweiter Lä den', and without DATABASE_URL/);
    expect(stdout).toMatch(/Restored before +\S+, shop\.backup to .*first\n/);
    expect(stdout).toMatch(
      /skips the addresses and numbers that the earlier copies may have handed out\. Only one copy may take orders/,
    );
  });

  it('that cannot be noted says so, and what the next restore needs', async () => {
    const { dir, file, cointill } = await start();
    // Not even root writes a file in the place of a folder.
    await mkdir(path.join(dir, 'cointill-restores.jsonl'));
    const { code, stdout } = await cointill.run('restore', file, '--data-dir', path.join(dir, 'new'));
    expect(code).toBe(0);
    expect(stdout).toMatch(/Warning: this restore could not be noted in .*give --skip \d+000 or more/);
  });

  it.runIf(isRoot)(
    'by root gives all that it makes to the user whose folder it is in, or whose database it will be',
    async () => {
      const { dir, file, cointill } = await start();
      const own = path.join(dir, 'own');
      await mkdir(own);
      await chown(own, NOBODY, NOBODY);
      const ownersOf = async (folder: string): Promise<ReadonlySet<number>> => {
        const names = [...(await readdir(folder)), '.'];
        return new Set(await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).uid)));
      };
      const made = path.join(own, 'new');
      expect(await cointill.run('restore', file, '--data-dir', made)).toMatchObject({ code: 0 });
      expect(await ownersOf(made)).toEqual(new Set([NOBODY]));

      await cointill.json('restore', file, '--data-dir', path.join(dir, 'new'));
      const { uid } = await stat(path.join(dir, 'new/postgres'));
      expect(uid).not.toBe(0);
      expect(await ownersOf(path.join(dir, 'new'))).toEqual(new Set([uid]));

      const keys = path.join(own, 'keys');
      const other = await program({ DATA_DIR: keys });
      await other.json('restore', file, '--to', await emptyDatabase());
      expect(await ownersOf(keys)).toEqual(new Set([NOBODY]));
      expect((await readFile(path.join(keys, 'secret.key'), 'utf8')).length).toBe(45);
    },
  );

  it.runIf(isRoot)('by a user who may not write there names the user and the way out', async () => {
    const { dir, file } = await start();
    const run = (...args: readonly string[]) =>
      promisify(execFile)(path.join(ROOT, 'bin/cointill'), args, {
        uid: NOBODY,
        gid: NOBODY,
        env: { PATH: process.env['PATH'] ?? '', DATA_DIR: path.join(dir, 'data') },
      });
    const restoring = (from: string) => ['restore', from, '--data-dir', path.join(dir, 'new')];
    const closed = path.join(dir, 'closed');
    await mkdir(closed, { mode: 0o700 });
    await copyFile(file, path.join(closed, 'shop.backup'));
    await chmod(file, 0o600);
    const refused =
      /^User nobody may not read \S+shop\.backup \(EACCES\)\. .*install -o nobody -m 600 \S+shop\.backup FOLDER,/;
    for (const args of [restoring(file), restoring(path.join(closed, 'shop.backup')), ['backup', 'check', file]]) {
      await expect(run(...args)).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(refused) });
    }
    await chmod(file, 0o644);
    await expect(run(...restoring(file))).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /in .* \(EACCES: user nobody may not write there\)\. Run the command as root, which hands/,
      ),
    });
  });
});
