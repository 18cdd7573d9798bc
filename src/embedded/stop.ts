import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JoinedServer } from './join.ts';
import { exists } from './files.ts';
import { isRunning } from './process.ts';
import { readPostmaster, shutDown, type Log, type ServerSetup } from './server.ts';
import { closeQuietly, connectionTo, releaseUsageLock, takeUsageLock, type UsageLock } from './usage-lock.ts';

/** How long a starting server may take to say whether others use it. */
const ANSWER_PATIENCE_MS = 3_000;
const POLL_MS = 10;

/**
 * Stops the joined server unless another process uses it. The lock shows that: the process that releases it last stops
 * the server, whose folder may be gone by then.
 */
export async function stopUnlessUsed(
  setup: ServerSetup,
  { lock: held, postmasterPid }: JoinedServer,
  log: Log,
): Promise<void> {
  let lock: UsageLock | undefined = held;
  let users = await releaseUsageLock(held).catch(() => undefined);
  const deadline = performance.now() + ANSWER_PATIENCE_MS;
  let isBusy = false;
  // The session broke, or the restarted server is not up yet: a server that comes up again can still answer.
  while (users === undefined && performance.now() < deadline && (await isServing(setup))) {
    const attempt = await takeUsageLock(connectionTo(setup.socketDir)).catch(() => undefined);
    isBusy = attempt?.kind === 'busy';
    lock = attempt?.kind === 'held' ? attempt.lock : undefined;
    users = lock === undefined ? undefined : await releaseUsageLock(lock).catch(() => undefined);
    if (users === undefined) {
      await sleep(POLL_MS);
    }
  }
  const postmaster = (await readPostmaster(setup.clusterDir)) ?? (await orphaned(setup, postmasterPid));
  // No process uses a server that accepts no session; a process that waits for one starts it again.
  if (postmaster?.isAlive === true && (users === 'last' || (users === undefined && isBusy))) {
    await shutDown(postmaster.pid, log);
  } else if (postmaster?.isAlive === true && users === undefined) {
    log('warn', 'left the embedded database running: it does not tell which processes use it', { pid: postmaster.pid });
  }
  if (lock !== undefined) {
    closeQuietly(lock.client);
  }
}

/** The server that still runs although its folder was removed or moved: it would end by itself within a minute. */
async function orphaned(
  { clusterDir }: ServerSetup,
  pid: number,
): Promise<{ pid: number; isAlive: boolean } | undefined> {
  if (await exists(join(clusterDir, 'postmaster.pid'))) return undefined;
  const program = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  return { pid, isAlive: program.startsWith('postgres') && (await isRunning(pid)) };
}

async function isServing(setup: ServerSetup): Promise<boolean> {
  return (await readPostmaster(setup.clusterDir))?.isAlive === true;
}
