import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database.ts';
import { TAKES_PAYMENTS } from './refund-payouts.ts';

/**
 * The hash of a mined transaction that pays exactly the amount of a refund `r` to its address, whatever its status; a
 * guess too, because on EVM chains the late payout of a cancelled refund is always one. The transaction that completed
 * it is stored with the refund.
 */
export const PAID_BY: RawBuilder<string | null> = sql<string | null>`coalesce(r.transaction_hash, (
  select o.transaction_hash from refund_payouts o where o.refund_id = r.id and not ${TAKES_PAYMENTS}
  order by o.is_guess, o.block_height, o.transaction_hash limit 1))`;

/** The failed ones of these refunds that a transaction paid after all, each with its hash. */
export async function paidAfterFailing(
  db: Database,
  refundIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (refundIds.length === 0) return new Map();
  const { rows } = await sql<{ readonly id: string; readonly hash: string | null }>`
    select r.id, ${PAID_BY} as hash from refunds r
    where r.id = any (${refundIds}::uuid[]) and r.status = 'failed'`.execute(db);
  return new Map(rows.flatMap(({ id, hash }) => (hash === null ? [] : [[id, hash]])));
}
