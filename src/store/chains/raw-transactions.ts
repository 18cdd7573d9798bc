import { sql, type SqlBool } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import { toRow } from '../rows.ts';

/**
 * Saves whole transactions by hash. A hash identifies its bytes, so transactions that a reorganisation removes can
 * stay.
 */
export async function saveRawTransactions(
  trx: Trx,
  network: Network,
  transactions: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  if (transactions.size === 0) return;
  await trx
    .insertInto('raw_transactions')
    .values(
      [...transactions].map(([transactionHash, bytes]) =>
        toRow('raw_transactions', { network, transactionHash, bytes: Buffer.from(bytes) }),
      ),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The saved ones of these transactions, in hex. */
export async function findRawTransactions(
  db: Database,
  network: Network,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (hashes.length === 0) return new Map();
  const rows = await db
    .selectFrom('raw_transactions')
    .select(['transaction_hash as hash', 'bytes'])
    .where('network', '=', network)
    .where(sql<SqlBool>`transaction_hash = any (${hashes}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.hash, row.bytes.toString('hex')]));
}
