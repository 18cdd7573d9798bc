import type { Client } from 'pg';
import { copyIn } from './copy.ts';
import { applyMigrations, MIGRATION_LOCK } from '../migrate.ts';
import { knownMigrations, MigrationError, unfitSchema } from '../migration-files.ts';
import { SALT } from '../own-schema.ts';
import { copyStatement, liftLimits, type CopiedTable, type SequenceState } from './snapshot.ts';

/** The database to load into is not empty, or somebody else is filling it. The message says so, and the way out. */
export class OccupiedDatabaseError extends Error {}

/** The content of a snapshot that is loaded into an empty database. */
export interface Loading {
  readonly migrations: readonly string[];
  readonly tables: readonly CopiedTable[];
  readonly sequences: readonly SequenceState[];
}

export type LoadedTable = Pick<CopiedTable, 'name' | 'columns'>;

/** A structure that makes a table slow to fill: created again, and thereby checked, once the rows are in. */
interface Structure {
  readonly drop: string;
  readonly make: string;
}

/** In the order in which they are created again: the constraints that foreign keys refer to, then the foreign keys. */
const CONSTRAINTS = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as make
  from pg_constraint
  where connamespace = to_regnamespace(quote_ident(current_schema()))::oid and contype in ('p', 'u', 'f')
  order by contype = 'f', conrelid::regclass::text, conname`;
const INDEXES = `
  select format('drop index %s', i.indexrelid::regclass) as drop, pg_get_indexdef(i.indexrelid) as make
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = to_regnamespace(quote_ident(current_schema()))::oid
    and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
  order by i.indexrelid`;

const OCCUPANTS = `
  select c.relname as name from pg_class c
  where c.relnamespace = to_regnamespace(quote_ident(current_schema()))::oid and c.relkind in ('r', 'v', 'm', 'p', 'f') order by 1 limit 3`;

/**
 * Turns the database into a copy of a snapshot: creates its tables as those migrations made them, lets `fill` insert
 * the rows, and migrates to this program's version. All in the open transaction, so that the copy is complete or does
 * not exist.
 *
 * @throws OccupiedDatabaseError if the database is not empty or somebody else is filling it, MigrationError if a
 * migration, or a column with data, is unknown to this program
 */
export async function loadSnapshot(
  client: Client,
  { migrations, tables, sequences }: Loading,
  fill: (load: (table: LoadedTable, content: AsyncIterable<Buffer>) => Promise<number>) => Promise<void>,
): Promise<void> {
  await liftLimits(client);
  await holdAlone(client);
  await checkEmpty(client);
  const ownMigrations = await knownMigrations();
  const unknown = migrations.find((name) => !ownMigrations.includes(name));
  if (unknown !== undefined) {
    throw new MigrationError(
      `The backup was made by a newer version of Cointill (${unknown}). Restore it with that version.`,
    );
  }
  await applyMigrations(client, migrations);
  const { rows: constraints } = await client.query<Structure>(CONSTRAINTS);
  const { rows: indexes } = await client.query<Structure>(INDEXES);
  for (const { drop } of [...constraints.toReversed(), ...indexes]) await client.query(drop);
  // Loaded events have their positions, or wait for them, as in the snapshot.
  await client.query('alter table events disable trigger user');
  const names = new Set(tables.map(({ name }) => name));
  await fill(async (table, content) => {
    if (!names.has(table.name)) throw new Error(`The table ${table.name} is not in the manifest.`);
    try {
      return await copyIn(client, copyStatement(client, table, 'into'), content);
    } catch (error) {
      throw isUnknownName(error) ? unfitSchema('backup', error.message) : error;
    }
  });
  await client.query('alter table events enable trigger user');
  await client.query("set local maintenance_work_mem = '256MB'");
  for (const { make } of [...constraints, ...indexes]) await client.query(make);
  for (const sequence of sequences) await setSequence(client, sequence);
  await applyMigrations(
    client,
    ownMigrations.filter((name) => !migrations.includes(name)),
  );
  await client.query(`analyze ${tables.map(({ name }) => client.escapeIdentifier(name)).join(', ')}`);
}

/** PostgreSQL's codes for a column and a table that do not exist. */
function isUnknownName(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && (error.code === '42703' || error.code === '42P01');
}

/** Until the transaction ends nobody else can create tables: neither another restore nor a service that starts. */
async function holdAlone(client: Client): Promise<void> {
  const { rows } = await client.query<{ isHeld: boolean }>(
    `select pg_try_advisory_xact_lock($1::bigint # ${SALT}) as "isHeld"`,
    [MIGRATION_LOCK],
  );
  if (rows[0]?.isHeld === true) return;
  throw new OccupiedDatabaseError(
    'Something else is being restored into this database at this moment, or a service starts on it. Nothing was written there. Name another empty database, or wait until that has ended and look at the content of this one.',
  );
}

async function checkEmpty(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(OCCUPANTS);
  if (rows.length === 0) return;
  throw new OccupiedDatabaseError(
    `The database is not empty (${rows.map(({ name }) => name).join(', ')} …), and Cointill never writes into existing data there. Name an empty database, such as one that createdb has just made, or a role whose schema is empty.`,
  );
}

async function setSequence(client: Client, { table, column, last }: SequenceState): Promise<void> {
  if (last === null) return;
  await client.query('select setval(pg_get_serial_sequence($1, $2), $3::bigint)', [
    client.escapeIdentifier(table),
    column,
    last,
  ]);
}

/** Counts the rows of each of these tables. */
export async function countRows(
  client: Client,
  tables: readonly { readonly name: string }[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const { rows } = await client.query<{ count: string }>(
      `select count(*)::text as count from ${client.escapeIdentifier(name)}`,
    );
    counts.set(name, Number(rows[0]?.count));
  }
  return counts;
}
