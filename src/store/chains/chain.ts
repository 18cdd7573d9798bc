import { familyFacts, isNetwork, type Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import { notification } from '../notifications.ts';
import { toRow } from '../rows.ts';
import { sql } from 'kysely';

/** The last block of a network that was taken in. */
export interface Cursor {
  readonly height: number;
  readonly hash: string;
  readonly blockAt: number;
}

const CURSOR = ['height', 'hash', 'block_at as blockAt'] as const;

export async function readCursor(executor: Database | Trx, network: Network): Promise<Cursor | null> {
  const row = await executor
    .selectFrom('chain_cursors')
    .select(CURSOR)
    .where('network', '=', network)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * The time up to which everything that happened on each network was seen. Where transactions are seen in the mempool,
 * only a read of the mempool at the head proves it: a transaction sent in time may still be waiting while a later block
 * is taken in. Elsewhere the last block proves it, up to its own timestamp but not beyond the moment it was taken in,
 * because block timestamps may be ahead. Without an entry, nothing of the network was seen.
 */
export async function readSeenUpTo(executor: Database | Trx): Promise<ReadonlyMap<Network, number>> {
  const rows = await executor
    .selectFrom('chain_cursors')
    .select(['network', 'block_at', 'updated_at', 'looked_at'])
    .execute();
  return new Map(
    // A newer process may follow a network that this one does not know.
    rows
      .filter(({ network }) => isNetwork(network))
      .map((row) => {
        const { seesWaiting } = familyFacts(row.network);
        return [row.network, seesWaiting ? (row.looked_at ?? 0) : Math.min(row.block_at, row.updated_at)];
      }),
  );
}

/** Saves that this block was found to be the node's newest one, unless the cursor has moved on. */
export async function saveAtHead(db: Database, network: Network, hash: string, at: number): Promise<void> {
  await db
    .updateTable('chain_cursors')
    .set({ at_head_at: new Date(at) })
    .where('network', '=', network)
    .where('hash', '=', hash)
    .execute();
}

/** Chains that were read to their head may have grown while the service was not running. */
export async function forgetAtHead(db: Database): Promise<void> {
  await db.updateTable('chain_cursors').set({ at_head_at: null }).where('at_head_at', 'is not', null).execute();
}

/** When a network was last known to be read up to its node's newest block; null if it is not, or if that is unknown. */
export async function readAtHead(executor: Database | Trx, network: Network): Promise<number | null> {
  const row = await executor
    .selectFrom('chain_cursors')
    .select(['at_head_at', 'problem'])
    .where('network', '=', network)
    .executeTakeFirst();
  return row === undefined || row.problem !== null ? null : row.at_head_at;
}

/** Saves that everything up to this moment was seen. */
export async function saveSeenUpTo(db: Database, network: Network, at: number): Promise<void> {
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
    .select(CURSOR)
    .where('network', '=', network)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/** How many block hashes are kept: the depth of the deepest reorganisation whose fork can be found. */
const KEPT_BLOCKS = 2_000;

/** Sets a network's first cursor; false if it already has one, which stays. */
export async function startCursor(trx: Trx, network: Network, cursor: Cursor, now: number): Promise<boolean> {
  const row = await trx
    .insertInto('chain_cursors')
    .values({ network, ...cursorRow(cursor, now), looked_at: null, problem: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('network')
    .executeTakeFirst();
  if (row === undefined) return false;
  await keepBlocks(trx, network, [cursor]);
  return true;
}

/**
 * Moves the cursor, which the caller has locked, to the last of `blocks`: either the blocks taken in, in order, or the
 * one that a rollback goes back to. Saved blocks from the first of them on are deleted and replaced by these. Notifies
 * every process once.
 */
export async function moveCursor(trx: Trx, network: Network, blocks: readonly Cursor[], now: number): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  await trx
    .updateTable('chain_cursors')
    .set(cursorRow(last, now))
    .where('network', '=', network)
    .returning(notification('chain', network).as('notified'))
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
    .values(blocks.map(({ height, hash, blockAt }) => toRow('chain_blocks', { network, height, hash, blockAt })))
    .execute();
}

/** The block that was taken in at a height, if it is still saved. */
export async function knownBlock(db: Database, network: Network, height: number): Promise<Cursor | null> {
  const row = await db
    .selectFrom('chain_blocks')
    .select(CURSOR)
    .where('network', '=', network)
    .where('height', '=', height)
    .executeTakeFirst();
  return row ?? null;
}

/** The lowest block that is still saved, which limits how far back a fork can be found. */
export async function oldestKnownBlock(db: Database, network: Network): Promise<Cursor | null> {
  const row = await db
    .selectFrom('chain_blocks')
    .select(CURSOR)
    .where('network', '=', network)
    .orderBy('height')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** The newest block of a network that was taken in. */
export interface NewestBlock {
  readonly network: Network;
  readonly height: number;
  readonly blockAt: number;
  /** Whether it is known to be the newest block of the node too. */
  readonly isHead: boolean;
}

/** The time of the database in epoch milliseconds. */
export async function readDatabaseTime(db: Database): Promise<number> {
  const { rows } = await sql<{ now: number }>`select clock_timestamp() as now`.execute(db);
  return rows[0]?.now ?? NaN;
}

/** The newest blocks of all networks that this program knows. */
export async function readNewestBlocks(db: Database): Promise<readonly NewestBlock[]> {
  const rows = await db
    .selectFrom('chain_cursors')
    .select(['network', 'height', 'block_at as blockAt', sql<boolean>`at_head_at is not null`.as('isHead')])
    .execute();
  return rows.filter(({ network }) => isNetwork(network));
}
