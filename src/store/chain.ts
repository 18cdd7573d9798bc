import { sql, type SqlBool } from 'kysely';
import type { AssetCode } from '../domain/asset.ts';
import { familyFacts, type Network } from '../domain/networks.ts';
import type { Confirmations } from '../domain/payment.ts';
import { timestamp, type Database, type Trx } from './database.ts';
import { notification } from './notifications.ts';
import type { NewRow } from './tables.ts';

/** The last block of a network that was taken in. */
export interface Cursor {
  readonly height: number;
  readonly hash: string;
  readonly blockAt: number;
}

export async function readCursor(executor: Database | Trx, network: Network): Promise<Cursor | null> {
  const row = await executor
    .selectFrom('chain_cursors')
    .select(['height', 'hash', 'block_at'])
    .where('network', '=', network)
    .executeTakeFirst();
  return row === undefined ? null : { height: row.height, hash: row.hash, blockAt: row.block_at };
}

/**
 * Up to when everything that happened on a network was seen. Where transactions are seen while they wait, only a look at the mempool at
 * the head proves it: what was sent in time may wait while a block of a later date is taken in. Elsewhere the last block
 * does, up to its own time, but not beyond the moment at which it was taken in: blocks may be dated ahead. Of a network that is missing nothing was seen.
 */
export async function readSeenUpTo(executor: Database | Trx): Promise<ReadonlyMap<Network, number>> {
  const rows = await executor
    .selectFrom('chain_cursors')
    .select(['network', 'block_at', 'updated_at', 'looked_at'])
    .execute();
  return new Map(
    rows.map((row) => {
      const { seesWaiting } = familyFacts(row.network);
      return [row.network, seesWaiting ? (row.looked_at ?? 0) : Math.min(row.block_at, row.updated_at)];
    }),
  );
}

/** Keeps that this block was found to be the node's newest one, unless the cursor has moved on. */
export async function saveAtHead(db: Database, network: Network, hash: string, at: number): Promise<void> {
  await db
    .updateTable('chain_cursors')
    .set({ at_head_at: new Date(at) })
    .where('network', '=', network)
    .where('hash', '=', hash)
    .execute();
}

/** What networks were read to the end of may have grown while the service was not there. */
export async function forgetAtHead(db: Database): Promise<void> {
  await db.updateTable('chain_cursors').set({ at_head_at: null }).where('at_head_at', 'is not', null).execute();
}

/** Since when, at the latest, a network is known to be read to its node's newest block; null while it is not, or nobody knows. */
export async function readAtHead(executor: Database | Trx, network: Network): Promise<number | null> {
  const row = await executor
    .selectFrom('chain_cursors')
    .select(['at_head_at', 'problem'])
    .where('network', '=', network)
    .executeTakeFirst();
  return row === undefined || row.problem !== null ? null : row.at_head_at;
}

/** Keeps that everything up to this moment was looked at. */
export async function saveLookedAt(db: Database, network: Network, at: number): Promise<void> {
  await db
    .updateTable('chain_cursors')
    .set({ looked_at: new Date(at) })
    .where('network', '=', network)
    .execute();
}

/** Locks the cursor until the transaction ends and returns it. */
export async function lockCursor(trx: Trx, network: Network): Promise<Cursor | null> {
  const row = await trx
    .selectFrom('chain_cursors')
    .select(['height', 'hash', 'block_at'])
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
    .values({ network, ...cursorRow(cursor, now) } satisfies NewRow<'chain_cursors', 'looked_at' | 'problem'>)
    .onConflict((conflict) => conflict.doNothing())
    .returning('network')
    .executeTakeFirst();
  if (row === undefined) return false;
  await keepBlocks(trx, network, [cursor]);
  return true;
}

/**
 * Moves the cursor, which the caller has locked, to the last of `blocks`: the ones taken in, in order, or the one that is
 * gone back to. Blocks from the first of them on are forgotten and these kept. Every process is told, once.
 */
export async function moveCursor(trx: Trx, network: Network, blocks: readonly Cursor[], now: number): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  await trx
    .updateTable('chain_cursors')
    .set(cursorRow(last, now))
    .where('network', '=', network)
    .returning(notification('chain', network).as('told'))
    .execute();
  await trx
    .deleteFrom('chain_blocks')
    .where('network', '=', network)
    .where((where) => where.or([where('height', '>=', first.height), where('height', '<', last.height - KEPT_BLOCKS)]))
    .execute();
  await keepBlocks(trx, network, blocks.slice(-KEPT_BLOCKS));
}

function cursorRow(cursor: Cursor, now: number) {
  return {
    height: cursor.height,
    hash: cursor.hash,
    block_at: new Date(cursor.blockAt),
    updated_at: new Date(now),
    at_head_at: null,
  };
}

async function keepBlocks(trx: Trx, network: Network, blocks: readonly Cursor[]): Promise<void> {
  await trx
    .insertInto('chain_blocks')
    .values(blocks.map(({ height, hash, blockAt }) => ({ network, height, hash, block_at: new Date(blockAt) })))
    .execute();
}

/** The block that was taken in at a height, if it is still known. */
export async function knownBlock(db: Database, network: Network, height: number): Promise<Cursor | null> {
  const row = await db
    .selectFrom('chain_blocks')
    .select(['height', 'hash', 'block_at'])
    .where('network', '=', network)
    .where('height', '=', height)
    .executeTakeFirst();
  return row === undefined ? null : { height: row.height, hash: row.hash, blockAt: row.block_at };
}

/** The lowest block that is still known: how far back a fork can be found. */
export async function oldestKnownBlock(db: Database, network: Network): Promise<Cursor | null> {
  const row = await db
    .selectFrom('chain_blocks')
    .select(['height', 'hash', 'block_at'])
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

/** An address that money may come to, and what is known of it, in the smallest units. */
export interface AwaitingAddress {
  readonly address: string;
  /** Null: of an address that was passed over, whose payment is not known. */
  readonly paymentId: string | null;
  readonly arrivedUnits: bigint;
  /** What of it was gone when the balance was last looked at. */
  readonly spentUnits: bigint;
}

/**
 * The addresses on a network that money in an asset is awaited on: those of pending payments, and of completed ones whose
 * money is gone. `watchedAt` adds all that are watched at that moment, whatever became of their payments and whichever
 * asset these ask for.
 */
export async function awaitingMoney(
  db: Database,
  network: Network,
  asset: AssetCode,
  watchedAt: number | null,
): Promise<readonly AwaitingAddress[]> {
  // An address that was handed out for another token may have been quoted in this one later.
  const isQuoted = sql`(a.asset = ${asset} or exists (
    select 1 from payment_quotes q
    where q.network = a.network and q.address = a.address and q.payment_id = a.payment_id and q.asset = ${asset}))`;
  const open = sql`
    select a.network, a.address, a.payment_id, a.spent_units
    from payments p join payment_addresses a on a.payment_id = p.id and a.network = p.network
    where p.mode = 'live' and (p.status = 'pending' or p.exception = 'reorged')
      and p.network = ${network} and p.asset = ${asset} and ${isQuoted}`;
  const watched =
    watchedAt === null
      ? sql``
      : sql`union select a.network, a.address, a.payment_id, a.spent_units from payment_addresses a
            where a.network = ${network} and a.watch_until > ${timestamp(watchedAt)}`;
  const { rows } = await sql<{ address: string; payment_id: string; arrived: string; spent: string }>`
    with w as (${open} ${watched})
    select w.address, w.payment_id, coalesce(w.spent_units, 0)::text as spent, coalesce(sum(t.amount_units), 0)::text as arrived
    from w left join transfers t on t.payment_id = w.payment_id and t.network = w.network and t.asset = ${asset}
      and t.address = w.address and t.state in ('mined', 'confirmed')
    group by w.address, w.payment_id, w.spent_units`.execute(db);
  return rows.map((row) => ({
    address: row.address,
    paymentId: row.payment_id,
    arrivedUnits: BigInt(row.arrived),
    spentUnits: BigInt(row.spent),
  }));
}

/** Keeps what of the money on some addresses was gone when their balances were looked at. */
export async function saveSpent(
  trx: Trx,
  network: Network,
  spent: readonly { readonly address: string; readonly spentUnits: bigint }[],
): Promise<void> {
  if (spent.length === 0) return;
  const rows = spent.map(({ address, spentUnits }) => ({ address, spent_units: String(spentUnits) }));
  await sql`
    update payment_addresses a set spent_units = n.spent_units
    from json_populate_recordset(null::payment_addresses, ${JSON.stringify(rows)}::json) n
    where a.network = ${network} and a.address = n.address`.execute(trx);
}

/** After a rollback what was spent may not be: nothing is taken as spent until balances are looked at again. */
export async function forgetSpent(trx: Trx, network: Network): Promise<void> {
  await sql`update payment_addresses set spent_units = null where network = ${network} and spent_units > 0`.execute(
    trx,
  );
}

/** The networks that each of these payments was given addresses on, by the payment's id. */
export async function issuedNetworks(
  trx: Trx,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Network[]>> {
  const rows = await trx
    .selectFrom('payment_addresses')
    .select(['payment_id', 'network'])
    .distinct()
    .where(sql<SqlBool>`payment_id = any (${paymentIds}::uuid[])`)
    .execute();
  const groups = Map.groupBy(rows, ({ payment_id }) => payment_id);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ network }) => network)]));
}

/** A transfer that is deep enough now. */
export interface ConfirmedTransfer {
  readonly paymentId: string;
  readonly network: Network;
  readonly transactionHash: string;
  readonly asset: AssetCode;
  readonly address: string;
  readonly amountUnits: bigint;
}

/** Confirms the transfers that are deep enough at this height, and returns them. */
export async function confirmTransfers(
  trx: Trx,
  network: Network,
  height: number,
): Promise<readonly ConfirmedTransfer[]> {
  const { rows } = await sql<Omit<ConfirmedTransfer, 'amountUnits'> & { readonly amountUnits: string }>`
    update transfers t set state = 'confirmed'
    from payment_addresses a
    where t.network = ${network} and t.state = 'mined' and a.network = t.network and a.address = t.address
      and t.block_height + a.confirmations - 1 <= ${height}
    returning t.payment_id as "paymentId", t.network, t.transaction_hash as "transactionHash", t.asset, t.address,
      t.amount_units::text as "amountUnits"`.execute(trx);
  return rows.map((row) => ({ ...row, amountUnits: BigInt(row.amountUnits) }));
}

/**
 * Takes back the transfers of blocks above a height. `seen` where they wait in a mempool again, which then tells what has
 * become of them; `dropped` where nothing is known of them until they come back.
 */
export async function takeBackTransfersAbove(
  trx: Trx,
  network: Network,
  height: number,
  state: 'seen' | 'dropped',
): Promise<readonly string[]> {
  const rows = await trx
    .updateTable('transfers')
    .set({ state, block_height: null, block_hash: null, block_at: null, block_position: null })
    .where('network', '=', network)
    .where('block_height', '>', height)
    .where('state', 'in', ['mined', 'confirmed'])
    .returning('payment_id')
    .execute();
  return rows.map((row) => row.payment_id);
}

/** A network's transfers that were seen and are in no block, and whose they are. */
export async function waitingTransfers(
  executor: Database | Trx,
  network: Network,
): Promise<readonly { readonly hash: string; readonly paymentId: string }[]> {
  const rows = await executor
    .selectFrom('transfers')
    .select(['transaction_hash', 'payment_id'])
    .where('network', '=', network)
    .where('state', '=', 'seen')
    .execute();
  return rows.map((row) => ({ hash: row.transaction_hash, paymentId: row.payment_id }));
}

/** Drops transfers that are in no block and wait nowhere any more; returns whose payments they were. */
export async function dropWaiting(trx: Trx, network: Network, hashes: readonly string[]): Promise<readonly string[]> {
  if (hashes.length === 0) return [];
  const rows = await trx
    .updateTable('transfers')
    .set({ state: 'dropped' })
    .where('network', '=', network)
    .where('state', '=', 'seen')
    .where(sql<SqlBool>`transaction_hash = any (${hashes}::text[])`)
    .returning('payment_id')
    .execute();
  return rows.map((row) => row.payment_id);
}

/** How deep a payment's money is and has to be, on the address of its present quote; null before one was issued. */
export async function confirmationsOf(db: Database, paymentId: string): Promise<Confirmations | null> {
  const { rows } = await sql<Confirmations>`
    select a.confirmations as need, coalesce(greatest(
      (select c.height from chain_cursors c where c.network = a.network)
      - (select max(t.block_height) from transfers t
         where t.payment_id = p.id and t.network = p.network and t.asset = p.asset and t.state in ('mined', 'confirmed')) + 1,
      0), 0) as have
    from payments p join payment_addresses a on a.payment_id = p.id and a.network = p.network
    where p.id = ${paymentId}
    order by a.address in (p.address, lower(p.address)) desc, a.issued_at desc, a.address_index desc limit 1`.execute(
    db,
  );
  return rows[0] ?? null;
}
