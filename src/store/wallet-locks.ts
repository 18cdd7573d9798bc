import { CompiledQuery } from 'kysely';
import { DatabaseError } from 'pg';
import type { Network } from '../domain/networks.ts';
import type { Statement, StatementRunner } from './pipeline.ts';
import type { TakenIndex } from './issued-addresses.ts';

/**
 * A project's wallet, locked so that nobody else hands out its next addresses before the transaction ends, with the
 * terms of its quotes.
 */
export interface LockedWallet extends Omit<TakenIndex, 'index'> {
  readonly projectId: string;
  readonly network: Network;
  /** Identifies the wallet together with its network: projects that share a wallet share its addresses. */
  readonly firstAddress: string;
  /** The first index that was not handed out yet. */
  readonly nextIndex: number;
  readonly spreadBasisPoints: number;
  /** Which coins the project's customers are offered. */
  readonly coinOrder: readonly string[];
  readonly coinsOff: readonly string[];
  /** Why none of its addresses may be handed out; null: they may. */
  readonly haltedReason: string | null;
}

/** Always the same text, so that the server prepares it once. Locked in the order in which it is sorted. */
const LOCK_WALLETS = `
  select w.id as "walletId", w.project_id as "projectId", w.network, w.kind, w.source, w.first_address as "firstAddress",
    i.next_index as "nextIndex", w.confirmations, w.tolerance_basis_points as "toleranceBasisPoints",
    p.spread_basis_points as "spreadBasisPoints", p.coin_order as "coinOrder", p.coins_off as "coinsOff",
    p.monitoring_hours as "monitoringHours", i.halted_reason as "haltedReason"
  from unnest($1::uuid[], $2::text[]) as wanted (project_id, network)
  join wallets w on w.project_id = wanted.project_id and w.network = wanted.network and w.replaced_at is null
  join projects p on p.id = w.project_id
  join address_indexes i on i.network = w.network and i.first_address = w.first_address
  order by i.network, i.first_address
  for no key update of i`;

/** How long the wait for the lock may take before values read ahead of it are read again. */
const STALE_AFTER_MS = 500;

/**
 * Locks the wallets in use of these projects and networks, each pair named once, until the transaction ends. Changed
 * wallets, tolerances and spreads take effect without delay: after a long wait they are read again.
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

/** Rolls the transaction back, by a division by zero, if what is locked is not what was expected. */
const EXPECT_WALLETS = `
  select 1 / (jsonb_agg(to_jsonb(locked) order by locked."walletId") is not distinct from $3::jsonb)::int
  from (${LOCK_WALLETS}) as locked`;
const DIVISION_BY_ZERO = '22012';

/**
 * Locks wallets as `lockWallets` does, but with the expected result given, including `nextIndex`, so that a correct
 * caller need not wait for an answer. Otherwise the transaction is rolled back with an error that `isUnexpected`
 * recognises.
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

/** Whether a transaction was rolled back because wallets, or the refunds to their addresses, were not as expected. */
export function isUnexpected(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === DIVISION_BY_ZERO;
}

/** Divides by zero, as above, if one of the addresses stands in a refund. */
const TAKE_INDEXES = `
  update address_indexes i set next_index = taken.next_index / (not exists (
    select from unnest($4::text[], $5::text[]) as issued (network, address)
    join refunds r on r.network = issued.network and r.watched_address = issued.address))::int
  from unnest($1::text[], $2::text[], $3::int[]) as taken (network, first_address, next_index)
  where i.network = taken.network and i.first_address = taken.first_address`;

/** A locked wallet after some of its addresses were taken. */
export interface TakenAddresses extends Pick<LockedWallet, 'network' | 'firstAddress' | 'nextIndex'> {
  /** In the form in which transfers carry them. */
  readonly addresses: readonly string[];
}

/**
 * Takes the indexes below `nextIndex` of wallets that this transaction has locked. If a refund names one of the
 * addresses, the transaction is rolled back with an error that `isUnexpected` recognises (docs/design/refunds.md).
 */
export function takeIndexes(wallets: readonly TakenAddresses[]): Statement {
  const addresses = wallets.flatMap((wallet) => wallet.addresses.map((address) => [wallet.network, address] as const));
  return CompiledQuery.raw(TAKE_INDEXES, [
    wallets.map(({ network }) => network),
    wallets.map(({ firstAddress }) => firstAddress),
    wallets.map(({ nextIndex }) => nextIndex),
    addresses.map(([network]) => network),
    addresses.map(([, address]) => address),
  ]);
}

/** Those of these addresses of a network, in the form in which transfers carry them, that stand in a refund. */
export async function addressesInRefunds(
  runner: StatementRunner,
  network: Network,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const query = CompiledQuery.raw(
    `select watched_address as address from refunds where network = $1 and watched_address = any ($2::text[])`,
    [network, addresses],
  );
  const { rows } = (await runner.executeQuery(query)) as { readonly rows: readonly { readonly address: string }[] };
  return new Set(rows.map(({ address }) => address));
}
