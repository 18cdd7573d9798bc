import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Database, Trx } from '../database.ts';
import { alongAmounts, indexScansOf, type PaymentSearch } from './payment-filter.ts';
import { findOwners, idsOf, type OwnedPayment } from './payment-list.ts';
import { scansByTerms } from './payment-search.ts';

/** Nobody reads further than this. */
const MAX_COUNTED = 10_000;
const MAX_MS = 1_000;
/** PostgreSQL: query_canceled. */
const CANCELED = '57014';

/** The payments that match a search, as far as they are counted. */
export interface Found {
  /** At most 10,000. */
  readonly count: number;
  /** Whether there are more. */
  readonly isMore: boolean;
  /** A sum for each currency, in its smallest unit; empty if there are more payments. */
  readonly sums: readonly { readonly currency: Fiat; readonly minor: bigint }[];
}

/** How many payments match a search, and their sums. Null if counting takes too long. */
export async function countFound(db: Database, scope: ProjectMode, search: PaymentSearch): Promise<Found | null> {
  const selects = await selectsOf(db, scope, search, MAX_COUNTED + 1);
  if (selects.length === 0) return { count: 0, isMore: false, sums: [] };
  return withinTime(db, async (trx) => {
    const { rows } = await sql<{ count: number; currency: Fiat | null; minor: bigint }>`
      with found as materialized (
        select id from (${sql.join(selects, sql` union `)}) found limit ${MAX_COUNTED + 1}
      ), counted as (select count(*)::integer as count from found)
      select count, currency, coalesce(minor, 0) as minor from counted left join lateral (
        select currency, sum(amount_minor)::bigint as minor from found join payments using (id)
        where count <= ${MAX_COUNTED} group by currency
      ) sums on true order by minor desc, currency`.execute(trx);
    const count = rows[0]?.count ?? 0;
    const sums = rows.flatMap(({ currency, minor }) => (currency === null ? [] : [{ currency, minor }]));
    return { count: Math.min(count, MAX_COUNTED), isMore: count > MAX_COUNTED, sums };
  });
}

/** The newest 10,000 payments that match a search, newest first. Null if finding them takes too long. */
export async function idsFound(
  db: Database,
  scope: ProjectMode,
  search: PaymentSearch,
): Promise<{ readonly payments: readonly Pick<OwnedPayment, 'id' | 'api'>[]; readonly isMore: boolean } | null> {
  return withinTime(db, async (trx) => {
    const ids = await idsOf(trx, scope, search, { after: null, limit: MAX_COUNTED + 1 });
    const owners = await findOwners(trx, ids.slice(0, MAX_COUNTED));
    const byId = new Map(owners.map((owner) => [owner.id, owner]));
    return { payments: ids.flatMap((id) => byId.get(id) ?? []), isMore: ids.length > MAX_COUNTED };
  });
}

async function withinTime<Result>(db: Database, work: (trx: Trx) => Promise<Result>): Promise<Result | null> {
  try {
    return await db.transaction().execute(async (trx) => {
      // Beyond the server's usual memory a scan forgets which rows of a block it found, and tries each of them.
      await sql`select set_config('work_mem', '32MB', true), set_config('statement_timeout', ${String(MAX_MS)}, true)`.execute(
        trx,
      );
      return work(trx);
    });
  } catch (error) {
    if (error instanceof DatabaseError && error.code === CANCELED) return null;
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
