import { CompiledQuery, sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { Refund, RefundedMoney, RefundStatus } from '../../domain/refund.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import { lockUntaken, timestamp, type Database, type Trx } from '../database.ts';
import { wake } from '../wake.ts';
import { IS_BEING_PAID, IS_TRACED_AGAIN, TAKES_MONEY } from './refund-payouts.ts';
import { REFUNDS } from '../schema/refunds.ts';
import { decodeId } from '../../domain/id.ts';

const INSERT = REFUNDS.insert('$1');
const UPDATE = REFUNDS.update('$1');

function refundFromRow(row: Parameters<typeof REFUNDS.read>[0]): Refund {
  return REFUNDS.read(row).refund;
}

/** Inserts a refund. `watchedAddress` is its address in the form in which the chain's transfers carry it. */
export async function insertRefund(trx: Trx, refund: Refund, watchedAddress: string | null): Promise<void> {
  const rest = { watchedAddress, disposalMinor: null, disposalUsdCents: null };
  await trx.executeQuery(CompiledQuery.raw(INSERT, [REFUNDS.records([{ refund, rest }])]));
}

/** Saves the address that the customer entered for a refund. The caller holds its lock. */
export async function setRefundAddress(
  trx: Trx,
  { id, address, dueAt, paymentId }: Pick<Refund, 'id' | 'address' | 'dueAt' | 'paymentId'>,
  watchedAddress: string,
): Promise<void> {
  await trx
    .updateTable('refunds')
    .set({ address, watched_address: watchedAddress, due_at: dueAt === null ? null : new Date(dueAt) })
    .where('id', '=', id)
    .execute();
  // Other changes of a refund are saved with its payment, which wakes for them.
  await wake(trx, ['payments', paymentId]);
}

/** The worth of an amount at a time; null if unknown. */
export interface FiatWorth {
  /** In the payment's currency, in its smallest unit. */
  readonly minor: bigint | null;
  readonly usdCents: bigint | null;
}

/**
 * Saves the fields of a refund that can change; `disposal` is its worth when it was paid. The caller holds its lock.
 */
export async function updateRefund(trx: Trx, refund: Refund, disposal: FiatWorth): Promise<void> {
  const rest = { watchedAddress: null, disposalMinor: disposal.minor, disposalUsdCents: disposal.usdCents };
  const records = REFUNDS.records([{ refund, rest }]);
  await trx.executeQuery(CompiledQuery.raw(UPDATE, [records]));
}

export async function findRefund(executor: Database | Trx, id: string): Promise<Refund | null> {
  const row = await executor.selectFrom('refunds').select(REFUNDS.names).where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : refundFromRow(row);
}

/** The refunds with these ids, unordered; unknown ids are left out. */
export async function findRefunds(executor: Database | Trx, ids: readonly string[]): Promise<readonly Refund[]> {
  const rows = await executor.selectFrom('refunds').select(REFUNDS.names).where('id', 'in', ids).execute();
  return rows.map(refundFromRow);
}

/** Locks one refund until the transaction ends. */
export async function lockRefund(trx: Trx, id: string): Promise<Refund | null> {
  const row = await trx.selectFrom('refunds').select(REFUNDS.names).where('id', '=', id).forUpdate().executeTakeFirst();
  return row === undefined ? null : refundFromRow(row);
}

/**
 * Locks the most overdue refunds, of all payments or of one, that no other transaction has locked. Leaves out refunds
 * that a transaction pays, until that is decided, and those that may have been paid on a network not yet seen up to
 * their deadline (`seenUpTo`).
 */
export async function lockDueRefunds(
  trx: Trx,
  now: number,
  seenUpTo: ReadonlyMap<Network, number>,
  limit: number,
  paymentId?: string,
): Promise<readonly Refund[]> {
  const due = trx
    .selectFrom('refunds as r')
    .select(REFUNDS.names)
    .where('due_at', '<=', timestamp(now))
    .$if(paymentId !== undefined, (query) => query.where('payment_id', '=', paymentId ?? ''))
    .where((where) =>
      where.or([
        where('mode', '=', 'test'),
        where('watched_address', 'is', null),
        ...[...seenUpTo].map(([network, at]) =>
          where.and([where('network', '=', network), where('due_at', '<=', timestamp(at))]),
        ),
      ]),
    )
    .where((where) => where.not(IS_BEING_PAID))
    .where((where) => where.not(IS_TRACED_AGAIN))
    .orderBy('due_at');
  return (await lockUntaken(due, limit)).map(refundFromRow);
}

/**
 * The money that a payment's refunds in one token take ({@link TAKES_MONEY}). Refunds in another token paid back money
 * on another quote. Read under the payment's lock.
 */
export async function refundedMoney(
  executor: Database | Trx,
  paymentId: string,
  { asset, network }: { readonly asset: AssetCode; readonly network: Network },
): Promise<RefundedMoney> {
  return executor
    .selectFrom('refunds as r')
    .select([
      sql<bigint>`coalesce(sum(units), 0)`.as('units'),
      sql<bigint>`coalesce(sum(amount_minor), 0)`.as('amountMinor'),
    ])
    .where('payment_id', '=', paymentId)
    .where('asset', '=', asset)
    .where('network', '=', network)
    .where(TAKES_MONEY)
    .executeTakeFirstOrThrow();
}

/** The id of a payment's newest completed refund; null if it has none. */
export async function newestCompletedRefund(trx: Trx, paymentId: string): Promise<string | null> {
  const row = await trx
    .selectFrom('refunds')
    .select('id')
    .where('payment_id', '=', paymentId)
    .where('status', '=', 'completed')
    .orderBy('id', 'desc')
    .executeTakeFirst();
  return row?.id ?? null;
}

/** A payment's refunds, oldest first. */
export async function refundsOfPayment(
  executor: Database | Trx,
  paymentId: string,
  limit: number,
): Promise<readonly Refund[]> {
  const rows = await executor
    .selectFrom('refunds')
    .select(REFUNDS.names)
    .where('payment_id', '=', paymentId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(refundFromRow);
}

/** One page of refunds, newest first, and how many there are in total. */
export async function listRefunds(
  db: Database,
  scope: {
    readonly projectId: string;
    readonly mode: Mode;
    readonly status: RefundStatus | null;
    readonly payment: { readonly id: string; readonly api: PaymentApi } | null;
  },
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly refunds: readonly Refund[]; readonly total: number }> {
  let query = db.selectFrom('refunds').where('project_id', '=', scope.projectId).where('mode', '=', scope.mode);
  if (scope.status !== null) query = query.where('status', '=', scope.status);
  if (scope.payment !== null) {
    query = query.where('payment_id', '=', scope.payment.id).where('payment_surface', '=', scope.payment.api);
  }
  const rows = await query
    .select(REFUNDS.names)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { total } = await query.select(sql<bigint>`count(*)`.as('total')).executeTakeFirstOrThrow();
  return { refunds: rows.map(refundFromRow), total: Number(total) };
}

/**
 * The ids of the refunds whose address the merchant gave when creating them: in the dashboard, by a key or on the
 * command line. The customer enters the address of the others. The event of the creation tells which, and is never
 * purged; a refund without that event counts as one with the merchant's address.
 */
export async function withChosenAddress(
  executor: Database | Trx,
  refunds: readonly Pick<Refund, 'id' | 'paymentId' | 'address'>[],
): Promise<ReadonlySet<string>> {
  const addressed = refunds.filter(({ address }) => address !== null);
  if (addressed.length === 0) return new Set();
  const payments = [...new Set(addressed.map(({ paymentId }) => paymentId))];
  const { rows } = await sql<{ id: string }>`
    select data ->> 'id' as id from (
      select body::jsonb -> 'data' as data from events
      where payment_id = any (${payments}::uuid[]) and type = 'refund.created') as created
    where data -> 'address' = 'null'::jsonb`.execute(executor);
  const claimed = new Set(rows.map(({ id }) => decodeId('refund', id)));
  return new Set(addressed.flatMap(({ id }) => (claimed.has(id) ? [] : [id])));
}
