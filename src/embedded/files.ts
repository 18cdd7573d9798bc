import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { errorCode } from './error.ts';
import { isRunning } from './process.ts';

/**
 * A name beside `path` under which a file or folder is prepared before one rename makes it count. Contains its
 * creator's process id.
 */
export function unfinishedName(path: string): string {
  return `${path}.unfinished-${process.pid}-${randomBytes(4).toString('hex')}`;
}

/** Whether `name` is an {@link unfinishedName} of `path`. */
export function isUnfinishedOf(name: string, path: string): boolean {
  return name.startsWith(`${path}.unfinished-`) && dirname(name) === dirname(path);
}

/** A file or folder beside `path` with an {@link unfinishedName} of it; null: there is none. */
export async function unfinishedBeside(path: string): Promise<string | null> {
  const names = await readdir(dirname(path)).catch((): string[] => []);
  const found = names.find((name) => isUnfinishedOf(join(dirname(path), name), path));
  return found === undefined ? null : join(dirname(path), found);
}

/** Long enough for the slowest initdb or copy; later, the process id may belong to another process. */
const UNFINISHED_MAX_AGE_MS = 600_000;

/**
 * Removes the remains of killed processes beside `path` under an {@link unfinishedName}. Files that cannot be removed
 * stay for the next time (an initdb whose parent was killed may still be writing): leftovers are no reason not to
 * start.
 */
export async function removeLeftovers(path: string): Promise<void> {
  const home = dirname(path);
  const prefix = `${basename(path)}.unfinished-`;
  for (const name of await readdir(home).catch((): string[] => [])) {
    if (!name.startsWith(prefix)) continue;
    const leftover = join(home, name);
    const makerPid = Number.parseInt(name.slice(prefix.length), 10);
    const stats = await stat(leftover).catch(() => undefined);
    const isOld = stats !== undefined && Date.now() - stats.mtimeMs > UNFINISHED_MAX_AGE_MS;
    // Every container may have the same process ids, also this one's.
    if (isOld || makerPid === process.pid || !(await isRunning(makerPid))) {
      await rm(leftover, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    }
  }
}

/** Whether a rename failed because its target has been created meanwhile. */
export function isOccupied(error: unknown): boolean {
  const code = errorCode(error);
  return code === 'ENOTEMPTY' || code === 'EEXIST';
}

/**
 * Creates a folder and the missing ones above it, and returns those it created, outermost first. An existing folder is
 * left as it is.
 *
 * Node.js's `recursive` does the same, but tries forever where no folder can be created (/proc).
 */
export async function makeFolders(path: string): Promise<readonly string[]> {
  try {
    return await makeOneFolder(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return [...(await makeFolders(dirname(path))), ...(await makeOneFolder(path))];
  }
}

async function makeOneFolder(path: string): Promise<readonly string[]> {
  try {
    await mkdir(path);
    return [path];
  } catch (error) {
    if (errorCode(error) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw error;
    return [];
  }
}

/** Syncs a rename inside `folder` to disk. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Whether a file or folder exists at `path`, including a dangling link. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}
