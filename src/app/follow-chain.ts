import type { Network } from '../domain/asset.ts';
import { inTimeUntil, tally, type Payment, type Quote, type Transfer } from '../domain/payment.ts';
import type { Observation } from '../domain/transition.ts';
import type { ChainBlock, ChainSource, ChainTransfer } from '../rails/chain.ts';
import { matchingAddress } from '../rails/address.ts';
import { toChecksumAddress } from '../rails/evm/address.ts';
import {
  confirmTransfers,
  dropTransfersAbove,
  earliestIssue,
  findWatched,
  issuedAddresses,
  knownBlock,
  lockCursor,
  moveCursor,
  oldestKnownBlock,
  readCursor,
  startCursor,
  type Cursor,
  type WatchedAddress,
} from '../store/chain.ts';
import type { Trx } from '../store/database.ts';
import { saveChanges, type PaymentChange } from '../store/save-changes.ts';
import { lockPayments } from '../store/payments.ts';
import { findTransfers, saveTransfers } from '../store/transfers.ts';
import { observe } from './change-payment.ts';
import type { App } from './context.ts';

export interface FollowedChain {
  readonly network: Network;
  readonly source: ChainSource;
  readonly confirmations: number;
}

/** How far below the head the first look starts: two epochs, past which Ethereum's blocks are final. A reorganisation right after it finds its fork. */
const START_DEPTH = 64;
/** How much a block's time and our clock may differ: Bitcoin lets a block be dated two hours ahead. */
const CLOCK_MARGIN_MS = 2 * 60 * 60_000;

export type Followed = 'advanced' | 'rolled_back' | 'at_head';

/**
 * Takes in the next block of a chain, or rolls back to the fork when the chain was reorganised. Everything that a block
 * changes is saved in one transaction with the cursor, so that a crash neither skips nor repeats a block. No network call is
 * made inside it. Throws when the node follows another chain, and what the source throws.
 */
export async function followChain(app: App, chain: FollowedChain): Promise<Followed> {
  const cursor = await readCursor(app.db, chain.network);
  if (cursor === null) return start(app, chain);
  const block = await chain.source.block(cursor.height + 1);
  if (block !== null && block.parentHash === cursor.hash) return takeIn(app, chain, cursor, block);
  const fork = await findFork(app, chain, cursor, block);
  if (fork === null) return 'at_head';
  return changeChain(app, chain, cursor, fork, 'rolled_back', (trx) =>
    dropTransfersAbove(trx, chain.network, fork.height),
  );
}

/** The first block is one that is final, or the last before the earliest address that is already out. */
async function start(app: App, chain: FollowedChain): Promise<Followed> {
  const head = await chain.source.head();
  const issuedAt = await earliestIssue(app.db, chain.network);
  const top = Math.max(0, head.height - START_DEPTH);
  const height = issuedAt === null ? top : await lastHeightBefore(chain.source, top, issuedAt - CLOCK_MARGIN_MS);
  const block = await chain.source.block(height);
  if (block === null) return 'at_head';
  const first: Cursor = { height, hash: block.hash, blockAt: block.timeMs };
  const started = await app.db.transaction().execute((trx) => startCursor(trx, chain.network, first, app.clock()));
  return started ? 'advanced' : 'at_head';
}

/** The last block up to `top` that is older than `at`, or 0. Doubling steps: what a node no longer has is long before. */
async function lastHeightBefore(source: ChainSource, top: number, at: number): Promise<number> {
  const isBefore = async (height: number): Promise<boolean> => {
    const block = await source.block(height);
    if (block === null) throw new Error(`The ${source.network} node does not have block ${height} below its head.`);
    return block.timeMs < at;
  };
  let low = top;
  let high = top;
  for (let step = START_DEPTH; low > 0 && !(await isBefore(low)); step *= 2) {
    high = low - 1;
    low = Math.max(0, low - step);
  }
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await isBefore(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function takeIn(app: App, chain: FollowedChain, cursor: Cursor, block: ChainBlock): Promise<Followed> {
  const { network } = chain;
  const addresses = [...new Set(block.transfers.map((transfer) => transfer.address))];
  const watched = new Map((await findWatched(app.db, network, addresses)).map((row) => [row.address, row.payment_id]));
  const matched = block.transfers.filter((transfer) => watched.has(transfer.address));
  const settled = await chain.source.settle(block, matched);
  // The node took the block back between the two calls; the next round sees what it has now.
  if (settled === null) return 'at_head';
  const next: Cursor = { height: block.height, hash: block.hash, blockAt: block.timeMs };
  return changeChain(app, chain, cursor, next, 'advanced', async (trx, now) => {
    const arrived = settled.flatMap((transfer) => arrival(network, block, transfer, watched, now));
    await saveTransfers(trx, arrived);
    const confirmed = await confirmTransfers(trx, network, block.height, chain.confirmations);
    return [...arrived.map(({ paymentId }) => paymentId), ...confirmed];
  });
}

function arrival(
  network: Network,
  block: ChainBlock,
  transfer: ChainTransfer,
  watched: ReadonlyMap<string, string>,
  now: number,
) {
  const paymentId = watched.get(transfer.address);
  if (paymentId === undefined) return [];
  const seen: Transfer = {
    network,
    transactionHash: transfer.transactionHash,
    index: transfer.index,
    address: transfer.address,
    asset: transfer.asset,
    amountUnits: transfer.amount,
    firstSeenAt: now,
    blockAt: block.timeMs,
    blockHeight: block.height,
    state: 'mined',
  };
  return [{ paymentId, transfer: seen, blockHash: block.hash }];
}

/**
 * The last block taken in that the chain still has, when the node's chain is another from there on; null while there is
 * nothing to roll back. `next` is the node's block after the cursor, if it has one. Throws when no block is common.
 */
async function findFork(
  app: App,
  { network, source }: FollowedChain,
  cursor: Cursor,
  next: ChainBlock | null,
): Promise<Cursor | null> {
  const head = next ?? (await source.head());
  // Without a next block a higher head is one that came this moment.
  if (next === null && head.height > cursor.height) return null;
  const atHead = next === null ? await knownBlock(app.db, network, head.height) : null;
  if (next === null && (atHead === null || atHead.hash === head.hash)) return null;

  const oldest = await oldestKnownBlock(app.db, network);
  const base = oldest === null ? null : await source.block(oldest.height);
  if (oldest !== null && base !== null && base.hash !== oldest.hash) throw noCommonBlock(network, oldest);
  for (let height = Math.min(head.height, cursor.height); ; height -= 1) {
    const known = await knownBlock(app.db, network, height);
    if (known === null) throw noCommonBlock(network, { height: height + 1 });
    const block = await source.block(height);
    if (block?.hash !== known.hash) continue;
    // The cursor's own block is still there: two nodes disagree. A branch shorter than ours may yet be dropped itself.
    return height === cursor.height || head.height < cursor.height ? null : known;
  }
}

function noCommonBlock(network: Network, oldest: Pick<Cursor, 'height'>): Error {
  return new Error(
    `The ${network} node is on another chain than the one followed so far: not even block ${oldest.height} is the same. ` +
      `Nothing was changed. Set ${network.toUpperCase()}_RPC_URL to a node of the chain that was followed.`,
  );
}

/** Moves the cursor and brings the payments that a block or a rollback touches up to date, all in one transaction. */
async function changeChain(
  app: App,
  chain: FollowedChain,
  expected: Cursor,
  next: Cursor,
  done: Followed,
  work: (trx: Trx, now: number) => Promise<readonly string[]>,
): Promise<Followed> {
  return app.db.transaction().execute(async (trx) => {
    const locked = await lockCursor(trx, chain.network);
    // Another worker was quicker: what this one read is of no use any more.
    if (locked === null || locked.height !== expected.height || locked.hash !== expected.hash) return 'at_head';
    const now = app.clock();
    await moveCursor(trx, chain.network, next, now);
    const paymentIds = [...new Set(await work(trx, now))];
    await observeMoney(app, trx, paymentIds, now);
    return done;
  });
}

/** Adds up what the payments' addresses hold now and walks the arrows that follow. */
async function observeMoney(app: App, trx: Trx, paymentIds: readonly string[], now: number): Promise<void> {
  if (paymentIds.length === 0) return;
  const payments = await lockPayments(trx, paymentIds);
  const transfers = await findTransfers(trx, paymentIds);
  const addresses = Map.groupBy(await issuedAddresses(trx, paymentIds), (address) => address.paymentId);
  const changes: PaymentChange[] = [];
  for (const payment of payments) {
    const observations = moneyOf(payment, transfers.get(payment.id) ?? [], addresses.get(payment.id) ?? []);
    const result = observe(app, payment, observations, now);
    if (result.kind === 'observed' && result.moved) changes.push(result.change);
  }
  if (changes.length > 0) await saveChanges(trx, changes, 2);
}

/**
 * The money on the current quote, and on the newest earlier one that money came to when there is none on the current.
 * What was on the current one goes first: only then may the earlier come back.
 */
function moneyOf(
  payment: Payment,
  transfers: readonly Transfer[],
  addresses: readonly WatchedAddress[],
): readonly Observation[] {
  if (payment.quote === null) return [];
  const holds = ({ network, asset, address }: Pick<Quote, 'network' | 'asset' | 'address'>): boolean =>
    transfers.some(
      (transfer) =>
        transfer.state !== 'dropped' &&
        transfer.network === network &&
        transfer.asset === asset &&
        transfer.address === matchingAddress(network, address),
    );
  const view = (quote: Quote) =>
    ({ kind: 'money', ledger: tally(quote, transfers, inTimeUntil(payment)), quote }) as const;
  const current = view(payment.quote);
  const earlier = holds(payment.quote) ? undefined : addresses.find(holds);
  if (earlier === undefined || payment.completedOnUnits !== null) return [current];
  const restored = view(quoteOf(earlier));
  if (payment.ledger.all.seenUnits === 0n) return [restored];
  return current.ledger.all.seenUnits === 0n ? [current, restored] : [current];
}

function quoteOf({ asset, network, decimals, owedUnits, toleranceUnits, address }: WatchedAddress): Quote {
  const isBitcoinKin = network === 'bitcoin' || network === 'litecoin';
  const shown = isBitcoinKin ? address : toChecksumAddress(address);
  return { asset, network, decimals, owedUnits, toleranceUnits, address: shown };
}
