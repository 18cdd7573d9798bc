import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Client } from 'pg';
import type { Database } from './database.ts';

/** The database that a setting leads to cannot serve; the message says why, and what to do. */
export class UnfitDatabaseError extends Error {}

/** The database could not be opened by the way that a setting names; what went wrong is the cause. */
export class DatabaseConnectionError extends Error {
  readonly setting: string;

  constructor(setting: string, cause: unknown) {
    super(`the database of ${setting} cannot be opened`, { cause });
    this.setting = setting;
  }
}

/** Does the work, and names the setting of the way that it takes where that fails. */
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

/** Whether a database takes writes, in plain words; null when it does. */
export async function writeProblem(db: Database): Promise<string | null> {
  const { rows } = await sql.raw<Role>(ROLE).execute(db);
  return problemOf(rows[0]);
}

function problemOf(role: Role | undefined): string | null {
  if (role?.replica === true) return 'a replica, which takes no writes';
  return role?.read_only === true ? 'read-only' : null;
}

/**
 * Looks whether the way that `setting` names leads to a database that takes writes. PostgreSQL's own message on a replica
 * would name the first statement that writes.
 *
 * @throws UnfitDatabaseError where it does not
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
        `${setting} leads to a replica, which takes no writes. Set ${setting} to the primary, or to an address that always leads there.`,
      );
}

/** `prepared statement … already exists`, `prepared statement … does not exist`. */
const PREPARED_TROUBLE = new Set(['42P05', '26000']);

/**
 * Looks whether the pool's way takes writes and keeps the prepared statements of two clients apart: an old pooler of
 * transactions gives both the same session, in which the second finds what the first prepared.
 *
 * @throws UnfitDatabaseError where it does not
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
    if (!(error instanceof Error && 'code' in error && PREPARED_TROUBLE.has(String(error.code)))) throw error;
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
 * Looks whether the direct way and the pool's lead to one database and schema: a lock that is taken on the one is seen on
 * the other. A lock is in one running database alone, while names are alike everywhere and a copy made from a backup has the
 * identifiers of what it copies; and every role may see locks. Writes nothing.
 *
 * @throws UnfitDatabaseError where they do not
 */
export async function checkSameDatabase(direct: Client, db: Database): Promise<void> {
  const [first, second] = [randomInt(MAX_LOCK_KEY), randomInt(MAX_LOCK_KEY)];
  // In a transaction, for this way may lead through a pooler too.
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
