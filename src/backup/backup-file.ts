import { randomBytes } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { access, link, lstat, open, readdir, readlink, realpath, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { Sink } from '../archive/write-archive.ts';
import { isArchive } from '../archive/read-archive.ts';
import { BackupError } from './errors.ts';
import { errorCode, reasonOf } from '../embedded/error.ts';
import { syncFolder } from '../embedded/files.ts';

/** Where a backup is written. */
export type BackupTarget =
  | { readonly kind: 'file'; readonly file: string }
  /** A new file in the folder, named by its time. */
  | { readonly kind: 'folder'; readonly folder: string; readonly keep: number | null }
  | { readonly kind: 'stream'; readonly sink: Sink };

/** The time, and a number if several backups are made in the same second. */
const NAME = /^cointill-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})Z(?:-(\d{1,4}))?\.backup$/;
const UNFINISHED = '.unfinished-';
/**
 * While a backup is written its file is touched regularly, also while waiting for the database: a file not touched for
 * long is abandoned. The process id in its name would not tell, because it may be from another machine or container, or
 * be reused.
 */
const TOUCH_MS = 60_000;
const ABANDONED_MS = 10 * TOUCH_MS;

/** Synced to disk in small steps: one sync at the end would hold up the database's own writes. */
const SYNC_BYTES = 8 * 1024 * 1024;

/** The name of a backup in a folder; `nth` of those in the same second. */
function nameAt(at: number, nth: number): string {
  const moment = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-');
  return `cointill-${moment}Z${nth === 1 ? '' : `-${nth}`}.backup`;
}

/** Sorts the names of backups by time. Null: not the name of a backup. */
function momentOf(name: string): string | null {
  const [, moment = '', nth = '1'] = NAME.exec(name) ?? [];
  return moment === '' ? null : `${moment} ${nth.padStart(4, '0')}`;
}

/** A backup that was written. */
export interface Written<Result> {
  readonly result: Result;
  /** Null: written to a stream. */
  readonly file: string | null;
  /** When the backup that it replaced was made, by that file's time; null: there was none. */
  readonly replacedAt: number | null;
  /** Names of older backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Writes a backup under a temporary name, syncs it to disk, and renames it only when it is complete: an error or a
 * crash leaves what was there before. Only its owner can read it. In a folder no backup ever replaces another; a file
 * given by name is replaced.
 *
 * @throws BackupError if it cannot be written there
 */
export async function writeBackupFile<Result>(
  target: BackupTarget,
  now: number,
  write: (sink: Sink) => Promise<Result>,
): Promise<Written<Result>> {
  if (target.kind === 'stream') {
    return { result: await write(target.sink), file: null, replacedAt: null, removed: [] };
  }
  const named = target.kind === 'file' ? await followLink(target.file) : null;
  const wanted = named ?? path.join(target.kind === 'folder' ? target.folder : '', nameAt(now, 1));
  const folder = path.dirname(wanted);
  await checkFolder(folder);
  const replacedAt = named === null ? null : await checkFile(named, folder);
  await removeAbandoned(folder);
  const unfinished = `${wanted}${UNFINISHED}${process.pid}-${randomBytes(4).toString('hex')}`;
  const removeNow = (): void => rmSync(unfinished, { force: true });
  process.once('exit', removeNow);
  const touching = setInterval(() => void touch(unfinished), TOUCH_MS);
  let written: Written<Result>;
  try {
    const result = await writeFlushed(unfinished, write);
    const file = named ?? (await giveFreeName(unfinished, (nth) => path.join(folder, nameAt(now, nth))));
    if (named !== null) await rename(unfinished, named);
    await syncFolder(folder);
    written = { result, file, replacedAt, removed: [] };
  } catch (error) {
    await rm(unfinished, { force: true });
    throw fileFault(error, folder);
  } finally {
    clearInterval(touching);
    process.removeListener('exit', removeNow);
  }
  if (target.kind === 'file' || target.keep === null) return written;
  return { ...written, removed: await removeOld(folder, target.keep, written.file) };
}

async function writeFlushed<Result>(file: string, write: (sink: Sink) => Promise<Result>): Promise<Result> {
  const handle = await open(file, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600).catch(
    async (error: unknown) => {
      const folder = path.dirname(file);
      // The folder exists but accepts no files: /proc answers like this.
      throw errorCode(error) === 'ENOENT' && (await isThere(folder))
        ? new BackupError(notWritten(folder, 'no file can be made there'), { cause: error })
        : error;
    },
  );
  try {
    let unsynced = 0;
    const result = await write(async (bytes) => {
      for (let from = 0; from < bytes.length;) from += (await handle.write(bytes, from)).bytesWritten;
      unsynced += bytes.length;
      if (unsynced < SYNC_BYTES) return;
      unsynced = 0;
      await handle.datasync();
    });
    await handle.sync();
    return result;
  } finally {
    await handle.close();
  }
}

/** Gives a file the first free one of the names: a rename could replace an existing file. */
async function giveFreeName(file: string, name: (nth: number) => string): Promise<string> {
  for (let nth = 1; ; nth += 1) {
    try {
      await link(file, name(nth));
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      if (!NO_LINKS.has(errorCode(error) ?? '')) throw error;
      // Another process could take the name in between, but only one started in the same second.
      if (await isThere(name(nth))) continue;
      await rename(file, name(nth));
      return name(nth);
    }
    await rm(file, { force: true });
    return name(nth);
  }
}

/** Errors of file systems without hard links: FAT, and some network file systems. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** The target of a link, because the backup is wanted there; anything else unchanged. */
async function followLink(file: string): Promise<string> {
  const target = await readlink(file).catch(() => null);
  if (target === null) return file;
  const stats = await stat(file).catch(() => null);
  // Such as /dev/stdout: it is refused under the name that was given.
  if (stats !== null && !stats.isFile()) return file;
  return realpath(file).catch(() => path.resolve(path.dirname(file), target));
}

async function checkFolder(folder: string): Promise<void> {
  const problem = await folderProblem(folder);
  if (problem !== null) throw new BackupError(problem);
}

/** Why no backup can be written to a folder, with the way out; null: nothing is known against it. */
export async function folderProblem(folder: string): Promise<string | null> {
  const stats = await stat(folder).catch(() => null);
  if (stats === null) return `There is no folder ${folder}. Make it, or give another one.`;
  if (!stats.isDirectory()) return `${folder} is a file, not a folder. Give a folder.`;
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => null,
    (error: unknown) => notWritten(folder, REASONS[errorCode(error) ?? ''] ?? reasonOf(error)),
  );
}

/**
 * A file that is not a backup is never overwritten. Returns when the existing backup was made; null: there is no file.
 */
async function checkFile(file: string, folder: string): Promise<number | null> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw new BackupError(noFile(file, stats.isDirectory()));
    if (await isArchive(file)) return stats.mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw fileFault(error, folder);
  }
  throw new BackupError(`${file} is there already and is no backup of Cointill. Give another name.`);
}

function noFile(file: string, isFolder: boolean): string {
  return isFolder
    ? `${file} is a folder by now. Give a file, or a folder that is there.`
    : `${file} is a pipe or a device, not a file. Give - as the target: then the backup goes to standard output, and from there wherever you send it.`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'its file system takes no file of that size',
  EROFS: 'its file system is mounted read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EISDIR: 'a folder stands where the file would be',
  ENOTEMPTY: 'a folder stands where the file would be',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'the folder, or what was written in it, was removed meanwhile',
  EIO: 'the disk fails',
  ESTALE: 'the server of the folder has lost it',
  ENOTCONN: 'the server of the folder is away',
};

/** Calls of the file system; other parts of a backup fail with codes too. */
const FILE_CALLS = new Set([
  'open',
  'write',
  'fsync',
  'fdatasync',
  'rename',
  'link',
  'scandir',
  'stat',
  'close',
  'read',
]);

function fileFault(error: unknown, folder: string): unknown {
  const reason = REASONS[errorCode(error) ?? ''];
  const isOfFile = error instanceof Error && 'syscall' in error && FILE_CALLS.has(String(error.syscall));
  return reason === undefined || !isOfFile ? error : new BackupError(notWritten(folder, reason), { cause: error });
}

function notWritten(folder: string, reason: string): string {
  return `The backup cannot be written in ${folder}: ${reason}. No file was left there. Mend that, or give another folder.`;
}

async function touch(file: string): Promise<void> {
  const now = new Date();
  await utimes(file, now, now).catch(() => {});
}

/** Removes what killed backups left in a folder. What cannot be removed stays for the next time. */
async function removeAbandoned(folder: string): Promise<void> {
  // A folder that allows creating files need not allow listing them.
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/\.unfinished-\d+-[0-9a-f]{8}$/.test(name)) continue;
    const file = path.join(folder, name);
    const stats = await stat(file).catch(() => null);
    if (stats === null || Date.now() - stats.mtimeMs < ABANDONED_MS) continue;
    // Something else may have such a name.
    if (stats.size === 0 || (await isUnfinishedBackup(file))) await rm(file, { force: true }).catch(() => {});
  }
}

async function isUnfinishedBackup(file: string): Promise<boolean> {
  return isArchive(file).catch(() => false);
}

/**
 * Another program's file may have a backup's name, and an unreadable file may be a backup: both are left alone. A file
 * that is gone is none.
 */
async function isBackup(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile() && (await isArchive(file));
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return false;
    throw error;
  }
}

/**
 * Removes all but the newest backups of a folder; only files with the name and the beginning of a backup. Returns the
 * names of those removed.
 */
async function removeOld(folder: string, keep: number, made: string | null): Promise<readonly string[]> {
  try {
    const backups: { readonly name: string; readonly moment: string }[] = [];
    for (const name of await readdir(folder)) {
      const moment = momentOf(name);
      if (moment !== null && (await isBackup(path.join(folder, name)))) backups.push({ name, moment });
    }
    const inOrder = backups.toSorted((a, b) => (a.moment < b.moment ? -1 : 1)).map(({ name }) => name);
    const old = inOrder.slice(0, Math.max(0, inOrder.length - keep));
    for (const name of old) await rm(path.join(folder, name), { force: true });
    return old;
  } catch (error) {
    throw new BackupError(
      `The backup is good (${made ?? folder}), but older ones in ${folder} cannot be removed: ${reasonOf(error)}. Let this user list the folder and remove files in it, or leave out --keep.`,
      { cause: error },
    );
  }
}
