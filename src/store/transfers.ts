import { CompiledQuery, sql, type SqlBool } from 'kysely';
import type { Transfer } from '../domain/payment.ts';
import type { Database, Trx } from './database.ts';
import { TRANSFERS } from './schema/chains.ts';

/** A transfer and the payment it belongs to. */
export interface PaymentTransfer {
  readonly paymentId: string;
  readonly transfer: Transfer;
  readonly blockHash: string | null;
}

const SAVE = `
  ${TRANSFERS.insert('$1')}
  on conflict (network, transaction_hash, asset, output_index) do update set ${TRANSFERS.setExcluded}
  where excluded.state <> 'seen' or transfers.state = 'dropped'`;

/**
 * Saves transfers; one that is known gets its new state and block, and keeps the time it was first seen. One that waits in
 * a mempool does not undo a block that is already known. In another block a transaction of an EVM chain runs anew: its
 * logs count from elsewhere, and the same number may name another payment.
 */
export async function saveTransfers(trx: Trx, transfers: readonly PaymentTransfer[]): Promise<void> {
  if (transfers.length === 0) return;
  const records = TRANSFERS.records(transfers.map((one) => ({ transfer: one.transfer, rest: one })));
  await trx.executeQuery(CompiledQuery.raw(SAVE, [records]));
}

/** Every transfer to these payments, by payment id. */
export async function findTransfers(
  executor: Database | Trx,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Transfer[]>> {
  const rows = await executor
    .selectFrom('transfers')
    .select(TRANSFERS.names)
    .where(sql<SqlBool>`payment_id = any (${paymentIds}::uuid[])`)
    .orderBy('first_seen_at')
    .execute();
  const groups = Map.groupBy(rows.map(TRANSFERS.read), ({ rest }) => rest.paymentId);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ transfer }) => transfer)]));
}
