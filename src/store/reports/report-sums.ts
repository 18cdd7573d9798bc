import { sql, type RawBuilder } from 'kysely';
import { MAX_NAMED, type Named } from '../../domain/books.ts';
import type { Database, Trx } from '../database.ts';

/** A time in a form that also works in `COPY`, which has no parameters. */
export const at = (epochMs: number): RawBuilder<unknown> => sql`${new Date(epochMs).toISOString()}::timestamptz`;

/** The sum over the rows that meet a filter, rounded once; the driver reads it as a bigint. */
export const total = (of: string | RawBuilder<unknown>, filter: RawBuilder<unknown> = sql`true`): RawBuilder<bigint> =>
  sql<bigint>`coalesce(sum(${typeof of === 'string' ? sql.raw(of) : of}) filter (where ${filter}), 0)::numeric(78, 0)`;
/** The number of rows that meet a filter. */
export const count = (filter: RawBuilder<unknown> = sql`true`): RawBuilder<number> =>
  sql<number>`(count(*) filter (where ${filter}))::integer`;

/** The first of the rows that explain a difference, and their number. */
export async function named<Row>(
  db: Database | Trx,
  rows: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<Named<Row>> {
  const found = await sql<Row & { readonly of: number }>`
    select *, (count(*) over ())::integer as "of" from (${rows}) rows order by ${order} limit ${MAX_NAMED}`.execute(db);
  return { rows: found.rows.map(({ of: _of, ...row }) => row as Row), count: found.rows[0]?.of ?? 0 };
}

/**
 * Keeps rows for several statements of one transaction. Returns the beginning of the statements that read them. A
 * standby has no temporary tables: there each statement makes the rows anew.
 */
export async function namedRows(
  db: Database,
  name: RawBuilder<unknown>,
  rows: RawBuilder<unknown>,
  isStandby: boolean,
): Promise<RawBuilder<unknown>> {
  if (isStandby) return sql`with ${name} as materialized (${rows})`;
  await sql`create temporary table ${name} on commit drop as ${rows}`.execute(db);
  await sql`analyze ${name}`.execute(db);
  return sql``;
}
