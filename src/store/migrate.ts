import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import { beginWithin } from './client.ts';

/** Any number that nobody else locks: two processes that start at once must not both migrate. */
export const MIGRATION_LOCK = 7_203_611;

/** A migration waits for nothing between its statements either, but more is lost when it is aborted. */
const IDLE_TIMEOUT_MS = 30_000;

const FOLDER = path.join(import.meta.dirname, '../../migrations');

const MAKE_TABLE =
  'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now(), checksum text)';
/**
 * Earlier versions stored no checksums. Checked first, because `add column if not exists` would wait for every reader
 * of the table.
 */
const LACKS_CHECKSUMS = `
  select not exists (
    select from pg_attribute where attrelid = 'migrations'::regclass and attname = 'checksum' and not attisdropped) as lacks`;

/** The database cannot be migrated to this program's version; the message says why and what to do. */
export class MigrationError extends Error {}

/** How long a process waits before it asks again whether another one has migrated. */
const TURN_MS = 100;

/**
 * One at a time. Asked for again and again, and never waited for: a statement that waits has a snapshot, which an index
 * that is built beside its writers waits for in its turn.
 */
async function lockMigrations(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ isHeld: boolean }>('select pg_try_advisory_lock($1) as "isHeld"', [
      MIGRATION_LOCK,
    ]);
    if (rows[0]?.isHeld === true) return;
    await setTimeout(TURN_MS);
  }
}

/** A migration's text, and its SHA-256 in hex, independent of this machine's line endings. */
async function readMigration(
  folder: string,
  name: string,
): Promise<{ readonly text: string; readonly checksum: string }> {
  const text = (await readFile(path.join(folder, name), 'utf8')).replaceAll('\r\n', '\n');
  return { text, checksum: createHash('sha256').update(text).digest('hex') };
}

/** The migrations that this program has, in order. */
export async function knownMigrations(folder: string = FOLDER): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).toSorted();
}

/**
 * Migrates the database to this program's version: applies every file of `migrations/` that was not applied yet, in
 * order, each in its own transaction, under an advisory lock. A file that builds indexes `concurrently` is applied
 * statement by statement instead, while others write. Returns the names applied now.
 *
 * @throws MigrationError if one fails, or if the database was migrated by a newer version or by another text of one of
 * these files: its schema would be unknown, and differ from a fresh one
 */
export async function migrate(client: Client, folder: string = FOLDER): Promise<readonly string[]> {
  const files = await knownMigrations(folder);
  await checkServer(client);
  await lockMigrations(client);
  try {
    await makeTable(client);
    const { rows } = await client.query<Applied>('select name, checksum from migrations order by name');
    const applied = rows.map((row) => row.name);
    const unknown = applied.find((name) => !files.includes(name));
    if (unknown !== undefined) {
      throw new MigrationError(
        `The database was migrated by a newer version of Cointill (${unknown}). Start that version, or restore a backup.`,
      );
    }
    for (const row of rows) await checkUnchanged(client, folder, row);
    const missing = files.filter((name) => !applied.includes(name));
    for (const name of missing) {
      // Nobody writes to a database that was empty a moment ago.
      if (applied.length > 0 && (await applyBesideWriters(client, folder, name))) continue;
      await client.query(beginWithin(IDLE_TIMEOUT_MS));
      try {
        await apply(client, folder, name);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
    }
    return missing;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  }
}

/** The oldest PostgreSQL that everything runs on: `unique nulls not distinct` came with it. */
const MIN_SERVER = 15;

/** Refused before the first migration, which would leave a database half made. */
async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; major: number }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major",
  );
  const [server] = rows;
  if (server === undefined || server.major >= MIN_SERVER) return;
  throw new MigrationError(
    `The database is PostgreSQL ${server.version}; Cointill needs ${MIN_SERVER} or newer. Point DATABASE_URL to such a server.`,
  );
}

interface Applied {
  readonly name: string;
  /** Null if it was applied by a version that stored no checksums. */
  readonly checksum: string | null;
}

async function makeTable(client: Client): Promise<void> {
  await client.query(MAKE_TABLE);
  const { rows } = await client.query<{ lacks: boolean }>(LACKS_CHECKSUMS);
  if (rows[0]?.lacks === true) await client.query('alter table migrations add column checksum text');
}

/**
 * Checksums of earlier texts that made the same schema: PostgreSQL 15 could not read them, so they were written anew.
 * Databases that were made by them have nothing to change.
 */
const EARLIER_TEXTS: Readonly<Record<string, string>> = {
  '0028_webhooks_and_requests.sql': 'e551d2482d1adf709c9e0b4a690d245abadbe1230e0b1e04f14e5e19df47c65c',
};

/** A migration that was applied before there were checksums is assumed to be unchanged. */
async function checkUnchanged(client: Client, folder: string, { name, checksum }: Applied): Promise<void> {
  const now = (await readMigration(folder, name)).checksum;
  if (checksum === null || checksum === EARLIER_TEXTS[name]) {
    await client.query('update migrations set checksum = $2 where name = $1', [name, now]);
  } else if (checksum !== now) {
    throw new MigrationError(
      `The migration ${name} is not the one that this database was migrated with. Install Cointill again as it was released. If you have changed the file, undo that, and make a new migration of the change.`,
    );
  }
}

/** Applies these migrations, in the open transaction, to a database made by those before them. */
export async function applyMigrations(
  client: Client,
  names: readonly string[],
  folder: string = FOLDER,
): Promise<void> {
  await makeTable(client);
  for (const name of names) await apply(client, folder, name);
}

async function apply(client: Client, folder: string, name: string): Promise<void> {
  const { text, checksum } = await readMigration(folder, name);
  await toldAs(name, async () => {
    await client.query(text.replaceAll(CONCURRENTLY, '$1'));
    await keep(client, name, checksum);
  });
}

const CONCURRENTLY = /^((?:create|drop) index) concurrently/gm;

/**
 * Applies a migration whose indexes are built while others write, which takes no transaction: stopped half-way it is
 * done again from its beginning. False: it is not of this kind, and nothing was done.
 */
async function applyBesideWriters(client: Client, folder: string, name: string): Promise<boolean> {
  const { text, checksum } = await readMigration(folder, name);
  if (text.match(CONCURRENTLY) === null) return false;
  const statements = text
    .replaceAll(/^\s*--.*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  await toldAs(name, async () => {
    for (const statement of statements) await client.query(statement);
    await keep(client, name, checksum);
  });
  return true;
}

async function keep(client: Client, name: string, checksum: string): Promise<void> {
  await client.query('insert into migrations (name, checksum) values ($1, $2)', [name, checksum]);
}

async function toldAs(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new MigrationError(`Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
