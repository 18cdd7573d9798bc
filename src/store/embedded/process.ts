import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Account } from './account.ts';
import { EmbeddedPostgresError, errorCode, OR_DATABASE_URL } from './error.ts';

/** What initdb and postgres see of our environment: nothing that could steer them (PGDATA, LD_LIBRARY_PATH), plain English, UTC. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}

/** The part of spawn's options that changes the user; Node drops supplementary groups with it. */
export function asUser(account: Account): { readonly uid?: number; readonly gid?: number } {
  return account.switchUser ? { uid: account.uid, gid: account.gid } : {};
}

/** A program of ours that the system refused to run. */
export function cannotRun(program: string, account: Account, error: Error): EmbeddedPostgresError {
  // The file is there (we looked), so what is not found is the program's loader.
  const hint = errorCode(error) === 'ENOENT' ? ' The programs need glibc: on Alpine and its like they do not run.' : '';
  return new EmbeddedPostgresError(
    `${program} cannot be run as user ${account.name} (${errorCode(error) ?? error.message}).${hint} Mend that, ${OR_DATABASE_URL}.`,
    { cause: error },
  );
}

/** Whether a process runs. One that ended and waits for a parent to notice (a container without init) does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // "pid (name) state …", where the name may hold anything, parentheses included.
  return !/^[ZX]?$/.test(status.slice(status.lastIndexOf(')') + 2).slice(0, 1));
}

/** Waits until a process has ended, or `timeoutMs` have passed; says whether it ended. */
export async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (await isRunning(pid)) {
    if (performance.now() > deadline) return false;
    await sleep(10);
  }
  return true;
}
