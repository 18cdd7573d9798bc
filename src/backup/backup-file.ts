import { randomBytes } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import { open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { Sink } from '../archive/write-archive.ts';
import { isArchive } from '../archive/read-archive.ts';
import { BackupError } from './errors.ts';
import { errorCode } from '../store/embedded-error.ts';
import { syncFolder } from '../store/embedded-files.ts';

/** Where a backup goes. */
export type BackupTarget =
  | { readonly kind: 'file'; readonly file: string }
  /** A file of its own in it, named by the moment. */
  | { readonly kind: 'folder'; readonly folder: string; readonly keep: number | null }
  | { readonly kind: 'stream'; readonly sink: Sink };

const NAME = /^cointill-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.backup$/;
const UNFINISHED = '.unfinished-';
/**
 * Whoever writes one touches it every so often, also while the database keeps it waiting: what nobody has touched for long is
 * nobody's. The process id in its name would not tell: it may be of another machine or container, or be given to another process.
 */
const TOUCH_MS = 60_000;
const ABANDONED_MS = 10 * TOUCH_MS;

/** Put on disk bit by bit: in one go at the end it would hold up what the database has to put there meanwhile. */
const SYNC_BYTES = 8 * 1024 * 1024;

/** The name of a backup in a folder; names are in the order of time. */
function nameAt(at: number): string {
  return `cointill-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z.backup`;
}

/**
 * Writes a backup aside, puts it on disk, and gives it its name only when all of it is there: a fault or a crash leaves what
 * was there before. Only its owner may read it.
 */
export async function writeBackupFile<Result>(
  target: BackupTarget,
  now: number,
  write: (sink: Sink) => Promise<Result>,
): Promise<{ readonly result: Result; readonly file: string | null; readonly removed: readonly string[] }> {
  if (target.kind === 'stream') return { result: await write(target.sink), file: null, removed: [] };
  const file = target.kind === 'file' ? target.file : path.join(target.folder, nameAt(now));
  const folder = path.dirname(file);
  await checkFree(file, folder);
  await removeAbandoned(folder);
  const unfinished = `${file}${UNFINISHED}${process.pid}-${randomBytes(4).toString('hex')}`;
  const removeNow = (): void => rmSync(unfinished, { force: true });
  process.once('exit', removeNow);
  const touching = setInterval(() => void touch(unfinished), TOUCH_MS);
  try {
    const handle = await open(unfinished, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    let result: Result;
    try {
      let unsynced = 0;
      result = await write(async (bytes) => {
        for (let from = 0; from < bytes.length;) from += (await handle.write(bytes, from)).bytesWritten;
        unsynced += bytes.length;
        if (unsynced < SYNC_BYTES) return;
        unsynced = 0;
        await handle.datasync();
      });
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, file);
    await syncFolder(folder);
    const removed = target.kind === 'folder' && target.keep !== null ? await removeOld(folder, target.keep) : [];
    return { result, file, removed };
  } catch (error) {
    await rm(unfinished, { force: true });
    throw fileFault(error, folder);
  } finally {
    clearInterval(touching);
    process.removeListener('exit', removeNow);
  }
}

/** A file that is no backup is never written over. */
async function checkFree(file: string, folder: string): Promise<void> {
  const isFolder = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (!isFolder) throw new BackupError(`There is no folder ${folder}. Make it, or give another one.`);
  try {
    if (await isArchive(file)) return;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw fileFault(error, folder);
  }
  throw new BackupError(`${file} is there already and is no backup of Cointill. Give another name.`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EROFS: 'its file system is mounted read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EISDIR: 'a folder stands where the file would be',
};

function fileFault(error: unknown, folder: string): unknown {
  const reason = REASONS[errorCode(error) ?? ''];
  if (reason === undefined) return error;
  return new BackupError(`The backup cannot be written in ${folder}: ${reason}. No file was left there.`, {
    cause: error,
  });
}

async function touch(file: string): Promise<void> {
  const now = new Date();
  await utimes(file, now, now).catch(() => {});
}

/** Removes what killed backups have left in a folder. What resists stays for the next time. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
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

/** Removes all but the newest backups of a folder; only files that have the name of one. Gives the names of those removed. */
async function removeOld(folder: string, keep: number): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name)).toSorted();
  const old = names.slice(0, Math.max(0, names.length - keep));
  for (const name of old) await rm(path.join(folder, name), { force: true });
  return old;
}
