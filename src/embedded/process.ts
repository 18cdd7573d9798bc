import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Account } from './account.ts';
import { EmbeddedPostgresError, errorCode, OR_DATABASE_URL } from './error.ts';

/**
 * The environment of initdb and postgres: no variables that change their behaviour (PGDATA, LD_LIBRARY_PATH), plain
 * English, UTC.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** The options for spawn that change the user; Node drops supplementary groups as well. */
export function asUser(account: Account): { readonly uid?: number; readonly gid?: number } {
  return account.switchUser ? { uid: account.uid, gid: account.gid } : {};
}

/** The error for one of our programs that the system refused to run. */
export function cannotRun(program: string, account: Account, error: Error): EmbeddedPostgresError {
  // The program exists (this was checked), so the missing file is its loader.
  const hint =
    errorCode(error) === 'ENOENT' ? ' The programs need glibc: they do not run on Alpine and similar systems.' : '';
  return new EmbeddedPostgresError(
    `${program} cannot be run as user ${account.name} (${errorCode(error) ?? error.message}).${hint} Fix that, ${OR_DATABASE_URL}.`,
    { cause: error },
  );
}

/**
 * Whether a process runs. A process that ended but was not reaped by a parent (in a container without init) does not.
 */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // "pid (name) state …", where the name can contain anything, including parentheses.
  return !/^[ZX]?$/.test(status.slice(status.lastIndexOf(')') + 2).slice(0, 1));
}

/** Waits until a process has ended, at most `timeoutMs`; returns whether it ended. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}
