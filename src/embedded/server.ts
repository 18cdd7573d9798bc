import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, lchown, lstat, mkdir, open, readFile, stat, statfs, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from './account.ts';
import type { Binaries } from './binaries.ts';
import { diskFull, EmbeddedPostgresError, errorCode, OR_DATABASE_URL, saysDiskFull } from './error.ts';
import { asUser, cannotRun, isRunning, serverEnvironment, waitForEnd } from './process.ts';

/** The socket's name ends with this. Any number works, because the folder belongs to one cluster. */
export const PORT = 5432;

export type Log = (level: 'info' | 'warn' | 'error', message: string, details?: Record<string, unknown>) => void;

/** The settings needed to start one cluster's server. */
export interface ServerSetup {
  readonly binaries: Binaries;
  readonly account: Account;
  readonly dataDir: string;
  readonly clusterDir: string;
  readonly socketDir: string;
  readonly logFile: string;
  /** Settings that replace {@link SETTINGS}. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Passed on the command line, so that a cluster of an earlier version gets them too. Sized for one small machine. The
 * log stays free of customer data: no statements, and no details (which quote column values).
 */
const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '128MB',
  max_wal_size: '1GB',
  jit: 'off',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};

/**
 * Settings that cannot be replaced: no network, a private socket, messages in the language and place where we read
 * them.
 */
function fixedSettings(socketDir: string): Readonly<Record<string, string>> {
  return {
    listen_addresses: '',
    port: String(PORT),
    // This setting is a list of folders: quoted, so that a comma in the path does not separate.
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    logging_collector: 'off',
    log_destination: 'stderr',
    lc_messages: 'C',
  };
}

/** How one of our server processes ended. */
export type ServerEnding =
  /** The server can be started again at once: another process was faster, or it was told to stop. */
  | { readonly kind: 'again' }
  /** Processes of a killed server still hold its shared memory; they exit as soon as they notice. */
  | { readonly kind: 'orphans' }
  | { readonly kind: 'failed'; readonly error: EmbeddedPostgresError };

/** A postgres process that we started. */
export interface ServerProcess {
  readonly pid: number | undefined;
  /** How it ended; undefined while it runs. */
  ending(): Promise<ServerEnding | undefined>;
}

/**
 * Starts postgres in its own session, so that neither the terminal's Ctrl-C nor our death ends it; it does not keep our
 * event loop alive. `recycledPid` is the process id in a stale postmaster.pid if another program has that id now:
 * postgres would take that program for a running server, unless told otherwise through pg_ctl's variable.
 */
export async function launchServer(setup: ServerSetup, recycledPid: number | undefined): Promise<ServerProcess> {
  await rotateLog(setup.logFile);
  const log = await open(
    setup.logFile,
    constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    if (setup.account.switchUser) {
      await log.chown(setup.account.uid, setup.account.gid);
    }
    const logStart = (await log.stat()).size;
    const settings = { ...SETTINGS, ...setup.settings, ...fixedSettings(setup.socketDir) };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(setup.binaries.postgres, ['-D', setup.clusterDir, ...args], {
      cwd: '/',
      env: {
        ...serverEnvironment(),
        ...(recycledPid === undefined ? {} : { PG_GRANDPARENT_PID: String(recycledPid) }),
      },
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
      ...asUser(setup.account),
    });
    let failure: Error | undefined;
    let hasEnded = false;
    child.once('error', (error) => {
      failure = error;
      hasEnded = true;
    });
    child.once('exit', () => {
      hasEnded = true;
    });
    child.unref();
    return {
      pid: child.pid,
      async ending() {
        if (!hasEnded) return undefined;
        if (failure !== undefined) {
          return { kind: 'failed', error: cannotRun(setup.binaries.postgres, setup.account, failure) };
        }
        const ending = explainEnding(setup, child.exitCode, await readFrom(setup.logFile, logStart));
        // A full disk can swallow the very message about it.
        return ending.kind === 'failed' && (await hasNoRoom(setup))
          ? { kind: 'failed', error: diskFull(setup.clusterDir, ending.error) }
          : ending;
      },
    };
  } finally {
    await log.close();
  }
}

async function hasNoRoom(setup: ServerSetup): Promise<boolean> {
  const { bavail, bsize } = await statfs(setup.clusterDir);
  return bavail * bsize < 64 * 1024;
}

/** Exported for its test: rare endings are checked against real output of postgres. */
export function explainEnding(setup: ServerSetup, exitCode: number | null, output: string): ServerEnding {
  if (/lock file "[^"]*" (already exists|is empty)/.test(output)) return { kind: 'again' };
  if (output.includes('pre-existing shared memory block')) return { kind: 'orphans' };
  if (saysDiskFull(output)) return { kind: 'failed', error: diskFull(setup.clusterDir, new Error(output)) };
  if (exitCode === null || /received (fast|smart|immediate) shutdown request/.test(output)) return { kind: 'again' };
  const words =
    output.split('\n').findLast((line) => /FATAL|PANIC/.test(line)) ?? output.trim().split('\n').at(-1) ?? '';
  return {
    kind: 'failed',
    error: new EmbeddedPostgresError(
      `The embedded database does not start: ${words.replace(/^.*?(?=FATAL|PANIC)/, '').trim() || `exit code ${exitCode}`}. ` +
        `${setup.logFile} has more. Fix that, choose another DATA_DIR, ${OR_DATABASE_URL}.`,
      { cause: new Error(output) },
    ),
  };
}

/** The log stays shorter than twice this; one older file is kept beside it. */
const LOG_MAX_BYTES = 10 * 1024 * 1024;

/**
 * Moves a log that has grown too long to `<log>.1`. Copies and truncates, because a running server keeps the file open.
 */
export async function rotateLog(logFile: string): Promise<void> {
  const stats = await lstat(logFile).catch(() => undefined);
  if (stats === undefined || stats.size <= LOG_MAX_BYTES) return;
  // The limit matters more than the copy, which fails if an earlier one belongs to another user.
  await copyFile(logFile, `${logFile}.1`).catch(() => undefined);
  await truncate(logFile, 0);
}

async function readFrom(file: string, position: number): Promise<string> {
  const text = await readFile(file);
  return text.subarray(Math.min(position, text.length)).toString();
}

/** The longest path of a socket: sun_path without its final NUL byte. */
const SOCKET_PATH_MAX_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * The private folder of the socket: beside the cluster, or in /tmp if that path would be too long. Throws {@link
 * EmbeddedPostgresError} if another user's file is in its place.
 */
export async function prepareSocketDir(clusterDir: string, account: Account): Promise<string> {
  const beside = `${clusterDir}-socket`;
  const isShort = Buffer.byteLength(join(beside, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_MAX_BYTES;
  const hash = createHash('sha256').update(clusterDir).digest('hex').slice(0, 16);
  const dir = isShort ? beside : `/tmp/cointill-${account.uid}-${hash}`;
  try {
    await mkdir(dir, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  const stats = await lstat(dir);
  // In /tmp anybody can be first: a link, or another user's folder, is never trusted. A folder of root's was only half
  // created.
  const isOurs = stats.isDirectory() && (stats.uid === account.uid || (account.switchUser && stats.uid === 0));
  if (!isOurs) {
    throw new EmbeddedPostgresError(
      `${dir} is needed for the database's socket, but is not a folder of user ${account.name}. Remove it, choose a DATA_DIR with a shorter path, ${OR_DATABASE_URL}.`,
    );
  }
  if ((stats.mode & 0o777) !== 0o700) {
    await chmod(dir, 0o700);
  }
  if (stats.uid !== account.uid) {
    await lchown(dir, account.uid, account.gid);
  }
  return dir;
}

/** The content of a cluster's postmaster.pid. */
export interface Postmaster {
  readonly pid: number;
  /** Whether that process is this cluster's server; false after a kill -9. */
  readonly isAlive: boolean;
  /** Undefined in the first moments of a start. */
  readonly socketDir: string | undefined;
}

/**
 * Reads postmaster.pid: line 1 is the process id, line 5 the folder of the socket. Undefined if no server ran, or if it
 * ended properly.
 */
export async function readPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(clusterDir, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  if (!(pid > 0)) return undefined;
  return {
    pid,
    isAlive: (await isRunning(pid)) && (await servesCluster(pid, clusterDir)),
    socketDir: lines[4] || undefined,
  };
}

/**
 * Process ids are reused, in containers very soon: a postmaster is recognised by its working directory, the cluster's
 * folder.
 */
async function servesCluster(pid: number, clusterDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  try {
    const [where, cluster] = [await stat(`/proc/${pid}/cwd`), await stat(clusterDir)];
    return where.dev === cluster.dev && where.ino === cluster.ino;
  } catch {
    // Root may lack the right to inspect other users' processes (in a container): then the program's name decides.
    const program = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
    return program.startsWith('postgres');
  }
}

/**
 * How long a fast shutdown (SIGINT) may take before an immediate one (SIGQUIT, recovery at the next start), and how
 * long that may take.
 */
const FAST_SHUTDOWN_MS = 8_000;

const IMMEDIATE_SHUTDOWN_MS = 6_000;

/** Stops a server: fast, and if that takes too long, immediately. */
export async function shutDown(pid: number, log: Log): Promise<void> {
  signal(pid, 'SIGINT');
  if (await waitForEnd(pid, FAST_SHUTDOWN_MS)) return;
  log('warn', 'the embedded database does not stop; shutting it down immediately', { pid });
  if (!(await killServer(pid))) {
    log('error', 'the embedded database is still running', { pid });
  }
}

/** Ends a server at once, whatever it is doing and whichever processes use it; false if it goes on running. */
export async function killServer(pid: number): Promise<boolean> {
  signal(pid, 'SIGQUIT');
  return waitForEnd(pid, IMMEDIATE_SHUTDOWN_MS);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has ended by itself meanwhile.
  }
}
