import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import { beginWithin } from './client.ts';
import { SALT } from './own-schema.ts';
import {
  checkApplied,
  knownMigrations,
  MigrationError,
  MIGRATIONS_FOLDER,
  readMigration,
  type Applied,
} from './migration-files.ts';

/** An arbitrary number that nobody else locks: two processes that start at once must not both migrate. */
export const MIGRATION_LOCK = 7_203_611;

/** A migration waits for nothing between its statements either, but aborting it loses more work. */
const IDLE_TIMEOUT_MS = 30_000;

/**
 * A statement that waits for a table's lock blocks everybody who wants the table after it, while the migration's
 * earlier locks are held. A migration gives up this soon, and begins again a moment later.
 */
const LOCK_TIMEOUT_MS = 1_000;
/** Long enough for the statements that queued behind a migration to run. */
const RETRY_MS = 1_000;
/** PostgreSQL's code for a lock that was not obtained in time. */
const LOCK_NOT_AVAILABLE = '55P03';
const REPORT_EVERY_MS = 60_000;

const MAKE_TABLE =
  'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now(), checksum text)';
/**
 * Earlier versions stored no checksums. Checked first, because `add column if not exists` would wait for every reader
 * of the table.
 */
const LACKS_CHECKSUMS = `
  select not exists (
    select from pg_attribute where attrelid = 'migrations'::regclass and attname = 'checksum' and not attisdropped) as lacks`;

/** How long a process waits before it asks again for another one's migration lock. */
const TURN_MS = 100;

/**
 * Lets one process migrate at a time. The lock is polled and never waited for: a statement that waits holds a snapshot,
 * for which an index that is built concurrently would wait in turn.
 */
async function lockMigrations(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ isHeld: boolean }>(
      `select pg_try_advisory_lock($1::bigint # ${SALT}) as "isHeld"`,
      [MIGRATION_LOCK],
    );
    if (rows[0]?.isHeld === true) return;
    await setTimeout(TURN_MS);
  }
}

export interface MigrateOptions {
  readonly folder?: string;
  /**
   * Called when a migration has to wait for readers or writers of a table, and once a minute while it does. `holder`
   * describes the connection with the oldest transaction.
   */
  readonly onWait?: (waiting: { readonly migration: string; readonly holder: string | null }) => void;
}

/**
 * Migrates the database to this program's version: applies every file of `migrations/` that was not applied yet, in
 * order, each in its own transaction, under an advisory lock. A file that builds indexes `concurrently` is applied
 * statement by statement instead, while others write. Returns the names applied now.
 *
 * @throws MigrationError if one fails, or if the database does not fit (see `checkApplied`)
 */
export async function migrate(client: Client, options: MigrateOptions = {}): Promise<readonly string[]> {
  const folder = options.folder ?? MIGRATIONS_FOLDER;
  await checkServer(client);
  await lockMigrations(client);
  try {
    await makeTable(client);
    const { rows } = await client.query<Applied>('select name, checksum from migrations order by name');
    for (const { name, checksum, repair } of await checkApplied(folder, rows)) {
      await inTransaction(client, name, options, async () => {
        for (const statement of statementsOf(repair)) await client.query(statement);
        await client.query('update migrations set checksum = $2 where name = $1', [name, checksum]);
      });
    }
    const applied = new Set(rows.map(({ name }) => name));
    const missing = (await knownMigrations(folder)).filter((name) => !applied.has(name));
    for (const name of missing) {
      // Nobody writes to a database that was empty a moment ago.
      if (applied.size > 0 && (await applyBesideWriters(client, folder, name, options))) continue;
      await inTransaction(client, name, options, () => apply(client, folder, name));
    }
    return missing;
  } finally {
    await client.query(`select pg_advisory_unlock($1::bigint # ${SALT})`, [MIGRATION_LOCK]);
  }
}

/** Runs `work` in a transaction, again and again until it gets every lock immediately. */
async function inTransaction(
  client: Client,
  migration: string,
  { onWait }: MigrateOptions,
  work: () => Promise<void>,
): Promise<void> {
  let reportAt = performance.now();
  for (;;) {
    await client.query(`${beginWithin(IDLE_TIMEOUT_MS)}; set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    try {
      await toldAs(migration, work);
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback');
      if (!isLockTimeout(error)) throw error;
    }
    if (performance.now() >= reportAt) {
      onWait?.({ migration, holder: await oldestTransaction(client) });
      reportAt = performance.now() + REPORT_EVERY_MS;
    }
    // The pause varies, so that it does not synchronise with a reader that comes at intervals.
    await setTimeout(RETRY_MS * (0.5 + Math.random()));
  }
}

function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof MigrationError ? error.cause : null;
  return cause instanceof Error && 'code' in cause && cause.code === LOCK_NOT_AVAILABLE;
}

async function oldestTransaction(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ holder: string }>(`
    select format('%s, process %s, in a transaction since %s', coalesce(nullif(application_name, ''), usename), pid, xact_start) as holder
    from pg_stat_activity a
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and exists (
      select from pg_locks l join pg_class c on c.oid = l.relation
      where l.pid = a.pid and c.relnamespace = to_regnamespace(quote_ident(current_schema())))
    order by xact_start limit 1`);
  return rows[0]?.holder ?? null;
}

/** The oldest supported PostgreSQL: `unique nulls not distinct` appeared with it. */
const MIN_SERVER = 15;

/** Refused before the first migration, which would leave an incomplete database. */
async function checkServer(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; major: number }>(
    "select current_setting('server_version') as version, current_setting('server_version_num')::int / 10000 as major",
  );
  const [server] = rows;
  if (server === undefined || server.major >= MIN_SERVER) return;
  throw new MigrationError(
    `The database is PostgreSQL ${server.version}; Cointill needs ${MIN_SERVER} or newer. Set DATABASE_URL to such a server.`,
  );
}

async function makeTable(client: Client): Promise<void> {
  await client.query(MAKE_TABLE);
  const { rows } = await client.query<{ lacks: boolean }>(LACKS_CHECKSUMS);
  if (rows[0]?.lacks === true) await client.query('alter table migrations add column checksum text');
}

/** Applies these migrations, in the open transaction, to a database made by those before them. */
export async function applyMigrations(
  client: Client,
  names: readonly string[],
  folder: string = MIGRATIONS_FOLDER,
): Promise<void> {
  await makeTable(client);
  for (const name of names) await toldAs(name, () => apply(client, folder, name));
}

async function apply(client: Client, folder: string, name: string): Promise<void> {
  const { text, checksum } = await readMigration(folder, name);
  for (const statement of statementsOf(text.replaceAll(CONCURRENTLY, '$1'))) await client.query(statement);
  await keep(client, name, checksum);
}

/** A statement up to a semicolon outside of strings, names, function bodies and comments. */
const STATEMENT = /(?:'(?:[^']|'')*'|"[^"]*"|\$(\w*)\$[^]*?\$\1\$|--.*|\/\*[^]*?\*\/|[^;])+/g;

/** The statements of a migration. Each is sent alone, because Citus takes no several commands in one query. */
export function statementsOf(text: string): readonly string[] {
  return (text.match(STATEMENT) ?? []).map((statement) => statement.trim()).filter((statement) => statement !== '');
}

const CONCURRENTLY = /^((?:create|drop) index) concurrently/gm;

/**
 * Applies a migration whose indexes are built while others write, which needs no transaction: if it is interrupted, it
 * is repeated from its beginning. Returns false, without doing anything, if the migration is of another kind.
 */
async function applyBesideWriters(
  client: Client,
  folder: string,
  name: string,
  options: MigrateOptions,
): Promise<boolean> {
  const { text, checksum } = await readMigration(folder, name);
  if (text.match(CONCURRENTLY) === null) return false;
  const run = async (statement: string): Promise<void> => void (await client.query(statement));
  for (const statement of statementsOf(text)) {
    // A statement that builds an index concurrently blocks nobody while it waits.
    if (statement.match(CONCURRENTLY) !== null) await toldAs(name, () => run(statement));
    else await inTransaction(client, name, options, () => run(statement));
  }
  await keep(client, name, checksum);
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
