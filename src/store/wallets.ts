import { CompiledQuery, sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { AssetCode, Network } from '../domain/asset.ts';
import type { Database, Trx } from './database.ts';
import type { WalletKind } from './tables.ts';
import { WALLET_COLUMNS } from './columns.ts';
import { notify } from './notifications.ts';
import type { Statement, StatementRunner } from './pipeline.ts';

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

/**
 * How many addresses of the wallet `w` were handed out after the last one that received money, or since the first, where
 * none has. Of the newest 1,000: beyond them the gap is past counting. Wallets of one source share their addresses.
 */
const GAP = sql<number>`
  i.next_index - 1 - coalesce(
    (select max((
        select a.address_index from payment_addresses a
        where a.wallet_id = kin.id and a.address_index >= i.next_index - 1000
          and exists (select 1 from transfers t where t.network = a.network and t.payment_id = a.payment_id
            and t.address = a.address and t.state <> 'dropped')
        order by a.address_index desc limit 1))
      from wallets kin where kin.network = w.network and kin.first_address = w.first_address),
    (select min((
        select a.address_index from payment_addresses a
        where a.wallet_id = kin.id order by a.address_index limit 1)) - 1
      from wallets kin where kin.network = w.network and kin.first_address = w.first_address),
    i.next_index - 1)`;

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
    .select(WALLET_COLUMNS.map((column) => `w.${column}` as const))
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

/** How far a wallet's handed-out addresses have run ahead of its money. */
export interface AddressGap {
  readonly projectId: string;
  readonly network: Network;
  /** Addresses handed out after the last one that received money. */
  readonly gap: number;
}

/**
 * The gaps of all wallets in use, by project and network. Deposit contracts are in no wallet that would stop looking, and
 * are left out. A few indexed rows a wallet, so that it may be read every few seconds.
 */
export async function addressGaps(db: Database): Promise<readonly AddressGap[]> {
  const rows = await db
    .selectFrom('wallets as w')
    .innerJoin('address_indexes as i', (join) =>
      join.onRef('i.network', '=', 'w.network').onRef('i.first_address', '=', 'w.first_address'),
    )
    .select(['w.project_id', 'w.network', GAP.as('gap')])
    .where('w.replaced_at', 'is', null)
    .where('w.kind', '!=', 'treasury')
    .orderBy('w.network')
    .orderBy('w.project_id')
    .execute();
  return rows.map((row) => ({ projectId: row.project_id, network: row.network, gap: row.gap }));
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

/** A project's wallet whose next addresses nobody else hands out before the transaction ends, with what they are quoted at. */
export interface LockedWallet extends Omit<TakenIndex, 'index'> {
  readonly projectId: string;
  readonly network: Network;
  /** Names the wallet, together with its network: projects that share one share its addresses. */
  readonly firstAddress: string;
  /** The first that was not handed out yet. */
  readonly nextIndex: number;
  readonly spreadBasisPoints: number;
}

/** The same text every time, so that it is prepared once by the server. Locked in the order in which it is sorted. */
const LOCK_WALLETS = `
  select w.id as "walletId", w.project_id as "projectId", w.network, w.kind, w.source, w.first_address as "firstAddress",
    i.next_index as "nextIndex", w.confirmations, w.tolerance_basis_points as "toleranceBasisPoints",
    p.spread_basis_points as "spreadBasisPoints"
  from unnest($1::uuid[], $2::text[]) as wanted (project_id, network)
  join wallets w on w.project_id = wanted.project_id and w.network = wanted.network and w.replaced_at is null
  join projects p on p.id = w.project_id
  join address_indexes i on i.network = w.network and i.first_address = w.first_address
  order by i.network, i.first_address
  for no key update of i`;

/** How long a wait for the lock may be, before what was read ahead of it is read again. */
const STALE_AFTER_MS = 500;

/**
 * Locks the wallets in use of these projects and networks, each pair named once, until the transaction ends. A wallet, a
 * tolerance or a spread that was changed is not used for longer than that: after a long wait they are read again.
 */
export async function lockWallets(
  runner: StatementRunner,
  wanted: readonly { readonly projectId: string; readonly network: Network }[],
): Promise<readonly LockedWallet[]> {
  const query = CompiledQuery.raw(LOCK_WALLETS, [
    wanted.map(({ projectId }) => projectId),
    wanted.map(({ network }) => network),
  ]);
  const lock = async () => ((await runner.executeQuery(query)) as { readonly rows: readonly LockedWallet[] }).rows;
  const askedAt = performance.now();
  const rows = await lock();
  return performance.now() - askedAt < STALE_AFTER_MS ? rows : lock();
}

/** Fails by a division by zero, which undoes the transaction, where what is locked is not what was expected. */
const EXPECT_WALLETS = `
  select 1 / (jsonb_agg(to_jsonb(locked) order by locked."walletId") is not distinct from $3::jsonb)::int
  from (${LOCK_WALLETS}) as locked`;
const DIVISION_BY_ZERO = '22012';

/**
 * Locks wallets as `lockWallets` does, but expects to know already what is read, `nextIndex` and all: whoever is right need
 * not wait for an answer. Where anything else is there, the transaction is undone with an error that `isUnexpected` knows.
 */
export function expectWallets(
  wanted: readonly { readonly projectId: string; readonly network: Network }[],
  expected: readonly LockedWallet[],
): Statement {
  return CompiledQuery.raw(EXPECT_WALLETS, [
    wanted.map(({ projectId }) => projectId),
    wanted.map(({ network }) => network),
    JSON.stringify(expected.toSorted((a, b) => (a.walletId < b.walletId ? -1 : 1))),
  ]);
}

/** Whether a transaction was undone because wallets were not as expected. */
export function isUnexpected(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === DIVISION_BY_ZERO;
}

const TAKE_INDEXES = `
  update address_indexes i set next_index = taken.next_index
  from unnest($1::text[], $2::text[], $3::int[]) as taken (network, first_address, next_index)
  where i.network = taken.network and i.first_address = taken.first_address`;

/** Takes the indexes below `nextIndex` of wallets that this transaction has locked. */
export function takeIndexes(
  wallets: readonly Pick<LockedWallet, 'network' | 'firstAddress' | 'nextIndex'>[],
): Statement {
  return CompiledQuery.raw(TAKE_INDEXES, [
    wallets.map(({ network }) => network),
    wallets.map(({ firstAddress }) => firstAddress),
    wallets.map(({ nextIndex }) => nextIndex),
  ]);
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

/** An output that a wallet received, and its wallet; it may be spent by now. */
export interface ReceivedOutput {
  readonly kind: WalletKind;
  readonly source: string;
  readonly index: number;
  readonly transactionHash: string;
  readonly outputIndex: number;
  readonly amountUnits: bigint;
  readonly blockHash: string;
}

/** What the wallet that a payment went to has received and is confirmed: the payment's own first, then the newest. */
export async function receivedOutputs(
  db: Database,
  paymentId: string,
  network: Network,
  limit: number,
): Promise<readonly ReceivedOutput[]> {
  const { rows } = await sql<{
    kind: WalletKind;
    source: string;
    index: number;
    hash: string;
    output: number;
    units: string;
    block_hash: string;
  }>`
    select w.kind, w.source, a.address_index as index, t.transaction_hash as hash, t.output_index as output,
      t.amount_units::text as units, t.block_hash
    from payment_addresses a join wallets w on w.id = a.wallet_id
    join transfers t on t.network = a.network and t.payment_id = a.payment_id and t.address = a.address
    where a.network = ${network} and t.state = 'confirmed' and a.wallet_id in (
      select own.wallet_id from payment_addresses own where own.payment_id = ${paymentId} and own.network = ${network})
    order by a.payment_id = ${paymentId} desc, t.block_height desc limit ${limit}`.execute(db);
  return rows.map((row) => ({
    kind: row.kind,
    source: row.source,
    index: row.index,
    transactionHash: row.hash,
    outputIndex: row.output,
    amountUnits: BigInt(row.units),
    blockHash: row.block_hash,
  }));
}
