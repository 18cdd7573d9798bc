import { CompiledQuery, sql } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { AwaitingAddress } from '../wallets/watched-addresses.ts';
import { LEFT } from './coin-outflows.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { above, fieldList, updateRows, type Stored } from '../rows.ts';
import { LOST_TRANSFERS } from '../schema/chains.ts';

/** Money on an address that this database never handed out. */
export type LostTransfer = Omit<Stored<'lost_transfers'>, 'paymentId'>;

/** `xmax` is 0 in a row that the statement itself inserted. */
const SAVE = `
  ${LOST_TRANSFERS.insert('$1')}
  on conflict (network, transaction_hash, asset, output_index) do update set ${LOST_TRANSFERS.setExcluded}
  returning network, transaction_hash, asset, output_index, xmax = 0 as "isNew"`;

/** Saves transfers; one that is already known gets its new block. Returns the new ones. */
export async function saveLostTransfers(trx: Trx, found: readonly LostTransfer[]): Promise<readonly LostTransfer[]> {
  if (found.length === 0) return [];
  const records = LOST_TRANSFERS.records(found.map((transfer) => ({ transfer })));
  const { rows: saved } = (await trx.executeQuery(CompiledQuery.raw(SAVE, [records]))) as {
    readonly rows: readonly { transaction_hash: string; asset: AssetCode; output_index: number; isNew: boolean }[];
  };
  const keyOf = (hash: string, asset: string, index: number): string => `${hash} ${asset} ${index}`;
  const fresh = new Set(
    saved.filter(({ isNew }) => isNew).map((row) => keyOf(row.transaction_hash, row.asset, row.output_index)),
  );
  return found.filter((one) => fresh.has(keyOf(one.transactionHash, one.asset, one.outputIndex)));
}

/** Removes the blocks of transfers in blocks above a height. */
export async function dropLostAbove(trx: Trx, network: Network, height: number): Promise<void> {
  const nowhere = { blockHeight: null, blockHash: null, blockAt: null, blockPosition: null };
  await updateRows(trx, 'lost_transfers', { network, blockHeight: above(height) }, nowhere);
}

/** Whether a transfer `l` is in a block, on an address that was skipped, and not booked. */
const IS_LOST = sql`
  l.payment_id is null and l.block_height is not null
  and exists (
    select 1 from skipped_indexes s
    where s.network = l.network and s.first_address = l.first_address
      and l.address_index >= s.from_index and l.address_index < s.to_index)`;

/** Money on skipped addresses that no payment was booked for, oldest first. */
export async function lostTransfers(
  executor: Database | Trx,
  where: {
    readonly address?: string;
    readonly wallet?: { readonly network: Network; readonly firstAddress: string; readonly from: number };
    /** Whether to lock them until the transaction ends; those booked by another process meanwhile are left out. */
    readonly isLocked?: boolean;
  } = {},
): Promise<readonly LostTransfer[]> {
  const { address, wallet, isLocked = false } = where;
  const ofAddress = address === undefined ? sql`` : sql`and l.address = ${address}`;
  const ofWallet =
    wallet === undefined
      ? sql``
      : sql`and l.network = ${wallet.network} and l.first_address = ${wallet.firstAddress} and l.address_index >= ${wallet.from}`;
  const { rows } = await sql<LostTransfer>`
    select ${fieldList('lost_transfers', { of: 'l', without: ['payment_id'] })}
    from lost_transfers l where ${IS_LOST} ${ofAddress} ${ofWallet}
    order by l.found_at, l.address_index, l.transaction_hash, l.output_index
    ${isLocked ? sql`for update of l` : sql``}`.execute(executor);
  return rows;
}

/** The addresses of a network skipped after `since`, with the recorded amounts that they received in an asset. */
export async function awaitingLost(
  db: Database,
  network: Network,
  asset: AssetCode,
  since: number,
): Promise<readonly AwaitingAddress[]> {
  const { rows } = await sql<{ address: string; units: bigint }>`
    select u.address, coalesce(sum(l.amount_units), 0) - coalesce(${LEFT('u')}, 0) as units
    from skipped_indexes s
    join unissued_addresses u on u.network = s.network and u.first_address = s.first_address
      and u.address_index >= s.from_index and u.address_index < s.to_index
    left join lost_transfers l on l.network = u.network and l.address = u.address and l.asset = ${asset}
      and l.block_height is not null
    where s.network = ${network} and s.skipped_at > ${timestamp(since)}
      and not exists (select 1 from payment_addresses a where a.network = u.network and a.address = u.address)
    group by u.network, u.address`.execute(db);
  return rows.map((row) => ({ ...row, paymentId: null, afterBlock: null }));
}

/** Money on an address that is not handed out yet, of a wallet that is still in use. */
export interface AheadTransfer {
  readonly network: Network;
  readonly transactionHash: string;
  /** The address in the form in which the chain's transfers carry it. */
  readonly address: string;
  readonly addressIndex: number;
  /** The next index to be handed out. */
  readonly nextIndex: number;
}

/** The first such transfer of each wallet, among those found after `since`. */
export async function transfersAhead(db: Database, since: number): Promise<readonly AheadTransfer[]> {
  const { rows } = await sql<AheadTransfer>`
    select distinct on (l.network, l.first_address) l.network, l.transaction_hash as "transactionHash", l.address,
      l.address_index as "addressIndex", i.next_index as "nextIndex"
    from lost_transfers l join address_indexes i on i.network = l.network and i.first_address = l.first_address
    where l.block_height is not null and l.address_index >= i.next_index and i.halted_reason is null
      and l.found_at > ${timestamp(since)}
    order by l.network, l.first_address, l.found_at, l.address_index`.execute(db);
  return rows;
}

/** The highest index of a wallet's addresses that received money without being handed out; null: none. */
export async function highestLostIndex(
  executor: Database | Trx,
  network: Network,
  firstAddress: string,
): Promise<number | null> {
  const row = await executor
    .selectFrom('lost_transfers')
    .select(({ fn }) => fn.max('address_index').as('highest'))
    .where('network', '=', network)
    .where('first_address', '=', firstAddress)
    .executeTakeFirst();
  return row?.highest ?? null;
}

/** Saves which payment was created for the money on an address. */
export async function bookLostTransfers(trx: Trx, network: Network, address: string, paymentId: string): Promise<void> {
  await updateRows(trx, 'lost_transfers', { network, address }, { paymentId });
}

/** A project that uses a wallet, and the confirmations it asks for; null: by amount. */
export interface WalletOwner {
  readonly projectId: string;
  readonly walletId: string;
  readonly confirmations: number | null;
}

/** The projects that use a wallet; if none does any more, those that once did. */
export async function projectsOfWallet(
  executor: Database | Trx,
  network: Network,
  firstAddress: string,
): Promise<readonly WalletOwner[]> {
  const rows = await executor
    .selectFrom('wallets')
    .distinctOn('project_id')
    .select(['project_id as projectId', 'id as walletId', 'confirmations', 'replaced_at as replacedAt'])
    .where('network', '=', network)
    .where('first_address', '=', firstAddress)
    .orderBy('project_id')
    .orderBy(sql`replaced_at desc nulls first`)
    .execute();
  const current = rows.filter(({ replacedAt }) => replacedAt === null);
  return current.length > 0 ? current : rows;
}
