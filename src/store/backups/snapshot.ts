import type { Client } from 'pg';
import { copyOut } from './copy.ts';
import { COPIED_TABLES, isCopied, MIGRATIONS_TABLE, type Purpose } from './copied-tables.ts';
import { checkApplied, MIGRATIONS_FOLDER, type Applied } from '../migration-files.ts';

/** A table as it is copied: its columns in the order of their values. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** The whole database as it was at one moment, whatever is written meanwhile. */
export interface Snapshot {
  /** The names of the applied migrations, in order. */
  readonly migrations: readonly string[];
  readonly tables: readonly CopiedTable[];
  /** PostgreSQL's version, such as `18.4`. */
  readonly serverVersion: string;
  /** The server process that copies. */
  readonly serverPid: number;
  /** The endpoints' encrypted secrets as stored, with the ids that they are bound to. */
  sealedSecrets(): Promise<readonly { readonly id: string; readonly secret: Buffer }[]>;
  /** The check of the database's key, see `findKeyCheck`; null if there is none. */
  keyCheck(): Promise<Buffer | null>;
  /** Copies a table's rows in PostgreSQL's binary format; returns how many there were. */
  copy(table: CopiedTable, take: (piece: Buffer) => Promise<void>): Promise<number>;
  /**
   * The last number of each column's sequence, by table and column; null: none used yet. Read last, because sequences
   * are not part of a snapshot.
   */
  sequences(): Promise<readonly SequenceState[]>;
}

export interface SequenceState {
  readonly table: string;
  readonly column: string;
  readonly last: string | null;
}

/** These settings are lifted so that statements can take any time, even if the role or the database has limits. */
const LIMITS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout'];

/**
 * Lifts the limits on statements and transactions until the transaction ends; settings that this server lacks are left
 * out.
 */
export async function liftLimits(client: Client): Promise<void> {
  await client.query(
    `select set_config(name, '0', true) from pg_settings where name = any ($1::text[]) and setting <> '0'`,
    [LIMITS],
  );
}

const TABLES = `
  select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where c.relnamespace = to_regnamespace(quote_ident(current_schema()))::oid and c.relkind = 'r' and c.relname = any ($1::text[])
  group by c.relname`;

const SEQUENCES = `
  select c.relname as "table", a.attname as "column", s.last_value::text as last
  from pg_class q
  join pg_depend d on d.objid = q.oid and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i') and d.refobjsubid > 0
  join pg_class c on c.oid = d.refobjid
  join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
  join pg_sequences s on s.schemaname = current_schema() and s.sequencename = q.relname
  where q.relkind = 'S' and c.relnamespace = to_regnamespace(quote_ident(current_schema()))::oid and c.relname = any ($1::text[])`;

/**
 * Opens a snapshot of the database for reading, in one transaction on this connection, which ends with `work`. It
 * blocks nobody, and nobody blocks it.
 *
 * @throws as openSnapshot
 */
export async function readSnapshot<Result>(
  client: Client,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> {
  const result = await work(await openSnapshot(client, 'backup'));
  await client.query('commit');
  return result;
}

/** How long a move waits for statements that are still writing. */
const WRITERS_PATIENCE_MS = 10_000;

/**
 * Begins a transaction on this connection in which the database is read as it is at this moment; the caller ends it.
 * For a backup it only reads. For a move, nobody else can write to any of the tables until it ends.
 *
 * @throws MigrationError if the schema is not this program's, nor one that this program can migrate: the copy could not
 * be restored
 */
export async function openSnapshot(client: Client, purpose: Purpose): Promise<Snapshot> {
  const names = Object.keys(COPIED_TABLES);
  if (purpose === 'backup') await client.query('begin isolation level repeatable read, read only');
  else await beginAlone(client, names);
  await liftLimits(client);
  const applied = await appliedMigrations(client);
  await checkApplied(MIGRATIONS_FOLDER, applied);
  const { rows } = await client.query<CopiedTable>(TABLES, [names]);
  const tables = new Map(rows.map((table) => [table.name, table]));
  const { rows: servers } = await client.query<{ version: string; pid: number }>(
    "select current_setting('server_version') as version, pg_backend_pid() as pid",
  );
  return {
    migrations: applied.map(({ name }) => name),
    // In the order of the list; an older database lacks some of them.
    tables: names.flatMap((name) => tables.get(name) ?? []),
    serverVersion: servers[0]?.version ?? '',
    serverPid: servers[0]?.pid ?? 0,
    sealedSecrets: async () =>
      tables.has('webhook_endpoints')
        ? (await client.query<{ id: string; secret: Buffer }>('select id, secret from webhook_endpoints')).rows
        : [],
    keyCheck: async () =>
      tables.has('key_checks')
        ? ((await client.query<{ sealed: Buffer }>('select sealed from key_checks')).rows[0]?.sealed ?? null)
        : null,
    copy: (table, take) => copyOut(client, copyStatement(client, table, purpose), take),
    sequences: async () => (await client.query<SequenceState>(SEQUENCES, [names])).rows,
  };
}

/** Begins the transaction of a move. The tables are locked first, so that its snapshot has all that others wrote. */
async function beginAlone(client: Client, names: readonly string[]): Promise<void> {
  const { rows } = await client.query<CopiedTable>(TABLES, [names]);
  await client.query(`begin isolation level repeatable read; set local lock_timeout = ${WRITERS_PATIENCE_MS}`);
  if (rows.length === 0) return;
  await client.query(`lock table ${rows.map(({ name }) => client.escapeIdentifier(name)).join(', ')} in share mode`);
}

async function appliedMigrations(client: Client): Promise<readonly Applied[]> {
  const { rows } = await client.query<{ found: string | null }>('select to_regclass($1)::text as found', [
    MIGRATIONS_TABLE,
  ]);
  if (rows[0]?.found === null) return [];
  // Earlier versions had no column for checksums.
  const applied = await client.query<Applied>(
    `select name, to_jsonb(m) ->> 'checksum' as checksum from ${MIGRATIONS_TABLE} m order by name`,
  );
  return applied.rows;
}

/**
 * The statement that copies the rows of a table out of a database, none if a copy for this purpose leaves them out, or
 * into one. Binary: ids, times and hashes take half the space.
 */
export function copyStatement(client: Client, { name, columns }: CopiedTable, way: Purpose | 'into'): string {
  const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
  const table = client.escapeIdentifier(name);
  if (way === 'into') return `copy ${table} (${list}) from stdin with (format binary, freeze)`;
  return isCopied(name, way)
    ? `copy ${table} (${list}) to stdout with (format binary)`
    : `copy (select ${list} from ${table} where false) to stdout with (format binary)`;
}
