import { familyFacts, isNetwork, type Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import { notification } from '../notifications.ts';
import { wake } from '../wake.ts';
import {
  below,
  findRow,
  insertRows,
  NOT_NULL,
  toChanges,
  updateRows,
  deleteRows,
  findRows,
  type Stored,
  oneOf,
} from '../rows.ts';
import { sql } from 'kysely';

/** The last block of a network that was taken in. */
export interface Cursor {
  readonly height: number;
  readonly hash: string;
  readonly blockAt: number;
}

const CURSOR = {
  without: ['network', 'updated_at', 'looked_at', 'at_head_at', 'problem', 'poll_wanted', 'poll_done'],
} as const;

export async function readCursor(executor: Database | Trx, network: Network): Promise<Cursor | null> {
  return findRow(executor, 'chain_cursors', { network }, CURSOR);
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
  await updateRows(db, 'chain_cursors', { network, hash }, { atHeadAt: at });
}

/** The number of the last requested poll of the nodes, and of the last one that was done. */
export interface Polls {
  readonly wanted: number;
  readonly done: number;
  /** Why the chain is not read now; null if it is. */
  readonly problem: string | null;
}

/** Null: the network was never read. */
export async function readPolls(db: Database, network: Network): Promise<Polls | null> {
  const row = await findRow(db, 'chain_cursors', { network });
  return row === null ? null : { wanted: row.pollWanted, done: row.pollDone, problem: row.problem };
}

/**
 * Saves that a poll was done, unless the cursor is no longer at this block. A slower worker never takes a later one
 * back.
 */
export async function savePollDone(db: Database, network: Network, poll: number, hash: string): Promise<void> {
  await updateRows(db, 'chain_cursors', { network, hash, pollDone: below(poll) }, { pollDone: poll });
}

/** Requests a poll of the nodes' newest blocks and wakes the chain's follower; null: the network was never read. */
export async function requestPoll(db: Database, network: Network): Promise<number | null> {
  const row = await db
    .updateTable('chain_cursors')
    .set({ poll_wanted: sql`poll_wanted + 1` })
    .where('network', '=', network)
    .returning('poll_wanted as wanted')
    .executeTakeFirst();
  if (row === undefined) return null;
  await sql`select ${notification('poll', network)}`.execute(db);
  return row.wanted;
}

/** Chains that were read to their head may have grown while the service was not running. */
export async function forgetAtHead(db: Database): Promise<void> {
  await updateRows(db, 'chain_cursors', { atHeadAt: NOT_NULL }, { atHeadAt: null });
}

/** When a network was last known to be read up to its node's newest block; null if it is not, or if that is unknown. */
export async function readAtHead(executor: Database | Trx, network: Network): Promise<number | null> {
  const row = await findRow(executor, 'chain_cursors', { network });
  return row === null || row.problem !== null ? null : row.atHeadAt;
}

/** Saves that everything up to this moment was seen. */
export async function saveSeenUpTo(db: Database, network: Network, at: number): Promise<void> {
  await updateRows(db, 'chain_cursors', { network }, { lookedAt: at });
}

/** Locks the cursor until the transaction ends and returns it. */
export async function lockCursor(trx: Trx, network: Network): Promise<Cursor | null> {
  return findRow(trx, 'chain_cursors', { network }, { ...CURSOR, isLocked: true });
}

/** How many block hashes are kept: the depth of the deepest reorganisation whose fork can be found. */
const KEPT_BLOCKS = 2_000;

/** Sets a network's first cursor; false if it already has one, which stays. */
export async function startCursor(trx: Trx, network: Network, cursor: Cursor, now: number): Promise<boolean> {
  const unread = { lookedAt: null, atHeadAt: null, problem: null, pollWanted: 0, pollDone: 0 };
  const row = { network, ...cursor, updatedAt: now, ...unread };
  if ((await insertRows(trx, 'chain_cursors', [row], { conflict: {} })) === 0) return false;
  await keepBlocks(trx, network, [cursor]);
  return true;
}

/**
 * Moves the cursor, which the caller has locked, to the last of `blocks`: either the blocks taken in, in order, or the
 * one that a rollback goes back to. Saved blocks from the first of them on are deleted and replaced by these. Every
 * process is woken once.
 */
export async function moveCursor(trx: Trx, network: Network, blocks: readonly Cursor[], now: number): Promise<void> {
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) return;
  await trx
    .updateTable('chain_cursors')
    .set(toChanges('chain_cursors', { ...last, updatedAt: now, atHeadAt: null }))
    .where('network', '=', network)
    .execute();
  await wake(trx, ['chain', network]);
  await trx
    .deleteFrom('chain_blocks')
    .where('network', '=', network)
    .where((where) => where.or([where('height', '>=', first.height), where('height', '<', last.height - KEPT_BLOCKS)]))
    .execute();
  await keepBlocks(trx, network, blocks.slice(-KEPT_BLOCKS));
}

async function keepBlocks(trx: Trx, network: Network, blocks: readonly Cursor[]): Promise<void> {
  await insertRows(
    trx,
    'chain_blocks',
    blocks.map((block) => ({ network, ...block })),
  );
}

/** The block that was taken in at a height, if it is still saved. */
export async function knownBlock(db: Database, network: Network, height: number): Promise<Cursor | null> {
  return findRow(db, 'chain_blocks', { network, height }, { without: ['network'] });
}

/** The lowest block that is still saved, which limits how far back a fork can be found. */
export async function oldestKnownBlock(db: Database, network: Network): Promise<Cursor | null> {
  return findRow(db, 'chain_blocks', { network }, { without: ['network'], order: ['height'], limit: 1 });
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

/** Saves why a chain cannot be followed; null: it can. Without a cursor there is nothing to follow yet. */
export async function saveProblem(db: Database, network: Network, problem: string | null): Promise<void> {
  await updateRows(db, 'chain_cursors', { network }, { problem });
}

/** A node's latest report. */
export type KnownNode = Stored<'chain_nodes'>;

/** Saves the reports of a network's nodes in place of earlier ones. */
export async function saveNodes(
  db: Database,
  network: Network,
  nodes: readonly Pick<KnownNode, 'node' | 'height' | 'problem'>[],
  now: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await deleteRows(trx, 'chain_nodes', { network });
    // Two URLs may lead to one host; the later one stands for both.
    const byNode = new Map(nodes.map((one) => [one.node, { ...one, network, checkedAt: now }]));
    await insertRows(trx, 'chain_nodes', [...byNode.values()]);
  });
}

/** How far each network was read, and its nodes' latest reports; without networks that only a newer process knows. */
export async function networkStates(db: Database): Promise<{
  readonly cursors: ReadonlyMap<Network, Cursor & { readonly problem: string | null }>;
  readonly nodes: readonly KnownNode[];
}> {
  const without = ['updated_at', 'looked_at', 'at_head_at', 'poll_wanted', 'poll_done'] as const;
  const cursors = await findRows(db, 'chain_cursors', {}, { without });
  const nodes = await findRows(db, 'chain_nodes', {}, { order: ['network', 'node'] });
  return {
    cursors: new Map(cursors.map(({ network, ...cursor }) => [network, cursor])),
    nodes: nodes.filter(({ network }) => isNetwork(network)),
  };
}

/**
 * Saves whole transactions by hash. A hash identifies its bytes, so transactions that a reorganisation removes can
 * stay.
 */
export async function saveRawTransactions(
  trx: Trx,
  network: Network,
  transactions: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  const rows = [...transactions].map(([transactionHash, bytes]) => ({
    network,
    transactionHash,
    bytes: Buffer.from(bytes),
  }));
  await insertRows(trx, 'raw_transactions', rows, { conflict: {} });
}

/** The saved ones of these transactions, in hex. */
export async function findRawTransactions(
  db: Database,
  network: Network,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (hashes.length === 0) return new Map();
  const rows = await findRows(db, 'raw_transactions', { network, transactionHash: oneOf(hashes) });
  return new Map(rows.map(({ transactionHash, bytes }) => [transactionHash, bytes.toString('hex')]));
}
