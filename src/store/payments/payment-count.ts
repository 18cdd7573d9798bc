import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Database } from '../database.ts';
import { alongAmounts, indexScansOf, type PaymentSearch } from './payment-filter.ts';
import { scansByTerms } from './payment-search.ts';

/** Nobody reads further than this. */
const MAX_COUNTED = 10_000;
const MAX_MS = 1_000;
/** PostgreSQL: query_canceled. */
const CANCELED = '57014';

/** How many payments match a search: at most 10,000, and whether there are more. Null if counting takes too long. */
export async function countFound(
  db: Database,
  scope: ProjectMode,
  search: PaymentSearch,
): Promise<{ readonly count: number | null; readonly isMore: boolean }> {
  const limit = MAX_COUNTED + 1;
  const ids = await selectsOf(db, scope, search, limit);
  if (ids.length === 0) return { count: 0, isMore: false };
  try {
    const count = await db.transaction().execute(async (trx) => {
      // Beyond the server's usual memory a scan forgets which rows of a block it found, and tries each of them.
      await sql`select set_config('work_mem', '32MB', true), set_config('statement_timeout', ${String(MAX_MS)}, true)`.execute(
        trx,
      );
      const { rows } = await sql<{ count: number }>`
        select count(*)::integer as count from (
          select id from (${sql.join(ids, sql` union `)}) found limit ${limit}) counted`.execute(trx);
      return rows[0]?.count ?? 0;
    });
    return { count: Math.min(count, MAX_COUNTED), isMore: count > MAX_COUNTED };
  } catch (error) {
    if (error instanceof DatabaseError && error.code === CANCELED) return { count: null, isMore: false };
    throw error;
  }
}

async function selectsOf(db: Database, scope: ProjectMode, search: PaymentSearch, limit: number) {
  const { terms } = search;
  const { indexScans, amount } =
    terms === null
      ? indexScansOf(scope, search, null)
      : { indexScans: await scansByTerms(db, scope, { ...search, terms }), amount: null };
  if (amount !== null) return [sql`(${alongAmounts(scope, search, { after: null, limit })})`];
  return indexScans.map(
    ({ source, conditions }) =>
      sql`(select id from ${source} where ${sql.join(conditions, sql` and `)} limit ${limit})`,
  );
}
