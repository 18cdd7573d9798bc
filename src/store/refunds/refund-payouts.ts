import { sql, type RawBuilder } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { KnownPayout, PayableRefund } from '../../domain/refund-payout.ts';
import type { Database, Trx } from '../database.ts';
import { below, deleteRows, insertRows, oneOf, toRow, updateRows, type Stored } from '../rows.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { RefundFailure, RefundStatus } from '../../domain/refund.ts';

/** A transfer that pays a refund; `blockHeight` is null while it is in a mempool. */
export interface Payout extends Omit<Stored<'refund_payouts'>, 'blockHeight'> {
  readonly blockHeight: number | null;
}

/** A transfer that pays a refund, or once did: `dropped` if it is gone from the chain and every mempool. */
export interface RefundPayout {
  readonly transactionHash: string;
  readonly state: KnownPayout['state'];
  /** The time since which it is unmined, in epoch milliseconds; null if mined. */
  readonly since: number | null;
  /** Matched by amount and address only, when the refund had already failed or was paid. */
  readonly isGuess: boolean;
  /** 0 while it is in no block. */
  readonly confirmations: number;
}

/**
 * Whether money to the address of a refund `r` belongs to a payment or to the project. Such addresses are refused now;
 * a refund that still has one is not paid by other people's payments to it. An address that was handed out after the
 * refund was created counts as the customer's: the refund's own payout may be under way, or was seen already.
 */
export const TAKES_PAYMENTS: RawBuilder<boolean> = sql<boolean>`(
  exists (select from payment_addresses a where a.network = r.network and a.address = r.watched_address
    and a.issued_at <= r.created_at)
  or exists (select from change_addresses c where c.network = r.network and c.address = r.watched_address)
  or exists (select from wallets w where w.project_id = r.project_id and w.network = r.network and w.kind = 'treasury'
    and lower(w.source) = r.watched_address))`;

/** Whether a transaction pays a refund `r`, mined or not: then the refund can neither be cancelled nor expire. */
export const IS_BEING_PAID: RawBuilder<boolean> = sql<boolean>`(
  (exists (select from refund_payouts o where o.refund_id = r.id)
    or exists (select from waiting_payouts w where w.refund_id = r.id and w.dropped_at is null))
  and not ${TAKES_PAYMENTS})`;

/**
 * Whether nodes are asked again who made the balance of a refund `r` grow: its payout may yet be found. Not forever,
 * where contracts pay its address again and again.
 */
export const IS_TRACED_AGAIN: RawBuilder<boolean> = sql<boolean>`(
  exists (select from refund_balances g
    where g.refund_id = r.id and g.next_trace_height is not null and g.grown_height - g.grown_after < 500)
  and not ${TAKES_PAYMENTS})`;

/** Whether a refund `r` was paid: a completed one, or a failed one that a transaction paid after all. */
export const WAS_PAID: RawBuilder<boolean> = sql<boolean>`(r.status = 'completed' or (r.status = 'failed'
  and exists (select from refund_payouts o where o.refund_id = r.id and not o.is_guess)))`;

/**
 * Whether a refund `r` takes money of its payment: a pending or completed one, or a failed one that a transaction pays
 * after all, mined or not; guesses do not count.
 */
export const TAKES_MONEY: RawBuilder<boolean> = sql<boolean>`(r.status <> 'failed'
  or exists (select from refund_payouts o where o.refund_id = r.id and not o.is_guess)
  or exists (select from waiting_payouts w where w.refund_id = r.id and not w.is_guess and w.dropped_at is null))`;

/** The live refunds to these addresses, of any status and in order of creation: one indexed query. */
export async function refundsTo(
  executor: Database | Trx,
  network: Network,
  addresses: readonly string[],
): Promise<readonly PayableRefund[]> {
  if (addresses.length === 0) return [];
  const { rows } = await sql<PayableRefund>`
    select r.id, r.status, r.asset, r.units, r.watched_address as address, r.created_at as "createdAt",
      array(select h.transaction_hash || ':' || h.output_index from refund_inputs h where h.refund_id = r.id) as inputs
    from refunds r
    where r.network = ${network} and r.watched_address = any (${addresses}::text[]) and r.mode = 'live' and not ${TAKES_PAYMENTS}
    order by r.id`.execute(executor);
  return rows;
}

/** The known payouts of these refunds. */
export async function knownPayouts(executor: Database | Trx, refundIds: readonly string[]): Promise<KnownPayout[]> {
  if (refundIds.length === 0) return [];
  const { rows } = await sql<KnownPayout>`
    select refund_id as "refundId", transaction_hash as "transactionHash", asset, output_index as index, spends, 'block' as state,
      is_guess as "isGuess"
    from refund_payouts where refund_id = any (${refundIds}::uuid[])
    union all
    select refund_id, transaction_hash, asset, output_index, spends, case when dropped_at is null then 'waiting' else 'dropped' end, is_guess
    from waiting_payouts where refund_id = any (${refundIds}::uuid[])`.execute(executor);
  return rows;
}

/** Saves payouts; a known payout stays with its refund. The caller holds the network's cursor. */
export async function savePayouts(trx: Trx, payouts: readonly Payout[], now: number): Promise<void> {
  for (const { blockHeight, ...payout } of payouts) {
    if (blockHeight === null) {
      await trx
        .insertInto('waiting_payouts')
        .values(toRow('waiting_payouts', { ...payout, since: now, droppedAt: null, wasMined: false }))
        .onConflict((conflict) =>
          conflict
            .columns(['network', 'transaction_hash', 'asset', 'output_index'])
            .doUpdateSet({ since: new Date(now), dropped_at: null })
            .where('waiting_payouts.dropped_at', 'is not', null),
        )
        .execute();
      continue;
    }
    await insertRows(trx, 'refund_payouts', [{ ...payout, blockHeight }], { conflict: {} });
    const { network, transactionHash, asset, refundId } = payout;
    await deleteRows(trx, 'waiting_payouts', { network, transactionHash, asset, refundId });
  }
}

/** Makes a payout certain that was matched by its amount and address only. */
export async function makeCertain(
  trx: Trx,
  payout: { readonly refundId: string; readonly network: Network; readonly transactionHash: string },
): Promise<void> {
  await updateRows(trx, 'refund_payouts', payout, { isGuess: false });
  await updateRows(trx, 'waiting_payouts', payout, { isGuess: false });
}

/** Marks payouts in blocks above a height as unmined. */
export async function takeBackPayoutsAbove(trx: Trx, network: Network, height: number, now: number): Promise<void> {
  await sql`
    with gone as (
      delete from refund_payouts where network = ${network} and block_height > ${height}
      returning network, transaction_hash, asset, output_index, refund_id, spends, is_guess
    )
    insert into waiting_payouts (network, transaction_hash, asset, output_index, refund_id, spends, since, is_guess, was_mined)
    select network, transaction_hash, asset, output_index, refund_id, spends, ${new Date(now)}::timestamptz, is_guess, true from gone
    on conflict (network, transaction_hash, asset, output_index)
    do update set since = excluded.since, dropped_at = null, was_mined = true`.execute(trx);
}

interface WaitingPayout {
  readonly hash: string;
  readonly address: string;
  /** The time at which it was sent or first seen, in epoch milliseconds; null if it was in a block. */
  readonly sentAt: number | null;
}

/** A network's unmined payouts, and the addresses they pay. */
export async function waitingPayouts(executor: Database | Trx, network: Network): Promise<readonly WaitingPayout[]> {
  const { rows } = await sql<WaitingPayout>`
    select w.transaction_hash as hash, coalesce(r.watched_address, '') as address,
      case when w.was_mined then null else w.since end as "sentAt"
    from waiting_payouts w join refunds r on r.id = w.refund_id
    where w.network = ${network} and w.dropped_at is null`.execute(executor);
  return rows;
}

/** Drops payouts that are gone from the chain and every mempool. */
export async function dropPayouts(trx: Trx, network: Network, hashes: readonly string[], now: number): Promise<void> {
  const waiting = { network, droppedAt: null, transactionHash: oneOf(hashes) };
  if (hashes.length > 0) await updateRows(trx, 'waiting_payouts', waiting, { droppedAt: now });
}

/** Drops the payouts of a network that have been unmined since before a time. */
export async function dropPayoutsBefore(db: Database, network: Network, before: number, now: number): Promise<void> {
  await updateRows(db, 'waiting_payouts', { network, droppedAt: null, since: below(before) }, { droppedAt: now });
}

/** The payout of a refund, as {@link payoutsOf} finds it; null if there is none. */
export async function payoutOf(executor: Database | Trx, refundId: string): Promise<RefundPayout | null> {
  return (await payoutsOf(executor, [refundId])).get(refundId) ?? null;
}

/**
 * The payouts of these refunds with any number of confirmations: the one that completed the refund is preferred, then
 * a mined one to an unmined one, and that to a dropped one.
 */
export async function payoutsOf(
  executor: Database | Trx,
  refundIds: readonly string[],
): Promise<ReadonlyMap<string, RefundPayout>> {
  const { rows } = await sql<RefundPayout & { readonly id: string }>`
    select distinct on (id) id, hash as "transactionHash", state, since, is_guess as "isGuess",
      coalesce((select greatest(c.height - payouts.height + 1, 0) from chain_cursors c where c.network = payouts.network), 0)
        as confirmations
    from (
      select o.refund_id as id, o.network, o.transaction_hash as hash, 'block' as state, null::timestamptz as since,
        o.block_height as height, o.is_guess
      from refund_payouts o where o.refund_id = any (${refundIds}::uuid[])
      union all
      select w.refund_id, w.network, w.transaction_hash, case when w.dropped_at is null then 'waiting' else 'dropped' end,
        w.since, null, w.is_guess
      from waiting_payouts w where w.refund_id = any (${refundIds}::uuid[])
    ) payouts
    order by id, (select r.transaction_hash from refunds r where r.id = payouts.id) is distinct from hash,
      case state when 'block' then 0 when 'waiting' then 1 else 2 end, is_guess, height, since desc, hash`.execute(
    executor,
  );
  return new Map(rows.map(({ id, ...payout }) => [id, payout]));
}

/** Mined transactions that pay the same refund. */
export interface PaidTwice {
  readonly refundId: string;
  /** In order of their blocks; those that were matched by amount and address only come last. */
  readonly hashes: readonly string[];
  readonly hasGuess: boolean;
}

/** The refunds of a payment that several mined transactions pay. */
export async function paidTwice(executor: Database | Trx, paymentId: string): Promise<readonly PaidTwice[]> {
  const { rows } = await sql<PaidTwice>`
    select r.id as "refundId", array_agg(o.transaction_hash order by o.is_guess, o.block_height, o.transaction_hash) as hashes,
      bool_or(o.is_guess) as "hasGuess"
    from refunds r join refund_payouts o on o.refund_id = r.id
    where r.payment_id = ${paymentId}::uuid and not ${TAKES_PAYMENTS}
    group by r.id having count(*) > 1 order by r.id`.execute(executor);
  return rows;
}

/** The refunds among these that a transaction pays, mined or not. The caller holds their locks. */
export async function beingPaid(executor: Database | Trx, refundIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select r.id from refunds r where r.id = any (${refundIds}::uuid[]) and ${IS_BEING_PAID}`.execute(executor);
  return new Set(rows.map(({ id }) => id));
}

/** A refund whose payout has enough confirmations. */
export interface PaidRefund {
  readonly refundId: string;
  readonly transactionHash: string;
  /** The time of the block that gave it the last of them; null if that block is not kept any more. */
  readonly paidAt: number | null;
}

/** Pending refunds whose payout, at this height, has as many confirmations as their payment needed. */
export async function refundsPaidBy(db: Database, network: Network, height: number): Promise<readonly PaidRefund[]> {
  const { rows } = await sql<PaidRefund>`
    select distinct on (r.id) o.refund_id as "refundId", o.transaction_hash as "transactionHash", b.block_at as "paidAt"
    from refunds r
    join refund_payouts o on o.refund_id = r.id
    cross join lateral (select o.block_height - 1 + coalesce(
      (select max(a.confirmations) from payment_addresses a where a.payment_id = r.payment_id), 1) as height) needed
    left join chain_blocks b on b.network = o.network and b.height = needed.height
    where r.status = 'pending' and r.watched_address is not null and r.network = ${network} and o.network = ${network}
      and r.mode = 'live' and not ${TAKES_PAYMENTS} and needed.height <= ${height}
    order by r.id, o.is_guess, o.block_height, o.transaction_hash`.execute(db);
  return rows;
}

/** Completed refunds whose payout was reorganised away and is not mined again. */
export async function refundsTakenBack(executor: Database | Trx, network: Network): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct r.id from waiting_payouts w join refunds r on r.id = w.refund_id
    where w.network = ${network} and r.status = 'completed'
      and not exists (
        select from refund_payouts o where o.refund_id = r.id and o.transaction_hash = r.transaction_hash)
    order by r.id`.execute(executor);
  return rows.map(({ id }) => id);
}

/** The facts that tell which part of its payment's money a refund takes. */
export interface ClaimOnPayment {
  readonly id: string;
  readonly status: RefundStatus;
  readonly failureReason: RefundFailure | null;
  readonly units: bigint;
  readonly payout: RefundPayout | null;
}

/**
 * A payment's refunds in order of creation, in one token unless it is null; failed ones only if something paid them.
 */
export async function claimsOn(
  executor: Database | Trx,
  paymentId: string,
  token: { readonly asset: AssetCode; readonly network: Network } | null,
): Promise<readonly ClaimOnPayment[]> {
  let query = executor
    .selectFrom('refunds as r')
    .select(['r.id', 'r.status', 'r.failure_reason as failureReason', 'r.units', TAKES_PAYMENTS.as('takesPayments')])
    .where('r.payment_id', '=', paymentId);
  if (token !== null) query = query.where('r.asset', '=', token.asset).where('r.network', '=', token.network);
  const rows = await query.orderBy('r.id').execute();
  const claims: ClaimOnPayment[] = [];
  for (const { takesPayments, ...claim } of rows) {
    const payout = takesPayments ? null : await payoutOf(executor, claim.id);
    if (claim.status === 'failed' && payout === null) continue;
    claims.push({ ...claim, payout });
  }
  return claims;
}
