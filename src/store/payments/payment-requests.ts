import { CompiledQuery, sql, type RawBuilder } from 'kysely';
import {
  NO_REQUEST_SUMS,
  type PaymentRequest,
  type RequestStatus,
  type RequestSums,
} from '../../domain/payment-request.ts';
import type { Payment } from '../../domain/payment.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { isCounting, isOpen, PAYMENT_STATUSES } from '../../domain/status.ts';
import { lockUntaken, timestamp, type Database, type Trx } from '../database.ts';
import type { Statement } from '../pipeline.ts';
import { below, countRows, fields, findRow, findRows, insertRows, updateRows } from '../rows.ts';
import { HAS_ENDED } from './payment-keys.ts';
import { findPayments } from './payments.ts';

const OPEN = PAYMENT_STATUSES.filter(isOpen);
const COUNTING = PAYMENT_STATUSES.filter(isCounting);
/** The due time is a column of workers, not a part of the record. */
const WITHOUT_DUE = { without: ['due_at'] } as const;

export async function insertRequest(trx: Trx, request: PaymentRequest): Promise<void> {
  await insertRows(trx, 'payment_requests', [{ ...request, dueAt: request.expiresAt }]);
}

/** The request, locked until the transaction ends. Take this lock after those of payments, never before. */
export function lockRequest(trx: Trx, id: string): Promise<PaymentRequest | null> {
  return findRow(trx, 'payment_requests', { id }, { ...WITHOUT_DUE, isLocked: true });
}

/** The most overdue requests that no other transaction has locked. */
export function lockDueRequests(trx: Trx, now: number, limit: number): Promise<readonly PaymentRequest[]> {
  const due = trx
    .selectFrom('payment_requests')
    .select(fields('payment_requests', WITHOUT_DUE))
    .where('due_at', '<=', timestamp(now));
  return lockUntaken(due.orderBy('due_at'), limit);
}

export function findRequest(
  executor: Database | Trx,
  selector: Partial<ProjectMode> & { readonly id: string },
): Promise<PaymentRequest | null> {
  return findRow(executor, 'payment_requests', selector, WITHOUT_DUE);
}

/** The requests of a project that are older than `after`, newest first. */
export function findRequests(
  db: Database,
  { projectId, mode, status }: ProjectMode & { readonly status: RequestStatus | null },
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly PaymentRequest[]> {
  const where = {
    projectId,
    mode,
    ...(status !== null && { status }),
    ...(after !== null && { id: below(after) }),
  };
  return findRows(db, 'payment_requests', where, { ...WITHOUT_DUE, order: ['id desc'], limit });
}

/** One page of a project's requests, newest first, and how many there are. */
export async function listRequests(
  db: Database,
  { projectId, mode, status }: ProjectMode & { readonly status: RequestStatus | null },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly requests: readonly PaymentRequest[]; readonly total: number }> {
  const where = { projectId, mode, ...(status === null ? {} : { status }) };
  const [requests, total] = await Promise.all([
    findRows(db, 'payment_requests', where, { ...WITHOUT_DUE, order: ['id desc'], limit, offset }),
    countRows(db, 'payment_requests', where),
  ]);
  return { requests, total };
}

/** Saves what became of a locked request. It is next due when it expires. */
export async function updateRequest(trx: Trx, { id, ...request }: PaymentRequest): Promise<void> {
  const { status, endedAt, toldMinor, toldPayments, lastSequence, expiresAt } = request;
  const dueAt = status === 'open' ? expiresAt : null;
  await updateRows(trx, 'payment_requests', { id }, { status, endedAt, toldMinor, toldPayments, lastSequence, dueAt });
}

const TOUCH = `
  update payment_requests r set due_at = '-infinity'
  from (select id from payment_requests where id = any ($1::uuid[]) order by id for update) touched
  where r.id = touched.id`;

/** The statement that makes requests due, because their invoices changed. It locks them in the order of their ids. */
export function touchRequests(ids: readonly string[]): Statement {
  return CompiledQuery.raw(TOUCH, [ids]);
}

/**
 * The worth of an invoice's money in minor units of its currency, at the rate of its quote, rounded half up as in the
 * books. Within the tolerance it is the invoice's amount.
 */
const worth = (units: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  case when p.owed_units is null then 0
    when abs(${units} - p.owed_units) <= p.tolerance_units then p.amount_minor
    else div(2 * ${units} * p.amount_minor + p.owed_units, 2 * p.owed_units) end`;

/** A sum that fits a bigint, whatever a token of a test chain is made to hold. */
const bounded = (sum: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`least(coalesce(${sum}, 0), 9223372036854775807)::bigint`;

/** The sums of requests, by id; zero where there is no invoice. */
export async function requestSums(
  executor: Database | Trx,
  ids: readonly string[],
  now: number,
): Promise<(id: string) => RequestSums> {
  const { rows } = await sql<RequestSums & { readonly id: string }>`
    select i.request as id, ${bounded(sql`sum(i.paid)`)} as "paidMinor", ${bounded(sql`sum(i.seen - i.paid) filter (where i.status <> 'failed')`)} as "pendingMinor",
      ${bounded(sql`sum(i.refunded)`)} as "refundedMinor",
      (count(*) filter (where i.status = 'completed'))::int as payments, (count(*) filter (where i.taken))::int as taken
    from (
      select p.payment_request_id as request, p.status, ${worth(sql`p.confirmed_units`)} as paid, ${worth(sql`p.seen_units`)} as seen,
        p.status = 'completed' or p.status = any (${COUNTING}::text[])
          or p.status = any (${OPEN}::text[]) and (p.expires_at > ${timestamp(now)} or p.seen_units > 0) as taken,
        (select coalesce(sum(r.amount_minor), 0) from refunds r where r.payment_id = p.id and r.status = 'completed') as refunded
      from payments p where p.payment_request_id = any (${ids}::uuid[])
    ) i group by i.request`.execute(executor);
  const sums = new Map(rows.map(({ id, ...one }) => [id, one]));
  return (id) => sums.get(id) ?? NO_REQUEST_SUMS;
}

/** An invoice with confirmed money, and what this counts for in `requestSums`. */
export interface PaidInvoice {
  readonly payment: Payment;
  readonly paidMinor: bigint;
}

/** The invoices of a request that have confirmed money, the first one first. */
export async function paidInvoices(db: Database, requestId: string): Promise<readonly PaidInvoice[]> {
  const { rows } = await sql<{ readonly id: string; readonly paidMinor: bigint }>`
    select p.id, ${bounded(worth(sql`p.confirmed_units`))} as "paidMinor" from payments p
    where p.payment_request_id = ${requestId}::uuid and p.confirmed_units > 0`.execute(db);
  const minor = new Map(rows.map(({ id, paidMinor }) => [id, paidMinor]));
  const payments = await findPayments(db, [...minor.keys()]);
  return payments
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((payment) => ({ payment, paidMinor: minor.get(payment.id) ?? 0n }));
}

/**
 * The sums that a request's page needs. Where people can pay as often as they like, it needs none, and nothing is added
 * up, however many have paid.
 */
export async function sumsForPayers(
  executor: Database | Trx,
  request: PaymentRequest,
  now: number,
): Promise<RequestSums> {
  return request.maxPayments === null ? NO_REQUEST_SUMS : (await requestSums(executor, [request.id], now))(request.id);
}

/** The ids of the invoices of a request that can be paid or are being paid, newest first. */
export async function livingInvoices(
  executor: Database | Trx,
  requestId: string,
  now: number,
): Promise<readonly string[]> {
  // Along `payments_living_by_request`, whose predicate is repeated.
  const { rows } = await sql<{ readonly id: string }>`
    select id from payments
    where payment_request_id = ${requestId}::uuid and not ${HAS_ENDED}
      and (status = any (${COUNTING}::text[]) or status = any (${OPEN}::text[]) and (expires_at > ${timestamp(now)} or seen_units > 0))
    order by id desc`.execute(executor);
  return rows.map(({ id }) => id);
}

/** The newest invoices of a request, newest first. */
export async function newestInvoices(db: Database, requestId: string, limit: number): Promise<readonly Payment[]> {
  const rows = await db
    .selectFrom('payments')
    .select('id')
    .where('payment_request_id', '=', requestId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  const ids = rows.map(({ id }) => id);
  return (await findPayments(db, ids)).toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}
