import { sql, type SqlBool } from 'kysely';
import type { AssetCode, Network } from '../domain/asset.ts';
import type { Database, Trx } from './database.ts';

/** The last block of a network that was taken in. */
export interface Cursor {
  readonly height: number;
  readonly hash: string;
  readonly blockAt: number;
}

export async function readCursor(executor: Database | Trx, network: Network): Promise<Cursor | null> {
  const row = await executor.selectFrom('chain_cursors').selectAll().where('network', '=', network).executeTakeFirst();
  return row === undefined ? null : { height: row.height, hash: row.hash, blockAt: row.block_at };
}

/** Locks the cursor until the transaction ends and returns it. */
export async function lockCursor(trx: Trx, network: Network): Promise<Cursor | null> {
  const row = await trx
    .selectFrom('chain_cursors')
    .selectAll()
    .where('network', '=', network)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : { height: row.height, hash: row.hash, blockAt: row.block_at };
}

/** How many block hashes are kept: the deepest reorganisation that can be rolled back to its fork. */
const KEPT_BLOCKS = 2_000;

/** Sets a network's first cursor; false when it has one already, which stays. */
export async function startCursor(trx: Trx, network: Network, cursor: Cursor, now: number): Promise<boolean> {
  const row = await trx
    .insertInto('chain_cursors')
    .values({ network, ...cursorRow(cursor, now) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('network')
    .executeTakeFirst();
  if (row === undefined) return false;
  await keepBlock(trx, network, cursor);
  return true;
}

/** Moves the cursor, which the caller has locked; blocks above it are forgotten, its own is kept. */
export async function moveCursor(trx: Trx, network: Network, cursor: Cursor, now: number): Promise<void> {
  await trx.updateTable('chain_cursors').set(cursorRow(cursor, now)).where('network', '=', network).execute();
  await trx
    .deleteFrom('chain_blocks')
    .where('network', '=', network)
    .where((where) =>
      where.or([where('height', '>=', cursor.height), where('height', '<', cursor.height - KEPT_BLOCKS)]),
    )
    .execute();
  await keepBlock(trx, network, cursor);
}

function cursorRow(cursor: Cursor, now: number) {
  return {
    height: cursor.height,
    hash: cursor.hash,
    block_at: new Date(cursor.blockAt),
    updated_at: new Date(now),
  };
}

async function keepBlock(trx: Trx, network: Network, { height, hash, blockAt }: Cursor): Promise<void> {
  await trx
    .insertInto('chain_blocks')
    .values({ network, height, hash, block_at: new Date(blockAt) })
    .execute();
}

/** The block that was taken in at a height, if it is still known. */
export async function knownBlock(db: Database, network: Network, height: number): Promise<Cursor | null> {
  const row = await db
    .selectFrom('chain_blocks')
    .selectAll()
    .where('network', '=', network)
    .where('height', '=', height)
    .executeTakeFirst();
  return row === undefined ? null : { height: row.height, hash: row.hash, blockAt: row.block_at };
}

/** The lowest block that is still known: how far back a fork can be found. */
export async function oldestKnownBlock(db: Database, network: Network): Promise<Cursor | null> {
  const row = await db
    .selectFrom('chain_blocks')
    .selectAll()
    .where('network', '=', network)
    .orderBy('height')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : { height: row.height, hash: row.hash, blockAt: row.block_at };
}

/** When the earliest address of a network was issued; null when none was. */
export async function earliestIssue(db: Database, network: Network): Promise<number | null> {
  const row = await db
    .selectFrom('payment_addresses')
    .select(({ fn }) => fn.min('issued_at').as('at'))
    .where('network', '=', network)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** An issued address with the quote that it was issued for. */
export interface WatchedAddress {
  readonly paymentId: string;
  readonly network: Network;
  /** In the form in which the chain's transfers carry it. */
  readonly address: string;
  readonly asset: AssetCode;
  readonly decimals: number;
  readonly owedUnits: bigint;
  readonly toleranceUnits: bigint;
  readonly issuedAt: number;
}

/** Which of these addresses were issued: one indexed query a block, whatever the number of addresses. */
export async function findWatched(db: Database, network: Network, addresses: readonly string[]) {
  if (addresses.length === 0) return [];
  return db
    .selectFrom('payment_addresses')
    .select(['address', 'payment_id'])
    .where('network', '=', network)
    .where(sql<SqlBool>`address = any (${addresses}::text[])`)
    .execute();
}

/** Every address that was issued for these payments, the newest first. */
export async function issuedAddresses(trx: Trx, paymentIds: readonly string[]): Promise<readonly WatchedAddress[]> {
  const rows = await trx
    .selectFrom('payment_addresses')
    .selectAll()
    .where(sql<SqlBool>`payment_id = any (${paymentIds}::uuid[])`)
    .orderBy('issued_at', 'desc')
    .orderBy('address_index', 'desc')
    .execute();
  return rows.map((row) => ({
    network: row.network,
    paymentId: row.payment_id,
    address: row.address,
    asset: row.asset,
    decimals: row.decimals,
    owedUnits: row.owed_units,
    toleranceUnits: row.tolerance_units,
    issuedAt: row.issued_at,
  }));
}

/** Confirms the transfers that are deep enough at this height; returns whose payments they are. */
export async function confirmTransfers(
  trx: Trx,
  network: Network,
  height: number,
  defaultConfirmations: number,
): Promise<readonly string[]> {
  const { rows } = await sql<{ payment_id: string }>`
    update transfers t set state = 'confirmed'
    from payment_addresses a left join wallets w on w.id = a.wallet_id
    where t.network = ${network} and t.state = 'mined' and a.network = t.network and a.address = t.address
      and t.block_height + coalesce(w.confirmations, ${defaultConfirmations}::int) - 1 <= ${height}
    returning t.payment_id`.execute(trx);
  return rows.map((row) => row.payment_id);
}

/** Takes back the transfers of blocks above a height; they count for nothing until they come back. */
export async function dropTransfersAbove(trx: Trx, network: Network, height: number): Promise<readonly string[]> {
  const rows = await trx
    .updateTable('transfers')
    .set({ state: 'dropped', block_height: null, block_hash: null, block_at: null })
    .where('network', '=', network)
    .where('block_height', '>', height)
    .where('state', 'in', ['mined', 'confirmed'])
    .returning('payment_id')
    .execute();
  return rows.map((row) => row.payment_id);
}

/** How deep a payment's newest mined transfer is, and how deep it has to be; null while none is in a block. */
export async function confirmationsOf(
  db: Database,
  paymentId: string,
): Promise<{ readonly have: number; readonly need: number } | null> {
  const { rows } = await sql<{ have: number; need: number }>`
    select greatest(c.height - t.block_height + 1, 0) as have, coalesce(w.confirmations, 12) as need
    from transfers t
    join chain_cursors c on c.network = t.network
    join payment_addresses a on a.network = t.network and a.address = t.address
    left join wallets w on w.id = a.wallet_id
    where t.payment_id = ${paymentId} and t.state in ('mined', 'confirmed')
    order by t.block_height desc limit 1`.execute(db);
  return rows[0] ?? null;
}
