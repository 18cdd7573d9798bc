import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { chooseAccount, readMachine } from './account.ts';
import { findBinariesPackage, prepareBinaries } from './binaries.ts';
import { CLUSTER_USER, findCluster, openDataDir, prepareCluster } from './cluster.ts';
import {
  diskFull,
  EmbeddedPostgresError,
  errorCode,
  fileFault,
  isDiskFullError,
  OR_DATABASE_URL,
  reasonOf,
} from './error.ts';
import { closeQuietly, enterPresence, leavePresence } from './presence.ts';
import type { EmbeddedConnection, Presence } from './presence.ts';
import { isRunning, waitForEnd } from './process.ts';
import { launchServer, PORT, prepareSocketDir, readPostmaster, rotateLog } from './server.ts';
import type { ServerPlace, ServerProcess } from './server.ts';

export { EmbeddedPostgresError };

export interface EmbeddedPostgresOptions {
  /** Absolute DATA_DIR; the cluster lives in its folder `postgres`, or where the link `postgres` leads. */
  readonly dataDir: string;
  readonly log: (level: 'info' | 'warn' | 'error', message: string, details?: Record<string, unknown>) => void;
  /** PostgreSQL settings that replace ours; they apply when this process starts the server, not when it finds one running. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where programs and data go that the server's user cannot reach where they are. Default: /var/lib/cointill. */
  readonly systemDir?: string;
}

export interface EmbeddedPostgres {
  /** For a `pg` pool or client. Stays the same when the server is started again. */
  readonly connection: EmbeddedConnection;
  /** The server's process id at this moment. */
  postmasterPid(): number;
  /** Resolves when the server accepts connections: at once, or after a crash when it is up again. */
  ready(): Promise<void>;
  /** Leaves: stops the server unless another Cointill process (the service or a command) still uses it. May be called again. */
  stop(): Promise<void>;
}

/**
 * Brings up the PostgreSQL server of a DATA_DIR, or joins the one that runs there already (of another Cointill process, or left
 * by a killed one), and watches over it: a server that dies is started again, until {@link EmbeddedPostgres.stop}.
 *
 * The server is a child process on a Unix socket in a private folder, with fsync on. It survives us on purpose, so that a killed
 * service finds its database warm, and does not keep our event loop alive.
 *
 * Throws {@link EmbeddedPostgresError} when the operator has to mend something first.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const startedAt = performance.now();
  try {
    const place = await preparePlace(options);
    const session = await enter(place, new AbortController().signal, options.log);
    options.log('info', session.isAdopted ? 'joined the running embedded database' : 'started the embedded database', {
      pid: session.postmasterPid,
      cluster: place.clusterDir,
      log: place.logFile,
      duration_ms: Math.round(performance.now() - startedAt),
    });
    return watchOver(place, session, options.log);
  } catch (error) {
    throw isDiskFullError(error) ? diskFull(options.dataDir, error) : (unusable(options.dataDir, error) ?? error);
  }
}

/** A file of ours that could not be written where it has to be, in words that name DATA_DIR; undefined for other errors. */
function unusable(dataDir: string, error: unknown): EmbeddedPostgresError | undefined {
  const fault = fileFault(error);
  // What is missing is no matter of what may be written.
  if (fault === undefined || errorCode(error) === 'ENOENT') {
    return undefined;
  }
  const file = error instanceof Error && 'path' in error && typeof error.path === 'string' ? `${error.path}, ` : '';
  return new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} cannot be used (${file}${fault}). Choose a folder that this user may write, ${OR_DATABASE_URL}.`,
    { cause: error },
  );
}

async function preparePlace(options: EmbeddedPostgresOptions): Promise<ServerPlace> {
  const machine = await readMachine();
  const systemDir = options.systemDir ?? '/var/lib/cointill';
  const dataDir = await openDataDir(options.dataDir);
  const home = { dataDir, systemDir };
  const existing = await findCluster(home);
  const account = chooseAccount(machine, existing);
  const found = await findBinariesPackage(import.meta.dirname);
  const binaries = await prepareBinaries(found, account, account.switchUser ? systemDir : dataDir);
  const clusterDir = await prepareCluster(home, existing, account, binaries);
  return {
    binaries,
    account,
    clusterDir,
    socketDir: await prepareSocketDir(clusterDir, account),
    logFile: join(dataDir, 'postgres.log'),
    settings: options.settings ?? {},
  };
}

/** Our stay on one running server. */
interface Session {
  readonly presence: Presence;
  readonly connection: EmbeddedConnection;
  readonly postmasterPid: number;
  /** Whether somebody else started the server. */
  readonly isAdopted: boolean;
}

/** How long a server may run, or fail to start, without saying that it is busy. */
const SILENCE_LIMIT_MS = 15_000;

const POLL_MS = 10;
const RELAUNCH_PAUSE_MS = 40;

class Cancelled extends Error {}

/** The server that we started and that has not ended, as far as we know. */
interface Launched {
  server: ServerProcess | undefined;
}

/**
 * Connects to the cluster's server, starting it where none runs, and again for as long as that makes sense: another process may
 * start or stop the server at the same moment, and a killed server's children may still hold its memory.
 */
async function enter(place: ServerPlace, stopping: AbortSignal, log: EmbeddedPostgresOptions['log']): Promise<Session> {
  const ours: Launched = { server: undefined };
  try {
    return await knock(place, stopping, ours);
  } catch (error) {
    // A server that does not let us in is of no use to anybody; whoever waits for it starts it again. When we were told
    // to stop instead, leaving decides.
    if (!(error instanceof Cancelled)) await abandon(ours, log);
    throw error;
  }
}

async function abandon({ server }: Launched, log: EmbeddedPostgresOptions['log']): Promise<void> {
  if (server?.pid !== undefined && (await server.ending()) === undefined) {
    await shutDown(server.pid, log);
  }
}

async function knock(place: ServerPlace, stopping: AbortSignal, ours: Launched): Promise<Session> {
  let deadline = performance.now() + SILENCE_LIMIT_MS;
  let lastEnding: string | undefined;
  for (;;) {
    const ending = await ours.server?.ending();
    if (ending?.kind === 'failed') {
      throw ending.error;
    }
    if (ending !== undefined) {
      ours.server = undefined;
      lastEnding =
        ending.kind === 'orphans' ? 'processes of a killed server still hold its memory' : 'it ended at once';
      await sleep(RELAUNCH_PAUSE_MS);
    }
    const postmaster = await readPostmaster(place.clusterDir);
    // A server that we launched is not left before it can be found by its postmaster.pid, or stopping would miss it.
    if (stopping.aborted && (ours.server === undefined || postmaster?.isAlive === true)) {
      throw new Cancelled();
    }
    if (ours.server === undefined && postmaster?.isAlive !== true) {
      ours.server = await launchServer(place, postmaster?.pid);
    }
    const connection = connectionTo((postmaster?.isAlive === true && postmaster.socketDir) || place.socketDir);
    const attempt = await enterPresence(connection);
    if (attempt.kind === 'held') {
      const entered = await readPostmaster(place.clusterDir);
      if (entered !== undefined) {
        return {
          presence: attempt.presence,
          connection,
          postmasterPid: entered.pid,
          isAdopted: entered.pid !== ours.server?.pid,
        };
      }
      closeQuietly(attempt.presence.client);
    } else if (attempt.kind === 'disk_full') {
      throw diskFull(place.clusterDir, attempt.error);
    } else if (attempt.kind === 'busy') {
      deadline = performance.now() + SILENCE_LIMIT_MS;
    } else if (performance.now() > deadline) {
      throw unreachable(
        place,
        connection,
        postmaster?.isAlive === true && postmaster.pid !== ours.server?.pid ? postmaster.pid : undefined,
        lastEnding ?? attempt.reason,
      );
    }
    await sleep(POLL_MS);
  }
}

function connectionTo(socketDir: string): EmbeddedConnection {
  return { host: socketDir, port: PORT, user: CLUSTER_USER, database: 'cointill', ssl: false };
}

function unreachable(
  place: ServerPlace,
  connection: EmbeddedConnection,
  pid: number | undefined,
  reason: string,
): EmbeddedPostgresError {
  const stopIt = pid === undefined ? '' : ` stop what is left of it (kill -INT ${pid}) and start again,`;
  return new EmbeddedPostgresError(
    `The embedded database does not answer on its socket in ${connection.host} (${reason}). Look into ${place.logFile},${stopIt} ${OR_DATABASE_URL}.`,
  );
}

/** The death of the server ends our session at once; this finds what a session can miss. */
const WATCH_INTERVAL_MS = 500;

/** How long a fast shutdown (SIGINT) may take before the immediate one (SIGQUIT, recovery at the next start), and that one. */
const FAST_SHUTDOWN_MS = 8_000;
const IMMEDIATE_SHUTDOWN_MS = 6_000;

function watchOver(entered: ServerPlace, first: Session, log: EmbeddedPostgresOptions['log']): EmbeddedPostgres {
  // Pools know the socket of the first session: a server that we start again has to be there.
  const place: ServerPlace = { ...entered, socketDir: first.connection.host };
  const stopping = new AbortController();
  let session = first;
  let recovery: Promise<void> | undefined;
  let left: Promise<void> | undefined;

  const recover = async (lost: Session): Promise<void> => {
    if (lost === session && !stopping.signal.aborted) {
      recovery ??= (async () => {
        const next = await enterAgain(place, lost, stopping.signal, log);
        recovery = undefined;
        if (next !== undefined) {
          session = next;
          void follow(next);
        }
      })();
    }
    await recovery;
  };
  const follow = async (followed: Session): Promise<void> => {
    await followed.presence.ended;
    await recover(followed);
  };
  const check = async (checked: Session): Promise<void> => {
    if (!(await isRunning(checked.postmasterPid))) {
      await recover(checked);
    }
  };
  const watch = setInterval(() => {
    void check(session);
    rotateLog(place.logFile).catch(() => undefined);
  }, WATCH_INTERVAL_MS);
  watch.unref();
  void follow(first);

  return {
    connection: first.connection,
    postmasterPid: () => session.postmasterPid,
    async ready() {
      await check(session);
      await recovery;
    },
    async stop() {
      left ??= (async () => {
        clearInterval(watch);
        stopping.abort();
        await recovery;
        await leave(place, session, log);
      })();
      await left;
    },
  };
}

/** Retries for as long as we live: the disk that is full now may be emptied. Undefined when we were told to stop. */
async function enterAgain(
  place: ServerPlace,
  lost: Session,
  stopping: AbortSignal,
  log: EmbeddedPostgresOptions['log'],
): Promise<Session | undefined> {
  const lostAt = performance.now();
  log('warn', 'lost the embedded database; bringing it back', { pid: lost.postmasterPid });
  closeQuietly(lost.presence.client);
  for (let pauseMs = 100; !stopping.aborted; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    try {
      const session = await enter(place, stopping, log);
      log('info', 'the embedded database is back', {
        pid: session.postmasterPid,
        duration_ms: Math.round(performance.now() - lostAt),
      });
      return session;
    } catch (error) {
      if (error instanceof Cancelled) {
        return undefined;
      }
      log('error', 'the embedded database does not come back', { error: reasonOf(error), next_attempt_ms: pauseMs });
    }
    await sleep(pauseMs, undefined, { ref: false, signal: stopping }).catch(() => undefined);
  }
  return undefined;
}

/** How long a server that is starting may take to tell us whether others use it. */
const LEAVE_PATIENCE_MS = 3_000;

async function leave(place: ServerPlace, session: Session, log: EmbeddedPostgresOptions['log']): Promise<void> {
  let presence: Presence | undefined = session.presence;
  let standing = await leavePresence(presence).catch(() => undefined);
  const deadline = performance.now() + LEAVE_PATIENCE_MS;
  let isBusy = false;
  // The session broke, or was not retaken yet: a server that comes up again can still tell.
  while (standing === undefined && performance.now() < deadline && (await isServing(place))) {
    const attempt = await enterPresence(connectionTo(place.socketDir)).catch(() => undefined);
    isBusy = attempt?.kind === 'busy';
    presence = attempt?.kind === 'held' ? attempt.presence : undefined;
    standing = presence === undefined ? undefined : await leavePresence(presence).catch(() => undefined);
    if (standing === undefined) {
      await sleep(POLL_MS);
    }
  }
  const postmaster = await readPostmaster(place.clusterDir);
  // A server that lets nobody in is used by nobody; whoever waits for it starts it again.
  if (postmaster?.isAlive === true && (standing === 'alone' || (standing === undefined && isBusy))) {
    await shutDown(postmaster.pid, log);
  } else if (postmaster?.isAlive === true && standing === undefined) {
    log('warn', 'left the embedded database running: it does not tell who uses it', { pid: postmaster.pid });
  }
  if (presence !== undefined) {
    closeQuietly(presence.client);
  }
}

async function isServing(place: ServerPlace): Promise<boolean> {
  return (await readPostmaster(place.clusterDir))?.isAlive === true;
}

async function shutDown(pid: number, log: EmbeddedPostgresOptions['log']): Promise<void> {
  signal(pid, 'SIGINT');
  if (await waitForEnd(pid, FAST_SHUTDOWN_MS)) {
    return;
  }
  log('warn', 'the embedded database does not stop; stopping it hard', { pid });
  signal(pid, 'SIGQUIT');
  if (!(await waitForEnd(pid, IMMEDIATE_SHUTDOWN_MS))) {
    log('error', 'the embedded database is still running', { pid });
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended by itself in between.
  }
}
