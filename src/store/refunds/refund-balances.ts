import { CompiledQuery, sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { IS_TRACED_AGAIN, TAKES_PAYMENTS } from './refund-payouts.ts';
import { type Stored, deleteRows, hasRow, insertRows, oneOf } from '../rows.ts';
import { REFUND_BALANCES } from '../schema/refunds.ts';
import { wake } from '../wake.ts';

/** A live refund that no block pays, in the smallest units. */
export interface UnpaidRefund {
  readonly id: string;
  /** The address in the form of `matchingAddress`. */
  readonly address: string;
  readonly units: bigint;
  /** The last check of its balance; null if no block was read since it has its address. */
  readonly seen: Omit<BalanceCheck, 'refundId'> | null;
}

/**
 * The balance of a refund's address after a block; null if no node told it, so that blocks after it are still to be
 * compared.
 */
export interface BalanceCheck extends Pick<Stored<'refund_balances'>, 'refundId' | 'balance' | 'height'> {
  /** Null if it did not grow enough to pay the refund, or known transfers did it. */
  readonly grown: Growth | null;
}

/** The height that stands for blocks of which nobody knows any more what they contain. */
export const GONE_BLOCKS = -1;

/** Units by which a balance grew in the blocks after one height, up to another, and that nothing explains so far. */
export interface Growth {
  readonly units: bigint;
  readonly after: number;
  readonly height: number;
  /** The heights of those blocks that no node has traced, in the order in which they are tried. */
  readonly untraced: readonly number[];
  /** The height from which on they are tried again; null: no more. */
  readonly nextTrace: number | null;
  /** How often they were tried again so far. */
  readonly retraces: number;
}

/**
 * The refunds in an asset that have an address and that no block pays: pending ones, those whose payout was reorganised
 * away, and failed ones that were created since a time.
 */
export async function unpaidRefunds(
  db: Database,
  network: Network,
  asset: AssetCode,
  failedSince: number,
): Promise<readonly UnpaidRefund[]> {
  type Growing = Omit<Growth, 'units' | 'after'> & { readonly grownUnits: bigint | null; readonly grownAfter: number };
  type Row = Omit<UnpaidRefund, 'seen'> & Growing & { readonly balance: bigint | null; readonly looked: number | null };
  const { rows } = await sql<Row>`
    select r.id, r.watched_address as address, r.units, b.balance_units as balance, b.looked_height as looked,
      b.grown_units as "grownUnits", coalesce(b.grown_after, b.grown_height - 1) as "grownAfter", b.grown_height as height,
      case b.untraced_blocks when '{}' then array[${GONE_BLOCKS}::integer] else b.untraced_blocks end as untraced,
      b.next_trace_height as "nextTrace", b.retraces
    from refunds r left join refund_balances b on b.refund_id = r.id
    where r.id in (
        select pending.id from refunds pending
        where pending.network = ${network} and pending.status = 'pending' and pending.watched_address is not null
        union select taken.refund_id from waiting_payouts taken where taken.network = ${network}
        union select traced.refund_id from refund_balances traced where traced.next_trace_height is not null
        union select failed.id from refunds failed
        where failed.network = ${network} and failed.status = 'failed' and failed.watched_address is not null
          and failed.created_at >= ${timestamp(failedSince)})
      and (r.status <> 'failed' or r.created_at >= ${timestamp(failedSince)}) and r.network = ${network} and r.asset = ${asset} and r.mode = 'live'
      and r.watched_address is not null and not ${TAKES_PAYMENTS}
      and (b.next_trace_height is not null or not exists (select from refund_payouts o where o.refund_id = r.id))`.execute(
    db,
  );
  return rows.map(({ id, address, units, balance, looked, grownUnits, grownAfter: after, height, ...rest }) => {
    const grown = grownUnits === null ? null : { units: grownUnits, after, height, ...rest };
    return { id, address, units, seen: looked === null ? null : { balance, height: looked, grown } };
  });
}

const SAVE = `
  ${REFUND_BALANCES.insert('$1')}
  on conflict (refund_id) do update set balance_units = excluded.balance_units, looked_height = excluded.looked_height,
    grown_units = excluded.grown_units, grown_height = excluded.grown_height, grown_after = excluded.grown_after,
    untraced_blocks = excluded.untraced_blocks, next_trace_height = excluded.next_trace_height,
    retraces = excluded.retraces`;

/** Saves the results of checks. The caller holds the cursor, which has not moved since these refunds were read. */
export async function saveBalanceChecks(trx: Trx, checks: readonly BalanceCheck[]): Promise<void> {
  if (checks.length === 0) return;
  const rows = checks.map(({ grown, ...check }) => ({
    check: {
      ...check,
      grownUnits: grown?.units ?? null,
      grownHeight: grown?.height ?? null,
      grownAfter: grown?.after ?? null,
      untracedBlocks: [...(grown?.untraced ?? [])],
      nextTraceHeight: grown?.nextTrace ?? null,
      retraces: grown?.retraces ?? 0,
    },
  }));
  await trx.executeQuery(CompiledQuery.raw(SAVE, [REFUND_BALANCES.records(rows)]));
}

/**
 * After a rollback, balances are compared again from a height on. Growth stays if it may have been in a block up to
 * there that no node has traced.
 */
export async function purgeBalanceChecksAbove(trx: Trx, network: Network, height: number): Promise<void> {
  const left = sql`array(select block from unnest(b.untraced_blocks) with ordinality as u (block, place)
    where block <= ${height} order by place)`;
  const stays = sql`coalesce(b.grown_after, b.grown_height - 1) < ${height}
    and (${left} <> '{}' or b.untraced_blocks = '{}')`;
  await sql`
    update refund_balances b set balance_units = null, looked_height = ${height},
      grown_units = case when ${stays} then b.grown_units end,
      grown_height = case when ${stays} then least(b.grown_height, ${height}) end,
      grown_after = case when ${stays} then b.grown_after end,
      untraced_blocks = case when ${stays} then ${left} else '{}' end,
      next_trace_height = case when ${stays} and b.next_trace_height is not null then ${height} + 1 end
    from refunds r
    where r.id = b.refund_id and r.network = ${network} and b.looked_height > ${height}`.execute(trx);
}

/** Growth that no node explained, on the address of a refund that it may have paid. */
export interface UnexplainedGrowth {
  readonly refundId: string;
  /** The address in the form of `matchingAddress`. */
  readonly address: string;
  readonly units: bigint;
  readonly height: number;
}

/** The height up to which a refund's balance grew, while nodes are asked again for the reason; null if they are not. */
export async function growthTracedAgain(trx: Trx, refundId: string): Promise<number | null> {
  const { rows } = await sql<{ readonly height: number }>`
    select b.grown_height as height from refunds r join refund_balances b on b.refund_id = r.id
    where r.id = ${refundId} and ${IS_TRACED_AGAIN}`.execute(trx);
  return rows[0]?.height ?? null;
}

/** Such growth for a pending refund, and for failed ones of the same payment in the same asset. */
export async function unexplainedGrowth(
  db: Database,
  refund: { readonly id: string; readonly paymentId: string; readonly asset: AssetCode; readonly network: Network },
): Promise<readonly UnexplainedGrowth[]> {
  const { rows } = await sql<UnexplainedGrowth>`
    select r.id as "refundId", r.watched_address as address, b.grown_units as units, b.grown_height as height
    from refunds r join refund_balances b on b.refund_id = r.id
    where r.payment_id = ${refund.paymentId} and r.asset = ${refund.asset} and r.network = ${refund.network}
      and (r.id = ${refund.id} or r.status = 'failed') and b.grown_units is not null
    order by r.id`.execute(db);
  return rows;
}

/** A refund that may be paid by a transaction that was in the mempool before the refund had its address. */
export interface UncomparedRefund {
  readonly id: string;
  readonly paymentId: string;
  /** The address in the form of `matchingAddress`. */
  readonly address: string;
}

/** Records that a refund has its address from now on, in the transaction that sets it. */
export async function saveUncompared(trx: Trx, refundId: string, network: Network): Promise<void> {
  await insertRows(trx, 'uncompared_refunds', [{ refundId, network }]);
}

/** A network's refunds whose address was not yet compared with its mempool. */
export async function uncomparedRefunds(db: Database, network: Network): Promise<readonly UncomparedRefund[]> {
  const { rows } = await sql<UncomparedRefund>`
    select r.id, r.payment_id as "paymentId", r.watched_address as address
    from uncompared_refunds u join refunds r on r.id = u.refund_id
    where u.network = ${network} and r.watched_address is not null`.execute(db);
  return rows;
}

export async function isUncompared(executor: Database | Trx, refundId: string): Promise<boolean> {
  return hasRow(executor, 'uncompared_refunds', { refundId });
}

/** Records, once their payouts are saved, that these refunds were compared, and notifies open pages. */
export async function saveCompared(db: Database, refunds: readonly UncomparedRefund[]): Promise<void> {
  if (refunds.length === 0) return;
  await db.transaction().execute(async (trx) => {
    await deleteRows(trx, 'uncompared_refunds', { refundId: oneOf(refunds.map(({ id }) => id)) });
    for (const { paymentId } of refunds) await wake(trx, ['payments', paymentId]);
  });
}
