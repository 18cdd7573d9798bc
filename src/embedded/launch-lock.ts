import { chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LaunchLock {
  release(): void;
}

/** SQLite: another process holds the lock. */
const BUSY = 5;
const POLL_MS = 20;

/**
 * Takes the lock under which a process makes the cluster of a DATA_DIR or launches its server; null while another one
 * holds it. It is SQLite's lock of a file: the kernel ends it with its process, and it reaches other containers, unlike
 * process ids, by which PostgreSQL protects a cluster.
 */
export function tryLaunchLock(dataDir: string): LaunchLock | null {
  const file = join(dataDir, 'launch.lock');
  let held: DatabaseSync | undefined;
  try {
    held = new DatabaseSync(file, { timeout: 0 });
    held.exec('begin exclusive');
    if (process.getuid?.() === 0) {
      // The service must be able to lock what root creates.
      const { uid, gid } = statSync(dataDir);
      chownSync(file, uid, gid);
    }
    const lock = held;
    return { release: () => lock.close() };
  } catch (error) {
    if (held?.isOpen === true) held.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) return null;
    // A folder that nobody may write, or a file system without locks: PostgreSQL says what is wrong, or does without.
    return { release: () => {} };
  }
}

/** Does what only one process at a time may do, after the others. */
export async function withLaunchLock<Result>(dataDir: string, work: () => Promise<Result>): Promise<Result> {
  let lock = tryLaunchLock(dataDir);
  while (lock === null) {
    await sleep(POLL_MS);
    lock = tryLaunchLock(dataDir);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}
