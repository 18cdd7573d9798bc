import { sql, type SqlBool } from 'kysely';
import { firstUuidOf } from '../../domain/id.ts';
import { PAYMENT_APIS, type Payment, type PaymentApi } from '../../domain/payment.ts';
import type { Database, Trx } from '../database.ts';
import { alongAmounts, indexScansOf, type Condition, type PaymentSearch } from './payment-filter.ts';
import { idsByTerms } from './payment-search.ts';
import { findPayments } from './payments.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** The end and length of a requested page. */
interface PageOf {
  readonly after: string | null;
  readonly limit: number;
}

/**
 * One page of a project's payments of both APIs, newest first: those with ids before `after`. Each status, token or
 * exception is read along its own index, newest first, and the scans are merged. A page costs the same at any depth.
 */
export async function searchPayments(
  db: Database,
  scope: ProjectMode,
  search: PaymentSearch,
  page: PageOf,
): Promise<readonly Payment[]> {
  const ids = await idsOf(db, scope, search, page);
  const payments = await findPayments(db, ids);
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** How many payments of each index scan are searched for an amount before the amount's own index is used. */
const MAX_NEAR = 1_000;

/** The ids of one page of a search. */
export async function idsOf(
  db: Database | Trx,
  scope: ProjectMode,
  search: PaymentSearch,
  page: PageOf,
): Promise<readonly string[]> {
  const { terms } = search;
  if (terms !== null) return idsByTerms(db, scope, { ...search, terms }, page);
  const { indexScans, amount } = indexScansOf(scope, search, page.after);
  if (indexScans.length === 0) return [];
  const where = (conditions: readonly Condition[]): Condition => sql.join(conditions, sql` and `);
  if (amount === null) {
    return newestOf(
      db,
      indexScans.map(
        ({ source, conditions }) => sql`(select id from ${source} where ${where(conditions)}
          order by id desc limit ${page.limit})`,
      ),
      page,
    );
  }
  // A frequent amount is found among the newest payments; a rare one, along its index.
  const nearest = indexScans.map(
    ({ source, conditions }) =>
      sql`(select id, amount_minor, currency from ${source} where ${where(conditions)} order by id desc limit ${MAX_NEAR})`,
  );
  const near = await newestOf(
    db,
    nearest.map((some) => sql`(select id from ${some} near where ${amount} order by id desc limit ${page.limit})`),
    page,
  );
  if (near.length >= page.limit || (await areAll(db, nearest))) return near;
  const { rows } = await sql<{ id: string }>`${alongAmounts(scope, search, page)}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Whether the rows nearest to the page are all that there are, because no index scan reached its limit. */
async function areAll(db: Database | Trx, nearest: readonly Condition[]): Promise<boolean> {
  const counts = nearest.map((some) => sql`select count(*) as rows from ${some} near`);
  const { rows } = await sql<{ most: string }>`
    select max(rows) as most from (${sql.join(counts, sql` union all `)}) counts`.execute(db);
  return Number(rows[0]?.most) < MAX_NEAR;
}

async function newestOf(
  db: Database | Trx,
  indexScans: readonly Condition[],
  { limit }: PageOf,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from (${sql.join(indexScans, sql` union `)}) page order by id desc limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** A payment with its project and mode. */
export interface OwnedPayment extends ProjectMode {
  readonly id: string;
  readonly api: PaymentApi;
}

/** The owners of these payments; unknown ids are left out. */
export async function findOwners(db: Database | Trx, ids: readonly string[]): Promise<readonly OwnedPayment[]> {
  return db
    .selectFrom('payments')
    .select(['id', 'project_id as projectId', 'mode', 'surface as api'])
    .where(sql<SqlBool>`id = any (${ids}::uuid[])`)
    .execute();
}

/** The newest payments of each scope that were created from a time on, at most `limit` of each. */
export async function newestPayments(
  db: Database,
  scopes: readonly ProjectMode[],
  createdFrom: number,
  limit: number,
): Promise<readonly OwnedPayment[]> {
  const indexScan = (api: PaymentApi) => sql`(select id, surface as api from payments
    where project_id = wanted.project_id and mode = wanted.mode and surface = ${api} and id >= ${firstUuidOf(createdFrom)}::uuid
    order by id desc limit ${limit})`;
  const wanted = scopes.map(({ projectId, mode }) => ({ project_id: projectId, mode }));
  const { rows } = await sql<OwnedPayment>`
    select newest.id, newest.api, wanted.project_id as "projectId", wanted.mode
    from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted (project_id uuid, mode text)
    cross join lateral (
      select id, api from (${sql.join(PAYMENT_APIS.map(indexScan), sql` union all `)}) both_apis order by id desc limit ${limit}
    ) newest`.execute(db);
  return rows;
}
