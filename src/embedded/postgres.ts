import { dirname, join } from 'node:path';

import { chooseAccount, readMachine, type Owner } from './account.ts';
import { findBinariesPackage, findEarlierPackage, prepareBinaries } from './binaries.ts';
import { findCluster, majorOf, openDataDir, prepareCluster } from './cluster.ts';
import { diskFull, EmbeddedPostgresError, errorCode, fileFault, isDiskFullError, OR_DATABASE_URL } from './error.ts';
import { unfinishedBeside } from './files.ts';
import { joinServer } from './join.ts';
import { prepareSocketDir, type Log, type ServerSetup } from './server.ts';
import { supervise, type EmbeddedPostgres } from './supervise.ts';

/** The server's log in a DATA_DIR. */
export const LOG_NAME = 'postgres.log';

export interface EmbeddedPostgresOptions {
  /** The absolute DATA_DIR; the cluster is in its folder `postgres`, or at the target of the link `postgres`. */
  readonly dataDir: string;
  readonly log: Log;
  /**
   * PostgreSQL settings that replace ours. They apply if this process starts the server, not if it joins a running one.
   */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder for programs and data that the server's user cannot reach elsewhere. Default: /var/lib/cointill. */
  readonly systemDir?: string;
  /** The owner of a new cluster created by root. Default: the user that is chosen for the service. */
  readonly owner?: Owner | null;
  /** Whether a server that dies is started again. Default: true. */
  readonly isRestarted?: boolean;
  /**
   * Whether a cluster of an earlier major version is started with that version's programs, if they are in DATA_DIR.
   * Default: false.
   */
  readonly mayBeEarlier?: boolean;
}

/**
 * Starts the PostgreSQL server of a DATA_DIR, or joins the one already running there (of another Cointill process, or
 * left by a killed one), and supervises it: a server that dies is started again, until {@link EmbeddedPostgres.stop},
 * unless the options say otherwise.
 *
 * The server is a child process on a Unix socket in a private folder, with fsync on. It deliberately outlives this
 * process, so that after a kill the service finds its database running, and it does not keep the event loop alive.
 *
 * Throws {@link EmbeddedPostgresError} if the operator must fix something first.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const startedAt = performance.now();
  try {
    const setup = await prepareServer(options);
    const joined = await joinServer(setup, new AbortController().signal, options.log);
    options.log('info', joined.isAdopted ? 'joined the running embedded database' : 'started the embedded database', {
      pid: joined.postmasterPid,
      cluster: setup.clusterDir,
      log: setup.logFile,
      duration_ms: Math.round(performance.now() - startedAt),
    });
    return supervise(setup, joined, options.log, options.isRestarted);
  } catch (error) {
    throw isDiskFullError(error) ? diskFull(options.dataDir, error) : (unusable(options.dataDir, error) ?? error);
  }
}

/** The error for one of our files that could not be written, naming DATA_DIR; undefined for other errors. */
function unusable(dataDir: string, error: unknown): EmbeddedPostgresError | undefined {
  const fault = fileFault(error);
  // A missing file has nothing to do with write permission.
  if (fault === undefined || errorCode(error) === 'ENOENT') return undefined;
  const file = error instanceof Error && 'path' in error && typeof error.path === 'string' ? `${error.path}, ` : '';
  return new EmbeddedPostgresError(
    `DATA_DIR ${dataDir} cannot be used (${file}${fault}). Choose a folder that this user may write, ${OR_DATABASE_URL}.`,
    { cause: error },
  );
}

/** Prepares everything but the server itself: programs, cluster and folders that its user can reach. */
async function prepareServer(options: EmbeddedPostgresOptions): Promise<ServerSetup> {
  const machine = await readMachine();
  const systemDir = options.systemDir ?? '/var/lib/cointill';
  const dataDir = await openDataDir(options.dataDir);
  const home = { dataDir, systemDir };
  const existing = await findCluster(home);
  const unfinished = existing === undefined ? await unfinishedBeside(dataDir) : null;
  if (unfinished !== null) {
    throw new EmbeddedPostgresError(
      `A move or a restore into ${dataDir} is running or was interrupted. Run its command again, which continues it or begins anew. To begin with an empty database instead, remove ${unfinished}, ${OR_DATABASE_URL}.`,
    );
  }
  const { owner = null } = options;
  const account = chooseAccount(machine, existing ?? (owner === null ? undefined : { dir: dataDir, owner }));
  const major = options.mayBeEarlier === true && existing !== undefined ? await majorOf(existing) : null;
  const earlier = major === null ? null : await findEarlierPackage(dataDir, major);
  const found = earlier ?? (await findBinariesPackage(import.meta.dirname));
  const binaries = await prepareBinaries(found, account, account.switchUser ? systemDir : dataDir);
  const clusterDir = await prepareCluster(home, existing, account, binaries);
  if (existing === undefined && dirname(clusterDir) !== dataDir) {
    options.log('warn', 'the new database is outside DATA_DIR, which its user cannot reach', {
      cluster: clusterDir,
      data_dir: dataDir,
    });
  }
  return {
    binaries,
    account,
    dataDir,
    clusterDir,
    socketDir: await prepareSocketDir(clusterDir, account),
    logFile: join(dataDir, LOG_NAME),
    settings: options.settings ?? {},
  };
}
