import { lchown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildDataDir, inTemporaryDataDir } from './building.ts';
import { isRoot, NOBODY, temporaryFolder } from './postgres.fixture.ts';

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
