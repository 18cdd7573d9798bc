import { sql } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { KnownPayout } from '../../domain/refund-payout.ts';
import type { Database, Trx } from '../database.ts';
import { findRow, insertRows, updateRows } from '../rows.ts';

/** A signed transaction; `bytes` is null where a wallet sent it by itself. */
export interface SentTransaction {
  readonly network: Network;
  readonly hash: string;
  readonly bytes: Uint8Array | null;
}

/** Records, before sending it, that a signed transaction is sent for these refunds; also after a refusal. */
export async function saveSentPayout(
  trx: Trx,
  refundIds: readonly string[],
  { network, hash, bytes }: SentTransaction,
  now: number,
): Promise<void> {
  if (bytes !== null) {
    const raw = { network, transactionHash: hash, bytes: Buffer.from(bytes) };
    // The hash does not cover witnesses: a refused transaction may come again with better signatures.
    await insertRows(trx, 'raw_transactions', [raw], { conflict: { by: ['network', 'transactionHash'], set: raw } });
  }
  const sent = { sentAt: now, refusedReason: null };
  const rows = refundIds.map((refundId) => ({ refundId, network, transactionHash: hash, ...sent }));
  await insertRows(trx, 'sent_payouts', rows, { conflict: { by: ['refundId', 'transactionHash'], set: sent } });
}

/** Saves that the node refused a transaction, in its words. */
export async function refuseSentPayout(trx: Trx, network: Network, hash: string, reason: string): Promise<void> {
  await updateRows(trx, 'sent_payouts', { network, transactionHash: hash }, { refusedReason: reason });
}

/** The refunds that a sent transaction pays. */
export async function refundsOfSentPayout(
  trx: Trx,
  network: Network,
  hash: string,
): Promise<readonly { readonly paymentId: string }[]> {
  return trx
    .selectFrom('sent_payouts as s')
    .innerJoin('refunds as r', 'r.id', 's.refund_id')
    .select('r.payment_id as paymentId')
    .where('s.network', '=', network)
    .where('s.transaction_hash', '=', hash)
    .execute();
}

/** Transactions that were sent for pending refunds and are in no block, oldest first, with their bytes in hex. */
export async function unminedSentPayouts(
  db: Database,
  network: Network,
  limit: number,
): Promise<readonly { readonly hash: string; readonly hex: string }[]> {
  const { rows } = await sql<{ hash: string; hex: string }>`
    select s.transaction_hash as hash, encode(t.bytes, 'hex') as hex
    from sent_payouts s
    join refunds r on r.id = s.refund_id and r.status = 'pending'
    join raw_transactions t on t.network = s.network and t.transaction_hash = s.transaction_hash
    where s.network = ${network} and s.refused_reason is null
      and not exists (select from refund_payouts o where o.refund_id = s.refund_id)
    group by s.transaction_hash, t.bytes
    order by min(s.sent_at) limit ${limit}`.execute(db);
  return rows;
}

/** The progress of paying a refund. */
export interface PayoutProgress {
  readonly refundId: string;
  /** The transaction that pays it, or was sent to pay it; null if none is known. */
  readonly hash: string | null;
  /** `sent`: sent and not seen since. `refused`: the node refused the sent transaction. */
  readonly state: KnownPayout['state'] | 'sent' | 'refused' | null;
  readonly confirmations: number;
  /** How many confirmations complete it. */
  readonly needed: number;
  /** The node's reason for refusing the last transaction; null unless `state` is `refused`. */
  readonly reason: string | null;
}

/** The progress of paying these refunds, unordered. */
export async function payoutProgress(db: Database, refundIds: readonly string[]): Promise<readonly PayoutProgress[]> {
  const { rows } = await sql<PayoutProgress>`
    select r.id as "refundId", p.hash, p.state, p.reason,
      case when p.state = 'block' then greatest(c.height - p.height + 1, 0) else 0 end as confirmations,
      coalesce((select max(a.confirmations) from payment_addresses a where a.payment_id = r.payment_id), 1) as needed
    from refunds r
    left join chain_cursors c on c.network = r.network
    left join lateral (
      select o.transaction_hash as hash, 'block' as state, o.block_height as height, null as reason, 0 as rank, null::timestamptz as at, o.is_guess
      from refund_payouts o where o.refund_id = r.id
      union all
      select w.transaction_hash,
        case when w.dropped_at is not null then 'dropped' when w.output_index < 0 then 'sent' else 'waiting' end, null, null,
        case when w.dropped_at is null then 1 else 3 end, w.since, w.is_guess
      from waiting_payouts w where w.refund_id = r.id
      union all
      select s.transaction_hash, case when s.refused_reason is null then 'sent' else 'refused' end, null, s.refused_reason, 2, s.sent_at, false
      from sent_payouts s where s.refund_id = r.id and (s.refused_reason is not null or not exists (
        select from waiting_payouts w where w.refund_id = r.id and w.transaction_hash = s.transaction_hash and w.dropped_at is not null))
      order by rank, is_guess, height, at desc nulls last, hash limit 1
    ) p on true
    where r.id = any (${refundIds}::uuid[])`.execute(db);
  return rows;
}

/**
 * The last transaction that was sent for a refund and not refused, and its time, in epoch milliseconds; null if there
 * is none.
 */
export async function lastSentPayout(
  db: Database,
  refundId: string,
): Promise<{ readonly hash: string; readonly at: number } | null> {
  const taken = { refundId, refusedReason: null };
  const row = await findRow(db, 'sent_payouts', taken, { order: ['sentAt desc'], limit: 1 });
  return row && { hash: row.transactionHash, at: row.sentAt };
}
