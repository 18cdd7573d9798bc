import { sql } from 'kysely';
import type { AssetCode, Network } from '../domain/asset.ts';
import type { Database, Trx } from './database.ts';
import type { WalletKind } from './tables.ts';
import { notify } from './notifications.ts';

/** What a project's addresses on one network are derived from. No key that could spend is ever stored. */
export interface Wallet {
  readonly id: string;
  readonly projectId: string;
  readonly network: Network;
  readonly kind: WalletKind;
  readonly source: string;
  /** Its address at index 0: the same for every form that the source may be written in. */
  readonly firstAddress: string;
  readonly nextIndex: number;
  /** How many addresses were handed out after the last one that was paid. */
  readonly gap: number;
  /** Confirmations that the merchant wants; null: the network's default. */
  readonly confirmations: number | null;
  /** How far from the owed amount still counts as exact, in hundredths of a percent; null: the default. */
  readonly toleranceBasisPoints: number | null;
  readonly createdAt: number;
}

/** The highest index of the wallet `w` whose address was paid, from the newest 1,000: beyond them the gap is past counting. */
const LAST_PAID_INDEX = sql`
  select a.address_index from payment_addresses a
  where a.wallet_id = w.id and a.address_index >= i.next_index - 1000
    and exists (select 1 from transfers t where t.network = a.network and t.payment_id = a.payment_id and t.address = a.address)
  order by a.address_index desc limit 1`;

/** The networks that a project has a wallet on. */
export async function walletNetworks(executor: Database | Trx, projectId: string): Promise<ReadonlySet<Network>> {
  const rows = await executor
    .selectFrom('wallets')
    .select('network')
    .where('project_id', '=', projectId)
    .where('replaced_at', 'is', null)
    .execute();
  return new Set(rows.map((row) => row.network));
}

/** The project's wallets in use, one a network. */
export async function listWallets(executor: Database | Trx, projectId: string): Promise<readonly Wallet[]> {
  const rows = await executor
    .selectFrom('wallets as w')
    .innerJoin('address_indexes as i', (join) =>
      join.onRef('i.network', '=', 'w.network').onRef('i.first_address', '=', 'w.first_address'),
    )
    .selectAll('w')
    .select('i.next_index')
    .select(sql<number>`i.next_index - 1 - coalesce((${LAST_PAID_INDEX}), -1)`.as('gap'))
    .where('w.project_id', '=', projectId)
    .where('w.replaced_at', 'is', null)
    .orderBy('w.network')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    network: row.network,
    kind: row.kind,
    source: row.source,
    firstAddress: row.first_address,
    nextIndex: row.next_index,
    gap: row.gap,
    confirmations: row.confirmations,
    toleranceBasisPoints: row.tolerance_basis_points,
    createdAt: row.created_at,
  }));
}

/** Sets the wallet of a project's network: the same source keeps its record, another one replaces it. */
export async function setWallet(trx: Trx, wallet: Omit<Wallet, 'nextIndex' | 'gap'>): Promise<void> {
  const [current] = (await listWallets(trx, wallet.projectId)).filter(({ network }) => network === wallet.network);
  await notify(trx, 'access');
  if (current?.firstAddress === wallet.firstAddress) {
    await trx
      .updateTable('wallets')
      .set({ confirmations: wallet.confirmations, tolerance_basis_points: wallet.toleranceBasisPoints })
      .where('id', '=', current.id)
      .execute();
    return;
  }
  if (current !== undefined) {
    await trx
      .updateTable('wallets')
      .set({ replaced_at: new Date(wallet.createdAt) })
      .where('id', '=', current.id)
      .execute();
  }
  // A wallet that was used before, here or by another project, goes on where it stopped: no address is handed out twice.
  await trx
    .insertInto('address_indexes')
    .values({ network: wallet.network, first_address: wallet.firstAddress, next_index: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await trx
    .insertInto('wallets')
    .values({
      id: wallet.id,
      project_id: wallet.projectId,
      network: wallet.network,
      kind: wallet.kind,
      source: wallet.source,
      first_address: wallet.firstAddress,
      confirmations: wallet.confirmations,
      tolerance_basis_points: wallet.toleranceBasisPoints,
      created_at: new Date(wallet.createdAt),
    })
    .execute();
}

/** An index taken from a project's wallet, with what is needed to derive and watch its address. */
export interface TakenIndex {
  readonly walletId: string;
  readonly kind: WalletKind;
  readonly source: string;
  readonly index: number;
  readonly confirmations: number | null;
  readonly toleranceBasisPoints: number | null;
}

/** Takes the next index of a project's wallet; null without a wallet. Every taker gets another one. */
export async function takeAddressIndex(
  executor: Database | Trx,
  projectId: string,
  network: Network,
): Promise<TakenIndex | null> {
  const { rows } = await sql<TakenIndex>`
    update address_indexes i set next_index = i.next_index + 1
    from wallets w
    where w.project_id = ${projectId} and w.network = ${network} and w.replaced_at is null
      and i.network = w.network and i.first_address = w.first_address
    returning w.id as "walletId", w.kind, w.source, i.next_index - 1 as index, w.confirmations,
      w.tolerance_basis_points as "toleranceBasisPoints"`.execute(executor);
  return rows[0] ?? null;
}

/** Which of a wallet's own addresses a payment's is, counted from 0; null where it was not derived from a key. */
export async function findAddressIndex(
  executor: Database | Trx,
  paymentId: string,
  { network, address }: { readonly network: Network; readonly address: string },
): Promise<number | null> {
  const row = await executor
    .selectFrom('payment_addresses as a')
    .innerJoin('wallets as w', 'w.id', 'a.wallet_id')
    .select('a.address_index')
    .where('a.payment_id', '=', paymentId)
    .where('a.network', '=', network)
    // The chain's own form of an EVM address has no capitals.
    .where('a.address', 'in', [address, address.toLowerCase()])
    .where('w.kind', '!=', 'treasury')
    .executeTakeFirst();
  return row?.address_index ?? null;
}

/** A deposit that money came to, and what it was quoted at. */
export interface PaidDeposit {
  readonly treasury: string;
  readonly index: number;
  /** As customers are shown it, but without its checksum. */
  readonly address: string;
  readonly asset: AssetCode;
  readonly owedUnits: bigint;
  readonly amountUsdCents: bigint;
}

/** The deposits of a project's treasuries on a network, present and former, that money came to in a block. */
export async function paidDeposits(db: Database, projectId: string, network: Network): Promise<readonly PaidDeposit[]> {
  const rows = await db
    .selectFrom('payment_addresses as a')
    .innerJoin('wallets as w', 'w.id', 'a.wallet_id')
    .innerJoin('payments as p', 'p.id', 'a.payment_id')
    .select(['w.source', 'a.address_index', 'a.address', 'a.asset', 'a.owed_units', 'p.amount_usd_cents'])
    .where('w.project_id', '=', projectId)
    .where('w.network', '=', network)
    .where('w.kind', '=', 'treasury')
    .where((where) =>
      where.exists(
        where
          .selectFrom('transfers as t')
          .select('t.payment_id')
          .whereRef('t.payment_id', '=', 'a.payment_id')
          .whereRef('t.network', '=', 'a.network')
          .whereRef('t.address', '=', 'a.address')
          .where('t.state', 'in', ['mined', 'confirmed']),
      ),
    )
    .orderBy('w.created_at')
    .orderBy('a.address_index')
    .execute();
  return rows.map((row) => ({
    treasury: row.source,
    index: row.address_index ?? 0,
    address: row.address,
    asset: row.asset,
    owedUnits: row.owed_units,
    amountUsdCents: row.amount_usd_cents,
  }));
}
