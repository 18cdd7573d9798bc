import { CompiledQuery, sql, type Selectable, type SqlBool } from 'kysely';
import type { Payment, PaymentApi } from '../../domain/payment.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import { firstUuidOf } from '../../domain/id.ts';
import type { Mode } from '../../domain/permission.ts';
import { lockUntaken, timestamp, type Database, type Trx } from '../database.ts';
import { paymentFromRow } from './payment-rows.ts';
import type { StatementRunner } from '../pipeline.ts';
import type { Stored } from '../rows.ts';
import { PAYMENTS } from '../schema/payments.ts';
import type { Tables } from '../tables.ts';

/** Compiled once: building the column list for each read would make it a quarter slower. */
const FIND = `select ${PAYMENTS.names.join(', ')} from payments where id = any ($1::uuid[])`;

/** The payments with these ids, in no particular order; unknown ids are left out. */
export async function findPayments(executor: Database | Trx, ids: readonly string[]): Promise<readonly Payment[]> {
  const { rows } = (await executor.executeQuery(CompiledQuery.raw(FIND, [ids]))) as {
    readonly rows: readonly Selectable<Tables['payments']>[];
  };
  return rows.map(paymentFromRow);
}

/** Locks payments until the transaction ends, in the order of their ids, so that two transactions never deadlock. */
export async function lockPayments(trx: Trx, ids: readonly string[]): Promise<readonly Payment[]> {
  const rows = await trx
    .selectFrom('payments')
    .select(PAYMENTS.names)
    .where(sql<SqlBool>`id = any (${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(paymentFromRow);
}

/** Locks the most overdue payments, or `only` one, that no other transaction has locked. */
export async function lockDuePayments(
  trx: Trx,
  now: number,
  limit: number,
  only?: string,
): Promise<readonly Payment[]> {
  const due = trx.selectFrom('payments').select(PAYMENTS.names).where('due_at', '<=', timestamp(now));
  const rows = await (only === undefined
    ? lockUntaken(due.orderBy('due_at'), limit)
    : lockUntaken(due.where('id', '=', only), 1));
  return rows.map(paymentFromRow);
}

/** How often the payment's token was changed, not counting its first choice. Read under the payment's lock. */
export async function countTokenChanges(trx: Trx, paymentId: string): Promise<number> {
  const { changes } = await trx
    .selectFrom('payment_arrows')
    .select(({ fn }) => fn.countAll<bigint>().as('changes'))
    .where('payment_id', '=', paymentId)
    .where('cause', '=', 'token_chosen')
    .where('to_status', '=', 'prepared')
    .where('from_status', '!=', 'created')
    .executeTakeFirstOrThrow();
  return Number(changes);
}

/** Makes these payments due at a later time, because the rail has not seen far enough yet. */
export async function postponeDue(
  trx: Trx,
  later: readonly { readonly id: string; readonly at: number }[],
): Promise<void> {
  if (later.length === 0) return;
  const rows = later.map(({ id, at }) => ({ id, due_at: new Date(at).toISOString() }));
  await sql`
    update payments set due_at = n.due_at
    from json_to_recordset(${JSON.stringify(rows)}::json) as n (id uuid, due_at timestamptz)
    where payments.id = n.id`.execute(trx);
}

/** Limits payments to a project and mode, and to the API that made them. */
export interface PaymentScope {
  readonly projectId: string;
  readonly modes: readonly Mode[];
  readonly api: PaymentApi;
}

/** Filters payments; times in epoch milliseconds, from inclusive, before exclusive. */
export interface PaymentFilter {
  readonly statuses: readonly PaymentStatus[] | null;
  readonly createdFrom: number | null;
  readonly createdBefore: number | null;
}

/** One page of payments, newest first: ids are in order of creation, to the millisecond, and never equal. */
export async function listPayments(
  db: Database,
  scope: PaymentScope & { readonly mode: Mode },
  filter: PaymentFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly Payment[]> {
  // Each status is read along its own index, newest first, and the lists are merged; without a filter there is only one
  // list.
  const lists = (filter.statuses ?? [null]).map((status) => {
    const ofStatus = status === null ? sql`` : sql`and status = ${status}`;
    return sql`(select id from payments
      where project_id = ${scope.projectId} and mode = ${scope.mode} and surface = ${scope.api} ${ofStatus}
        ${createdWithin(filter.createdFrom, filter.createdBefore)}
      order by id desc limit ${page.limit + page.offset})`;
  });
  const { rows } = await sql<{ id: string }>`
    select id from (${sql.join(lists, sql` union all `)}) page
    order by id desc limit ${page.limit} offset ${page.offset}`.execute(db);
  const payments = await findPayments(
    db,
    rows.map((row) => row.id),
  );
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  return rows.flatMap((row) => byId.get(row.id) ?? []);
}

/** Limits a query to a time of creation, using the ids that start with it. From inclusive, before exclusive. */
function createdWithin(from: number | null, before: number | null) {
  const lower = from === null ? sql`` : sql`and id >= ${firstUuidOf(from)}::uuid`;
  return before === null ? lower : sql`${lower} and id < ${firstUuidOf(before)}::uuid`;
}

const DAY_MS = 24 * 60 * 60_000;

/** Number and sum of payments by status. */
export type StatusCounts = ReadonlyMap<PaymentStatus, { readonly payments: number; readonly usdCents: bigint }>;

/**
 * Counts payments by status: whole UTC days from the day counters, the partial days at either end from the payments
 * themselves. Both are read in one snapshot.
 */
export async function countPayments(
  db: Database,
  scope: PaymentScope,
  range: { readonly createdFrom: number | null; readonly createdBefore: number | null },
): Promise<StatusCounts> {
  const from = range.createdFrom;
  const before = range.createdBefore;
  if (from !== null && before !== null && from >= before) return new Map();
  const firstDay = from === null ? null : Math.ceil(from / DAY_MS) * DAY_MS;
  const endDay = before === null ? null : Math.floor(before / DAY_MS) * DAY_MS;
  const edges: (readonly [number, number])[] = [];
  const wholeDays = firstDay === null || endDay === null || firstDay <= endDay;
  if (!wholeDays && from !== null && before !== null) edges.push([from, before]);
  if (wholeDays && from !== null && firstDay !== null && from < firstDay) edges.push([from, firstDay]);
  if (wholeDays && before !== null && endDay !== null && endDay < before) edges.push([endDay, before]);
  const ofScope = sql`project_id = ${scope.projectId} and mode = any (${scope.modes}::text[]) and surface = ${scope.api}`;
  const parts = edges.map(
    ([start, end]) => sql`select status, count(*) as payments, sum(amount_usd_cents) as usd_cents from payments
      where ${ofScope} ${createdWithin(start, end)} group by status`,
  );
  if (wholeDays) {
    const fromDay = firstDay === null ? sql`` : sql`and day >= ${dayText(firstDay)}::date`;
    const beforeDay = endDay === null ? sql`` : sql`and day < ${dayText(endDay)}::date`;
    parts.push(sql`select status, sum(payments) as payments, sum(usd_cents) as usd_cents from payment_day_counts
      where ${ofScope} ${fromDay} ${beforeDay} group by status`);
  }
  const { rows } = await sql<{ status: PaymentStatus; payments: bigint; usd_cents: bigint }>`
    select status, sum(payments)::bigint as payments, sum(usd_cents)::bigint as usd_cents
    from (${sql.join(parts, sql` union all `)}) part group by status`.execute(db);
  return new Map(rows.map((row) => [row.status, { payments: Number(row.payments), usdCents: row.usd_cents }]));
}

function dayText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

export type TransitionRecord = Pick<Stored<'payment_arrows'>, 'from' | 'to' | 'cause' | 'at'>;

/** The transitions of a payment, oldest first; all of them without a limit. */
export async function listTransitions(
  executor: Database | Trx,
  paymentId: string,
  limit: number | null = null,
): Promise<readonly TransitionRecord[]> {
  const query = executor
    .selectFrom('payment_arrows')
    .select(['from_status as from', 'to_status as to', 'cause', 'at'])
    .where('payment_id', '=', paymentId)
    .orderBy('id');
  return (limit === null ? query : query.limit(limit)).execute();
}

/** The events of a payment, with their bodies. */
export async function listEvents(db: Database, paymentId: string) {
  return db
    .selectFrom('events')
    .select(['id', 'type', 'body', 'created_at as createdAt'])
    .where('payment_id', '=', paymentId)
    .execute();
}

/** Transactions are numbered per project, mode and UTC year, from 1. */
export interface NumberScope {
  readonly projectId: string;
  readonly mode: Mode;
  readonly year: number;
}

/** Counters are raised in a fixed order, so that batches never deadlock. */
const TAKE_NUMBERS = `
  insert into transaction_counters as counter (project_id, mode, year, last)
  select project_id, mode, year, last from json_populate_recordset(null::transaction_counters, $1::json)
  order by project_id, mode, year
  on conflict (project_id, mode, year) do update set last = counter.last + excluded.last
  returning project_id, mode, year, last`;

/**
 * Raises the counters of these scopes, each named once, by its `count`; returns the first number taken from each, in
 * their order.
 */
export async function takeTransactionNumbers(
  runner: StatementRunner,
  wanted: readonly (NumberScope & { readonly count: number })[],
): Promise<readonly number[]> {
  const counters = wanted.map(({ projectId, mode, year, count }) => ({
    project_id: projectId,
    mode,
    year,
    last: count,
  }));
  const { rows } = (await runner.executeQuery(CompiledQuery.raw(TAKE_NUMBERS, [JSON.stringify(counters)]))) as {
    readonly rows: readonly Selectable<Tables['transaction_counters']>[];
  };
  return wanted.map(({ projectId, mode, year, count }) => {
    const raised = rows.find((row) => row.project_id === projectId && row.mode === mode && row.year === year);
    if (raised === undefined) throw new Error('A counter of transactions was not raised.');
    return raised.last - count + 1;
  });
}
