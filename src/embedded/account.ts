import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

import { EmbeddedPostgresError, OR_DATABASE_URL } from './error.ts';

/** The system user that runs the database server. */
export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** True if we are root: PostgreSQL refuses to run as root, so its processes are started with this uid and gid. */
  readonly switchUser: boolean;
}

/** User and group of a file. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

interface PasswdEntry extends Owner {
  readonly name: string;
}

/** The user of this process, and the machine's users (the text of /etc/passwd). */
export interface Machine {
  readonly uid: number;
  readonly gid: number;
  readonly passwd: string;
}

/**
 * Users for the server, in order of preference: our own user, if a package or an administrator created it; PostgreSQL's
 * user; the user that every machine has.
 */
const PREFERRED_USERS = ['cointill', 'postgres', 'nobody'];

/**
 * Reads this process's user and the machine's users. Throws {@link EmbeddedPostgresError} on a system without user ids
 * (Windows).
 */
export async function readMachine(): Promise<Machine> {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (uid === undefined || gid === undefined) {
    throw new EmbeddedPostgresError(
      `The embedded database does not run on ${process.platform}: use Linux or macOS, ${OR_DATABASE_URL}.`,
    );
  }
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  return { uid, gid, passwd };
}

/**
 * The user for the server: this process's user or, if that is root, the owner of the existing cluster, else the first
 * preferred user that exists. A cluster owned by root (a restored copy) counts as not owned yet. Throws {@link
 * EmbeddedPostgresError} if a cluster belongs to another user and we are not root, or if root finds no user.
 */
export function chooseAccount(
  machine: Machine,
  cluster: { readonly dir: string; readonly owner: Owner } | undefined,
): Account {
  const users = parsePasswd(machine.passwd);
  const nameOf = (uid: number): string => userName(machine, uid);
  if (machine.uid !== 0) {
    if (cluster !== undefined && cluster.owner.uid !== machine.uid) {
      throw new EmbeddedPostgresError(
        `The database in ${cluster.dir} belongs to user ${nameOf(cluster.owner.uid)}, and this process runs as ${nameOf(machine.uid)}. ` +
          `Run it as ${nameOf(cluster.owner.uid)} or as root, choose another DATA_DIR, ${OR_DATABASE_URL}.`,
      );
    }
    return { name: nameOf(machine.uid), uid: machine.uid, gid: machine.gid, switchUser: false };
  }
  if (cluster !== undefined && cluster.owner.uid !== 0) {
    return { name: nameOf(cluster.owner.uid), ...cluster.owner, switchUser: true };
  }
  for (const name of PREFERRED_USERS) {
    const user = users.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (user !== undefined) return { ...user, switchUser: true };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root, and this machine has none of the users ${PREFERRED_USERS.join(', ')}. ` +
      `Create one (useradd --system cointill), run Cointill as a user other than root, ${OR_DATABASE_URL}.`,
  );
}

/** The name of a user on this machine; the number if it has no name. */
export function userName({ passwd }: Pick<Machine, 'passwd'>, uid: number): string {
  return parsePasswd(passwd).find((user) => user.uid === uid)?.name ?? String(uid);
}

/**
 * The owner of files that root creates at `path`: the owner of the folder there, or of the nearest existing folder
 * above it, unless that is root. Null: root itself, or we are not root.
 */
export async function ownerAt(path: string): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null;
  const stats = await stat(path).catch(() => null);
  if (stats === null) return dirname(path) === path ? null : ownerAt(dirname(path));
  return stats.uid === 0 ? null : { uid: stats.uid, gid: stats.gid };
}

/** The user created by an installation as a service; null if there is none. */
export function serviceUser({ passwd }: Pick<Machine, 'passwd'>): Owner | null {
  return parsePasswd(passwd).find(({ name, uid }) => name === PREFERRED_USERS[0] && uid !== 0) ?? null;
}

function parsePasswd(text: string): PasswdEntry[] {
  const entries: PasswdEntry[] = [];
  for (const line of text.split('\n')) {
    const [name = '', , uid = '', gid = ''] = line.split(':');
    if (/^\d+$/.test(uid) && /^\d+$/.test(gid)) {
      entries.push({ name, uid: Number(uid), gid: Number(gid) });
    }
  }
  return entries;
}

/** Permission bits, as in one octal digit of a file mode. */
const READ = 4;
const ENTER = 1;

/**
 * The first folder from `/` to `path` (inclusive) that the account may not enter; undefined if it may enter all. `path`
 * must be free of symbolic links. Only owner, group and mode are checked: the server is started without supplementary
 * groups and without root's right to enter everything.
 */
export async function firstClosedFolder(path: string, account: Owner): Promise<string | undefined> {
  const parent = dirname(path);
  const closedAbove = parent === path ? undefined : await firstClosedFolder(parent, account);
  if (closedAbove !== undefined) return closedAbove;
  return (await isAllowed(path, account, ENTER)) ? undefined : path;
}

/** Whether the account may read and run a file (or list and enter a folder), not counting the folders above it. */
export async function mayReadAndRun(path: string, account: Owner): Promise<boolean> {
  return isAllowed(path, account, READ | ENTER);
}

async function isAllowed(path: string, account: Owner, wanted: number): Promise<boolean> {
  const { uid, gid, mode } = await stat(path);
  if (uid === account.uid) return ((mode >> 6) & wanted) === wanted;
  if (gid === account.gid) return ((mode >> 3) & wanted) === wanted;
  return (mode & wanted) === wanted;
}
