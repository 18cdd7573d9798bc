import { sql, type SqlBool } from 'kysely';
import type { Transfer } from '../domain/payment.ts';
import type { Database, Trx } from './database.ts';
import { TRANSFER_COLUMNS, type RecordOf } from './columns.ts';

/** A transfer and the payment it belongs to. */
export interface PaymentTransfer {
  readonly paymentId: string;
  readonly transfer: Transfer;
  readonly blockHash: string | null;
}

const NAMES = sql.raw(TRANSFER_COLUMNS.join(', '));

/**
 * Saves transfers; one that is known gets its new state and block, and keeps the time it was first seen. One that waits in
 * a mempool does not undo a block that is already known. In another block a transaction of an EVM chain runs anew: its
 * logs count from elsewhere, and the same number may name another payment.
 */
export async function saveTransfers(trx: Trx, transfers: readonly PaymentTransfer[]): Promise<void> {
  if (transfers.length === 0) return;
  const rows = transfers.map(({ paymentId, transfer, blockHash }): RecordOf<'transfers'> => ({
    network: transfer.network,
    transaction_hash: transfer.transactionHash,
    output_index: transfer.index,
    payment_id: paymentId,
    address: transfer.address,
    asset: transfer.asset,
    amount_units: String(transfer.amountUnits),
    state: transfer.state,
    first_seen_at: new Date(transfer.firstSeenAt).toISOString(),
    block_height: transfer.blockHeight,
    block_hash: blockHash,
    block_at: transfer.blockAt === null ? null : new Date(transfer.blockAt).toISOString(),
    block_position: transfer.blockPosition,
  }));
  await sql`
    insert into transfers (${NAMES})
    select ${NAMES} from json_populate_recordset(null::transfers, ${JSON.stringify(rows)}::json)
    on conflict (network, transaction_hash, asset, output_index) do update
    set state = excluded.state, block_height = excluded.block_height, block_hash = excluded.block_hash,
        block_at = excluded.block_at, block_position = excluded.block_position, payment_id = excluded.payment_id, address = excluded.address,
        amount_units = excluded.amount_units
    where excluded.state <> 'seen' or transfers.state = 'dropped'`.execute(trx);
}

/** Every transfer to these payments, by payment id. */
export async function findTransfers(
  executor: Database | Trx,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Transfer[]>> {
  const rows = await executor
    .selectFrom('transfers')
    .select(TRANSFER_COLUMNS)
    .where(sql<SqlBool>`payment_id = any (${paymentIds}::uuid[])`)
    .orderBy('first_seen_at')
    .execute();
  const transfers = rows.map((row) => ({
    paymentId: row.payment_id,
    transfer: {
      network: row.network,
      transactionHash: row.transaction_hash,
      index: row.output_index,
      address: row.address,
      asset: row.asset,
      amountUnits: row.amount_units,
      firstSeenAt: row.first_seen_at,
      blockAt: row.block_at,
      blockHeight: row.block_height,
      blockPosition: row.block_position,
      state: row.state,
    },
  }));
  const groups = Map.groupBy(transfers, ({ paymentId }) => paymentId);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ transfer }) => transfer)]));
}
