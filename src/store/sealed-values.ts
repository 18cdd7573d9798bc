import { sql } from 'kysely';
import type { Trx } from './database.ts';

/** The columns with values that the database's key seals. */
const SEALED = {
  webhook_endpoints: ['secret', 'previous_secret'],
  people: ['totp_secret', 'totp_pending'],
} as const;
export type SealedTable = keyof typeof SEALED;

/** The sealed values of a row, in the order of {@link SEALED}; null: there is none. */
export interface SealedRow {
  readonly id: string;
  readonly values: readonly [Buffer | null, Buffer | null];
}

/** The next rows with sealed values, in the order of their ids, locked until the transaction ends. */
export async function lockSealedRows(
  trx: Trx,
  table: SealedTable,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly SealedRow[]> {
  const [first, second] = SEALED[table];
  const { rows } = await sql<{ id: string; first: Buffer | null; second: Buffer | null }>`
    select id, ${sql.ref(first)} as first, ${sql.ref(second)} as second from ${sql.table(table)}
    where (${sql.ref(first)} is not null or ${sql.ref(second)} is not null) and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${limit} for update`.execute(trx);
  return rows.map((row) => ({ id: row.id, values: [row.first, row.second] }));
}

/** Replaces the sealed values of locked rows. */
export async function replaceSealedRows(trx: Trx, table: SealedTable, rows: readonly SealedRow[]): Promise<void> {
  if (rows.length === 0) return;
  const [first, second] = SEALED[table];
  await sql`
    update ${sql.table(table)} set ${sql.ref(first)} = v.first, ${sql.ref(second)} = v.second
    from unnest(
      ${rows.map(({ id }) => id)}::uuid[], ${rows.map(({ values }) => values[0])}::bytea[],
      ${rows.map(({ values }) => values[1])}::bytea[]
    ) v (id, first, second)
    where ${sql.table(table)}.id = v.id`.execute(trx);
}
