import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { emptyDatabase, testDatabase } from '../../test/database.ts';
import { structureOf } from '../../test/structure.ts';
import { openDatabase } from './database.ts';
import { knownMigrations, migrate } from './migrate.ts';
import { findPayments } from './payments.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
const names = await knownMigrations();

/** Those that databases out there were made by, which must never change: add those of a new release. */
const RELEASED: Readonly<Record<string, string>> = {
  '0001_foundation.sql': '17b653a0a89fad1e',
  '0002_live_chains.sql': 'e9c58d8dc33bc403',
  '0003_checkout.sql': 'f1b29c09246e0bfe',
  '0004_refund_inputs.sql': '9a7615d05f98e925',
  '0006_quotes.sql': 'dc263a72d7e361a6',
  '0009_figures.sql': '118915bcc38d869d',
  '0010_waiting_payouts.sql': '7d9546c7e0fcc447',
  '0012_recovery.sql': '959f242a3f42b65a',
  '0013_backups.sql': '0f7daea3d72475f6',
  '0015_guessed_payouts.sql': 'ac90f2509f1df58d',
  '0016_refund_balances.sql': '1bea7c9775270bc5',
};

interface KnownColumn {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  /** The words that a check allows; null: any. */
  readonly words: readonly string[] | null;
}

interface KnownTable {
  readonly table: string;
  readonly columns: readonly KnownColumn[];
}

/** Every table but that of the migrations, with the columns that an insert may say. */
async function tablesOf(client: Client): Promise<readonly KnownTable[]> {
  const { rows } = await client.query<KnownTable>(`
    select t.relname as "table", json_agg(json_build_object(
      'name', a.attname, 'type', format_type(a.atttypid, null), 'isNullable', not a.attnotnull,
      'words', (
        select array(select w[1] from regexp_matches(pg_get_constraintdef(c.oid), '''([^'']+)''::text', 'g') w)
        from pg_constraint c where c.conrelid = t.oid and c.contype = 'c' and c.conkey = array[a.attnum]
          and pg_get_constraintdef(c.oid) not like '%~%' and pg_get_constraintdef(c.oid) like '%''%' limit 1)
      ) order by a.attnum) as columns
    from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped and a.attidentity = ''
    where t.relnamespace = 'public'::regnamespace and t.relkind = 'r' and t.relname <> 'migrations'
    group by t.relname order by t.relname`);
  return rows;
}

/** Texts that are no words, and yet not any. */
const SHAPED: Readonly<Record<string, (row: number) => string>> = {
  accent: (row) => `${row}`.padStart(6, 'a'),
  hash: (row) => `${row}`.padStart(64, 'a'),
};

/** A value of a column in row number `row`; what may be null is, in every second row. */
function valueOf({ name, type, isNullable, words }: KnownColumn, row: number): unknown {
  if (isNullable && row % 2 === 1) return null;
  if (words !== null) return words[row % words.length];
  switch (type) {
    case 'uuid':
      return `00000000-0000-7000-8000-${String(row).padStart(12, '0')}`;
    case 'text':
      return SHAPED[name]?.(row) ?? `${name} ${row}`;
    case 'uuid[]':
      return [`00000000-0000-7000-8000-${String(row).padStart(12, '0')}`];
    case 'text[]':
      return [`${name} ${row}`, 'Grüße €'];
    case 'integer[]':
      return [row, row + 1];
    case 'boolean':
      return row % 2 === 0;
    case 'bytea':
      return Buffer.from([row, 0, 255]);
    case 'jsonb':
      return JSON.stringify({ [name]: `${row}` });
    case 'date':
      return `2026-01-0${row + 1}`;
    case 'timestamp with time zone':
      return new Date(Date.UTC(2026, 0, row + 1)).toISOString();
    case 'numeric':
      return String(10n ** 77n + BigInt(row));
    case 'bigint':
    case 'integer':
    case 'smallint':
      // Some must be above 0.
      return row + 1;
    default:
      throw new Error(`${name} is of the type ${type}: say what to fill it with.`);
  }
}

const ROWS = 4;

async function fill(client: Client, tables: readonly KnownTable[]): Promise<void> {
  // Rows of all tables, without a look at what they refer to.
  await client.query('set session_replication_role = replica');
  for (const { table, columns } of tables) {
    const list = columns.map(({ name }) => name).join(', ');
    const places = columns.map((_, index) => `$${index + 1}`).join(', ');
    for (let row = 0; row < ROWS; row += 1) {
      const values = columns.map((column) => valueOf(column, row));
      await client.query(`insert into ${table} (${list}) values (${places})`, values);
    }
  }
  await client.query('set session_replication_role = origin');
}

/** All rows, in these columns. */
async function contentOf(
  client: Client,
  tables: readonly KnownTable[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const content = new Map<string, readonly string[]>();
  for (const { table, columns } of tables) {
    const list = columns.map(({ name }) => name).join(', ');
    const { rows } = await client.query<{ row: string }>(
      `select to_jsonb(t)::text as row from (select ${list} from ${table}) t order by 1`,
    );
    content.set(
      table,
      rows.map(({ row }) => row),
    );
  }
  return content;
}

it.each(names)(
  'a filled database that %s was the last migration of is brought to this version, and loses nothing',
  async (last) => {
    const url = await emptyDatabase();
    const handle = openDatabase({ connectionString: url }, { maxConnections: 2, onError: () => {} });
    onTestFinished(() => handle.close());
    const client = await handle.connect();
    onTestFinished(() => client.end());
    const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-upgrade-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const then = names.slice(0, names.indexOf(last) + 1);
    for (const name of then) await copyFile(path.join(MIGRATIONS, name), path.join(folder, name));
    await migrate(client, folder);
    const tables = await tablesOf(client);
    await fill(client, tables);
    const before = await contentOf(client, tables);

    expect(await migrate(client)).toEqual(names.slice(then.length));
    expect(await contentOf(client, tables)).toEqual(before);
    const { rows } = await client.query<{ id: string }>('select id from payments');
    const payments = await findPayments(
      handle.db,
      rows.map(({ id }) => id),
    );
    expect(payments).toHaveLength(ROWS);
    expect(await structureOf(handle.db)).toEqual(await structureOf((await testDatabase()).db));
  },
);

it.each(Object.entries(RELEASED))('%s is as it was released', async (name, checksum) => {
  const text = await readFile(path.join(MIGRATIONS, name), 'utf8');
  expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe(checksum);
});
