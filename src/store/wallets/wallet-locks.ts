import { CompiledQuery } from 'kysely';
import type { Network } from '../../domain/networks.ts';
import type { Statement, StatementRunner } from '../pipeline.ts';
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
  /** The order of the coins that the project's customers are offered. */
  readonly coinOrder: readonly string[];
  readonly coinsOff: readonly string[];
  /** The hash of the block up to which its chain was read; null: none was. */
  readonly readBlock: string | null;
  /** Why none of its addresses may be handed out; null if they may. */
  readonly haltedReason: string | null;
}

interface Place {
  readonly projectId: string;
  readonly network: Network;
}

/** The wallets in use of the requested projects and networks. */
const WANTED = `
  unnest($1::uuid[], $2::text[]) as wanted (project_id, network)
  join wallets w on w.project_id = wanted.project_id and w.network = wanted.network and w.replaced_at is null
  join address_indexes i on i.network = w.network and i.first_address = w.first_address`;

/** The text never changes, so that the server prepares it once. The rows are locked in their sorted order. */
const LOCK_INDEXES = `
  select w.id from ${WANTED} order by i.network, i.first_address for no key update of i`;

const READ_WALLETS = `
  select w.id as "walletId", w.project_id as "projectId", w.network, w.kind, w.source, w.first_address as "firstAddress",
    i.next_index as "nextIndex", w.confirmations, w.tolerance_basis_points as "toleranceBasisPoints",
    p.spread_basis_points as "spreadBasisPoints", p.coin_order as "coinOrder", p.coins_off as "coinsOff",
    p.monitoring_hours as "monitoringHours", i.halted_reason as "haltedReason",
    (select c.hash from chain_cursors c where c.network = w.network) as "readBlock"
  from ${WANTED} join projects p on p.id = w.project_id order by i.network, i.first_address`;

/**
 * Locks the wallets in use of these projects and networks, each pair named once, until the transaction ends. A
 * statement sent behind the lock's reads them: it runs after it, and sees all changes made while that waited.
 */
export async function lockWallets(runner: StatementRunner, wanted: readonly Place[]): Promise<readonly LockedWallet[]> {
  const parameters = [wanted.map(({ projectId }) => projectId), wanted.map(({ network }) => network)];
  for (;;) {
    const [locked, wallets] = await Promise.all([
      rowsOf<{ readonly id: string }>(runner, LOCK_INDEXES, parameters),
      rowsOf<LockedWallet>(runner, READ_WALLETS, parameters),
    ]);
    // A wallet that was set meanwhile is not locked yet.
    if (wallets.every(({ walletId }) => locked.some(({ id }) => id === walletId))) return wallets;
  }
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

/** The addresses, among these of a network, that a refund goes to; in the form in which transfers carry them. */
export async function addressesInRefunds(
  runner: StatementRunner,
  network: Network,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await rowsOf<{ readonly address: string }>(
    runner,
    `select watched_address as address from refunds where network = $1 and watched_address = any ($2::text[])`,
    [network, addresses],
  );
  return new Set(rows.map(({ address }) => address));
}

async function rowsOf<Row>(runner: StatementRunner, text: string, parameters: readonly unknown[]) {
  return ((await runner.executeQuery(CompiledQuery.raw(text, [...parameters]))) as { readonly rows: readonly Row[] })
    .rows;
}
