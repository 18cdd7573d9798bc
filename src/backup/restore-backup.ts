import { constants } from 'node:fs';
import { access, chown, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { BackupError } from '../archive/format.ts';
import { readArchive, type ArchiveReader } from '../archive/read-archive.ts';
import { shellWord } from '../config/called-as.ts';
import type { Connection } from '../store/database.ts';
import { ownerAt, readMachine, serviceUser, userName } from '../embedded/account.ts';
import { buildDataDir, inTemporaryDataDir } from '../embedded/building.ts';
import { errorCode, fileFault, reasonOf } from '../embedded/error.ts';
import { makeFolders } from '../embedded/files.ts';
import { countRows, loadSnapshot, type LoadedTable } from '../store/backups/load.ts';
import { KEY_FILE_NAME } from '../webhooks/secret.ts';
import { formerKeys, loadSealingKey, type KeySource, type KeySources } from '../webhooks/sealing-keys.ts';
import { logTo, useDatabase, withClient } from './database.ts';
import type { Progress } from './make-backup.ts';
import { keyCheck, KEY_PART, presentKey, readManifest, tablePart, type Manifest } from './manifest.ts';

/** The place that a backup is restored to. `keyDir`: the DATA_DIR of the service beside an external database. */
export type RestoreTarget =
  | { readonly kind: 'embedded'; readonly dataDir: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly keyDir: string };

export interface RestoreOptions {
  readonly file: string;
  /** Called only if the file is encrypted. */
  readonly passphrase: () => Promise<string | null>;
  /** SECRET_KEY; null: not set. */
  readonly secretKey: string | null;
  readonly secretKeyPrevious: string | null;
  readonly log: Logger;
  readonly onProgress: (progress: Progress) => void;
  /** Aborts the restore, which leaves nothing behind. */
  readonly stopping?: AbortSignal;
}

/** A backup that was loaded completely: every table has as many rows as the manifest says. */
export interface Restored<Result> {
  readonly manifest: Manifest;
  readonly bytes: number;
  readonly result: Result;
  readonly durationMs: number;
}

/** Runs in the loading transaction when everything is loaded. */
type Finish<Result> = (client: Client, manifest: Manifest) => Promise<Result>;

/**
 * Restores a backup, completely or not at all, and never onto existing data. `finish` runs in the same transaction.
 *
 * @throws BackupError, SealingKeyError, EmbeddedPostgresError, OccupiedDatabaseError, MigrationError
 */
export async function restoreBackup<Result>(
  options: RestoreOptions,
  target: RestoreTarget,
  finish: Finish<Result>,
): Promise<Restored<Result>> {
  return withArchive(options, async (archive, manifest) => {
    checkSetting(manifest, options);
    if (target.kind === 'embedded') {
      return buildDataDir(target.dataDir, logTo(options.log), ({ connection, dataDir }) =>
        load(options, archive, manifest, connection, { secretKey: options.secretKey, dataDir }, finish),
      );
    }
    const connection = { connectionString: target.url };
    const keys = { secretKey: options.secretKey, dataDir: target.keyDir };
    const made: string[] = [];
    try {
      await prepareKeyDir(manifest, target.keyDir, made);
      return await load(options, archive, manifest, connection, keys, finish);
    } catch (error) {
      // Only empty folders are removed: the database may have been loaded, and then its key must stay.
      for (const folder of made.toReversed()) await rmdir(folder).catch(() => {});
      throw error;
    }
  });
}

/** The result of a check: a database restored from the file, with its rows counted. */
export interface Checked {
  readonly manifest: Manifest;
  readonly bytes: number;
  readonly durationMs: number;
}

/**
 * Restores a backup for real in a temporary folder below `home`, counts the rows in its tables, and removes the folder.
 * SECRET_KEY need not be the backup's.
 */
export async function checkBackup(options: RestoreOptions, home: string): Promise<Checked> {
  return withArchive(options, (archive, manifest) =>
    inTemporaryDataDir(home, logTo(options.log), async ({ connection, dataDir }) => {
      const source = { secretKey: null, dataDir };
      const { result, ...restored } = await load(options, archive, manifest, connection, source, (client) =>
        countRows(client, manifest.tables),
      );
      compare(options.file, manifest, result);
      return restored;
    }),
  );
}

async function withArchive<Result>(
  { file, passphrase }: RestoreOptions,
  work: (archive: ArchiveReader, manifest: Manifest) => Promise<Result>,
): Promise<Result> {
  const archive = await readArchive(file, passphrase).catch(async (error: unknown) => {
    throw await readingFault(file, error);
  });
  try {
    return await work(archive, readManifest(file, archive.manifest));
  } finally {
    await archive.close();
  }
}

/** Explains why the file of a backup cannot be read, with the way out; returns any other error unchanged. */
async function readingFault(file: string, error: unknown): Promise<unknown> {
  const code = errorCode(error) ?? '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return new BackupError(`There is no file ${file}.`);
  if (code !== 'EACCES' && code !== 'EPERM') return error;
  const user = userName(await readMachine(), process.getuid?.() ?? 0);
  return new BackupError(
    `User ${user} may not read ${file} (${code}). The file, or a folder above it, is closed to that user. ` +
      `As root, give that user a copy: install -o ${user} -m 600 ${shellWord(file)} FOLDER, and replace FOLDER with a folder that the user may open.`,
    { cause: error },
  );
}

/** Refuses other keys than the backup's, because the restored copy could not send webhooks. */
function checkSetting({ key }: Manifest, { secretKey, secretKeyPrevious }: Omit<KeySources, 'dataDir'>): void {
  if (key.kind === 'file' && secretKey !== null) {
    throw new BackupError(
      'The backup was made without SECRET_KEY and contains its own key file. Unset SECRET_KEY, both here and for the service that will run on the restored database.',
    );
  }
  if (key.kind !== 'setting') return;
  const given = [
    ...(secretKey === null ? [] : [loadSealingKey({ secretKey, dataDir: '' })]),
    ...formerKeys(secretKeyPrevious),
  ];
  if (given.length === 0) {
    throw new BackupError(
      'The backup was made with SECRET_KEY, but does not contain SECRET_KEY. Set SECRET_KEY as it was set then, both here and for the service that will run on the restored database.',
    );
  }
  if (!given.some((one) => keyCheck(one) === key.check)) {
    throw new BackupError(
      'The backup was made with another SECRET_KEY. Set the SECRET_KEY that was set at that time (or, if the key was being changed then, the former one), or set it as SECRET_KEY_PREVIOUS beside the current one.',
    );
  }
}

async function load<Result>(
  { file, log, onProgress, stopping }: RestoreOptions,
  archive: ArchiveReader,
  manifest: Manifest,
  connection: Connection,
  keys: KeySource,
  finish: Finish<Result>,
): Promise<Restored<Result>> {
  const startedAt = performance.now();
  const result = await useDatabase({ connection }, log, (handle) =>
    withClient(handle, stopping, async (client) => {
      await client.query('begin');
      await loadSnapshot(client, manifest, (loadTable) =>
        readParts(file, archive, manifest, { keys, loadTable, onProgress }),
      );
      const finished = await finish(client, manifest);
      await client.query('commit');
      return finished;
    }),
  );
  return { manifest, bytes: archive.bytes, result, durationMs: Math.round(performance.now() - startedAt) };
}

interface Taking {
  readonly keys: KeySource;
  readonly loadTable: (table: LoadedTable, content: AsyncIterable<Buffer>) => Promise<number>;
  readonly onProgress: (progress: Progress) => void;
}

async function readParts(
  file: string,
  archive: ArchiveReader,
  manifest: Manifest,
  { keys, loadTable, onProgress }: Taking,
): Promise<void> {
  const tables = new Map(manifest.tables.map((table) => [tablePart(table.name), table]));
  const ofTables = manifest.parts.filter(({ name }) => tables.has(name));
  const ofBytes = ofTables.reduce((sum, part) => sum + part.bytes, 0);
  let bytes = 0;
  const missing = new Set(manifest.parts.map(({ name }) => name));
  await archive.parts(async (name, content) => {
    missing.delete(name);
    if (name === KEY_PART) return restoreKey(keys, await textOf(content));
    const table = tables.get(name);
    if (table === undefined) throw new BackupError(`${file} contains an unknown part: ${name}.`);
    const counted = async function* (): AsyncGenerator<Buffer> {
      for await (const piece of content) {
        bytes += piece.length;
        onProgress({ table: table.name, bytes, ofBytes });
        yield piece;
      }
    };
    // A table without rows is not loaded, because another version may have had other columns.
    const rows = table.rows === 0 ? await drain(counted()) : await loadTable(table, counted());
    if (rows !== table.rows) throw otherCount(file, table, rows);
  });
  if (missing.size > 0) throw new BackupError(`${file} lacks ${[...missing].join(', ')}.`);
}

async function drain(content: AsyncIterable<Buffer>): Promise<0> {
  for await (const _ of content);
  return 0;
}

function compare(file: string, { tables }: Manifest, counted: ReadonlyMap<string, number>): void {
  for (const table of tables) {
    const rows = counted.get(table.name) ?? 0;
    if (rows !== table.rows) throw otherCount(file, table, rows);
  }
}

function otherCount(
  file: string,
  { name, rows }: { readonly name: string; readonly rows: number },
  found: number,
): Error {
  return new BackupError(`${file}: ${found} rows of ${name} were restored, but the manifest says ${rows}.`);
}

async function textOf(content: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

/** Writes the key where the service looks for it. The same key may already be there; another key is never replaced. */
async function restoreKey(source: KeySource, text: string): Promise<void> {
  const present = presentKey(source);
  if (present !== null) {
    if (`${present.key.toString('base64')}\n` === text) return;
    throw otherKey(source.dataDir);
  }
  const file = path.join(source.dataDir, KEY_FILE_NAME);
  await writeFile(file, text, { mode: 0o600, flag: 'wx', flush: true });
  if (process.getuid?.() !== 0) return;
  // Root may restore for a service that runs as another user and must be able to read the key.
  const owner = (await ownerAt(source.dataDir)) ?? serviceUser(await readMachine());
  if (owner !== null) await chown(file, owner.uid, owner.gid);
}

/** Writes the key file of a service into the folder of its new database, unless SECRET_KEY is set. */
export async function putKey(from: KeySource, dataDir: string): Promise<void> {
  const present = presentKey(from);
  if (present?.description.kind !== 'file') return;
  await restoreKey({ secretKey: null, dataDir }, `${present.key.toString('base64')}\n`);
}

function otherKey(dataDir: string): BackupError {
  return new BackupError(
    `The ${KEY_FILE_NAME} in ${dataDir} differs from the key in the backup. Set DATA_DIR to a new folder, both here and for the service that will run on the restored database.`,
  );
}

/**
 * Makes the folder for the key before anything is loaded, so that a key that cannot be written is noticed early. Adds
 * the folders that it creates to `made`, outermost first.
 */
async function prepareKeyDir({ key }: Manifest, dataDir: string, made: string[]): Promise<void> {
  if (key.kind !== 'file') return;
  const present = presentKey({ secretKey: null, dataDir });
  if (present !== null && keyCheck(present.key) !== key.check) throw otherKey(dataDir);
  const owner = (await ownerAt(dataDir)) ?? (process.getuid?.() === 0 ? serviceUser(await readMachine()) : null);
  try {
    made.push(...(await makeFolders(dataDir)));
    if (made.includes(dataDir) && owner !== null) await chown(dataDir, owner.uid, owner.gid);
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new BackupError(
      `The key of the backup goes into DATA_DIR, but ${dataDir} cannot be written (${fileFault(error) ?? reasonOf(error)}). Set DATA_DIR as it is set for the service, and run the command as a user that may write there, or as root.`,
      { cause: error },
    );
  }
}
