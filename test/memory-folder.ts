import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import path from 'node:path';

/** Where Linux keeps files in memory. */
const MEMORY = '/dev/shm';
const PREFIX = 'cointill-tests-';
/**
 * Many times what a whole run has there at once: databases, chains and browser profiles of a few workers, some 1.5 GB.
 */
const MIN_FREE_BYTES = 6e9;

/**
 * A folder in memory for all temporary files of this run, which goes with this process; null where there is no room for
 * it, or where programs may not be run from it. What a killed run left behind is removed.
 *
 * Nothing that tests prove asks for a disk: `kill -9` takes no file away, whichever file system it is on. A disk costs
 * a third of the run's CPU time: a cluster has a thousand files, and each test has a database of its own.
 */
export function memoryFolder(): string | null {
  try {
    if (!mayRunPrograms() || freeBytes() < MIN_FREE_BYTES) return null;
    removeLeftovers();
    const folder = mkdtempSync(path.join(MEMORY, `${PREFIX}${process.pid}-`));
    // Like /tmp: started by root, databases run as another user.
    chmodSync(folder, 0o1777);
    process.on('exit', () => remove(folder));
    return folder;
  } catch {
    // No such folder, or none that we may write.
    return null;
  }
}

/** Both what the file system may hold and what the machine has. */
function freeBytes(): number {
  const { bavail, bsize } = statfsSync(MEMORY);
  const available = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  return Math.min(bavail * bsize, Number(available ?? 0) * 1024);
}

/** Containers often mount it `noexec`; some tests run copies of PostgreSQL's programs. */
function mayRunPrograms(): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const options = mounts.findLast((line) => line.split(' ')[1] === MEMORY)?.split(' ')[3];
  return options !== undefined && !options.split(',').includes('noexec');
}

/** A process id may also be another container's: what was written to lately is in use. */
const IN_USE_MS = 15 * 60_000;

function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    const folder = path.join(MEMORY, name);
    if (pid > 0 && !isAlive(pid) && Date.now() - statSync(folder).mtimeMs > IN_USE_MS) remove(folder);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // Another user's, or still written to; the next run tries again.
  }
}
