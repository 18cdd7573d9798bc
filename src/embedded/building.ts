import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  statfs,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ownerAt, readMachine, userName, type Owner } from './account.ts';
import { EmbeddedPostgresError, errorCode, fileFault, isOfFullDisk, reasonOf, saysDiskFull } from './error.ts';
import { exists, isOccupied, syncFolder, unfinishedName } from './files.ts';
import { isInUse } from './launch-lock.ts';
import { ARRIVED_NAME } from './moved.ts';
import { LOG_NAME, startEmbeddedPostgres, type EmbeddedPostgresOptions } from './postgres.ts';
import type { EmbeddedConnection } from './usage-lock.ts';
import { isRunning } from './process.ts';
import { readPostmaster, killServer, type Log } from './server.ts';

/** Settings for a database that nobody else uses and that counts only once it is complete. */
const BUILDING_SETTINGS: Readonly<Record<string, string>> = {
  // Rows copied into a table of the same transaction are synced to disk at its end instead of being logged first.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  full_page_writes: 'off',
  shared_buffers: '256MB',
};

/** A temporary database need not survive a crash: it does not use disk bandwidth that durable data need. */
const TEMPORARY_SETTINGS = { ...BUILDING_SETTINGS, fsync: 'off' };

/** A database in a separate folder that does not have its final name yet. */
export interface Building {
  readonly connection: EmbeddedConnection;
  /** The DATA_DIR of the database until it is renamed. */
  readonly dataDir: string;
}

/** The steps of a move around the moment in which the new database gets its name, and counts. */
export interface Naming {
  /** Called when the database is complete and on disk. */
  before(unfinished: string): Promise<void>;
  /** Called if `before` or the naming failed; may rename the folder, which is removed afterwards. */
  failed(unfinished: string): Promise<void>;
}

/**
 * Creates an embedded database beside `dataDir`, lets `work` fill it, stops it, syncs it to disk and renames it. If it
 * fails or crashes before that, there is no `dataDir`; the next process removes the remains of a killed one.
 *
 * @throws EmbeddedPostgresError if `dataDir` exists, or if it cannot be created
 */
export async function buildDataDir<Result>(
  dataDir: string,
  log: Log,
  work: (building: Building) => Promise<Result>,
  naming?: Naming,
): Promise<Result> {
  await checkFree(dataDir);
  await removeKilled(dataDir);
  const finish = async (unfinished: string): Promise<void> => {
    await giveToServerUser(unfinished);
    await syncFolder(unfinished);
    try {
      await naming?.before(unfinished);
      await rename(unfinished, dataDir);
    } catch (error) {
      await naming?.failed(unfinished);
      throw isOccupied(error) || errorCode(error) === 'ENOTDIR' ? madeMeanwhile(dataDir, error) : error;
    }
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
    `Something else was put into ${dataDir} meanwhile, perhaps by another command, and stays as it is. Nothing was written there. Look at its content, or name a folder that does not exist yet.`,
    { cause },
  );
}

/** Creates an embedded database in a temporary folder below `home`, lets `work` use it, and removes it. */
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
    finish: removeDataDir,
    settings: TEMPORARY_SETTINGS,
  });
}

/** `wayOut` says what an operator can do if the place cannot be used. */
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
    /** The owner of files that root creates; null: as for any embedded database. */
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
    // The server's user must be able to enter, whatever our umask is.
    await chmod(unfinished, 0o755);
    // A server that died loses the data of this work: the work has to fail, not go on with the next server.
    const embedded = await startEmbeddedPostgres({ dataDir: unfinished, log, owner, settings, isRestarted: false });
    let result: Result;
    try {
      result = await work({ connection: embedded.connection, dataDir: unfinished });
    } catch (error) {
      // The files are removed anyway: an orderly shutdown would first write everything to disk.
      await embedded.kill();
      throw error;
    }
    await embedded.stop();
    await finish(unfinished);
    return result;
  } catch (error) {
    // Checked before the disk has room again. The log of a server that died says why, unless there was no room for that
    // either.
    const isFull =
      isOfFullDisk(error) || (await logSaysFull(unfinished)) || (isOfLostServer(error) && (await hasNoRoom(home)));
    await removeDataDir(unfinished);
    if (!isFull) throw error;
    throw new EmbeddedPostgresError(
      `The disk that holds ${home} is full: the whole database must fit there. Free some space, or ${wayOut}, on a larger disk.`,
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
    ? 'Run the command as root, which hands the restored files over to the user of the service'
    : 'Let this user write there';
  return new EmbeddedPostgresError(`No folder can be made in ${home} (${reason}). ${way}, or ${wayOut}.`, {
    cause: error,
  });
}

/**
 * Changes the owner of root's files, including the key, to the database server's user: the service runs as that user,
 * or as root, and must be able to read them.
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
    /^Connection terminated|connection error and is not queryable/.test(reasonOf(error))
  );
}

/** Less than one log file of the server. */
const LITTLE_BYTES = 16 * 1024 * 1024;

async function logSaysFull(dataDir: string): Promise<boolean> {
  return saysDiskFull(await readFile(join(dataDir, LOG_NAME), 'utf8').catch(() => ''));
}

async function hasNoRoom(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => null);
  return room !== null && room.bavail * room.bsize < LITTLE_BYTES;
}

async function checkFree(dataDir: string): Promise<void> {
  if (!(await exists(dataDir))) return;
  const names = await readdir(dataDir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOTDIR') return ['a file'];
    if (errorCode(error) === 'EACCES') return ['files that this user may not see'];
    throw error;
  });
  if (names.length === 0) return;
  throw new EmbeddedPostgresError(
    `${dataDir} is not empty (${names.slice(0, 3).join(', ')}), and Cointill never writes into existing data there. Name a folder that does not exist yet.`,
  );
}

/** Removes the remains of killed processes beside `dataDir`, including servers that still run there. */
async function removeKilled(dataDir: string): Promise<void> {
  const home = dirname(dataDir);
  const prefix = `${basename(dataDir)}.unfinished-`;
  const names = await readdir(home).catch(() => []);
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    const leftover = join(home, name);
    const pid = Number.parseInt(name.slice(prefix.length), 10);
    // Every container may have the same process ids, also this one's.
    const isMade = (pid !== process.pid && (await isRunning(pid))) || isInUse(leftover);
    // A folder that a killed move completed may be the database that counts: the next start on the old one decides.
    const isArrived = !name.endsWith('.abandoned') && (await exists(join(leftover, ARRIVED_NAME)));
    if (!isMade && !isArrived && (await isOwn(leftover))) await removeDataDir(leftover);
  }
}

/** In a folder like /tmp anybody can create a folder of that name with a link to files that are not ours to remove. */
async function isOwn(folder: string): Promise<boolean> {
  const stats = await lstat(folder).catch(() => null);
  return stats !== null && stats.isDirectory() && stats.uid === process.getuid?.();
}

/** Removes a data folder together with its cluster and the server running on it. */
export async function removeDataDir(dataDir: string): Promise<void> {
  // The cluster may be elsewhere: in a place that the server's user can reach.
  const cluster = await realpath(join(dataDir, 'postgres')).catch(() => null);
  if (cluster !== null) {
    const server = await readPostmaster(cluster);
    if (server?.isAlive === true) {
      await killServer(server.pid);
    }
    await rm(cluster, { recursive: true, force: true, maxRetries: 3 });
    await rm(`${cluster}-socket`, { recursive: true, force: true });
  }
  const isThere = await stat(dataDir).catch(() => null);
  if (isThere !== null) await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
}
