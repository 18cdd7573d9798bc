import { appendFile, lchown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { buildDataDir, inTemporaryDataDir, type Building } from './building.ts';
import { isRoot, NOBODY, temporaryFolder } from './postgres.fixture.ts';
import { readPostmaster } from './server.ts';

/** No process has it. */
const DEAD_PID = 999_999_999;
const silent = (): void => {};

it('what a killed process of ours left is removed with the cluster that it leads to', async () => {
  const home = await temporaryFolder();
  const leftover = join(home, `cointill-check.unfinished-${DEAD_PID}-01234567`);
  const cluster = join(home, 'clusters');
  await mkdir(leftover);
  await mkdir(cluster);
  await symlink(cluster, join(leftover, 'postgres'));
  expect(await inTemporaryDataDir(home, silent, async () => 'done')).toBe('done');
  await expect(stat(leftover)).rejects.toThrow('ENOENT');
  await expect(stat(cluster)).rejects.toThrow('ENOENT');
});

it.skipIf(!isRoot)('a folder that somebody else laid out is left alone, wherever its link leads', async () => {
  const home = await temporaryFolder();
  const trap = join(home, `cointill-check.unfinished-${DEAD_PID}-01234567`);
  const precious = join(home, 'precious');
  await mkdir(trap);
  await mkdir(precious);
  await writeFile(join(precious, 'file'), 'here');
  await symlink(precious, join(trap, 'postgres'));
  await lchown(trap, NOBODY.uid, NOBODY.gid);
  await inTemporaryDataDir(home, silent, async () => null);
  expect(await readFile(join(precious, 'file'), 'utf8')).toBe('here');
});

it('a server that dies takes the work with it, and no other is started in its place', async () => {
  const home = await temporaryFolder();
  const said: string[] = [];
  const work = async ({ connection }: Building): Promise<void> => {
    const client = new Client({ ...connection });
    const ended = new Promise((resolve) => client.on('error', resolve));
    await client.connect();
    const { rows } = await client.query<{ folder: string }>("select current_setting('data_directory') as folder");
    const { pid } = (await readPostmaster(rows[0]?.folder ?? '')) ?? {};
    process.kill(pid ?? DEAD_PID, 'SIGQUIT');
    await ended;
    await client.query('select 1');
  };
  const building = inTemporaryDataDir(home, (level, message) => said.push(`${level}: ${message}`), work);
  await expect(building).rejects.toThrow(/not queryable|terminated/);
  expect(said.filter((line) => !line.startsWith('info: '))).toEqual([]);
  expect(await readdir(home)).toEqual([]);
});

it('a full disk is named when it is the cause of another error, or only the log of the server says it', async () => {
  const home = await temporaryFolder();
  const failed = inTemporaryDataDir(home, silent, async () => {
    throw new Error('Migration failed', { cause: Object.assign(new Error('could not extend'), { code: '53100' }) });
  });
  await expect(failed).rejects.toThrow(/^The disk that holds .* is full: /);
  const lost = inTemporaryDataDir(home, silent, async ({ dataDir }) => {
    await appendFile(join(dataDir, 'postgres.log'), 'PANIC:  could not write: No space left on device\n');
    throw new Error('lost');
  });
  await expect(lost).rejects.toThrow(/^The disk that holds .* is full: /);
});

it('what was put into the folder while the database was made stays, and is reported with the way out', async () => {
  const home = await temporaryFolder();
  const dataDir = join(home, 'new');
  const building = buildDataDir(dataDir, silent, async () => {
    await mkdir(dataDir);
    await writeFile(join(dataDir, 'file'), 'here');
  });
  await expect(building).rejects.toThrow(/was put into .*new meanwhile.* name a folder that does not exist yet\.$/);
  expect(await readdir(home)).toEqual(['new']);
  expect(await readFile(join(dataDir, 'file'), 'utf8')).toBe('here');
});
