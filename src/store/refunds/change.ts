import { sql } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import type { WalletKind } from '../schema/wallets.ts';
import { above, deleteRows, findRow, findRows, insertRows, oneOf, type Stored } from '../rows.ts';

/** An address of a wallet's change chain. */
export type ChangeAddress = Stored<'change_addresses'>;
/** Money that a block paid to a change address, in the smallest units. */
export type ChangeOutput = Stored<'change_outputs'>;

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

/** Saves that a wallet's change is watched, or without a chain, that its change chain is unknown. */
export async function saveChangeWatch(
  db: Database,
  network: Network,
  { id: walletId, kind, source }: ChangeWallet,
  firstChangeAddress: string | null,
): Promise<void> {
  const row = { walletId, kind, source, network, firstChangeAddress };
  const conflict = { by: ['walletId', 'kind', 'source'], set: { firstChangeAddress } } as const;
  await insertRows(db, 'change_watches', [row], { conflict });
}

/** A wallet from which a change chain can be derived. */
export async function walletOfChange(
  db: Database,
  network: Network,
  firstChangeAddress: string,
): Promise<ChangeWallet | null> {
  const row = await findRow(db, 'change_watches', { network, firstChangeAddress }, { limit: 1 });
  return row && { id: row.walletId, kind: row.kind, source: row.source };
}

/** Watches these addresses from now on; some may already be watched. */
export async function watchChange(db: Database, addresses: readonly ChangeAddress[]): Promise<void> {
  await insertRows(db, 'change_addresses', addresses, { conflict: {} });
}

/** The watched change addresses among these: one indexed query, however many there are. */
export async function findChange(
  db: Database,
  network: Network,
  addresses: readonly string[],
): Promise<readonly ChangeAddress[]> {
  if (addresses.length === 0) return [];
  return findRows(db, 'change_addresses', { network, address: oneOf(addresses) });
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
  await insertRows(trx, 'change_outputs', outputs, { conflict: {} });
}

/** Deletes change in blocks above a height, so that its addresses count as not seen. */
export async function dropChangeAbove(trx: Trx, network: Network, height: number): Promise<void> {
  await deleteRows(trx, 'change_outputs', { network, blockHeight: above(height) });
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
  const { rows } = await sql<{ index: number; refunds: bigint }>`
    select c.change_index as index, count(*) as refunds
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
  const conflict = { by: ['refundId'], set: { address } } as const;
  await insertRows(trx, 'refund_changes', [{ refundId, network, address }], { conflict });
}
