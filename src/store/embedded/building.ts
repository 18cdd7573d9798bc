import { chmod, chown, lchown, lstat, mkdir, readdir, realpath, rename, rm, stat, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { ownerAt, readMachine, userName, type Owner } from './account.ts';
import { EmbeddedPostgresError, errorCode, fileFault, isOfFullDisk, reasonOf } from './error.ts';
import { exists, isOccupied, syncFolder, unfinishedName } from './files.ts';
import { startEmbeddedPostgres, type EmbeddedPostgresOptions } from './postgres.ts';
import type { EmbeddedConnection } from './usage-lock.ts';
import { isRunning, waitForEnd } from './process.ts';
import { readPostmaster, type Log } from './server.ts';

/** For a database that nobody else uses and that counts only once it is complete. */
const BUILDING_SETTINGS: Readonly<Record<string, string>> = {
  // What is copied into a table of the same transaction is put on disk at its end instead of in the log first.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  full_page_writes: 'off',
  shared_buffers: '256MB',
};

/** What is removed again need not outlive the machine: its disk is left to those whose data does. */
const TEMPORARY_SETTINGS = { ...BUILDING_SETTINGS, fsync: 'off' };

const STOP_MS = 10_000;

/** A database in a folder of its own that is not what it will be called yet. */
export interface Building {
  readonly connection: EmbeddedConnection;
  /** Its DATA_DIR, until then. */
  readonly dataDir: string;
}

/**
 * Makes an embedded database beside `dataDir`, lets `work` fill it, stops it, puts all of it on disk, and gives it its name.
 * A fault or a crash before that leaves no `dataDir`; what a killed one left behind is removed by the next.
 *
 * @throws EmbeddedPostgresError when there is something at `dataDir`, or it cannot be made
 */
export async function buildDataDir<Result>(
  dataDir: string,
  log: Log,
  work: (building: Building) => Promise<Result>,
): Promise<Result> {
  await checkFree(dataDir);
  await removeKilled(dataDir);
  const finish = async (unfinished: string): Promise<void> => {
    await giveToServerUser(unfinished);
    await syncFolder(unfinished);
    await rename(unfinished, dataDir).catch((error: unknown) => {
      throw isOccupied(error) || errorCode(error) === 'ENOTDIR' ? madeMeanwhile(dataDir, error) : error;
    });
    await syncFolder(dirname(dataDir));
  };
  const owner = await ownerAt(dataDir);
  return inUnfinished(unfinishedName(dataDir), 'choose another folder with --data-dir', {
    log,
    work,
    finish,
    settings: BUILDING_SETTINGS,
    owner,
  });
}

function madeMeanwhile(dataDir: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `Something else was put into ${dataDir} meanwhile, perhaps by another restore, and stays as it is. Nothing of this backup was restored there. Look what is in it, or name a folder that does not exist yet.`,
    { cause },
  );
}

/** Makes an embedded database in a temporary folder below `home`, lets `work` use it, and removes it. */
export async function inTemporaryDataDir<Result>(
  home: string,
  log: Log,
  work: (building: Building) => Promise<Result>,
): Promise<Result> {
  const parent = await realpath(home).catch((error: unknown) => {
    throw new EmbeddedPostgresError(
      `There is no folder ${home} for temporary files (${reasonOf(error)}). Make it, or set TMPDIR to another one.`,
      { cause: error },
    );
  });
  const dataDir = join(parent, 'cointill-check');
  await removeKilled(dataDir);
  return inUnfinished(unfinishedName(dataDir), 'set TMPDIR to another folder', {
    log,
    work,
    finish: remove,
    settings: TEMPORARY_SETTINGS,
  });
}

/** `wayOut` is what an operator may do where the place is of no use. */
async function inUnfinished<Result>(
  unfinished: string,
  wayOut: string,
  {
    log,
    work,
    finish,
    settings,
    owner = null,
  }: {
    readonly log: Log;
    readonly work: (building: Building) => Promise<Result>;
    readonly finish: (unfinished: string) => Promise<void>;
    readonly settings: EmbeddedPostgresOptions['settings'] & {};
    /** Whose it becomes when root makes it; null: as for any embedded database. */
    readonly owner?: Owner | null;
  },
): Promise<Result> {
  const home = dirname(unfinished);
  try {
    try {
      await mkdir(unfinished);
    } catch (error) {
      throw await notMade(home, wayOut, error);
    }
    // The server's user has to get in, whatever our umask is.
    await chmod(unfinished, 0o755);
    const embedded = await startEmbeddedPostgres({ dataDir: unfinished, log, owner, settings });
    let result: Result;
    try {
      result = await work({ connection: embedded.connection, dataDir: unfinished });
    } catch (error) {
      // All of it is removed: a server that ends as usual would put it on disk first.
      quit(embedded.postmasterPid());
      throw error;
    } finally {
      await embedded.stop();
    }
    await finish(unfinished);
    return result;
  } catch (error) {
    // Before it is emptied again. A server that could not write its log is gone, without having said why.
    const isFull = isOfFullDisk(error) || (isOfLostServer(error) && (await hasNoRoom(home)));
    await remove(unfinished);
    if (!isFull) throw error;
    throw new EmbeddedPostgresError(
      `The disk that holds ${home} is full: the whole database has to find room there. Free some space, or ${wayOut}, on a larger disk.`,
      { cause: error },
    );
  }
}

async function notMade(home: string, wayOut: string, error: unknown): Promise<EmbeddedPostgresError> {
  const isDenied = errorCode(error) === 'EACCES';
  const reason = isDenied
    ? `EACCES: user ${userName(await readMachine(), process.getuid?.() ?? 0)} may not write there`
    : (fileFault(error) ?? reasonOf(error));
  const way = isDenied
    ? 'Run the command as root, which gives what it restores to the user of the service'
    : 'Let this user write there';
  return new EmbeddedPostgresError(`No folder can be made in ${home} (${reason}). ${way}, or ${wayOut}.`, {
    cause: error,
  });
}

/**
 * What root has made goes to the user that the database server runs as, the key with it: the service runs as that user, or as root
 * itself, and has to read it.
 */
async function giveToServerUser(dataDir: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(join(dataDir, 'postgres'));
  for (const name of await readdir(dataDir)) await lchown(join(dataDir, name), uid, gid);
  await chown(dataDir, uid, gid);
}

function isOfLostServer(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return (
    /^(?:57P0[1-3]|ECONNRESET|EPIPE|ENOENT|ECONNREFUSED)$/.test(code) ||
    reasonOf(error).startsWith('Connection terminated')
  );
}

/** Less than one file of a server's log. */
const LITTLE_BYTES = 16 * 1024 * 1024;

async function hasNoRoom(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => null);
  return room !== null && room.bavail * room.bsize < LITTLE_BYTES;
}

async function checkFree(dataDir: string): Promise<void> {
  if (!(await exists(dataDir))) return;
  const names = await readdir(dataDir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOTDIR') return ['a file'];
    if (errorCode(error) === 'EACCES') return ['what this user may not see'];
    throw error;
  });
  if (names.length === 0) return;
  throw new EmbeddedPostgresError(
    `There is something in ${dataDir} already (${names.slice(0, 3).join(', ')}), and nothing is ever restored onto what is there. Name a folder that does not exist yet.`,
  );
}

/** Removes what killed processes have left beside `dataDir`, servers that still run there included. */
async function removeKilled(dataDir: string): Promise<void> {
  const home = dirname(dataDir);
  const prefix = `${basename(dataDir)}.unfinished-`;
  const names = await readdir(home).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    const leftover = join(home, name);
    const isMade = await isRunning(Number.parseInt(name.slice(prefix.length), 10));
    if (!isMade && (await isOwn(leftover))) await remove(leftover);
  }
}

/** In a folder like /tmp anybody can lay out one of that name, whose link leads where we would remove what is not ours. */
async function isOwn(folder: string): Promise<boolean> {
  const stats = await lstat(folder).catch(() => null);
  return stats !== null && stats.isDirectory() && stats.uid === process.getuid?.();
}

/** Removes a data folder with the cluster that it leads to, and the server on it. */
async function remove(dataDir: string): Promise<void> {
  // It may lie elsewhere: where the server's user could reach it.
  const cluster = await realpath(join(dataDir, 'postgres')).catch(() => null);
  if (cluster !== null) {
    const server = await readPostmaster(cluster);
    if (server?.isAlive === true) {
      quit(server.pid);
      await waitForEnd(server.pid, STOP_MS);
    }
    await rm(cluster, { recursive: true, force: true, maxRetries: 3 });
    await rm(`${cluster}-socket`, { recursive: true, force: true });
  }
  const isThere = await stat(dataDir).catch(() => null);
  if (isThere !== null) await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
}

/** Ends a server at once, whatever it is about. */
function quit(pid: number): void {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It ended by itself in between.
  }
}
