import { sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import { EVM_NETWORKS, isEvmNetwork, type Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import type { WalletKind } from '../schema/wallets.ts';
import type { Wallet } from './wallets.ts';
import { below, updateRows } from '../rows.ts';

/** Makes a wallet's next address index at least `index`; an index handed out before is never handed out again. */
export async function skipAddressesBelow(
  trx: Trx,
  { network, firstAddress }: Pick<Wallet, 'network' | 'firstAddress'>,
  index: number,
): Promise<void> {
  const lower = { network, firstAddress, nextIndex: below(index) };
  await updateRows(trx, 'address_indexes', lower, { nextIndex: index });
}

/** An index taken from a project's wallet, with the data needed to derive and watch its address. */
export interface TakenIndex {
  readonly walletId: string;
  readonly kind: WalletKind;
  readonly source: string;
  readonly index: number;
  readonly confirmations: number | null;
  readonly toleranceBasisPoints: number | null;
  /** How long the project's payments are watched after their end; null: the service's setting. */
  readonly monitoringHours: number | null;
}

/**
 * The addresses that a wallet handed out, for any project, with indexes below a limit: by index, in the form in which
 * the chain's transfers carry them.
 */
export async function issuedAddresses(
  db: Database,
  { network, firstAddress }: Pick<Wallet, 'network' | 'firstAddress'>,
  below: number,
): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('wallets as w')
    .innerJoin('payment_addresses as a', 'a.wallet_id', 'w.id')
    .select(['a.address_index', 'a.address'])
    .where('w.network', '=', network)
    .where('w.first_address', '=', firstAddress)
    .where('a.network', '=', network)
    .where('a.address_index', '<', below)
    .execute();
  return new Map(
    rows.flatMap((row) => (row.address_index === null ? [] : [[row.address_index, row.address] as const])),
  );
}

/** Whether an address, in the form in which transfers carry it, was handed out from a treasury of the project. */
export async function hasIssuedAddress(db: Database | Trx, projectId: string, address: string): Promise<boolean> {
  const row = await db
    .selectFrom('wallets as w')
    .innerJoin('payment_addresses as a', 'a.wallet_id', 'w.id')
    .select('a.address')
    .where('w.project_id', '=', projectId)
    .where('w.kind', '=', 'treasury')
    .where('a.address', '=', address)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** An address that a payment already has, with the terms of its wallet. */
export interface HeldAddress extends TakenIndex {
  /** The address in the form in which the chain's transfers carry it. */
  readonly address: string;
  /** Fixed when the address was handed out. */
  readonly confirmations: number;
  /** The hash of the block up to which the chain was read then; null if unknown. */
  readonly afterBlock: string | null;
}

/** The newest address that a payment has on a network from the present wallet; null if it has none. */
export async function heldAddress(trx: Trx, paymentId: string, network: Network): Promise<HeldAddress | null> {
  const { rows } = await sql<HeldAddress>`
    select a.address, a.address_index as index, a.confirmations,
      a.after_block as "afterBlock", used.id as "walletId", used.kind, used.source,
      used.tolerance_basis_points as "toleranceBasisPoints", p.monitoring_hours as "monitoringHours"
    from payment_addresses a
    join wallets w on w.id = a.wallet_id
    join wallets used on used.project_id = w.project_id and used.network = w.network
      and used.first_address = w.first_address and used.replaced_at is null
    join projects p on p.id = used.project_id
    where a.payment_id = ${paymentId} and a.network = ${network}
    order by a.issued_at desc, a.address_index desc limit 1`.execute(trx);
  return rows[0] ?? null;
}

/**
 * The owner of an address if money to it belongs to a payment of either mode or to the project: a payment, or else
 * (`paymentId` null) an address that is watched before it is handed out, a wallet's change, or a treasury. Null: none
 * of these. EVM networks share their addresses. `address` is in the form in which the chain's transfers carry it.
 */
export async function ownerOfAddress(
  executor: Database | Trx,
  wanted: { readonly projectId: string; readonly network: Network; readonly address: string },
): Promise<{ readonly paymentId: string | null } | null> {
  const { projectId, network, address } = wanted;
  const isAddress = sql`network = any (${isEvmNetwork(network) ? EVM_NETWORKS : [network]}::text[]) and address = ${address}`;
  // The made-up addresses of test payments are stored with their checksum, and in no other table.
  const { rows } = await sql<{ paymentId: string | null }>`
    select payment_id as "paymentId" from payment_addresses where ${isAddress}
    union all
    select id from payments where mode = 'test' and lower(address) = lower(${address})
    union all
    select null from unissued_addresses where ${isAddress}
    union all
    select null from change_addresses where ${isAddress}
    union all
    select null from wallets where project_id = ${projectId} and network = ${network} and kind = 'treasury'
      and lower(source) = ${address}
    limit 1`.execute(executor);
  return rows[0] ?? null;
}

/**
 * Waits until nobody hands out addresses of a network, and lets nobody do so before the transaction ends: an address
 * that is not handed out now will be compared with this transaction's data before it is.
 */
export async function lockIssuing(trx: Trx, network: Network): Promise<void> {
  await sql`select from address_indexes where network = ${network} order by first_address for share`.execute(trx);
}

/** A deposit address that received money, with its quotes. */
export interface PaidDeposit {
  readonly paymentId: string;
  readonly treasury: string;
  readonly index: number;
  /** The address in the form that customers see, but without the checksum. */
  readonly address: string;
  /** The newest quote of each asset comes first. */
  readonly quotes: readonly { readonly asset: AssetCode; readonly owedUnits: bigint }[];
  readonly amountUsdCents: bigint;
}

/** The deposit addresses of a project's treasuries on a network, current and former, that received money in a block. */
export async function paidDeposits(db: Database, projectId: string, network: Network): Promise<readonly PaidDeposit[]> {
  type Row = Omit<PaidDeposit, 'quotes'> & PaidDeposit['quotes'][number];
  const { rows } = await sql<Row>`
    select w.source as treasury, coalesce(a.address_index, 0) as index, a.address, a.payment_id as "paymentId",
      p.amount_usd_cents as "amountUsdCents", q.asset, q.owed_units as "owedUnits"
    from payment_addresses a
    join wallets w on w.id = a.wallet_id
    join payments p on p.id = a.payment_id
    cross join lateral (
      select a.asset, a.owed_units, 0 as number
      union all
      select again.asset, again.owed_units, again.id from payment_quotes again
      where again.network = a.network and again.address = a.address and again.payment_id = a.payment_id
    ) q
    where w.project_id = ${projectId} and w.network = ${network} and w.kind = 'treasury'
      and exists (
        select 1 from transfers t
        where t.payment_id = a.payment_id and t.network = a.network and t.address = a.address
          and t.state in ('mined', 'confirmed'))
    order by w.created_at, a.address_index, a.address, q.number desc`.execute(db);
  return [...Map.groupBy(rows, ({ address }) => address).values()].flatMap((quotes) =>
    quotes.slice(0, 1).map(({ asset: _asset, owedUnits: _owedUnits, ...deposit }) => ({
      ...deposit,
      quotes: quotes.map(({ asset, owedUnits }) => ({ asset, owedUnits })),
    })),
  );
}
