import { randomBytes } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { access, link, lstat, open, readdir, readlink, realpath, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { Sink } from '../archive/write-archive.ts';
import { isArchive } from '../archive/read-archive.ts';
import { BackupError } from '../archive/format.ts';
import { errorCode, reasonOf } from '../embedded/error.ts';
import { syncFolder } from '../embedded/files.ts';

/** The place that a backup is written to. */
export type BackupTarget =
  | { readonly kind: 'file'; readonly file: string }
  /** A new file in the folder, named by its time. */
  | { readonly kind: 'folder'; readonly folder: string; readonly keep: number | null }
  | { readonly kind: 'stream'; readonly sink: Sink };

/** The name of a backup in a folder: its time, and a number if several backups were made in the same second. */
const NAME = /^cointill-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})Z(?:-(\d{1,4}))?\.backup$/;
const UNFINISHED = '.unfinished-';
/**
 * A running backup touches its file regularly, also while it waits for the database, so a file that was not touched for
 * long is abandoned. The process id in the name proves nothing: it may be from another machine or container, or reused.
 */
const TOUCH_MS = 60_000;
const ABANDONED_MS = 10 * TOUCH_MS;

/** A backup is synced to disk in small steps, because one sync at the end would hold up the database's own writes. */
const SYNC_BYTES = 8 * 1024 * 1024;

/** The name of the `nth` backup of a second. */
function nameAt(at: number, nth: number): string {
  const moment = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-');
  return `cointill-${moment}Z${nth === 1 ? '' : `-${nth}`}.backup`;
}

/** A key that sorts the names of backups by time; null: not the name of a backup. */
function momentOf(name: string): string | null {
  const [, moment = '', nth = '1'] = NAME.exec(name) ?? [];
  return moment === '' ? null : `${moment} ${nth.padStart(4, '0')}`;
}

/** A backup that was written. */
export interface Written<Result> {
  readonly result: Result;
  /** Null: written to a stream. */
  readonly file: string | null;
  /** The file time of the backup that it replaced; null: it replaced none. */
  readonly replacedAt: number | null;
  /** Names of older backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Writes a backup under a temporary name, syncs it to disk, and renames it only when it is complete, so that an error
 * or a crash leaves the earlier file. Only the owner can read the backup. A backup replaces a file given by name, and
 * never another backup in a folder.
 *
 * @throws BackupError if the backup cannot be written there
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
  const wantedFile = named ?? path.join(target.kind === 'folder' ? target.folder : '', nameAt(now, 1));
  const folder = path.dirname(wantedFile);
  const problem = await folderProblem(folder);
  if (problem !== null) throw new BackupError(problem);
  const replacedAt = named === null ? null : await checkFile(named, folder);
  await removeAbandoned(folder);
  const unfinished = `${wantedFile}${UNFINISHED}${process.pid}-${randomBytes(4).toString('hex')}`;
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
      // A folder that exists but accepts no files, such as /proc, answers like this.
      throw errorCode(error) === 'ENOENT' && (await isThere(folder))
        ? new BackupError(notWritten(folder, 'no file can be created there'), { cause: error })
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

/** The target of a link, because the backup belongs there; any other path unchanged. */
async function followLink(file: string): Promise<string> {
  const target = await readlink(file).catch(() => null);
  if (target === null) return file;
  const stats = await stat(file).catch(() => null);
  // A link to a device, such as /dev/stdout, is refused under its own name.
  if (stats !== null && !stats.isFile()) return file;
  return realpath(file).catch(() => path.resolve(path.dirname(file), target));
}

/** The reason why no backup can be written to a folder, with the way out; null: no problem is known. */
export async function folderProblem(folder: string): Promise<string | null> {
  const stats = await stat(folder).catch(() => null);
  if (stats === null) return `There is no folder ${folder}. Create it, or give another folder.`;
  if (!stats.isDirectory()) return `${folder} is a file, not a folder. Give a folder.`;
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => null,
    (error: unknown) => notWritten(folder, REASONS[errorCode(error) ?? ''] ?? reasonOf(error)),
  );
}

/** Refuses to overwrite another file than a backup. Returns the time of the existing backup; null: there is none. */
async function checkFile(file: string, folder: string): Promise<number | null> {
  try {
    const stats = await stat(file);
    if (!stats.isFile()) throw new BackupError(noFile(file, stats.isDirectory()));
    if (await isArchive(file)) return stats.mtimeMs;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw fileFault(error, folder);
  }
  throw new BackupError(`${file} already exists and is not a Cointill backup. Give another name.`);
}

function noFile(file: string, isFolder: boolean): string {
  return isFolder
    ? `${file} has become a folder. Give a file, or an existing folder.`
    : `${file} is a pipe or a device, not a file. Give - as the target to pipe the backup elsewhere. The backup is then written to standard output.`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EFBIG: 'its file system does not allow files of that size',
  EROFS: 'its file system is mounted read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EISDIR: 'a folder with the name of the file already exists',
  ENOTEMPTY: 'a folder with the name of the file already exists',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'the folder, or the unfinished file in it, was removed during the backup',
  EIO: 'the disk reported an error',
  ESTALE: 'its file server no longer has the folder',
  ENOTCONN: 'its file server cannot be reached',
};

/** Calls of the file system, because other parts of a backup fail with codes too. */
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
  return `The backup cannot be written to ${folder}: ${reason}. No file was left there. Fix the problem, or give another folder.`;
}

async function touch(file: string): Promise<void> {
  const now = new Date();
  await utimes(file, now, now).catch(() => {});
}

/** Removes the files that killed backups left in a folder. A file that cannot be removed stays for the next time. */
async function removeAbandoned(folder: string): Promise<void> {
  // A folder that allows creating files need not allow listing them.
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/\.unfinished-\d+-[0-9a-f]{8}$/.test(name)) continue;
    const file = path.join(folder, name);
    const stats = await stat(file).catch(() => null);
    if (stats === null || Date.now() - stats.mtimeMs < ABANDONED_MS) continue;
    // Another program's file may have such a name.
    const isOurs = stats.size === 0 || (await isArchive(file).catch(() => false));
    if (isOurs) await rm(file, { force: true }).catch(() => {});
  }
}

/**
 * Whether a file is a backup. Another program's file may have a backup's name, and an unreadable file may be a backup:
 * both are left alone. A file that is gone is no backup.
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
 * Removes all but the newest backups of a folder: only files with the name and the beginning of a backup. Returns the
 * removed names.
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
      `The backup was made (${made ?? folder}), but older backups in ${folder} cannot be removed: ${reasonOf(error)}. Allow this user to list the folder and to remove files from it, or leave out --keep.`,
      { cause: error },
    );
  }
}
