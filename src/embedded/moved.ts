import { randomUUID } from 'node:crypto';
import { chown, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode, reasonOf } from './error.ts';
import { exists, syncFolder } from './files.ts';

/** The file in a DATA_DIR that says that its database was moved, or is being moved at this moment. */
export const MOVED_NAME = 'moved.json';

/** The file in a DATA_DIR whose database came from another one. */
export const ARRIVED_NAME = 'moved-here.json';

/** The move that closed an embedded database, or is about to. */
export interface MovedMark {
  readonly id: string;
  /** `moving`: the new database may or may not count already. */
  readonly stage: 'moving' | 'moved';
  /** The new database: its folder, or its URL without the password. */
  readonly place: string;
  readonly at: number;
  /** The folder of the new database before it got its name; null: the new database is at a URL. */
  readonly unfinished: string | null;
  /** The URL of the new database with its password until the move has ended; null: it has, or goes to a folder. */
  readonly url: string | null;
}

/**
 * The move that closed the database of a DATA_DIR; null: the database is open.
 *
 * @throws EmbeddedPostgresError if the file cannot be read: nobody may start a database that may have been moved
 */
export async function readMark(dataDir: string): Promise<MovedMark | null> {
  const file = join(dataDir, MOVED_NAME);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw new EmbeddedPostgresError(
      `${file} cannot be read (${errorCode(error) ?? reasonOf(error)}). If the file exists, it says where the database was moved to. Let this user enter ${dataDir}, or run the command as the user of the service, or as root.`,
      { cause: error },
    );
  }
  const mark = parse(text);
  if (mark !== null) return mark;
  throw new EmbeddedPostgresError(
    `${file} is damaged. The file says where the database in ${dataDir} was moved to. Start the service on the new database.`,
  );
}

function parse(text: string): MovedMark | null {
  try {
    const value: unknown = JSON.parse(text);
    return isMark(value) ? value : null;
  } catch {
    return null;
  }
}

function isMark(value: unknown): value is MovedMark {
  if (typeof value !== 'object' || value === null) return false;
  const isTextOrNull = (name: string): boolean => {
    const one: unknown = Reflect.get(value, name);
    return one === null || typeof one === 'string';
  };
  return (
    'id' in value &&
    typeof value.id === 'string' &&
    'stage' in value &&
    (value.stage === 'moving' || value.stage === 'moved') &&
    'place' in value &&
    typeof value.place === 'string' &&
    'at' in value &&
    typeof value.at === 'number' &&
    isTextOrNull('unfinished') &&
    isTextOrNull('url')
  );
}

/** Writes the mark in one step, synced to disk. Only the owner can read it: it may contain a password. */
export async function writeMark(dataDir: string, mark: MovedMark): Promise<void> {
  await writeSynced(dataDir, MOVED_NAME, mark);
}

export async function removeMark(dataDir: string): Promise<void> {
  await rm(join(dataDir, MOVED_NAME), { force: true });
  await syncFolder(dataDir);
}

/** Records in a DATA_DIR which move made its database. */
export async function writeArrival(
  dataDir: string,
  arrival: { readonly id: string; readonly from: string },
): Promise<void> {
  await writeSynced(dataDir, ARRIVED_NAME, arrival);
}

/** Whether this move made the database of a DATA_DIR, as far as this user can see. */
export async function hasArrivedIn(dataDir: string, id: string): Promise<boolean> {
  const text = await readFile(join(dataDir, ARRIVED_NAME), 'utf8').catch(() => '');
  return text.includes(`"${id}"`);
}

async function writeSynced(dataDir: string, name: string, content: object): Promise<void> {
  const file = join(dataDir, name);
  const unfinished = `${file}.${randomUUID()}`;
  try {
    const handle = await open(unfinished, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(content)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (process.getuid?.() === 0) {
      // The service must be able to read what root writes, and runs as the user of its database.
      const { uid, gid } = await stat(join(dataDir, 'postgres'));
      await chown(unfinished, uid, gid);
    }
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(dataDir);
}

/** The name that an unfinished folder gets once it must not become the new database any more. */
function abandonedName(unfinished: string): string {
  return `${unfinished}.abandoned`;
}

/**
 * Makes sure that an unfinished folder never gets its final name, by giving it another one: of two processes that name
 * a folder, one succeeds. Returns the new name; null: the folder is not there, and may have its final name.
 */
export async function abandon(unfinished: string): Promise<string | null> {
  const abandoned = abandonedName(unfinished);
  try {
    await rename(unfinished, abandoned);
    return abandoned;
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return (await exists(abandoned)) ? abandoned : null;
  }
}

/**
 * Refuses to start the server of a database that was moved: a process that lost the server must not bring it back.
 *
 * @throws EmbeddedPostgresError
 */
export async function checkNotMoved(dataDir: string): Promise<void> {
  const mark = await readMark(dataDir);
  if (mark !== null) throw movedAway(dataDir, mark);
}

/** The error for every use of an embedded database that was moved. */
export function movedAway(dataDir: string, { place, at }: Pick<MovedMark, 'place' | 'at'>): EmbeddedPostgresError {
  const next = place.startsWith('/') ? `Set DATA_DIR=${place}` : 'Set DATABASE_URL to that database';
  return new EmbeddedPostgresError(
    `The database in ${dataDir} was moved to ${place} at ${new Date(at).toISOString()} and is closed, because its addresses and numbers continue there. ${next}.`,
  );
}
