import { isAssetCode, type AssetCode, type Network } from '../domain/asset.ts';
import { inTimeUntil, tally, type Payment, type Quote, type Transfer } from '../domain/payment.ts';
import type { ChainBlock, ChainSource, ChainTransfer } from '../rails/chain.ts';
import { matchingAddress } from '../rails/address.ts';
import {
  confirmTransfers,
  dropTransfersAbove,
  earliestIssue,
  findWatched,
  issuedAddresses,
  knownBlock,
  lockCursor,
  moveCursor,
  readCursor,
  type Cursor,
  type WatchedAddress,
} from '../store/chain.ts';
import type { Trx } from '../store/database.ts';
import { saveChanges, type PaymentChange } from '../store/payment-rows.ts';
import { lockPayments } from '../store/payments.ts';
import { findTransfers, saveTransfers } from '../store/transfers.ts';
import { observe } from './change-payment.ts';
import type { App } from './context.ts';

export interface FollowedChain {
  readonly network: Network;
  readonly source: ChainSource;
  readonly confirmations: number;
}

/** How far back the first look goes at most for addresses that were issued before any block was read. */
const FIRST_LOOK_BLOCKS = 5_000;

export type Followed = 'advanced' | 'rolled_back' | 'at_head';

/**
 * Takes in the next block of a chain, or rolls back to the fork when the chain was reorganised. Everything that a block
 * changes is saved in one transaction with the cursor, so that a crash neither skips nor repeats a block. No network call is
 * made inside it.
 */
export async function followChain(app: App, chain: FollowedChain): Promise<Followed> {
  const cursor = await readCursor(app.db, chain.network);
  if (cursor === null) return startAtHead(app, chain);
  const block = await chain.source.block(cursor.height + 1);
  if (block !== null && block.parentHash === cursor.hash) return takeIn(app, chain, cursor, block);
  if (block === null) {
    const own = await chain.source.block(cursor.height);
    // Null is a node that lags or was reset: it is waited for. A different hash is a reorganisation.
    if (own === null || own.hash === cursor.hash) return 'at_head';
  }
  return rollBack(app, chain, cursor);
}

/** The first block read is the head, or the last one before the earliest address that is already out. */
async function startAtHead(app: App, chain: FollowedChain): Promise<Followed> {
  const head = await chain.source.head();
  const issuedAt = await earliestIssue(app.db, chain.network);
  let block = await chain.source.block(head.height);
  for (let back = 0; block !== null && issuedAt !== null && back < FIRST_LOOK_BLOCKS; back += 1) {
    if (block.timeMs < issuedAt || block.height === 0) break;
    block = await chain.source.block(block.height - 1);
  }
  if (block === null) return 'at_head';
  const start: Cursor = { height: block.height, hash: block.hash, blockAt: block.timeMs };
  await app.db.transaction().execute((trx) => moveCursor(trx, chain.network, start, app.clock()));
  return 'advanced';
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
  if (paymentId === undefined || !isAssetCode(transfer.asset)) return [];
  const asset: AssetCode = transfer.asset;
  const seen: Transfer = {
    network,
    transactionHash: transfer.transactionHash,
    index: transfer.index,
    address: transfer.address,
    asset,
    amountUnits: transfer.amount,
    firstSeenAt: now,
    blockAt: block.timeMs,
    blockHeight: block.height,
    state: 'mined',
  };
  return [{ paymentId, transfer: seen, blockHash: block.hash }];
}

/** Goes back to the last block that the chain still has, and takes back what was seen in later ones. */
async function rollBack(app: App, chain: FollowedChain, cursor: Cursor): Promise<Followed> {
  let height = cursor.height - 1;
  for (; height >= 0; height -= 1) {
    const known = await knownBlock(app.db, chain.network, height);
    if (known === null) {
      throw new Error(
        `The ${chain.network} node has another chain than the one followed so far, from below height ${height + 1}: no common block is known. Check that the node is on the right chain.`,
      );
    }
    const block = await chain.source.block(height);
    if (block === null || block.hash !== known.hash) continue;
    return changeChain(app, chain, cursor, known, 'rolled_back', (trx) =>
      dropTransfersAbove(trx, chain.network, known.height),
    );
  }
  return 'at_head';
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
    const own = transfers.get(payment.id) ?? [];
    const quote = quoteWithMoney(payment, own, addresses.get(payment.id) ?? []);
    if (quote === null) continue;
    const ledger = tally(quote, own, inTimeUntil(payment));
    const result = observe(app, payment, [{ kind: 'money', ledger, quote }], now);
    if (result.kind === 'observed' && result.moved) changes.push(result.change);
  }
  if (changes.length > 0) await saveChanges(trx, changes, 3);
}

/** The current quote while it has money or none has; else the newest earlier one that money came to, which is restored. */
function quoteWithMoney(
  payment: Payment,
  transfers: readonly Transfer[],
  addresses: readonly (WatchedAddress & { readonly network: Network })[],
): Quote | null {
  const live = transfers.filter((transfer) => transfer.state !== 'dropped');
  const holds = (network: Network, address: string): boolean =>
    live.some((transfer) => transfer.network === network && transfer.address === address);
  const current = payment.quote;
  if (current !== null && holds(current.network, matchingAddress(current.network, current.address))) return current;
  const earlier = addresses.find((candidate) => holds(candidate.network, candidate.address));
  if (earlier === undefined) return current;
  const { asset, network, decimals, owedUnits, toleranceUnits, address } = earlier;
  return { asset, network, decimals, owedUnits, toleranceUnits, address };
}
