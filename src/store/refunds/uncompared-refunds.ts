import { sql } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import { notifyPayment } from '../notifications.ts';
import { toRow } from '../rows.ts';

/** A refund that may be paid by a transaction that was in the mempool before the refund had its address. */
export interface UncomparedRefund {
  readonly id: string;
  readonly paymentId: string;
  /** The address in the form of `matchingAddress`. */
  readonly address: string;
}

/** Records that a refund has its address from now on, in the transaction that sets it. */
export async function saveUncompared(trx: Trx, refundId: string, network: Network): Promise<void> {
  await trx.insertInto('uncompared_refunds').values(toRow('uncompared_refunds', { refundId, network })).execute();
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
  const row = await executor
    .selectFrom('uncompared_refunds')
    .select('refund_id')
    .where('refund_id', '=', refundId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Records, once their payouts are saved, that these refunds were compared, and notifies open pages. */
export async function saveCompared(db: Database, refunds: readonly UncomparedRefund[]): Promise<void> {
  if (refunds.length === 0) return;
  const ids = refunds.map(({ id }) => id);
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('uncompared_refunds').where('refund_id', 'in', ids).execute();
    for (const { paymentId } of refunds) await notifyPayment(trx, paymentId);
  });
}
