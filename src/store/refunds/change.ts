import { sql, type SqlBool } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import type { WalletKind } from '../schema/wallets.ts';
import type { NewRow } from '../tables.ts';

/** An address of a wallet's change chain. The chain is named by its first address. */
export interface ChangeAddress {
  readonly network: Network;
  readonly address: string;
  readonly firstChangeAddress: string;
  readonly index: number;
}

/** Money that a block paid to a change address, in the smallest units. */
export interface ChangeOutput {
  readonly network: Network;
  readonly transactionHash: string;
  readonly index: number;
  readonly address: string;
  readonly amountUnits: bigint;
  readonly blockHeight: number;
  readonly blockHash: string;
}

/** The facts of a wallet that matter for its change. */
export interface ChangeWallet {
  readonly id: string;
  readonly kind: WalletKind;
  readonly source: string;
}

/** Wallets whose change is not watched yet, or whose source was replaced since. */
export async function walletsWithoutChangeWatch(
  db: Database,
  network: Network,
  limit: number,
): Promise<readonly ChangeWallet[]> {
  return db
    .selectFrom('wallets as w')
    .leftJoin('change_watches as c', (join) =>
      join.onRef('c.wallet_id', '=', 'w.id').onRef('c.kind', '=', 'w.kind').onRef('c.source', '=', 'w.source'),
    )
    .select(['w.id', 'w.kind', 'w.source'])
    .where('w.network', '=', network)
    .where('c.wallet_id', 'is', null)
    .limit(limit)
    .execute();
}

/** Saves that a wallet's change is watched; without a chain: that no change chain is known for it. */
export async function saveChangeWatch(
  db: Database,
  network: Network,
  { id, kind, source }: ChangeWallet,
  firstChangeAddress: string | null,
): Promise<void> {
  await db
    .insertInto('change_watches')
    .values({
      wallet_id: id,
      kind,
      source,
      network,
      first_change_address: firstChangeAddress,
    } satisfies NewRow<'change_watches'>)
    .onConflict((conflict) =>
      conflict.columns(['wallet_id', 'kind', 'source']).doUpdateSet({ first_change_address: firstChangeAddress }),
    )
    .execute();
}

/** A wallet from which a change chain can be derived. */
export async function walletOfChange(
  db: Database,
  network: Network,
  firstChangeAddress: string,
): Promise<ChangeWallet | null> {
  const row = await db
    .selectFrom('change_watches')
    .select(['wallet_id as id', 'kind', 'source'])
    .where('network', '=', network)
    .where('first_change_address', '=', firstChangeAddress)
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Watches these addresses from now on; some may already be watched. */
export async function watchChange(db: Database, addresses: readonly ChangeAddress[]): Promise<void> {
  if (addresses.length === 0) return;
  await db
    .insertInto('change_addresses')
    .values(
      addresses.map(({ network, address, firstChangeAddress, index }): NewRow<'change_addresses'> => ({
        network,
        address,
        first_change_address: firstChangeAddress,
        change_index: index,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Which of these are watched change addresses: one indexed query, however many there are. */
export async function findChange(
  db: Database,
  network: Network,
  addresses: readonly string[],
): Promise<readonly ChangeAddress[]> {
  if (addresses.length === 0) return [];
  const rows = await db
    .selectFrom('change_addresses')
    .select(['network', 'address', 'first_change_address', 'change_index'])
    .where('network', '=', network)
    .where(sql<SqlBool>`address = any (${addresses}::text[])`)
    .execute();
  return rows.map((row) => ({
    network: row.network,
    address: row.address,
    firstChangeAddress: row.first_change_address,
    index: row.change_index,
  }));
}

/** How many addresses of a change chain are watched. */
export async function watchedChangeCount(db: Database, network: Network, firstChangeAddress: string): Promise<number> {
  const row = await db
    .selectFrom('change_addresses')
    .select(({ fn }) => fn.max('change_index').as('last'))
    .where('network', '=', network)
    .where('first_change_address', '=', firstChangeAddress)
    .executeTakeFirst();
  return (row?.last ?? -1) + 1;
}

export async function saveChangeOutputs(trx: Trx, outputs: readonly ChangeOutput[]): Promise<void> {
  if (outputs.length === 0) return;
  await trx
    .insertInto('change_outputs')
    .values(
      outputs.map((output): NewRow<'change_outputs'> => ({
        network: output.network,
        transaction_hash: output.transactionHash,
        output_index: output.index,
        address: output.address,
        amount_units: String(output.amountUnits),
        block_height: output.blockHeight,
        block_hash: output.blockHash,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes change in blocks above a height, so that its addresses count as not seen. */
export async function dropChangeAbove(trx: Trx, network: Network, height: number): Promise<void> {
  await trx.deleteFrom('change_outputs').where('network', '=', network).where('block_height', '>', height).execute();
}

/** The indexes of a change chain's addresses that were paid in blocks. */
export async function seenChange(
  db: Database,
  network: Network,
  firstChangeAddress: string,
): Promise<ReadonlySet<number>> {
  const rows = await db
    .selectFrom('change_addresses as c')
    .select('c.change_index')
    .where('c.network', '=', network)
    .where('c.first_change_address', '=', firstChangeAddress)
    .where((where) =>
      where.exists(
        where
          .selectFrom('change_outputs as o')
          .select('o.address')
          .whereRef('o.network', '=', 'c.network')
          .whereRef('o.address', '=', 'c.address'),
      ),
    )
    .execute();
  return new Set(rows.map((row) => row.change_index));
}

/** How many other open refunds use each of a change chain's addresses, by index. */
export async function openChange(
  trx: Trx,
  network: Network,
  firstChangeAddress: string,
  { refundIds, now }: { readonly refundIds: readonly string[]; readonly now: number },
): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ index: number; refunds: string }>`
    select c.change_index as index, count(*)::text as refunds
    from refund_changes u
    join refunds r on r.id = u.refund_id and r.status = 'pending' and r.due_at > ${new Date(now)}::timestamptz
    join change_addresses c on c.network = u.network and c.address = u.address
    where u.network = ${network} and c.first_change_address = ${firstChangeAddress} and u.refund_id <> all (${refundIds}::uuid[])
    group by c.change_index`.execute(trx);
  return new Map(rows.map((row) => [row.index, Number(row.refunds)]));
}

/** The indexes of the change addresses that these refunds were last shown with, on this change chain; lowest first. */
export async function refundChanges(
  executor: Database | Trx,
  network: Network,
  firstChangeAddress: string,
  refundIds: readonly string[],
): Promise<readonly number[]> {
  const rows = await executor
    .selectFrom('refund_changes as u')
    .innerJoin('change_addresses as c', (join) =>
      join.onRef('c.network', '=', 'u.network').onRef('c.address', '=', 'u.address'),
    )
    .select('c.change_index')
    .where('u.refund_id', 'in', refundIds)
    .where('c.network', '=', network)
    .where('c.first_change_address', '=', firstChangeAddress)
    .orderBy('c.change_index')
    .execute();
  return [...new Set(rows.map(({ change_index }) => change_index))];
}

export async function saveRefundChange(trx: Trx, refundId: string, network: Network, address: string): Promise<void> {
  await trx
    .insertInto('refund_changes')
    .values({ refund_id: refundId, network, address } satisfies NewRow<'refund_changes'>)
    .onConflict((conflict) => conflict.column('refund_id').doUpdateSet({ address }))
    .execute();
}
