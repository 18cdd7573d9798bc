import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { BackupError } from '../archive/format.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../domain/clock.ts';
import { buildDataDir } from '../embedded/building.ts';
import { movedAway, writeArrival } from '../embedded/moved.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { checkSameDatabase, checkWrites, namingSetting } from '../store/backups/check-database.ts';
import { noticeLostClient, recordArrival } from '../store/backups/moves.ts';
import { openSnapshot, type Snapshot } from '../store/backups/snapshot.ts';
import { openDatabase, type Connection, type DatabaseHandle } from '../store/database.ts';
import { migrate } from '../store/migrate.ts';
import { holdAlone, isHeldAlone } from '../store/presence.ts';
import { logTo, withClient } from './database.ts';
import { checkKey, checkOwnKey, type Progress } from './make-backup.ts';
import { closingOf, type Closing } from './move-closing.ts';
import { transfer, type Transferred } from './move-tables.ts';
import { endServer, movedFromUrl, settleEmbedded, settlePostgres, type SettledMove } from './moved-database.ts';
import { putKey } from './restore-backup.ts';
import { existingKeys } from '../webhooks/sealing-keys.ts';

/** The new database of a move. `place`: its folder, or its URL without the password. */
export type MoveTarget =
  | { readonly kind: 'embedded'; readonly place: string }
  | { readonly kind: 'postgres'; readonly place: string; readonly url: string };

/** The steps of a move, in order. Between `marked` and `arrived`, it may be in doubt which of the databases counts. */
export type MoveStep = 'alone' | 'copied' | 'marked' | 'arrived' | 'closed';

export interface MoveOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly target: MoveTarget;
  readonly clock: Clock;
  readonly onProgress: (progress: Progress) => void;
  /** Called after each step, and awaited. */
  readonly onStep?: (step: MoveStep) => Promise<void>;
  /** Aborts the move, which leaves nothing behind, until the old database is closed. */
  readonly stopping?: AbortSignal;
}

export type MoveOutcome =
  | (Transferred & { readonly kind: 'moved'; readonly from: string; readonly durationMs: number })
  /** An earlier move had arrived, and was killed before it could say so. */
  | { readonly kind: 'had_arrived'; readonly move: SettledMove };

/** The old database, which this process uses alone. */
interface Source {
  readonly handle: DatabaseHandle;
  readonly place: string;
  stop(): Promise<void>;
}

/** A move that copies at this moment. */
interface Moving extends MoveOptions {
  readonly id: string;
  readonly source: Source;
  readonly snapshot: Snapshot;
  readonly closing: Closing;
  readonly copying: AbortSignal;
  readonly step: (step: MoveStep) => Promise<void>;
}

/**
 * Moves the database of the settings into an embedded one or a PostgreSQL server of one's own. Everything but sessions
 * is copied and compared; then the old database is closed for good. At each moment, exactly one of the two can be
 * started.
 *
 * @throws BackupError, SealingKeyError, EmbeddedPostgresError, UnfitDatabaseError, OccupiedDatabaseError,
 * MigrationError
 */
export async function moveDatabase(options: MoveOptions): Promise<MoveOutcome> {
  const { config, target } = options;
  const startedAt = performance.now();
  await checkTarget(config, target);
  const { move, source } = await openSource(options);
  if (move !== null) return { kind: 'had_arrived', move };
  try {
    const moved = await moveFrom(options, source);
    return { kind: 'moved', from: source.place, ...moved, durationMs: Math.round(performance.now() - startedAt) };
  } finally {
    await source.stop();
  }
}

async function checkTarget({ databaseUrl, dataDir }: Config, target: MoveTarget): Promise<void> {
  if (target.kind !== 'embedded' || databaseUrl !== null) return;
  const real = (dir: string): Promise<string> => realpath(dir).catch(() => dir);
  if ((await real(target.place)) !== (await real(dataDir))) return;
  throw new BackupError(
    `${target.place} is the DATA_DIR of the database itself. Name a folder that does not exist yet with --data-dir.`,
  );
}

type Opened = { readonly move: SettledMove; readonly source: null } | { readonly move: null; readonly source: Source };

async function openSource({ config, log, target }: MoveOptions): Promise<Opened> {
  const { databaseUrl, databaseDirectUrl, dataDir } = config;
  if (databaseUrl !== null) {
    const direct = databaseDirectUrl === null ? undefined : { connectionString: databaseDirectUrl };
    const handle = openSide({ connectionString: databaseUrl }, log, direct);
    try {
      if (target.kind === 'postgres') throw await refuseOwnToOwn(handle, target.url, log);
      const move = await preparePostgres(handle);
      const place = new URL(databaseUrl);
      place.password = '';
      if (move === null) return { move, source: { handle, place: place.href, stop: () => handle.close() } };
      await handle.close();
      return { move, source: null };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }
  if (!existsSync(path.join(dataDir, 'postgres'))) {
    throw new BackupError(
      `There is no database in ${dataDir}. Set DATA_DIR or DATABASE_URL as it is set for the service.`,
    );
  }
  const move = await settleEmbedded(dataDir);
  if (move?.isNews === false) throw movedAway(dataDir, move);
  if (move !== null) return { move, source: null };
  const server = await startEmbeddedPostgres({ dataDir, log: logTo(log), mayBeEarlier: true, isRestarted: false });
  const handle = openSide(server.connection, log);
  const stop = async (): Promise<void> => {
    await handle.close();
    await server.stop();
  };
  return { move, source: { handle, place: dataDir, stop } };
}

function openSide(connection: Connection, log: Logger, direct?: Connection): DatabaseHandle {
  return openDatabase(connection, {
    maxConnections: 2,
    direct,
    applicationName: 'cointill move',
    // Work that needs the broken connection fails by itself and says why.
    onError: (error) => log.debug({ err: error }, 'a database connection broke'),
  });
}

/** Migrates the old database, which keeps the mark of the move in its newest table. */
async function preparePostgres(handle: DatabaseHandle): Promise<SettledMove | null> {
  const client = await namingSetting('DATABASE_URL', handle.connect());
  try {
    await checkWrites(client, 'DATABASE_URL');
    await refuseUsed(client);
    const move = await settlePostgres(client);
    if (move?.isNews === false) throw movedFromUrl(move);
    const { rows } = await client.query<{ empty: boolean }>("select to_regclass('migrations') is null as empty");
    if (rows[0]?.empty === true) throw noTables();
    if (move === null) await migrate(client);
    return move;
  } finally {
    await client.end();
  }
}

function noTables(): BackupError {
  return new BackupError(
    'The database contains no Cointill tables. Set DATA_DIR or DATABASE_URL as it is set for the service.',
  );
}

async function refuseUsed(client: Client): Promise<void> {
  const users = await holdAlone(client);
  if (users.length === 0) return;
  throw new BackupError(
    `The database is in use: ${users.join(', ')}. Stop each process and command that uses this database, on every machine, and move it then.`,
  );
}

async function refuseOwnToOwn(handle: DatabaseHandle, url: string, log: Logger): Promise<BackupError> {
  const other = openSide({ connectionString: url }, log);
  const client = await namingSetting('DATABASE_URL', handle.connect());
  try {
    const isSame = await checkSameDatabase(client, other.db).then(
      () => true,
      () => false,
    );
    return new BackupError(
      isSame
        ? '--to names the database that DATABASE_URL names already. To move it into an embedded database, give --data-dir NEW.'
        : 'Both DATABASE_URL and --to name a PostgreSQL server of your own, and PostgreSQL’s own programs move a database from one to the other: pg_dump and pg_restore, while every Cointill process is stopped.',
    );
  } finally {
    await client.end();
    await other.close();
  }
}

function moveFrom(options: MoveOptions, source: Source): Promise<Transferred> {
  const { config, target, clock, stopping, onStep } = options;
  const copying = new AbortController();
  const onStop = (): void => copying.abort(stopping?.reason);
  stopping?.addEventListener('abort', onStop, { once: true });
  // A stop that was asked for while the old server started.
  if (stopping?.aborted === true) onStop();
  return withClient(source.handle, copying.signal, async (client) => {
    await refuseUsed(client);
    const snapshot = await openSnapshot(client, 'move');
    if (snapshot.migrations.length === 0) throw noTables();
    const keys = existingKeys(config);
    checkKey(keys, await snapshot.sealedSecrets());
    await checkOwnKey(source.handle.db, keys);
    const id = randomUUID();
    const mark = { id, place: target.place, at: clock(), url: target.kind === 'postgres' ? target.url : null };
    const closing = closingOf(config, source.handle, client, mark, () => {
      copying.signal.throwIfAborted();
      stopping?.removeEventListener('abort', onStop);
    });
    const step = async (one: MoveStep): Promise<void> => onStep?.(one);
    await step('alone');
    const moving = { ...options, id, source, snapshot, closing, copying: copying.signal, step };
    const moved = target.kind === 'embedded' ? await intoFolder(moving) : await intoPostgres(moving, target.url);
    await step('arrived');
    // The new database counts: whatever fails now, the next process that wants the old one finds that out.
    await closing
      .arrived()
      .catch((error: unknown) => options.log.info({ err: error }, 'the move could not be recorded'));
    if (config.databaseUrl === null) await endServer(config.dataDir);
    await step('closed');
    return moved;
  });
}

async function intoFolder(moving: Moving): Promise<Transferred> {
  const { target, config, id, source, closing, step, log } = moving;
  return buildDataDir(
    target.place,
    logTo(log),
    async ({ connection, dataDir }) => {
      const moved = await withTarget(moving, connection, async (client) => {
        const loaded = await load(moving, client);
        await client.query('commit');
        return loaded;
      });
      await putKey(config, dataDir);
      await writeArrival(dataDir, { id, from: source.place });
      return moved;
    },
    {
      before: async (unfinished) => {
        await closing.close(unfinished);
        await step('marked');
      },
      failed: (unfinished) => closing.undo(unfinished),
    },
  );
}

async function intoPostgres(moving: Moving, url: string): Promise<Transferred> {
  return withTarget(moving, { connectionString: url }, async (client) => {
    await checkWrites(client, '--to');
    if (await isHeldAlone(client)) {
      throw new BackupError('--to names the database that is to be moved. Name another, empty database.');
    }
    const loaded = await load(moving, client);
    await moving.closing.close(null);
    await moving.step('marked');
    try {
      await client.query('commit');
    } catch (error) {
      // The server may have committed all the same.
      if ((await settleEmbedded(moving.config.dataDir)) === null) throw error;
    }
    return loaded;
  });
}

async function withTarget<Result>(
  { log, copying }: Moving,
  connection: Connection,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const handle = openSide(connection, log);
  try {
    return await withClient(handle, copying, work);
  } finally {
    await handle.close();
  }
}

/** Copies and compares everything, in a transaction that is left open. */
async function load({ snapshot, onProgress, id, source, clock, step }: Moving, client: Client): Promise<Transferred> {
  await noticeLostClient(client);
  await client.query('begin');
  const loaded = await transfer(snapshot, client, onProgress);
  await recordArrival(client, id, source.place, clock());
  await step('copied');
  return loaded;
}
