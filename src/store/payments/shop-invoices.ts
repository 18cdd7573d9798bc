import { sql, type RawBuilder } from 'kysely';
import { firstUuidOf } from '../../domain/id.ts';
import type { FailureReason, Payment } from '../../domain/payment.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import type { Database, Trx } from '../database.ts';
import { wake } from '../wake.ts';
import { findPayments } from './payments.ts';

/** A status, and for failed invoices why they failed. */
export interface StatusAndReason {
  readonly status: PaymentStatus;
  readonly failureReason: FailureReason | null;
}

/** The invoices to list; null fields do not restrict. Times in epoch milliseconds, from inclusive, before exclusive. */
export interface InvoiceSearch {
  readonly orderIds: readonly string[] | null;
  readonly statuses: readonly StatusAndReason[] | null;
  readonly createdFrom: number | null;
  readonly createdBefore: number | null;
}

/** A page of a project's invoices, newest first: along the index of orders' numbers, or along that of statuses. */
export async function listInvoices(
  db: Database,
  { projectId, mode }: ProjectMode,
  { orderIds, statuses, createdFrom, createdBefore }: InvoiceSearch,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly Payment[]> {
  const own = [sql`project_id = ${projectId}::uuid`, sql`mode = ${mode}`, sql`surface = 'invoice'`];
  if (orderIds !== null) own.push(sql`merchant_order_id = any (${[...orderIds]}::text[])`);
  if (createdFrom !== null) own.push(sql`id >= ${firstUuidOf(createdFrom)}::uuid`);
  if (createdBefore !== null) own.push(sql`id < ${firstUuidOf(createdBefore)}::uuid`);
  const newest = (condition: RawBuilder<unknown>) =>
    sql`(select id from payments where ${sql.join([...own, condition], sql` and `)} order by id desc limit ${page.limit + page.offset})`;
  const lists = statuses === null ? [newest(sql`true`)] : statuses.map((wanted) => newest(hasStatus(wanted)));
  if (lists.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select id from (${sql.join(lists, sql` union all `)}) page
    order by id desc limit ${page.limit} offset ${page.offset}`.execute(db);
  const found = await findPayments(
    db,
    rows.map(({ id }) => id),
  );
  return found.toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

function hasStatus({ status, failureReason }: StatusAndReason): RawBuilder<unknown> {
  const why = failureReason === null ? sql`` : sql` and failure_reason = ${failureReason}`;
  return sql`status = ${status}${why}`;
}

/** Replaces what a shop says of an invoice, which must be locked. */
export async function updateShopMetadata(
  trx: Trx,
  id: string,
  facts: Pick<Payment, 'shopMetadata' | 'merchantOrderId' | 'customerEmail' | 'customerName' | 'description'>,
): Promise<void> {
  await sql`
    update payments set shop_metadata = ${facts.shopMetadata}, merchant_order_id = ${facts.merchantOrderId},
      customer_email = ${facts.customerEmail}, customer_name = ${facts.customerName}, description = ${facts.description}
    where id = ${id}::uuid`.execute(trx);
  await wake(trx, ['payments', id]);
}
