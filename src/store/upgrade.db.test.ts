import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyDatabase, testDatabase } from '../../test/database.ts';
import { isMain, isNight } from '../../test/extent.ts';
import { structureOf } from '../../test/structure.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { knownMigrations } from './migration-files.ts';
import { findPayments } from './payments/payments.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
const names = await knownMigrations();

/** The migrations of existing databases, which must never change: add the line of a new migration. */
const MERGED: Readonly<Record<string, string>> = {
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
  '0021_request_ids.sql': 'f669dcd1887e58f7',
  '0022_people.sql': '33b5f9d829a6875c',
  '0023_payment_lists.sql': 'c2f5625e74c4c206',
  '0024_payment_search.sql': 'a792c8db796e9645',
  '0025_notes_and_labels.sql': '2e0f085680ddec86',
  '0026_figures_and_attention.sql': '691d9f1b3a446250',
  '0027_ended_payments.sql': '70d5e3af538d991c',
  '0028_webhooks_and_requests.sql': '351048525512f9ba',
  '0029_key_uses.sql': '3427040df6f32128',
  '0030_delivery_lists.sql': 'cb9f5435cda477f2',
  '0031_wallets_page.sql': '805a62fd0326e9c4',
  '0032_refund_lists.sql': '9ac6661bb69ae154',
  '0033_sent_payouts.sql': '46000cc42f66567d',
  '0034_sweeps.sql': '9ef8f8ca57fef847',
  '0035_reports.sql': 'e638e4ec44dfd18b',
  '0036_project_settings.sql': '01ccf867721fbaf1',
  '0037_mails.sql': 'b81a35f599b23635',
  '0038_forgetting_in_the_audit_log.sql': '75bc231381228bc0',
  '0039_check_of_the_sealing_key.sql': '95180e5739c3a614',
  '0041_coin_outflows.sql': '23f6110c43eba33f',
  '0045_confirmed_emails.sql': 'bf60aafcd6cbf77b',
  '0049_key_scopes.sql': '1467e40610ea9156',
  '0050_uncompared_refunds.sql': '2d105ce483559eec',
  '0051_after_block.sql': '44e95a25d5f8eb94',
  '0052_currency_rates.sql': 'a81a83e95610d9ce',
  '0053_search_words.sql': '04adb470445e4724',
  '0054_mails_about_payments.sql': 'facf263428e60d88',
  '0055_mails_to_customers.sql': 'd381cd7bfaca4ed0',
  '0056_accounts.sql': '3464462584fa7831',
  '0057_polls.sql': '0837a62ba30a2af6',
  '0058_growth_after.sql': 'a876d1ca9a658806',
  '0059_untraced_blocks.sql': '94bcc4e2609bd9e6',
  '0060_moves.sql': '4a3be7fd4dfa92f6',
  '0061_event_log.sql': 'c9f65abe7132d016',
  '0062_advanced_payments.sql': '4967147d65ab25ca',
  '0063_invoices.sql': 'aa5538c4016cfed6',
  '0064_datev_accounts.sql': 'c36d04b0eb153c84',
  '0065_words_on_the_page.sql': 'cef231a584d2538e',
  '0066_customers.sql': '4256ed05d7488e1c',
  '0067_payment_requests.sql': '5ab6ba22d52df8e1',
  '0068_invoice_documents.sql': '0e64a70fb906848d',
  '0069_till.sql': 'a6c4bdf7e158bb3f',
  '0070_living_invoices.sql': 'ab7f048a9a4b28aa',
  '0071_dropped_transfers.sql': '4e881bfb4a44be4b',
  '0072_secret_versions.sql': '2c5b406da7d9bae4',
  '0073_shop_fields.sql': '436911a5624c162b',
  '0074_shop_messages.sql': '114e8af5ec454b58',
  '0075_overtaken_deliveries.sql': '4dcded7a6c72a7ec',
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

/** A filled database that was migrated by these files, in the order of their names. */
async function filledDatabase(files: readonly { readonly name: string; readonly file: string }[], except: Set<string>) {
  const url = await emptyDatabase();
  const handle = openDatabase({ connectionString: url }, { maxConnections: 2, onError: () => {} });
  onTestFinished(() => handle.close());
  const client = await handle.connect();
  onTestFinished(() => client.end());
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-upgrade-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const { name, file } of files) await copyFile(file, path.join(folder, name));
  await migrate(client, { folder });
  const tables = (await tablesOf(client)).filter(({ table }) => !except.has(table));
  await fill(client, tables);
  return { url, db: handle.db, client, tables, before: await contentOf(client, tables) };
}

function filesUpTo(last: string) {
  return names.slice(0, names.indexOf(last) + 1).map((name) => ({ name, file: path.join(MIGRATIONS, name) }));
}

/** Merged migrations never change: by day the newest and some earlier ones are enough. */
const step = isNight ? 1 : isMain ? 15 : 5;
const starts = names.filter((_, index) => index % step === 0 || index >= names.length - 3);

it.each(starts)(
  'a filled database that %s was the last migration of is brought to this version, and loses nothing',
  async (last) => {
    const files = filesUpTo(last);
    const { db, client, tables, before } = await filledDatabase(files, new Set());
    expect(await migrate(client)).toEqual(names.slice(files.length));
    expect(await contentOf(client, tables)).toEqual(before);
    const { rows } = await client.query<{ id: string }>('select id from payments');
    const payments = await findPayments(
      db,
      rows.map(({ id }) => id),
    );
    expect(payments).toHaveLength(ROWS);
    expect(await structureOf(db)).toEqual(await structureOf((await testDatabase()).db));
  },
);

describe('a database made by a text that a migration had before the first release', () => {
  const FORMER = path.join(import.meta.dirname, '../../test/former-migrations');
  /** Tables whose rows follow from others, or end with the process. */
  const derived = new Set([
    'payment_figures',
    'completion_times',
    'figures_progress',
    'delivery_retries',
    'retried_deliveries',
  ]);
  const former = readdirSync(FORMER);

  const filledBy = async (file: string) => {
    const last = `${file.split('.')[0]}.sql`;
    const files = filesUpTo(last).map((one) => (one.name === last ? { ...one, file: path.join(FORMER, file) } : one));
    return filledDatabase(files, derived);
  };

  it.each(former)('is brought to this version, and loses nothing: %s', async (file) => {
    const { db, client, tables, before } = await filledBy(file);
    await migrate(client);
    expect(await contentOf(client, tables)).toEqual(before);
    expect(await structureOf(db)).toEqual(await structureOf((await testDatabase()).db));
    // Once.
    expect(await migrate(client)).toEqual([]);
  });

  it('has a repair for each of them', async () => {
    expect(await readdir(path.join(MIGRATIONS, 'earlier'))).toEqual(former);
  });
});

it('a weekly summary that waits to be sent says which currency it is in', async () => {
  const { client } = await filledDatabase(filesUpTo('0051_after_block.sql'), new Set());
  const projects = [{ project: { id: 'p', name: 'Shop' }, usdCents: ['1234', '0'] }];
  await client.query(`update mails set outcome = null, content = $1`, [{ kind: 'weekly', projects }]);
  await migrate(client);
  const { rows } = await client.query<{ content: object }>('select distinct content from mails');
  const [section] = projects;
  expect(rows).toEqual([
    { content: { kind: 'weekly', projects: [{ ...section, currency: 'USD', minor: ['1234', '0'] }] } },
  ]);
});

it.each(names)('%s is as it was merged', async (name) => {
  const text = await readFile(path.join(MIGRATIONS, name), 'utf8');
  expect({ name, checksum: createHash('sha256').update(text).digest('hex').slice(0, 16) }).toEqual({
    name,
    checksum: MERGED[name],
  });
});
