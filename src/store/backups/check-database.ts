import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Client } from 'pg';
import { EXHAUSTED } from '../client.ts';
import type { Database } from '../database.ts';
import { UnfitDatabaseError } from '../unfit-database.ts';

/** Cointill was never in this database: a command that needs existing data must not create its tables. */
export class EmptyDatabaseError extends Error {}

const POLL_MS = 100;

/**
 * Waits `patienceMs` for a first start that has just created the database and is about to migrate it.
 *
 * @throws EmptyDatabaseError if no version of Cointill ever migrated the database
 */
export async function checkNotEmpty(client: Client, patienceMs: number): Promise<void> {
  const until = performance.now() + patienceMs;
  for (;;) {
    if (!(await isEmptyDatabase(client))) return;
    if (performance.now() >= until) throw new EmptyDatabaseError();
    await setTimeout(POLL_MS);
  }
}

/** Whether no migration ever ran in the database. */
export async function isEmptyDatabase(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ empty: boolean }>("select to_regclass('migrations') is null as empty");
  return rows[0]?.empty === true;
}

/** The database of a setting could not be opened; the cause is the error. */
export class DatabaseConnectionError extends Error {
  readonly setting: string;

  constructor(setting: string, cause: unknown) {
    super(`the database of ${setting} cannot be opened`, { cause });
    this.setting = setting;
  }
}

/** The result of `work`; an error is wrapped so that it names the setting whose connection failed. */
export async function namingSetting<Result>(setting: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof UnfitDatabaseError ? error : new DatabaseConnectionError(setting, error);
  }
}

interface Role {
  readonly replica: boolean;
  readonly read_only: boolean;
}
const ROLE = `select pg_is_in_recovery() as replica, current_setting('transaction_read_only') = 'on' as read_only`;

/** Whether the server of this connection is a standby. */
export async function isInRecovery(client: Client): Promise<boolean> {
  const { rows } = await client.query<Role>(ROLE);
  return rows[0]?.replica === true;
}

/** Why a database accepts no writes, in plain words; null if it does. */
export async function writeProblem(db: Database): Promise<string | null> {
  const { rows } = await sql.raw<Role>(ROLE).execute(db);
  return problemOf(rows[0]);
}

/**
 * Writes a megabyte to a table that nobody else sees and that the statement itself removes: an order would fit on an
 * existing page, and prove nothing about the disk.
 */
const FILL = `create temp table cointill_room on commit drop as
  select repeat('-', 1000) as filler from generate_series(1, 1000)`;

/** The resource that the server lacks for writing, in its own words; null if it can write. */
export async function exhaustion(db: Database): Promise<string | null> {
  try {
    await sql.raw(FILL).execute(db);
    return null;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && EXHAUSTED.test(String(error.code)))) throw error;
    return error.message;
  }
}

function problemOf(role: Role | undefined): string | null {
  if (role?.replica === true) return 'a replica, which accepts no writes';
  return role?.read_only === true ? 'read-only' : null;
}

/**
 * Checks that the connection of `setting` leads to a database that accepts writes. On a replica, PostgreSQL's own error
 * would only name the first statement that writes.
 *
 * @throws UnfitDatabaseError if it does not
 */
export async function checkWrites(client: Client, setting: string): Promise<void> {
  const { rows } = await client.query<Role>(ROLE);
  const problem = problemOf(rows[0]);
  if (problem !== null) throw unfit(setting, problem);
}

function unfit(setting: string, problem: string): UnfitDatabaseError {
  return problem === 'read-only'
    ? new UnfitDatabaseError(
        `${setting} leads to a database that was made read-only. Make it writable, or set ${setting} to one that is.`,
      )
    : new UnfitDatabaseError(
        `${setting} leads to a replica, which accepts no writes. Set ${setting} to the primary, or to an address that always leads there.`,
      );
}

/** `prepared statement … already exists`, `prepared statement … does not exist`. */
const PREPARED_PROBLEM = new Set(['42P05', '26000']);

/**
 * Checks that the pool's connections take writes and keep the prepared statements of two clients apart. An old pooler
 * in transaction mode gives both clients the same session, in which the second one finds the first one's statements.
 *
 * @throws UnfitDatabaseError if they do not
 */
export async function checkPool(db: Database): Promise<void> {
  let problem: string | null;
  try {
    problem = await db.connection().execute(async (one) => {
      await writeProblem(one);
      await db.connection().execute(async (other) => writeProblem(other));
      return writeProblem(one);
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && PREPARED_PROBLEM.has(String(error.code)))) throw error;
    throw new UnfitDatabaseError(
      'DATABASE_URL leads through a pooler that loses prepared statements. With PgBouncer from 1.21 on set ' +
        'max_prepared_statements to 200 there; with an older one pool sessions, or lead DATABASE_URL past it.',
      { cause: error },
    );
  }
  if (problem !== null) throw unfit('DATABASE_URL', problem);
}

const MAX_LOCK_KEY = 2 ** 31 - 1;

/**
 * Checks that the direct connection and the pool lead to the same database and schema: a lock taken through one must be
 * visible through the other. A lock exists in one running database only, while names are the same everywhere and a
 * restored copy has the identifiers of its original; and every role can see locks. Writes nothing.
 *
 * @throws UnfitDatabaseError if they do not
 */
export async function checkSameDatabase(direct: Client, db: Database): Promise<void> {
  const [first, second] = [randomInt(MAX_LOCK_KEY), randomInt(MAX_LOCK_KEY)];
  // In a transaction, because this connection may go through a pooler too.
  await direct.query('begin');
  try {
    const { rows } = await direct.query<{ schema: string | null }>(
      'select current_schema() as schema from pg_advisory_xact_lock($1, $2)',
      [first, second],
    );
    const pooled = await sql<{ seen: boolean; schema: string | null }>`
      select current_schema() as schema, exists (
        select from pg_locks
        where locktype = 'advisory' and classid = ${first}::integer and objid = ${second}::integer and objsubid = 2
          and database = (select oid from pg_database where datname = current_database())
      ) as seen`.execute(db);
    const problem =
      pooled.rows[0]?.seen !== true ? 'database' : pooled.rows[0].schema === rows[0]?.schema ? null : 'schema';
    if (problem === null) return;
    throw new UnfitDatabaseError(
      `DATABASE_DIRECT_URL leads to another ${problem} than DATABASE_URL. Set it to the same one, past the pooler only, or leave it unset where there is no pooler.`,
    );
  } finally {
    await direct.query('rollback');
  }
}
