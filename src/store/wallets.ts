import { sql } from 'kysely';
import type { AssetCode } from '../domain/asset.ts';
import { GAP_LIMIT, type Network } from '../domain/networks.ts';
import type { Database, Trx } from './database.ts';
import type { WalletKind } from './schema/wallets.ts';
import { columnsOf, type NewRow } from './tables.ts';
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
  /** How many addresses were handed out after the last one that was paid, {@link MAX_GAP} at most. */
  readonly gap: number;
  /** Confirmations that the merchant wants; null: the network's default. */
  readonly confirmations: number | null;
  /** How far from the owed amount still counts as exact, in hundredths of a percent; null: the default. */
  readonly toleranceBasisPoints: number | null;
  readonly createdAt: number;
}

/** A gap of so many stands for one of so many or more. */
export const MAX_GAP = 10_000;

/** A gap in words, and the gap limit with which the merchant's own wallet finds every address. */
export function gapInWords({ gap, nextIndex }: Pick<Wallet, 'gap' | 'nextIndex'>): {
  readonly count: string;
  readonly limit: number;
} {
  return gap < MAX_GAP
    ? { count: `${gap}`, limit: gap + GAP_LIMIT }
    : { count: `${MAX_GAP} or more`, limit: nextIndex + GAP_LIMIT };
}

/**
 * How many addresses of the wallet `w` were handed out after the last one that received money, or since the first, where
 * none has; {@link MAX_GAP} at most, for beyond it they are not counted. Wallets of one source share their addresses.
 */
const GAP = sql<number>`
  least(${sql.lit(MAX_GAP)}, i.next_index - 1 - coalesce(
    (select max((
        select a.address_index from payment_addresses a
        where a.wallet_id = kin.id and a.address_index >= i.next_index - ${sql.lit(MAX_GAP)}
          and exists (select 1 from transfers t where t.network = a.network and t.payment_id = a.payment_id
            and t.address = a.address and t.state <> 'dropped')
        order by a.address_index desc limit 1))
      from wallets kin where kin.network = w.network and kin.first_address = w.first_address),
    (select min((
        select a.address_index from payment_addresses a
        where a.wallet_id = kin.id order by a.address_index limit 1)) - 1
      from wallets kin where kin.network = w.network and kin.first_address = w.first_address),
    i.next_index - 1))`;

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
    .select(columnsOf('wallets').map((column) => `w.${column}` as const))
    .select('i.next_index')
    .select(GAP.as('gap'))
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

/** The wallets in use on these networks that orders came to last, newest first. */
export async function busiestWallets(
  db: Database,
  networks: readonly Network[],
  limit: number,
): Promise<readonly Pick<Wallet, 'network' | 'kind' | 'source' | 'nextIndex'>[]> {
  const { rows } = await sql<Pick<Wallet, 'network' | 'kind' | 'source' | 'nextIndex'>>`
    select w.network, w.kind, w.source, i.next_index as "nextIndex"
    from wallets w join address_indexes i on i.network = w.network and i.first_address = w.first_address
    where w.replaced_at is null and w.network = any (${networks}::text[])
    order by (
      select issued_at from payment_addresses a where a.wallet_id = w.id order by a.address_index desc limit 1
    ) desc nulls last limit ${limit}`.execute(db);
  return rows;
}

/** How far a wallet's handed-out addresses have run ahead of its money. */
export interface AddressGap {
  readonly projectId: string;
  readonly network: Network;
  /** Addresses handed out after the last one that received money, {@link MAX_GAP} at most. */
  readonly gap: number;
  /** How many were handed out or passed over in all. */
  readonly nextIndex: number;
}

/**
 * The gaps of all wallets in use, by project and network. Deposit contracts are in no wallet that would stop looking, and
 * are left out. A few indexed rows a wallet, so that it may be read every few seconds.
 */
export async function addressGaps(db: Database | Trx): Promise<readonly AddressGap[]> {
  const rows = await db
    .selectFrom('wallets as w')
    .innerJoin('address_indexes as i', (join) =>
      join.onRef('i.network', '=', 'w.network').onRef('i.first_address', '=', 'w.first_address'),
    )
    .select(['w.project_id', 'w.network', 'i.next_index', GAP.as('gap')])
    .where('w.replaced_at', 'is', null)
    .where('w.kind', '!=', 'treasury')
    .orderBy('w.network')
    .orderBy('w.project_id')
    .execute();
  return rows.map((row) => ({
    projectId: row.project_id,
    network: row.network,
    gap: row.gap,
    nextIndex: row.next_index,
  }));
}

/**
 * Sets the wallet of a project's network. One whose first address is the same is the same wallet, written in another way perhaps: it
 * keeps its record and takes the new text, also where it was set before and its addresses are still out. Another one replaces it.
 */
export async function setWallet(trx: Trx, wallet: Omit<Wallet, 'nextIndex' | 'gap'>): Promise<void> {
  const [current] = (await listWallets(trx, wallet.projectId)).filter(({ network }) => network === wallet.network);
  await notify(trx, 'access');
  await trx
    .updateTable('wallets')
    .set({ kind: wallet.kind, source: wallet.source })
    .where('project_id', '=', wallet.projectId)
    .where('network', '=', wallet.network)
    .where('first_address', '=', wallet.firstAddress)
    .execute();
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
    .values({ network: wallet.network, first_address: wallet.firstAddress, next_index: 0 } satisfies NewRow<
      'address_indexes',
      'halted_reason'
    >)
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
    } satisfies NewRow<'wallets', 'replaced_at'>)
    .execute();
}

/** Lets a wallet's next address be number `index` at the least; what was handed out never comes again. */
export async function skipAddressesBelow(
  trx: Trx,
  { network, firstAddress }: Pick<Wallet, 'network' | 'firstAddress'>,
  index: number,
): Promise<void> {
  await trx
    .updateTable('address_indexes')
    .set({ next_index: index })
    .where('network', '=', network)
    .where('first_address', '=', firstAddress)
    .where('next_index', '<', index)
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

/**
 * Takes the next index of a project's wallet; null without a wallet, or where it hands out none. Every taker gets another
 * one.
 */
export async function takeAddressIndex(
  executor: Database | Trx,
  projectId: string,
  network: Network,
): Promise<TakenIndex | null> {
  const { rows } = await sql<TakenIndex>`
    update address_indexes i set next_index = i.next_index + 1
    from wallets w
    where w.project_id = ${projectId} and w.network = ${network} and w.replaced_at is null
      and i.network = w.network and i.first_address = w.first_address and i.halted_reason is null
    returning w.id as "walletId", w.kind, w.source, i.next_index - 1 as index, w.confirmations,
      w.tolerance_basis_points as "toleranceBasisPoints"`.execute(executor);
  return rows[0] ?? null;
}

/**
 * The addresses that a wallet handed out, whichever project did, with numbers below a limit: by their numbers, in the form in
 * which the chain's transfers carry them.
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

/** An address that a payment has already, on the terms of the wallet that it came from. */
export interface HeldAddress extends TakenIndex {
  /** In the form in which the chain's transfers carry it. */
  readonly address: string;
  /** Fixed when the address was handed out. */
  readonly confirmations: number;
}

/** The newest address that a payment has on a network from the wallet that is in use there; null without one. */
export async function heldAddress(trx: Trx, paymentId: string, network: Network): Promise<HeldAddress | null> {
  const { rows } = await sql<HeldAddress>`
    select a.address, a.address_index as index, a.confirmations, used.id as "walletId", used.kind, used.source,
      used.tolerance_basis_points as "toleranceBasisPoints"
    from payment_addresses a
    join wallets w on w.id = a.wallet_id
    join wallets used on used.project_id = w.project_id and used.network = w.network
      and used.first_address = w.first_address and used.replaced_at is null
    where a.payment_id = ${paymentId} and a.network = ${network}
    order by a.issued_at desc, a.address_index desc limit 1`.execute(trx);
  return rows[0] ?? null;
}

/**
 * Whose an address is, if money to it is a payment's or the project's own: of a payment, a wallet's change, or a treasury
 * (`paymentId` null). Null: it was never issued here. `address` is in the form in which the chain's transfers carry it.
 */
export async function ownerOfAddress(
  executor: Database | Trx,
  wanted: { readonly projectId: string; readonly network: Network; readonly address: string },
): Promise<{ readonly paymentId: string | null } | null> {
  const { projectId, network, address } = wanted;
  const { rows } = await sql<{ paymentId: string | null }>`
    select payment_id as "paymentId" from payment_addresses where network = ${network} and address = ${address}
    union all
    select null from change_addresses where network = ${network} and address = ${address}
    union all
    select null from wallets where project_id = ${projectId} and network = ${network} and kind = 'treasury'
      and lower(source) = ${address}
    limit 1`.execute(executor);
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
  /** The newest of each asset first. */
  readonly quotes: readonly { readonly asset: AssetCode; readonly owedUnits: bigint }[];
  readonly amountUsdCents: bigint;
}

/** The deposits of a project's treasuries on a network, present and former, that money came to in a block. */
export async function paidDeposits(db: Database, projectId: string, network: Network): Promise<readonly PaidDeposit[]> {
  const { rows } = await sql<{
    source: string;
    address_index: number | null;
    address: string;
    amount_usd_cents: bigint;
    asset: AssetCode;
    owed_units: bigint;
  }>`
    select w.source, a.address_index, a.address, p.amount_usd_cents, q.asset, q.owed_units
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
    quotes.slice(0, 1).map((row) => ({
      treasury: row.source,
      index: row.address_index ?? 0,
      address: row.address,
      quotes: quotes.map(({ asset, owed_units }) => ({ asset, owedUnits: owed_units })),
      amountUsdCents: row.amount_usd_cents,
    })),
  );
}
