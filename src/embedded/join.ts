import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { diskFull, EmbeddedPostgresError, OR_DATABASE_URL } from './error.ts';
import { isInUse, LAUNCH_PATIENCE_MS, lockedForLong, shareUse, tryLaunchLock, type FileLock } from './launch-lock.ts';
import { checkNotMoved } from './moved.ts';
import {
  launchServer,
  PORT,
  readPostmaster,
  shutDown,
  type Log,
  type ServerProcess,
  type ServerSetup,
} from './server.ts';
import { closeQuietly, connectionTo, takeUsageLock, type EmbeddedConnection, type UsageLock } from './usage-lock.ts';

/** A running server that this process uses. */
export interface JoinedServer {
  readonly lock: UsageLock;
  readonly connection: EmbeddedConnection;
  readonly postmasterPid: number;
  /** Whether another process started the server. */
  readonly isAdopted: boolean;
}

/** How long a server may run, or fail to start, without reporting that it is busy. */
const SILENCE_LIMIT_MS = 15_000;

const POLL_MS = 10;
const RELAUNCH_PAUSE_MS = 40;

/** The error when a stop was requested before a server was joined. */
export class StopRequested extends Error {}

interface Launched {
  /** The server that we started and that, as far as we know, still runs. */
  server: ServerProcess | undefined;
  /** Held from before the first launch until a server is joined. */
  lock: FileLock | null;
}

/**
 * Connects to the cluster's server, and starts it if none is running; repeatedly, as long as that makes sense: another
 * process may start or stop the server at the same moment, and a killed server's children may still hold its memory.
 */
export async function joinServer(setup: ServerSetup, stopping: AbortSignal, log: Log): Promise<JoinedServer> {
  const ours: Launched = { server: undefined, lock: null };
  try {
    const joined = await joinOrLaunch(setup, stopping, ours);
    const use = shareUse(setup.dataDir);
    void joined.lock.ended.then(() => use?.release());
    return joined;
  } catch (error) {
    // A server that accepts no session is useless; a process that waits for one starts it again. If a stop was
    // requested instead, `stopUnlessUsed` decides.
    if (!(error instanceof StopRequested)) await stopLaunched(ours, log);
    throw error;
  } finally {
    ours.lock?.release();
  }
}

async function stopLaunched({ server }: Launched, log: Log): Promise<void> {
  if (server?.pid !== undefined && (await server.ending()) === undefined) {
    await shutDown(server.pid, log);
  }
}

/**
 * Takes the usage lock of the running server, or launches a server if none is running, until that succeeds or is
 * impossible.
 */
async function joinOrLaunch(setup: ServerSetup, stopping: AbortSignal, ours: Launched): Promise<JoinedServer> {
  let deadline = performance.now() + SILENCE_LIMIT_MS;
  const lockedUntil = performance.now() + LAUNCH_PATIENCE_MS;
  let lastEnding: string | undefined;
  for (;;) {
    const ending = await ours.server?.ending();
    if (ending?.kind === 'failed') throw ending.error;
    if (ending !== undefined) {
      ours.server = undefined;
      lastEnding =
        ending.kind === 'orphans' ? 'processes of a killed server still hold its memory' : 'it ended at once';
      await sleep(RELAUNCH_PAUSE_MS);
    }
    const postmaster = await readPostmaster(setup.clusterDir);
    // A server that we launched must not be left before its postmaster.pid exists, or stopping would miss it.
    if (stopping.aborted && (ours.server === undefined || postmaster?.isAlive === true)) throw new StopRequested();
    if (ours.server === undefined && postmaster?.isAlive !== true) {
      await checkNotMoved(setup.dataDir);
      if (ours.lock === null) {
        ours.lock = tryLaunchLock(setup.dataDir);
        // Another process launches a server, or did so a moment ago.
        if (ours.lock === null) {
          if (performance.now() > lockedUntil) throw lockedForLong(setup.dataDir);
          await sleep(POLL_MS);
        }
        deadline = performance.now() + SILENCE_LIMIT_MS;
        continue;
      }
      if (await isServedElsewhere(setup, postmaster?.socketDir ?? setup.socketDir)) throw servedElsewhere(setup);
      // Processes here that lost the server release it as soon as they notice.
      if (isInUse(setup.dataDir)) {
        if (performance.now() > deadline) throw servedElsewhere(setup);
        await sleep(POLL_MS);
        continue;
      }
      ours.server = await launchServer(setup, postmaster?.pid);
    }
    const connection = connectionTo((postmaster?.isAlive === true && postmaster.socketDir) || setup.socketDir);
    const attempt = await takeUsageLock(connection);
    if (attempt.kind === 'held') {
      const joined = await readPostmaster(setup.clusterDir);
      if (joined !== undefined) {
        return {
          lock: attempt.lock,
          connection,
          postmasterPid: joined.pid,
          isAdopted: joined.pid !== ours.server?.pid,
        };
      }
      closeQuietly(attempt.lock.client);
    } else if (attempt.kind === 'disk_full') {
      throw diskFull(setup.clusterDir, attempt.error);
    } else if (attempt.kind === 'busy') {
      deadline = performance.now() + SILENCE_LIMIT_MS;
    } else if (performance.now() > deadline) {
      throw unreachable(
        setup,
        connection,
        postmaster?.isAlive === true && postmaster.pid !== ours.server?.pid ? postmaster.pid : undefined,
        lastEnding ?? attempt.reason,
      );
    }
    await sleep(POLL_MS);
  }
}

/**
 * Whether a server answers at the cluster's socket although no process here is that server: it runs in another
 * container. PostgreSQL's own locks are process ids and shared memory, which do not reach other containers.
 */
async function isServedElsewhere({ clusterDir }: ServerSetup, socketDir: string): Promise<boolean> {
  const isAnswered = await new Promise<boolean>((resolve) => {
    const socket = connect(join(socketDir, `.s.PGSQL.${PORT}`));
    const answer = (isThere: boolean) => () => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
  // Another process here may have started it at this moment.
  return isAnswered && (await readPostmaster(clusterDir))?.isAlive !== true;
}

function servedElsewhere({ clusterDir }: ServerSetup): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `Another container, or a process that cannot be seen from here, runs the database in ${clusterDir}. Only one container may use this folder at a time. Stop the other one, ${OR_DATABASE_URL}.`,
  );
}

function unreachable(
  setup: ServerSetup,
  connection: EmbeddedConnection,
  pid: number | undefined,
  reason: string,
): EmbeddedPostgresError {
  const stopIt = pid === undefined ? '' : ` stop what is left of it (kill -INT ${pid}) and start again,`;
  return new EmbeddedPostgresError(
    `The embedded database does not answer on its socket in ${connection.host} (${reason}). Read ${setup.logFile},${stopIt} ${OR_DATABASE_URL}.`,
  );
}
