import { randomBytes } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { access, link, lstat, open, readdir, readlink, realpath, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { Sink } from '../archive/write-archive.ts';
import { isArchive } from '../archive/read-archive.ts';
import { BackupError } from './errors.ts';
import { errorCode, reasonOf } from '../store/embedded/error.ts';
import { syncFolder } from '../store/embedded/files.ts';

/** Where a backup goes. */
export type BackupTarget =
  | { readonly kind: 'file'; readonly file: string }
  /** A file of its own in it, named by the moment. */
  | { readonly kind: 'folder'; readonly folder: string; readonly keep: number | null }
  | { readonly kind: 'stream'; readonly sink: Sink };

/** The moment, and of several in the same second the number. */
const NAME = /^cointill-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2})Z(?:-(\d{1,4}))?\.backup$/;
const UNFINISHED = '.unfinished-';
/**
 * Whoever writes one touches it every so often, also while the database keeps it waiting: what nobody has touched for
 * long is nobody's. The process id in its name would not tell: it may be of another machine or container, or be given
 * to another process.
 */
const TOUCH_MS = 60_000;
const ABANDONED_MS = 10 * TOUCH_MS;

/** Put on disk bit by bit: in one go at the end it would hold up what the database has to put there meanwhile. */
const SYNC_BYTES = 8 * 1024 * 1024;

/** The name of a backup in a folder; `nth` of those of the same second. */
function nameAt(at: number, nth: number): string {
  const moment = new Date(at).toISOString().slice(0, 19).replaceAll(':', '-');
  return `cointill-${moment}Z${nth === 1 ? '' : `-${nth}`}.backup`;
}

/** What the names of backups are compared by: their order in time. Null: it is no name of one. */
function momentOf(name: string): string | null {
  const [, moment = '', nth = '1'] = NAME.exec(name) ?? [];
  return moment === '' ? null : `${moment} ${nth.padStart(4, '0')}`;
}

/** A backup that was written. */
export interface Written<Result> {
  readonly result: Result;
  /** Null: into a stream. */
  readonly file: string | null;
  /** When the backup was made that stood in its place, by the file's own time; null: there was none. */
  readonly replacedAt: number | null;
  /** Older ones that were removed for it, by name. */
  readonly removed: readonly string[];
}

/**
 * Writes a backup aside, puts it on disk, and gives it its name only when all of it is there: a fault or a crash leaves
 * what was there before. Only its owner may read it. In a folder no backup ever takes another's place; a file that was
 * named does.
 *
 * @throws BackupError when it cannot be written there
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
      // The folder is there, and takes nothing: so says /proc.
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

/** Gives a file the first of the names that nobody has: a rename would take it from whoever has it. */
async function giveFreeName(file: string, name: (nth: number) => string): Promise<string> {
  for (let nth = 1; ; nth += 1) {
    try {
      await link(file, name(nth));
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      if (!NO_LINKS.has(errorCode(error) ?? '')) throw error;
      // Between the two another one may take the name, which only programs that begin in the same second would.
      if (await isThere(name(nth))) continue;
      await rename(file, name(nth));
      return name(nth);
    }
    await rm(file, { force: true });
    return name(nth);
  }
}

/** What file systems without links say: FAT, and some on the network. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL']);

function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}

/** Where a link leads, for what is written is wanted there; what is no link, as it is. */
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

/** Why no backup can be written in a folder, with the way out; null: nothing speaks against it. */
export async function folderProblem(folder: string): Promise<string | null> {
  const stats = await stat(folder).catch(() => null);
  if (stats === null) return `There is no folder ${folder}. Make it, or give another one.`;
  if (!stats.isDirectory()) return `${folder} is a file, not a folder. Give a folder.`;
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => null,
    (error: unknown) => notWritten(folder, REASONS[errorCode(error) ?? ''] ?? reasonOf(error)),
  );
}

/** A file that is no backup is never written over. When the backup that is there was made; null: nothing is there. */
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

/** Those of the file system alone: other parts of a backup fail with codes too. */
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

/** Removes what killed backups have left in a folder. What resists stays for the next time. */
async function removeAbandoned(folder: string): Promise<void> {
  // A folder into which one may put files need not be one to look into.
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/\.unfinished-\d+-[0-9a-f]{8}$/.test(name)) continue;
    const file = path.join(folder, name);
    const stats = await stat(file).catch(() => null);
    if (stats === null || Date.now() - stats.mtimeMs < ABANDONED_MS) continue;
    // Something else may be called so.
    if (stats.size === 0 || (await isUnfinishedBackup(file))) await rm(file, { force: true }).catch(() => {});
  }
}

async function isUnfinishedBackup(file: string): Promise<boolean> {
  return isArchive(file).catch(() => false);
}

/**
 * A file of somebody else's may bear the name of one, and what this user may not read may be one: it is left. What is
 * gone is none.
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
 * Removes all but the newest backups of a folder; only what has the name of one and begins as one. Gives the names of
 * those removed.
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
