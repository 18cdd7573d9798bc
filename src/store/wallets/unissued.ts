import { sql, type SqlBool } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { findRows, insertRows, NOT_NULL, updateRows } from '../rows.ts';
import type { WalletKind } from '../schema/wallets.ts';

/** The source of a wallet's addresses. The network and the first address identify the wallet. */
export interface WalletText {
  readonly firstAddress: string;
  readonly kind: WalletKind;
  readonly source: string;
}

/** A range of a wallet's indexes whose addresses are not watched yet, from inclusive, to exclusive. */
export interface UnwatchedRange extends WalletText {
  readonly from: number;
  readonly to: number;
}

/** The newest source of each wallet, preferring one in use. */
const WALLETS = (network: Network) => sql`
  select distinct on (w.first_address) w.first_address, w.kind, w.source, w.replaced_at
  from wallets w where w.network = ${network}
  order by w.first_address, w.replaced_at desc nulls first, w.created_at desc`;

/** The skipped ranges that are not watched yet. */
export async function unwatchedSkipped(
  db: Database,
  network: Network,
): Promise<readonly (UnwatchedRange & { readonly start: number })[]> {
  const { rows } = await sql<UnwatchedRange & { readonly start: number }>`
    select s.first_address as "firstAddress", w.kind, w.source, s.watched_to as "from", s.to_index as "to", s.from_index as start
    from skipped_indexes s join (${WALLETS(network)}) w on w.first_address = s.first_address
    where s.network = ${network} and s.watched_to < s.to_index order by s.first_address, s.from_index`.execute(db);
  return rows;
}

/** Saves the end of the watched part of a skipped range. */
export async function saveSkippedWatch(
  db: Database,
  network: Network,
  { firstAddress, start }: { readonly firstAddress: string; readonly start: number },
  watchedTo: number,
): Promise<void> {
  await updateRows(db, 'skipped_indexes', { network, firstAddress, fromIndex: start }, { watchedTo });
}

/** A wallet, and the end of its watched addresses. */
export interface AheadWallet extends WalletText {
  readonly nextIndex: number;
  /** The highest watched index; -1: none. */
  readonly watchedTo: number;
}

export async function aheadWallets(db: Database, network: Network): Promise<readonly AheadWallet[]> {
  const { rows } = await sql<AheadWallet>`
    select w.first_address as "firstAddress", w.kind, w.source, i.next_index as "nextIndex", coalesce(u.last, -1) as "watchedTo"
    from (${WALLETS(network)}) w
    join address_indexes i on i.network = ${network} and i.first_address = w.first_address
    left join lateral (
      select max(address_index) as last from unissued_addresses
      where network = ${network} and first_address = w.first_address
    ) u on true
    where w.replaced_at is null`.execute(db);
  return rows;
}

/** The wallets that a project has or had on a network, and the end of each one's watched addresses. */
export async function walletsAhead(
  executor: Database | Trx,
  projectId: string,
  network: Network,
): Promise<readonly AheadWallet[]> {
  const { rows } = await sql<AheadWallet>`
    select w.first_address as "firstAddress", w.kind, w.source, i.next_index as "nextIndex",
      coalesce((select max(u.address_index) from unissued_addresses u
        where u.network = w.network and u.first_address = w.first_address), -1) as "watchedTo"
    from wallets w join address_indexes i on i.network = w.network and i.first_address = w.first_address
    where w.project_id = ${projectId} and w.network = ${network}`.execute(executor);
  return rows;
}

/** How many addresses a wallet handed out on the busiest of the thirty days before. */
export async function busiestDay(
  executor: Database | Trx,
  network: Network,
  firstAddress: string,
  until: number,
): Promise<number> {
  const { rows } = await sql<{ readonly count: number }>`
    select coalesce(max(day.count), 0)::int as count from (
      select count(*) as count from wallets w join payment_addresses a on a.wallet_id = w.id
      where w.network = ${network} and w.first_address = ${firstAddress}
        and a.issued_at > ${timestamp(until)} - interval '30 days'
      group by date_trunc('day', a.issued_at)) day`.execute(executor);
  return rows[0]?.count ?? 0;
}

/** Watches these addresses of a wallet; some may already be watched. */
export async function watchUnissued(
  db: Database,
  network: Network,
  firstAddress: string,
  addresses: readonly { readonly address: string; readonly index: number }[],
): Promise<void> {
  const rows = addresses.map(({ address, index }) => ({ network, firstAddress, address, index }));
  await insertRows(db, 'unissued_addresses', rows, { conflict: {} });
}

/** Stops watching addresses ahead that have been handed out since. */
export async function forgetIssued(db: Database, network: Network, firstAddress: string): Promise<void> {
  await sql`
    delete from unissued_addresses u using address_indexes i
    where u.network = ${network} and u.first_address = ${firstAddress}
      and i.network = u.network and i.first_address = u.first_address and u.address_index < i.next_index
      and not exists (
        select 1 from skipped_indexes s
        where s.network = u.network and s.first_address = u.first_address
          and u.address_index >= s.from_index and u.address_index < s.to_index)`.execute(db);
}

/** A watched address that was not handed out here. */
export interface UnissuedAddress {
  readonly address: string;
  readonly firstAddress: string;
  readonly index: number;
}

/**
 * The addresses among these that are watched without having been handed out: one indexed query, however many there are.
 */
export async function findUnissued(
  executor: Database | Trx,
  network: Network,
  addresses: readonly string[],
): Promise<readonly UnissuedAddress[]> {
  if (addresses.length === 0) return [];
  return executor
    .selectFrom('unissued_addresses as u')
    .select(['u.address', 'u.first_address as firstAddress', 'u.address_index as index'])
    .where('u.network', '=', network)
    .where(sql<SqlBool>`u.address = any (${addresses}::text[])`)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('payment_addresses as a')
            .select('a.address')
            .whereRef('a.network', '=', 'u.network')
            .whereRef('a.address', '=', 'u.address'),
        ),
      ),
    )
    .execute();
}

/** A wallet whose next index is locked until the transaction ends. */
export interface LockedIndex {
  readonly kind: WalletKind;
  readonly firstAddress: string;
  readonly nextIndex: number;
  readonly haltedReason: string | null;
  /** When indexes were last skipped; null: never. */
  readonly skippedAt: number | null;
}

export async function lockIndexes(
  trx: Trx,
  network: Network,
  firstAddresses: readonly string[],
): Promise<readonly LockedIndex[]> {
  const { rows } = await sql<LockedIndex>`
    select (select w.kind from wallets w where w.network = i.network and w.first_address = i.first_address limit 1) as kind,
      i.first_address as "firstAddress", i.next_index as "nextIndex", i.halted_reason as "haltedReason",
      (select max(s.skipped_at) from skipped_indexes s where s.network = i.network and s.first_address = i.first_address) as "skippedAt"
    from address_indexes i
    where i.network = ${network} and i.first_address = any (${firstAddresses}::text[])
    order by i.first_address for update of i`.execute(trx);
  return rows;
}

/** Skips the indexes of a locked wallet up to `to`, exclusive. */
export async function skipTo(
  trx: Database | Trx,
  network: Network,
  wallet: Pick<LockedIndex, 'firstAddress' | 'nextIndex'>,
  to: number,
  now: number,
): Promise<void> {
  const { firstAddress, nextIndex } = wallet;
  if (to <= nextIndex) return;
  await sql`
    insert into skipped_indexes (network, first_address, from_index, to_index, watched_to, skipped_at)
    values (${network}, ${firstAddress}, ${nextIndex}, ${to}, ${nextIndex}, ${timestamp(now)})`.execute(trx);
  await updateRows(trx, 'address_indexes', { network, firstAddress }, { nextIndex: to });
}

/** Halts a wallet, so that it hands out no addresses; a null reason ends that. */
export async function setHalted(
  trx: Database | Trx,
  network: Network,
  firstAddress: string,
  reason: string | null,
): Promise<void> {
  await updateRows(trx, 'address_indexes', { network, firstAddress }, { haltedReason: reason });
}

/** The halted wallets, with the reasons. */
export async function haltedWallets(
  db: Database,
): Promise<readonly { readonly network: Network; readonly firstAddress: string; readonly reason: string }[]> {
  const order = ['network', 'firstAddress'] as const;
  const rows = await findRows(db, 'address_indexes', { haltedReason: NOT_NULL }, { order });
  return rows.map(({ network, firstAddress, haltedReason: reason }) => ({
    network,
    firstAddress,
    reason: reason ?? '',
  }));
}
