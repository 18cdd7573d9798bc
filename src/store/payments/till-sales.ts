import { CompiledQuery, sql, type SqlBool } from 'kysely';
import type { ProjectMode } from '../../domain/permission.ts';
import type { MempoolDoubt, TillDoubt } from '../../domain/till.ts';
import type { Network } from '../../domain/networks.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import type { Statement } from '../pipeline.ts';
import { fields, findRow, findRows, oneOf, toRow, type Stored } from '../rows.ts';

/** A payment that a person made at the till. */
export type TillSale = Stored<'till_sales'>;
/** A person's sales in one project and mode. */
export type TillScope = ProjectMode & Pick<TillSale, 'personId'>;

/** The statement that saves a sale, to be sent with those of its payment. */
export function tillSaleStatement(sale: TillSale): Statement {
  const row = toRow('till_sales', sale);
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  return CompiledQuery.raw(
    `insert into till_sales (${columns.join(', ')}) values (${places.join(', ')})`,
    Object.values(row),
  );
}

/** A sale of this person; null if it is another person's, or none. */
export function findTillSale(
  executor: Database | Trx,
  paymentId: string,
  { projectId, mode, personId }: TillScope,
): Promise<TillSale | null> {
  return findRow(executor, 'till_sales', { paymentId, projectId, mode, personId });
}

/** The sales of a person since a time, newest first. */
export function tillSalesSince(
  db: Database,
  { personId, projectId, mode }: TillScope,
  since: number,
  limit: number,
): Promise<readonly TillSale[]> {
  return db
    .selectFrom('till_sales')
    .select(fields('till_sales'))
    .where('person_id', '=', personId)
    .where('project_id', '=', projectId)
    .where('mode', '=', mode)
    .where('created_at', '>=', timestamp(since))
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
}

/** The payments among these that the person made at the till. */
export async function ownSales(
  db: Database,
  { projectId, mode, personId }: TillScope,
  paymentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paymentIds.length === 0) return new Set();
  const rows = await findRows(db, 'till_sales', { projectId, mode, personId, paymentId: oneOf(paymentIds) });
  return new Set(rows.map(({ paymentId }) => paymentId));
}

/** The doubtful signs of payments' transactions, by payment: of those that wait to be mined, or are gone. */
export async function doubtsOf(
  db: Database,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly TillDoubt[]>> {
  const { rows } = await sql<{ id: string; doubt: TillDoubt }>`
    select distinct payment_id as id, case state when 'dropped' then 'replaced' else doubt end as doubt from transfers
    where payment_id = any (${paymentIds}::uuid[]) and (state = 'dropped' or (state = 'seen' and doubt is not null))
    order by 1, 2`.execute(db);
  const groups = Map.groupBy(rows, ({ id }) => id);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ doubt }) => doubt)]));
}

/** Keeps what a node says of waiting transactions, by hash. */
export async function saveDoubts(trx: Trx, network: Network, doubts: ReadonlyMap<string, MempoolDoubt>): Promise<void> {
  for (const [hash, doubt] of doubts) {
    await trx
      .updateTable('transfers')
      .set({ doubt })
      .where('network', '=', network)
      .where('transaction_hash', '=', hash)
      .where(sql<SqlBool>`state = 'seen'`)
      .execute();
  }
}
