import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from './error.ts';
import { exists } from './files.ts';
import { isRunning } from './process.ts';
import { joinServer, StopRequested, type JoinedServer } from './join.ts';
import { rotateLog, killServer, type Log, type ServerSetup } from './server.ts';
import { stopUnlessUsed } from './stop.ts';
import { closeQuietly, type EmbeddedConnection } from './usage-lock.ts';

/** If the server dies, the session of our lock ends at once; polling finds what the session can miss. */
const WATCH_INTERVAL_MS = 500;

/** A server that does not restart is reported at once, and then once in this time. */
const REPORT_EVERY_MS = 60_000;

/** A server that is started again when it dies. */
export interface EmbeddedPostgres {
  /** For a `pg` pool or client. Does not change when the server is started again. */
  readonly connection: EmbeddedConnection;
  /** The server's current process id. */
  postmasterPid(): number;
  /** Resolves when the server accepts connections: at once, or after a crash when it is up again. */
  ready(): Promise<void>;
  /** Stops the server unless another Cointill process (the service or a command) still uses it. Can be called again. */
  stop(): Promise<void>;
  /** Ends the server at once instead, even if others use it: it writes nothing more to disk. */
  kill(): Promise<void>;
}

/** Restarts a server that dies, until it is told to stop; with `isRestarted` false it is not restarted. */
export function supervise(given: ServerSetup, first: JoinedServer, log: Log, isRestarted = true): EmbeddedPostgres {
  // Pools know the first server's socket, so a restarted server must use the same one.
  const setup: ServerSetup = { ...given, socketDir: first.connection.host };
  const stopping = new AbortController();
  let current = first;
  let recovery: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const recover = async (lost: JoinedServer): Promise<void> => {
    if (isRestarted && lost === current && !stopping.signal.aborted) {
      recovery ??= (async () => {
        const next = await joinAgain(setup, lost, stopping.signal, log);
        recovery = undefined;
        if (next !== undefined) {
          current = next;
          void recoverAtEnd(next);
        }
      })();
    }
    await recovery;
  };
  const recoverAtEnd = async (joined: JoinedServer): Promise<void> => {
    await joined.lock.ended;
    await recover(joined);
  };
  const check = async (checked: JoinedServer): Promise<void> => {
    if (!(await isRunning(checked.postmasterPid))) {
      await recover(checked);
    }
  };
  let isGone = false;
  const checkFolder = async (): Promise<void> => {
    const wasGone = isGone;
    isGone = !(await exists(setup.clusterDir));
    if (isGone && !wasGone && !stopping.signal.aborted) log('error', folderGone(setup.clusterDir));
  };
  const watch = setInterval(() => {
    void check(current);
    checkFolder().catch(() => undefined);
    rotateLog(setup.logFile).catch(() => undefined);
  }, WATCH_INTERVAL_MS);
  watch.unref();
  void recoverAtEnd(first);

  const end = (work: () => Promise<void>): Promise<void> => {
    stopped ??= (async () => {
      clearInterval(watch);
      stopping.abort();
      await recovery;
      await work();
    })();
    return stopped;
  };

  return {
    connection: first.connection,
    postmasterPid: () => current.postmasterPid,
    async ready() {
      await check(current);
      await recovery;
    },
    stop: () => end(() => stopUnlessUsed(setup, current, log)),
    kill: () =>
      end(async () => {
        await killServer(current.postmasterPid);
        closeQuietly(current.lock.client);
      }),
  };
}

function folderGone(clusterDir: string): string {
  return (
    `the folder of the embedded database is gone: ${clusterDir}. The database ends within a minute. Stop Cointill, bring the folder back ` +
    'if it was moved, or restore a backup, and start again'
  );
}

/**
 * Retries as long as this process lives: a disk that is full now may get room again. Undefined if a stop was requested.
 */
async function joinAgain(
  setup: ServerSetup,
  lost: JoinedServer,
  stopping: AbortSignal,
  log: Log,
): Promise<JoinedServer | undefined> {
  const lostAt = performance.now();
  log('warn', 'lost the embedded database; restarting it', { pid: lost.postmasterPid });
  closeQuietly(lost.lock.client);
  let reportedAt = -Infinity;
  let failures = 0;
  for (let pauseMs = 100; !stopping.aborted; pauseMs = Math.min(pauseMs * 2, 5_000)) {
    try {
      const joined = await joinServer(setup, stopping, log);
      log('info', 'the embedded database is back', {
        pid: joined.postmasterPid,
        duration_ms: Math.round(performance.now() - lostAt),
      });
      return joined;
    } catch (error) {
      if (error instanceof StopRequested) return undefined;
      failures += 1;
      if (performance.now() - reportedAt >= REPORT_EVERY_MS) {
        reportedAt = performance.now();
        log('error', 'the embedded database does not restart', { error: reasonOf(error), times: failures });
        failures = 0;
      }
    }
    await sleep(pauseMs, undefined, { ref: false, signal: stopping }).catch(() => undefined);
  }
  return undefined;
}
