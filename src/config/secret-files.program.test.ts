import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { program } from '../cli/program.fixture.ts';

const KEY = 'K3y-that-nobody-may-read-in-a-message';
const NOBODY = 65_534;

async function fileWith(content: string): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-secret-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const file = path.join(folder, 'secret');
  await writeFile(file, content);
  return file;
}

it('a command reads the files of secrets as the service does, and says which setting a fault concerns', async () => {
  const { url } = await testDatabase();
  const at = async (settings: Record<string, string>) => (await program(settings, 'process')).run('project', 'list');
  const file = await fileWith(`${url}\n`);
  const good = await at({ DATABASE_URL_FILE: file, SECRET_KEY_FILE: await fileWith(KEY) });
  expect([good.code, good.stderr]).toEqual([0, '']);

  const both = await at({ DATABASE_URL_FILE: file, DATABASE_URL: url });
  expect([both.code, both.stderr]).toEqual([
    1,
    'Cointill cannot start, because a setting is wrong:\n' +
      '  - DATABASE_URL and DATABASE_URL_FILE are both set. Set only one of them.\n',
  ]);
  const short = await at({ DATABASE_URL_FILE: file, SECRET_KEY_FILE: await fileWith('short') });
  expect(short.stderr).toMatch(
    /SECRET_KEY must have at least 32 .* The value of SECRET_KEY comes from SECRET_KEY_FILE\.\n/,
  );
  const away = await at({ DATABASE_URL_FILE: await fileWith(`postgres://me:${KEY}@127.0.0.1:1/none`) });
  expect(away.stderr).toMatch(/correct DATABASE_URL\. The value of DATABASE_URL comes from DATABASE_URL_FILE\.\n$/);
  expect(away.stderr).not.toContain(KEY);
});

it('a file that the user may not read is refused with the way out', async () => {
  const file = await fileWith(KEY);
  await chmod(file, 0);
  const source = `
    import { readSecretFile } from ${JSON.stringify(path.join(import.meta.dirname, 'secret-files.ts'))};
    console.log(JSON.stringify(readSecretFile('SECRET_KEY', ${JSON.stringify(file)}, '/')));`;
  // Root may read every file.
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const args = ['--input-type=module', '--eval', source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { ...user, cwd: '/' });
  expect(JSON.parse(stdout)).toEqual({
    kind: 'fault',
    problem: expect.stringMatching(
      `^SECRET_KEY_FILE: this user \\(\\d+\\) may not read ${file}\\. Let this user read the file and enter its folder\\.$`,
    ),
  });
});
