import { sql } from 'kysely';
import { DatabaseError, type Client } from 'pg';
import type { ExportColumn } from '../../domain/export-column.ts';
import { copyFile, idWriter } from './copy-file.ts';
import type { Database } from '../database.ts';
import { SALT } from '../own-schema.ts';
import { expressionsOf, headsOf, type Writing } from './export-columns.ts';
import { indexScansOf, type Condition, type PaymentSearch } from '../payments/payment-filter.ts';
import { matchesTerms } from '../payments/payment-search.ts';
import { allColumns } from '../tables.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** The content of a payment export. */
export interface PaymentExport extends Writing {
  readonly scope: ProjectMode;
  readonly search: PaymentSearch;
  readonly columns: readonly ExportColumn[];
}

/** The first of two numbers of advisory locks; the second is the slot, or derived from the person. */
const SLOTS_LOCK = 7_203_612;
const PERSONS_LOCK = 7_203_614;
/** A third export would take the resources that creations need. */
export const MAX_EXPORTS = 2;

export type ExportSlot = 'taken' | 'all_taken' | 'own_taken';

/**
 * Takes one of the slots for exports, counted over all processes, until the connection ends. A person has one at most;
 * null: the operator, who may have both. One slot is reserved for owners and admins, so that exports of other people,
 * which nobody reads, cannot block everybody.
 */
export async function takeExportSlot(client: Client, personId: string | null, leads: boolean): Promise<ExportSlot> {
  const take = async (second: string, values: readonly unknown[]): Promise<boolean> => {
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock($1::integer # ${SALT}, ${second}) as taken`,
      [...values],
    );
    return rows[0]?.taken === true;
  };
  const isFree = personId === null || (await take('hashtext($2)', [PERSONS_LOCK, personId]));
  if (!isFree) return 'own_taken';
  // The reserved slot comes first, because the others cannot use it.
  for (let slot = leads ? 0 : 1; slot < MAX_EXPORTS; slot += 1)
    if (await take('$2', [SLOTS_LOCK, slot])) return 'taken';
  return 'all_taken';
}

/** The approximate number of payments of a search, from the day counters; null if only reading them all would tell. */
export async function countAbout(db: Database, scope: ProjectMode, search: PaymentSearch): Promise<number | null> {
  const { statuses, api, createdFrom, createdBefore, ...others } = search;
  if (Object.values(others).some((one) => one !== null)) return null;
  let counts = db
    .selectFrom('payment_day_counts')
    .select(({ fn }) => fn.sum<bigint | null>('payments').as('payments'))
    .where('project_id', '=', scope.projectId)
    .where('mode', '=', scope.mode);
  if (api !== null) counts = counts.where('surface', '=', api);
  if (statuses !== null) counts = counts.where('status', 'in', statuses);
  if (createdFrom !== null) counts = counts.where('day', '>=', dayOf(createdFrom));
  if (createdBefore !== null) counts = counts.where('day', '<=', dayOf(createdBefore));
  const { payments } = await counts.executeTakeFirstOrThrow();
  return Number(payments ?? 0n);
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** PostgreSQL: invalid_parameter_value. */
const UNKNOWN_ZONE = '22023';

/** Whether both JavaScript and the database have a time zone of that name. */
export async function knowsZone(db: Database, zone: string): Promise<boolean> {
  // Offsets and invented abbreviations are excluded, because the two read them differently.
  if (!/^[a-z]+(?:[/_+-][a-z\d_+-]+)*$/i.test(zone)) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: zone });
    await sql`select now() at time zone ${zone}`.execute(db);
    return true;
  } catch (error) {
    if (error instanceof RangeError || (error instanceof DatabaseError && error.code === UNKNOWN_ZONE)) return false;
    throw error;
  }
}

/**
 * Passes on a payment export, newest first, from one snapshot, beginning with the head. Returns the number of rows.
 * Throws what `take` throws, and then the connection is unusable.
 */
export function copyPayments(
  client: Client,
  file: PaymentExport,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  return copyFile(
    client,
    file,
    {
      heads: headsOf(file.columns, file),
      rows: (db) => rowsOf(db, file),
      // Rows are sent as they are read along the indexes; sorting a million first would keep the reader waiting.
      without: ['enable_sort', 'enable_bitmapscan', 'enable_seqscan', 'enable_hashjoin', 'enable_mergejoin'],
      eachRow: rowWriter(file),
    },
    take,
  );
}

/** First column: one letter for the API plus the UUID; then the requested columns. */
function rowsOf(db: Database, file: PaymentExport) {
  const expressions = expressionsOf(file.columns, file);
  const json = sql.join(expressions.map(({ column, expression }) => sql`${sql.lit(column)}, ${expression}`));
  const values =
    file.format === 'csv'
      ? expressions.map(({ expression }) => expression)
      : expressions.length === 0
        ? [sql`'{}'`]
        : [sql`json_build_object(${json})::text`];
  const selected = [sql`left(surface, 1) || id`, ...values];
  return sql`select ${sql.join(selected)} from ${paymentsOf(file)} order by id desc`.compile(db);
}

function paymentsOf({ scope, search }: PaymentExport): Condition {
  const { indexScans, amount } = indexScansOf(scope, search, null);
  // The index of words knows no order. A file is made as fast by looking at every payment.
  const others = [
    ...(amount === null ? [] : [amount]),
    ...(search.terms === null ? [] : [matchesTerms(search.terms, scope)]),
  ];
  const whole = indexScans.map(
    ({ source, conditions }) =>
      // Each index scan is ordered, so that they are merged and none of them is sorted.
      sql`(select ${allColumns('payments')} from ${source} where ${sql.join([...conditions, ...others], sql` and `)} order by id desc)`,
  );
  if (whole.length === 0) return sql`(select ${allColumns('payments')} from payments where false) payments`;
  return sql`(${sql.join(whole, sql` union all `)}) payments`;
}

/** The position in a row after the letter, the UUID and the delimiter. */
const WITHOUT_ID = 38;

/** Writes each row's id in the form of its API: first in the row, or not at all. */
function rowWriter(file: PaymentExport): (row: Buffer) => Buffer {
  if (!file.columns.includes('id')) return (row) => row.subarray(WITHOUT_ID);
  return idWriter(['id'], file, file.columns.length > 1);
}
