import { sql, type RawBuilder } from 'kysely';
import type { Client } from 'pg';
import { MAX_NAMED } from '../../domain/books.ts';
import type {
  Books,
  BookStep,
  CountedScope,
  CurrencyRow,
  DifferenceRow,
  LostRow,
  Named,
  OverRefundRow,
  ReceivedRow,
  RefundRow,
  RepeatedRefundRow,
} from '../../domain/books.ts';
import type { ReportSpan } from '../../domain/report.ts';
import type { Database } from '../database.ts';
import { rateJoin, valueIn } from '../figures/currency-rates.ts';
import { HAS_ENDED } from '../payments/payment-keys.ts';
import { onConnection } from '../one-connection.ts';
import { SALT } from '../own-schema.ts';
import { TAKES_PAYMENTS, WAS_PAID } from '../refunds/refund-payouts.ts';
import { at, count, named, namedRows, total } from './report-sums.ts';
import { depositRows, sweepRows } from './report-sweeps.ts';
import { isInRecovery } from '../backups/check-database.ts';
import { liftLimits } from '../backups/snapshot.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** The longest that one of its statements may take. */
const STATEMENT_MS = 300_000;

/** The first of two numbers of advisory locks; the second is derived from the project's id. */
const BOOKS_LOCK = 7_203_613;

/** Takes a project's only slot for statements until the connection ends. Returns whether it was free. */
export async function takeBooksSlot(client: Client, projectId: string): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    `select pg_try_advisory_lock($1::integer # ${SALT}, hashtext($2)) as taken`,
    [BOOKS_LOCK, projectId],
  );
  return rows[0]?.taken === true;
}

/**
 * Adds up a project's money from one snapshot, on a connection that nothing else uses. It reads alone, on one
 * processor, and waits for no locks. `onStep` is called before each step; without `withSweeps` it omits data that only
 * people who may see wallets may know.
 */
export async function readBooks(
  client: Client,
  scope: CountedScope & { readonly withSweeps: boolean },
  span: ReportSpan,
  onStep: (step: BookStep) => Promise<void>,
): Promise<Books> {
  await client.query('begin isolation level repeatable read');
  await liftLimits(client);
  await client.query(
    `set local statement_timeout = ${STATEMENT_MS}; set local jit = off; set local work_mem = '64MB';
     set local max_parallel_workers_per_gather = 0`,
  );
  const db = onConnection(client);
  await onStep('transfers');
  const isStandby = await isInRecovery(client);
  const money = await gather(db, scope, span, isStandby);
  const [received, currencies] = [await receivedRows(db, money), await currencyRows(db, money)];
  await onStep('payments');
  const differences = await differenceRows(db, money, scope, span);
  await onStep('refunds');
  const refunds = await refundRows(db, scope, span);
  const refundCurrencies = await refundCurrencyRows(db, scope, span);
  const overRefunds = await overRefundRows(db, scope);
  const repeatedRefunds = await repeatedRefundRows(db, scope);
  await onStep('deposits');
  const isLive = scope.mode === 'live' && scope.withSweeps;
  const books: Books = {
    currency: scope.currency,
    received,
    currencies,
    differences,
    refunds,
    refundCurrencies,
    overRefunds,
    repeatedRefunds,
    lost: scope.mode === 'live' ? await lostRows(db, scope, span) : [],
    ...(isLive ? await sweepRows(db, scope, span) : { swept: [], fees: [] }),
    ...(isLive ? await depositRows(db, scope, isStandby) : { deposits: [], depositDifferences: NOTHING_NAMED }),
  };
  await client.query('commit');
  return books;
}

const NOTHING_NAMED = { rows: [], count: 0 } as const;

const IS_BEFORE = (span: ReportSpan) => sql`t.first_seen_at < ${at(span.startAt)}`;
const IS_WITHIN = (span: ReportSpan) =>
  sql`t.first_seen_at >= ${at(span.startAt)} and t.first_seen_at < ${at(span.endAt)}`;

/**
 * Makes one row of a payment's money in a token: all sums are computed from these rows. Returns the beginning of the
 * statements that read them. No later statement joins them to stored rows, which Citus would refuse.
 */
async function gather(
  db: Database,
  { projectId, mode, currency }: CountedScope,
  span: ReportSpan,
  isStandby: boolean,
): Promise<RawBuilder<unknown>> {
  const isConfirmed = sql`t.state = 'confirmed'`;
  const isReceipt = sql`${isConfirmed} and ${IS_WITHIN(span)}`;
  const value = valueIn(currency, {
    currency: sql`p.currency`,
    minor: sql`t.receipt_minor`,
    usdCents: sql`t.receipt_usd_cents`,
  });
  const isQuoted = sql`coalesce(t.asset = p.asset and t.network = p.network, false)`;
  const isSame = (other: 'a' | 'q') =>
    sql.raw(`${other}.payment_id = p.id and ${other}.asset = t.asset and ${other}.network = t.network`);
  const wasQuoted = sql`(exists (select from payment_addresses a where ${isSame('a')})
    or exists (select from payment_quotes q where ${isSame('q')}))`;
  return namedRows(
    db,
    sql`book_money`,
    sql`select p.id as payment_id, p.surface, t.network, t.asset, p.currency, p.decimals, p.owed_units, p.confirmed_units,
      p.status, p.exception, p.completed_at is not null as is_completed,
      ${isQuoted} as is_quoted, not ${isQuoted} and ${wasQuoted} as was_quoted,
      ${total('t.amount_units', isConfirmed)} as confirmed,
      ${total('t.amount_units', sql`${isConfirmed} and ${IS_BEFORE(span)}`)} as before,
      ${total('t.amount_units', isReceipt)} as received,
      ${total('t.amount_units', sql`not ${isConfirmed} and ${IS_WITHIN(span)}`)} as unconfirmed,
      ${count(isReceipt)} as transfers,
      coalesce(sum(${value}) filter (where ${isReceipt}), 0) as value,
      ${count(sql`${isReceipt} and ${value} is null`)} as value_unknown,
      ${total('t.receipt_minor', isReceipt)} as minor,
      ${count(sql`${isReceipt} and t.receipt_minor is null`)} as unvalued
    from transfers t join payments p on p.id = t.payment_id ${rateJoin(currency, sql`p.mode`, sql`t.first_seen_at`)}
    where p.project_id = ${projectId} and p.mode = ${mode} and t.state <> 'dropped'
    group by p.id, t.network, t.asset`,
    isStandby,
  );
}

/** Receipts are applied to the amount owed oldest first, so that earlier periods are applied first. */
async function receivedRows(db: Database, money: RawBuilder<unknown>): Promise<readonly ReceivedRow[]> {
  const applied = 'least(before + received, owed_units) - least(before, owed_units)';
  const isLate = sql`is_quoted and not is_completed and ${HAS_ENDED}`;
  const isShort = sql`(exception = 'underpaid' or (exception = 'none' and status = 'failed'))`;
  const { rows } = await sql<ReceivedRow>`
    ${money} select network, asset, max(decimals) filter (where is_quoted) as decimals,
      ${total('before')} as before, ${total('received')} as received,
      ${total(applied, sql`is_quoted and is_completed`)} as applied,
      ${total(`received - (${applied})`, sql`is_quoted and is_completed`)} as excess,
      ${total('received', sql`is_quoted and not is_completed and not (${HAS_ENDED})`)} as open,
      ${total('received', sql`${isLate} and ${isShort}`)} as underpaid,
      ${total('received', sql`${isLate} and not ${isShort}`)} as late,
      ${total('received', sql`was_quoted`)} as superseded,
      ${total('received', sql`not is_quoted and not was_quoted`)} as unquoted,
      ${total('unconfirmed')} as unconfirmed,
      coalesce(sum(transfers), 0)::integer as transfers,
      ${total('value')} as value, coalesce(sum(value_unknown), 0)::integer as unvalued
    from book_money group by network, asset order by network, asset`.execute(db);
  return rows;
}

async function currencyRows(db: Database, money: RawBuilder<unknown>): Promise<readonly CurrencyRow[]> {
  const { rows } = await sql<CurrencyRow>`
    ${money} select currency, ${total('minor')} as minor, sum(transfers)::integer as transfers, sum(unvalued)::integer as unvalued
    from book_money where transfers > 0 group by currency order by currency`.execute(db);
  return rows;
}

/** Payments that got money in the period, or whose recorded money has no matching transfer. */
async function differenceRows(
  db: Database,
  money: RawBuilder<unknown>,
  { projectId, mode }: ProjectMode,
  span: ReportSpan,
): Promise<Named<DifferenceRow>> {
  const byPayment = sql`"paymentId"`;
  const valued = await named<DifferenceRow>(
    db,
    sql`${money} select payment_id as "paymentId", surface as api, network, asset, confirmed as transfers, confirmed_units as payment
      from book_money where is_quoted and received > 0 and confirmed <> confirmed_units`,
    byPayment,
  );
  const without = await named<DifferenceRow>(
    db,
    sql`select p.id as "paymentId", p.surface as api, p.network, p.asset, 0::numeric as transfers, p.confirmed_units as payment
      from payments p
      where p.project_id = ${projectId} and p.mode = ${mode} and p.confirmed_units > 0
        and coalesce(p.completed_at, p.created_at) >= ${at(span.startAt)}
        and coalesce(p.completed_at, p.created_at) < ${at(span.endAt)}
        and not exists (select from transfers t where t.payment_id = p.id and t.asset = p.asset and t.network = p.network
          and t.state = 'confirmed' and t.amount_units > 0)`,
    byPayment,
  );
  const rows = [...valued.rows, ...without.rows].toSorted((a, b) => (a.paymentId < b.paymentId ? -1 : 1));
  return { rows: rows.slice(0, MAX_NAMED), count: valued.count + without.count };
}

const PAID_AT = sql`coalesce(r.completed_at, r.created_at)`;

async function refundRows(db: Database, scope: CountedScope, span: ReportSpan): Promise<readonly RefundRow[]> {
  const value = valueIn(scope.currency, {
    currency: sql`r.currency`,
    minor: sql`r.disposal_minor`,
    usdCents: sql`r.disposal_usd_cents`,
  });
  const isWithin = sql`${WAS_PAID} and ${PAID_AT} >= ${at(span.startAt)} and ${PAID_AT} < ${at(span.endAt)}`;
  const isPending = sql`r.created_at < ${at(span.endAt)}
    and (r.status = 'pending' or (r.status = 'completed' and r.completed_at >= ${at(span.endAt)}))`;
  const { rows } = await sql<RefundRow>`
    select r.network, r.asset, max(r.decimals) as decimals,
      ${total('r.units', sql`${WAS_PAID} and ${PAID_AT} < ${at(span.startAt)}`)} as before,
      ${total('r.units', isWithin)} as refunded, ${total('r.units', isPending)} as pending,
      ${count(isWithin)} as refunds, ${total(value, isWithin)} as value,
      ${count(sql`${isWithin} and ${value} is null`)} as unvalued
    from refunds r ${rateJoin(scope.currency, sql`r.mode`, PAID_AT)} where r.project_id = ${scope.projectId} and r.mode = ${scope.mode}
    group by r.network, r.asset order by r.network, r.asset`.execute(db);
  return rows;
}

async function refundCurrencyRows(db: Database, scope: ProjectMode, span: ReportSpan): Promise<readonly CurrencyRow[]> {
  const { rows } = await sql<CurrencyRow>`
    select r.currency, ${total('r.disposal_minor')} as minor, count(*)::integer as transfers,
      ${count(sql`r.disposal_minor is null`)} as unvalued
    from refunds r where r.project_id = ${scope.projectId} and r.mode = ${scope.mode} and ${WAS_PAID}
      and ${PAID_AT} >= ${at(span.startAt)} and ${PAID_AT} < ${at(span.endAt)}
    group by r.currency order by r.currency`.execute(db);
  return rows;
}

async function overRefundRows(db: Database, scope: ProjectMode): Promise<Named<OverRefundRow>> {
  return named<OverRefundRow>(
    db,
    sql`select g."paymentId", g.api, g.network, g.asset, m.received, g.units::numeric(78, 0) as refunded from (
        select r.payment_id as "paymentId", r.payment_surface as api, r.network, r.asset, sum(r.units) as units
        from refunds r
        where r.project_id = ${scope.projectId} and r.mode = ${scope.mode} and (r.status = 'pending' or ${WAS_PAID})
        group by r.payment_id, r.payment_surface, r.network, r.asset
      ) g cross join lateral (
        select ${total('t.amount_units')} as received from transfers t where t.payment_id = g."paymentId"
          and t.network = g.network and t.asset = g.asset and t.state = 'confirmed'
      ) m where g.units > m.received`,
    sql`"paymentId"`,
  );
}

async function repeatedRefundRows(db: Database, scope: ProjectMode): Promise<Named<RepeatedRefundRow>> {
  return named<RepeatedRefundRow>(
    db,
    sql`select r.payment_id as "paymentId", r.payment_surface as api, r.id as "refundId", r.network, r.asset, r.units,
        count(*)::integer as payouts
      from refunds r join refund_payouts o on o.refund_id = r.id and not o.is_guess
      where r.project_id = ${scope.projectId} and r.mode = ${scope.mode} and not ${TAKES_PAYMENTS}
      group by r.id having count(*) > 1`,
    sql`"refundId"`,
  );
}

/**
 * Money on addresses that a restore lost, of wallets that the project has, or once had if nobody has them any more;
 * booked money belongs to a payment instead.
 */
async function lostRows(db: Database, { projectId }: ProjectMode, span: ReportSpan): Promise<readonly LostRow[]> {
  const { rows } = await sql<LostRow>`
    select l.network, l.asset, ${total('l.amount_units', sql`l.found_at < ${at(span.startAt)}`)} as before,
      ${total('l.amount_units', sql`l.found_at >= ${at(span.startAt)}`)} as received
    from lost_transfers l
    where l.payment_id is null and l.block_height is not null and l.found_at < ${at(span.endAt)}
      and exists (select from wallets w where w.project_id = ${projectId} and w.network = l.network
        and w.first_address = l.first_address
        and (w.replaced_at is null or not exists (select from wallets o where o.network = l.network
          and o.first_address = l.first_address and o.replaced_at is null)))
      and exists (select from skipped_indexes s where s.network = l.network and s.first_address = l.first_address
        and l.address_index >= s.from_index and l.address_index < s.to_index)
    group by l.network, l.asset order by l.network, l.asset`.execute(db);
  return rows;
}
