import { closeSync, constants, fchownSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError, OR_DATABASE_URL } from './error.ts';

/*
 * PostgreSQL protects a cluster by process ids and shared memory, which mean nothing in another container. These are
 * SQLite's locks of files: the kernel ends them with their process, and they reach every container of the machine.
 */

/** A lock that ends with its process, or when it is released. */
export interface FileLock {
  release(): void;
}

/** SQLite: another process holds the lock. It says so too where the file system has no locks. */
const BUSY = 5;
const POLL_MS = 20;
/** Longer than another process looks whether the server is in use. */
const LOOK_MS = 1_000;
/** Making a cluster takes seconds; launching a server is over when its process runs. */
export const LAUNCH_PATIENCE_MS = 60_000;

/** The lock under which a process makes the cluster of a DATA_DIR or launches its server; null: another has it. */
export function tryLaunchLock(dataDir: string): FileLock | null {
  return lockFile(dataDir, 'launch.lock', 'begin exclusive');
}

/** Marks the server of a DATA_DIR as in use by this process, beside others that use it too. */
export function shareUse(dataDir: string): FileLock | null {
  return lockFile(dataDir, 'in-use.lock', 'begin; select count(*) from sqlite_schema', LOOK_MS);
}

/** Whether a process uses the server of a DATA_DIR, in whatever container. */
export function isInUse(dataDir: string): boolean {
  const lock = lockFile(dataDir, 'in-use.lock', 'begin exclusive');
  lock?.release();
  return lock === null;
}

function lockFile(dataDir: string, name: string, statement: string, timeout = 0): FileLock | null {
  const file = join(dataDir, name);
  let held: DatabaseSync | undefined;
  try {
    createFor(dataDir, file);
    held = new DatabaseSync(file, { timeout });
    held.exec(statement);
    const lock = held;
    return { release: () => (lock.isOpen ? lock.close() : undefined) };
  } catch (error) {
    if (held?.isOpen === true) held.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return null;
    // A folder that nobody may write, or a full disk: PostgreSQL says what is wrong.
    return { release: () => {} };
  }
}

/** Creates the file, and gives what root creates to the owner of the folder, so that the service can lock it. */
function createFor(dataDir: string, file: string): void {
  const opened = openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    const { uid, gid } = statSync(dataDir);
    if (process.getuid?.() === 0) fchownSync(opened, uid, gid);
  } catch {
    // Root without the right to give files away can still lock this one.
  } finally {
    closeSync(opened);
  }
}

/** Does what only one process at a time may do, after the others. */
export async function withLaunchLock<Result>(dataDir: string, work: () => Promise<Result>): Promise<Result> {
  const until = performance.now() + LAUNCH_PATIENCE_MS;
  let lock = tryLaunchLock(dataDir);
  while (lock === null) {
    if (performance.now() > until) throw lockedForLong(dataDir);
    await sleep(POLL_MS);
    lock = tryLaunchLock(dataDir);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

export function lockedForLong(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `Another process has been making or starting the database in ${dataDir} for a minute, or the disk of this folder knows no locks, as some network disks. Stop that process, choose a DATA_DIR on another disk, ${OR_DATABASE_URL}.`,
  );
}
