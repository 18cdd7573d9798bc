import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Client } from 'pg';
import { beginWithin } from './client.ts';

/** Any number, as long as nobody else locks it: two processes that start at once must not both migrate. */
const MIGRATION_LOCK = 7_203_611;

/** Between the statements of a migration nothing is waited for either, but to give one up loses more. */
const IDLE_TIMEOUT_MS = 30_000;

const FOLDER = path.join(import.meta.dirname, '../../migrations');

const MAKE_TABLE =
  'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())';

/** The database cannot be brought to this program's version; the message says why and what to do. */
export class MigrationError extends Error {}

/** The migrations that this program has, in order. */
export async function knownMigrations(folder: string = FOLDER): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).toSorted();
}

/**
 * Brings the database to this program's version: every file of `migrations/` that was not applied yet, in order, each in a
 * transaction of its own, under an advisory lock. Returns the names applied now.
 */
export async function migrate(client: Client, folder: string = FOLDER): Promise<readonly string[]> {
  const files = await knownMigrations(folder);
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
  try {
    await client.query(MAKE_TABLE);
    const { rows } = await client.query<{ name: string }>('select name from migrations order by name');
    const applied = rows.map((row) => row.name);
    const unknown = applied.find((name) => !files.includes(name));
    if (unknown !== undefined) {
      throw new MigrationError(
        `The database was migrated by a newer version of Cointill (${unknown}). Start that version, or restore a backup.`,
      );
    }
    const missing = files.filter((name) => !applied.includes(name));
    for (const name of missing) {
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

/** Applies these migrations, in the transaction that is open, to a database that was made by those before them. */
export async function applyMigrations(
  client: Client,
  names: readonly string[],
  folder: string = FOLDER,
): Promise<void> {
  await client.query(MAKE_TABLE);
  for (const name of names) await apply(client, folder, name);
}

async function apply(client: Client, folder: string, name: string): Promise<void> {
  const text = await readFile(path.join(folder, name), 'utf8');
  try {
    await client.query(text);
    await client.query('insert into migrations (name) values ($1)', [name]);
  } catch (error) {
    throw new MigrationError(`Migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
