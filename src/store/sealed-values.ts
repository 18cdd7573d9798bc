import { sql } from 'kysely';
import type { Trx } from './database.ts';

/** The columns with values that the database's key seals, what people call a row, and when it went out of use. */
export const SEALED = {
  webhook_endpoints: { columns: ['secret', 'previous_secret'], name: 'id', endedAt: 'deleted_at' },
  people: { columns: ['totp_secret', 'totp_pending'], name: 'email', endedAt: 'deactivated_at' },
} as const;
export type SealedTable = keyof typeof SEALED;

/** A row with sealed values. */
export interface SealedRow {
  readonly id: string;
  /** The id of an endpoint, the e-mail address of a person. */
  readonly name: string;
  /** Whether it is neither deleted nor deactivated. */
  readonly isInUse: boolean;
  /** One for each column; null: there is none. */
  readonly values: readonly (Buffer | null)[];
}

/** The next rows with sealed values, in the order of their ids, locked until the transaction ends. */
export async function lockSealedRows(
  trx: Trx,
  table: SealedTable,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly SealedRow[]> {
  const { columns, name, endedAt } = SEALED[table];
  const all = sql.join(columns.map((column) => sql.ref(column)));
  const { rows } = await sql<SealedRow>`
    select id, ${sql.ref(name)}::text as name, ${sql.ref(endedAt)} is null as "isInUse", array[${all}] as values
    from ${sql.table(table)}
    where coalesce(${all}) is not null and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${limit} for update`.execute(trx);
  return rows;
}

/** Replaces the sealed values of locked rows. */
export async function replaceSealedRows(
  trx: Trx,
  table: SealedTable,
  rows: readonly Pick<SealedRow, 'id' | 'values'>[],
): Promise<void> {
  if (rows.length === 0) return;
  const { columns } = SEALED[table];
  const lists = columns.map((_, at) => sql`${rows.map(({ values }) => values[at] ?? null)}::bytea[]`);
  const names = columns.map((column) => sql.ref(`new_${column}`));
  await sql`
    update ${sql.table(table)} set ${sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`new_${column}`)}`))}
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${sql.join(lists)}) v (row_id, ${sql.join(names)})
    where id = row_id`.execute(trx);
}
