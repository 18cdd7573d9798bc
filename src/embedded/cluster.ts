import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { firstClosedFolder } from './account.ts';
import type { Account, Owner } from './account.ts';
import { installingEarlier, type Binaries } from './binaries.ts';
import {
  diskFull,
  EmbeddedPostgresError,
  errorCode,
  fileFault,
  isDiskFullError,
  OR_DATABASE_URL,
  reasonOf,
  saysDiskFull,
} from './error.ts';
import { exists, isOccupied, makeFolders, removeLeftovers, syncFolder, unfinishedName } from './files.ts';
import { withLaunchLock } from './launch-lock.ts';
import { asUser, cannotRun, isRunning, serverEnvironment } from './process.ts';

/** The database superuser, and the only role in a new cluster of the embedded server. */
export const CLUSTER_USER = 'cointill';

/** A cluster created by an earlier start. */
export interface ExistingCluster {
  readonly dir: string;
  readonly owner: Owner;
}

/** The places where clusters can be. */
export interface ClusterHome {
  /** Absolute, existing, free of symbolic links. */
  readonly dataDir: string;
  /** Used if the server's user cannot reach `dataDir`: /var/lib/cointill. */
  readonly systemDir: string;
}

/**
 * Creates `dataDir` if it is missing and returns its path without symbolic links, so that every process uses the same
 * name. Throws {@link EmbeddedPostgresError} if that is not possible.
 */
export async function openDataDir(dataDir: string): Promise<string> {
  try {
    await makeFolders(dataDir);
    return await realpath(dataDir);
  } catch (error) {
    if (isDiskFullError(error)) throw diskFull(dataDir, error);
    throw new EmbeddedPostgresError(
      `DATA_DIR ${dataDir} cannot be created (${fileFault(error) ?? reasonOf(error)}). Choose a folder that this user may write, ${OR_DATABASE_URL}.`,
      { cause: error },
    );
  }
}

/**
 * Finds the cluster of a DATA_DIR: `dataDir/postgres`, which is the cluster itself or a link to it; otherwise the place
 * where it would have been put (a crash between creating a cluster there and linking it must not lose it). Throws
 * {@link EmbeddedPostgresError} if the link's target is gone: starting with an empty database instead would look like
 * the loss of every payment.
 */
export async function findCluster(home: ClusterHome): Promise<ExistingCluster | undefined> {
  const inDataDir = join(home.dataDir, 'postgres');
  if (!(await exists(inDataDir))) {
    const relocated = relocatedDir(home);
    if (!(await exists(relocated))) return undefined;
    await linkCluster(relocated, inDataDir);
    return { dir: relocated, owner: await stat(relocated) };
  }
  let dir;
  try {
    dir = await realpath(inDataDir);
  } catch (error) {
    const target = resolve(home.dataDir, await readlink(inDataDir).catch(() => ''));
    throw new EmbeddedPostgresError(
      `${inDataDir} links to the database in ${target}, which cannot be opened (${errorCode(error) ?? reasonOf(error)}). ` +
        `Bring that folder back, remove the link to begin with an empty database, ${OR_DATABASE_URL}.`,
      { cause: error },
    );
  }
  return { dir, owner: await stat(dir) };
}

/** Whether a process is creating the cluster of a DATA_DIR at this moment: a first start that has just begun. */
export async function isClusterInTheMaking(dataDir: string): Promise<boolean> {
  for (const name of await readdir(dataDir).catch((): string[] => [])) {
    const pid = /^postgres\.unfinished-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && (await isRunning(Number(pid)))) return true;
  }
  return false;
}

/** The place of the cluster of a DATA_DIR that the server's user cannot reach. */
function relocatedDir(home: ClusterHome): string {
  const hash = createHash('sha256').update(home.dataDir).digest('hex').slice(0, 16);
  return join(home.systemDir, 'clusters', hash);
}

/**
 * The folder of a complete cluster that the account can use: the existing one, checked, or a new one. Throws
 * {@link EmbeddedPostgresError} if the account cannot reach it, it is of another version, or it cannot be created.
 */
export async function prepareCluster(
  home: ClusterHome,
  existing: ExistingCluster | undefined,
  account: Account,
  binaries: Binaries,
): Promise<string> {
  if (existing !== undefined) {
    await removeLeftovers(existing.dir);
    await checkReachable(existing.dir, account);
    if (!(await isEmptyFolder(existing.dir))) {
      await checkExisting(home.dataDir, existing, account, binaries.major);
      return existing.dir;
    }
  }
  const dir = existing?.dir ?? (await chooseDir(home, account));
  await withLaunchLock(home.dataDir, () => makeCluster(dir, account, binaries));
  const inDataDir = join(home.dataDir, 'postgres');
  if (dir !== inDataDir) await linkCluster(dir, inDataDir);
  return dir;
}

async function checkReachable(dir: string, account: Account): Promise<void> {
  const closed = account.switchUser ? await firstClosedFolder(dirname(dir), account) : undefined;
  if (closed !== undefined) {
    throw new EmbeddedPostgresError(
      `The database in ${dir} has to be served by user ${account.name} (PostgreSQL refuses root), and that user may not enter ${closed}. ` +
        `Let it pass (chmod o+x ${closed}), move DATA_DIR to a folder that it can reach, ${OR_DATABASE_URL}.`,
    );
  }
}

/** The major version of PostgreSQL that made a cluster; null: its folder does not say. */
export async function majorOf({ dir }: ExistingCluster): Promise<number | null> {
  const version = await readFile(join(dir, 'PG_VERSION'), 'utf8').catch(() => '');
  const major = Number.parseInt(version, 10);
  return major > 0 ? major : null;
}

async function checkExisting(
  dataDir: string,
  existing: ExistingCluster,
  account: Account,
  major: number,
): Promise<void> {
  const { dir } = existing;
  const version = await readFile(join(dir, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    throw new EmbeddedPostgresError(
      `${dir} holds no PostgreSQL database that this process can read (PG_VERSION: ${errorCode(error) ?? reasonOf(error)}). ` +
        `Move its content elsewhere, choose another DATA_DIR, ${OR_DATABASE_URL}.`,
      { cause: error },
    );
  });
  if (Number.parseInt(version, 10) !== major) throw otherVersion(dataDir, version.trim(), major);
  if (account.switchUser && existing.owner.uid !== account.uid) {
    await chownTree(dir, account);
  }
}

function otherVersion(dataDir: string, version: string, major: number): EmbeddedPostgresError {
  const given = Number.parseInt(version, 10);
  const install = installingEarlier(dataDir, given);
  const wayOut =
    given > major
      ? 'Run the newer Cointill that made it, or choose another DATA_DIR'
      : install === null
        ? 'With the Cointill that made it, move it to a PostgreSQL server of your own: cointill move --to postgres://…'
        : `Install the programs of PostgreSQL ${given} beside it with: ${install} and then move it into a new folder with: cointill move --data-dir NEW`;
  return new EmbeddedPostgresError(
    `The database in ${dataDir} is of PostgreSQL ${version}; this Cointill brings PostgreSQL ${major}, which cannot read it. ${wayOut}`,
  );
}

async function chooseDir(home: ClusterHome, account: Account): Promise<string> {
  const closed = account.switchUser ? await firstClosedFolder(home.dataDir, account) : undefined;
  if (closed === undefined) return join(home.dataDir, 'postgres');
  const relocated = relocatedDir(home);
  const clusters = dirname(relocated);
  let obstacle;
  try {
    await mkdir(clusters, { recursive: true, mode: 0o755 });
    const closedToo = await firstClosedFolder(await realpath(clusters), account);
    obstacle = closedToo === undefined ? undefined : `it may not enter ${closedToo} either`;
  } catch (error) {
    if (isDiskFullError(error)) throw diskFull(clusters, error);
    obstacle = `${clusters} cannot be created either (${errorCode(error) ?? reasonOf(error)})`;
  }
  if (obstacle === undefined) return relocated;
  throw new EmbeddedPostgresError(
    `PostgreSQL has to run as user ${account.name} (it refuses root), and that user may not enter ${closed}, so it cannot keep its data in ` +
      `DATA_DIR ${home.dataDir}; ${obstacle}. Move DATA_DIR to a folder that ${account.name} can reach, let it pass (chmod o+x ${closed}), ${OR_DATABASE_URL}.`,
  );
}

/**
 * Creates the cluster, unless another process has done so, under another name and renames it, so that an incomplete one
 * never counts. The first to rename wins.
 */
async function makeCluster(dir: string, account: Account, binaries: Binaries): Promise<void> {
  if ((await exists(dir)) && !(await isEmptyFolder(dir))) return;
  const home = dirname(dir);
  const unfinished = unfinishedName(dir);
  try {
    await removeLeftovers(dir);
    await mkdir(unfinished, { mode: 0o700 });
  } catch (error) {
    if (isDiskFullError(error)) throw diskFull(home, error);
    throw new EmbeddedPostgresError(
      `The database cannot be created in ${home} (${fileFault(error) ?? reasonOf(error)}). Make that folder writable for this user, choose another DATA_DIR, ${OR_DATABASE_URL}.`,
      { cause: error },
    );
  }
  try {
    if (account.switchUser) await chown(unfinished, account.uid, account.gid);
    await runInitdb(unfinished, home, account, binaries);
    await rename(unfinished, dir);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!isOccupied(error)) throw error;
  }
  await syncFolder(home);
}

/** initdb syncs its files itself; data checksums are its default. */
async function runInitdb(dir: string, home: string, account: Account, binaries: Binaries): Promise<void> {
  const args = [
    '-D',
    dir,
    '-U',
    CLUSTER_USER,
    '--auth-local=trust',
    '--auth-host=reject',
    '--encoding=UTF8',
    '--locale=C',
  ];
  const { code, output } = await new Promise<{ code: number | null; output: string }>((done, fail) => {
    const child = spawn(binaries.initdb, args, {
      cwd: '/',
      env: serverEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      ...asUser(account),
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.once('error', (error) => fail(cannotRun(binaries.initdb, account, error)));
    child.once('close', (code) => done({ code, output }));
  });
  if (code === 0) return;
  if (saysDiskFull(output)) throw diskFull(home, new Error(output));
  const way = output.includes('could not look up effective user') ? 'Run it as a user of /etc/passwd' : 'Fix that';
  const lastLines = output.trim().split('\n').slice(-4).join(' / ');
  throw new EmbeddedPostgresError(
    `The database could not be created in ${home}: initdb said: ${lastLines}. ${way}, choose another DATA_DIR, ${OR_DATABASE_URL}.`,
    { cause: new Error(output) },
  );
}

async function linkCluster(dir: string, link: string): Promise<void> {
  try {
    await symlink(dir, link);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

async function isEmptyFolder(dir: string): Promise<boolean> {
  try {
    return (await readdir(dir)).length === 0;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES' || code === 'ENOTDIR') return false;
    throw error;
  }
}

async function chownTree(dir: string, owner: Owner): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), owner.uid, owner.gid);
  }
  await chown(dir, owner.uid, owner.gid);
}
