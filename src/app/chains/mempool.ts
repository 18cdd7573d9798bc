import type { Network } from '../../domain/networks.ts';
import type { MempoolDoubt } from '../../domain/till.ts';
import {
  ChainUnavailableError,
  type ChainSource,
  type ChainTransfer,
  type WaitingTransactions,
} from '../../rails/chain.ts';
import { lockCursor, saveSeenUpTo } from '../../store/chains/chain.ts';
import { dropWaiting, waitingTransfers, saveTransfers } from '../../store/payments/transfers.ts';
import { saveDoubts } from '../../store/payments/till-sales.ts';
import { dropPayouts, waitingPayouts } from '../../store/refunds/refund-payouts.ts';
import { saveCompared, uncomparedRefunds } from '../../store/refunds/refund-balances.ts';
import { arrival, distinct, observeMoney, paymentsWatching } from '../payments/chain-money.ts';
import { receiptPrices } from '../payments/receipt-prices.ts';
import type { App } from '../context.ts';
import type { RequestedPoll } from './requested-poll.ts';
import { keepPayouts, refundsWatching, spendsOf } from '../refunds/refund-payouts.ts';
import { inTransaction } from '../in-transaction.ts';

/** How many mempool transactions are read per round, so that a full mempool does not hold up blocks. */
const MAX_WAITING = 5_000;
/** Listing hundreds of thousands of transactions takes time: the pause after a listing is this many times as long. */
const REST_PER_READ = 9;
/** How often the time up to which all money was seen is saved. */
const SEEN_UP_TO_STEP_MS = 2_000;

/**
 * The proof that a read of the mempool gives. `mempool`: a transaction that was not listed then was not waiting
 * anywhere. `blocks`: nothing about the mempool, but every block up to the newest one of that moment was read.
 */
export interface MempoolProof {
  readonly kind: 'mempool' | 'blocks';
  /** All money from before this time that will ever be seen has been seen. */
  readonly upTo: number;
}

/**
 * Tracks a mempool: which of its transactions are known, and which of ours were missing from it last time. `monotonic`
 * measures in ms how long a read takes, because the system's clock may be set.
 */
export function createMempoolWatch(app: App, source: ChainSource, monotonic: () => number) {
  const { network, mempool } = source;
  /** Shortened addresses that each transaction pays, by its hash. */
  let paidEnds: ReadonlyMap<string, string> = new Map();
  let missing: ReadonlySet<string> = new Set();
  let savedAt = 0;
  let notBefore = 0;
  let lastPoll: number | null = null;

  return {
    /** Lists the whole mempool; null if the source cannot, or if it did a moment ago and no new poll was requested. */
    read: async (poll: RequestedPoll | null): Promise<WaitingTransactions | null> => {
      const askedAt = monotonic();
      const isRequested = poll !== null && poll.number !== lastPoll;
      if (mempool === null || (askedAt < notBefore && !isRequested)) return null;
      const waiting = await mempool.waiting();
      const answeredAt = monotonic();
      notBefore = answeredAt + (answeredAt - askedAt) * REST_PER_READ;
      return waiting;
    },

    /** Forgets all transactions: after a rollback, some that were mined may be in the mempool again. */
    forget: (): void => {
      paidEnds = new Map();
    },

    /**
     * Saves new transactions and drops those that are gone. Without a proof, as when the node is behind or on a branch,
     * listed transactions count, but missing ones prove nothing. Returns false if more are new than one round reads.
     */
    takeIn: async (
      hashes: readonly string[],
      proof: MempoolProof | null,
      poll: RequestedPoll | null,
    ): Promise<boolean> => {
      if (mempool === null) return true;
      lastPoll = poll?.number ?? lastPoll;
      const fresh = hashes.filter((hash) => !paidEnds.has(hash)).slice(0, MAX_WAITING);
      // Read before transactions are compared with refunds: a refund made meanwhile is compared in the next round.
      const uncompared = await uncomparedRefunds(app.db, network);
      const ends = uncompared.map(({ address }) => endOf(address));
      const similar = hashes.filter((hash) => ends.some((end) => paidEnds.get(hash)?.includes(end)));
      const transfers = await mempool.transfersOf([...fresh, ...similar]);
      const news = await readNews(app, source, transfers);
      const there = new Set(hashes);
      const away = (await waitingTransfers(app.db, network)).filter(({ hash }) => !there.has(hash));
      const awayPayouts = (await waitingPayouts(app.db, network)).filter(({ hash }) => !there.has(hash));
      const isWhole = proof?.kind === 'mempool';
      await saveNews(app, network, news, isWhole ? goneOf(news, away, awayPayouts, missing) : NOTHING_GONE);
      if (isWhole) missing = new Set([...away, ...awayPayouts].map(({ hash }) => hash));
      paidEnds = withEnds(hashes, paidEnds, fresh, transfers);
      const isComplete = paidEnds.size === there.size;
      if (proof !== null && isComplete) await saveCompared(app.db, uncompared);
      if (proof !== null && isComplete && (proof.upTo - savedAt >= SEEN_UP_TO_STEP_MS || proof.upTo < savedAt)) {
        await saveSeenUpTo(app.db, network, proof.upTo);
        savedAt = proof.upTo;
      }
      return isComplete;
    },
  };
}

/** The end of an address: enough to tell most addresses apart, and short enough to remember 100,000 transactions. */
function endOf(address: string): string {
  return address.slice(-6);
}

/** The listed transactions, read before or just now, with the ends of the addresses that they pay. */
function withEnds(
  hashes: readonly string[],
  before: ReadonlyMap<string, string>,
  fresh: readonly string[],
  transfers: readonly ChainTransfer[],
): ReadonlyMap<string, string> {
  const paid = Map.groupBy(transfers, ({ transactionHash }) => transactionHash);
  const read = new Map(
    fresh.map((hash) => [hash, (paid.get(hash) ?? []).map(({ address }) => endOf(address)).join(' ')]),
  );
  const kept = new Map<string, string>();
  for (const hash of hashes) {
    const ends = before.get(hash) ?? read.get(hash);
    if (ends !== undefined) kept.set(hash, ends);
  }
  return kept;
}

/** The contents of new transactions in the mempool, as far as they concern this service. */
interface News {
  /** Transfers that pay our payments. */
  readonly ours: readonly ChainTransfer[];
  /** The payment that watches an address. */
  readonly watched: ReadonlyMap<string, string>;
  /** Transfers that may pay a refund, and the inputs of their transactions. */
  readonly payouts: readonly { readonly block: null; readonly transfer: ChainTransfer }[];
  readonly spends: ReadonlyMap<string, readonly string[]>;
  /** Signs that our transfers may never be mined, by hash. */
  readonly doubts: ReadonlyMap<string, MempoolDoubt>;
}

async function readNews(app: App, source: ChainSource, transfers: readonly ChainTransfer[]): Promise<News> {
  const watched = await paymentsWatching(app, source.network, transfers);
  const refunds = await refundsWatching(app, source.network, transfers);
  const ours = distinct(transfers.filter((transfer) => watched.has(transfer.address)));
  const payouts = distinct(transfers.filter((transfer) => refunds.has(transfer))).map((transfer) => ({
    block: null,
    transfer,
  }));
  const doubts = await readDoubts(source, [...new Set(ours.map(({ transactionHash }) => transactionHash))]);
  return { ours, watched, payouts, spends: await spendsOf(source, payouts), doubts };
}

/** A node that does not tell must not hold up the money itself. */
async function readDoubts({ mempool }: ChainSource, hashes: readonly string[]): Promise<News['doubts']> {
  if (mempool === null || hashes.length === 0) return new Map();
  try {
    return await mempool.doubtsOf(hashes);
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    return new Map(hashes.map((hash) => [hash, 'unknown'] as const));
  }
}

/** Hashes of unmined transactions that are gone from the mempool. */
interface Gone {
  readonly transfers: readonly string[];
  readonly payouts: readonly string[];
}

const NOTHING_GONE: Gone = { transfers: [], payouts: [] };

/**
 * Transactions count as gone if they are missing twice in a row, because another node of the network may not have them
 * yet; or once if another transaction came for the same payment or refund, because that looks like a replacement.
 */
function goneOf(
  { ours, watched, payouts }: News,
  away: readonly { readonly hash: string; readonly paymentId: string }[],
  awayPayouts: readonly { readonly hash: string; readonly address: string }[],
  missing: ReadonlySet<string>,
): Gone {
  const paidAnew = new Set(ours.map(({ address }) => watched.get(address)));
  const refundedAnew = new Set(payouts.map(({ transfer }) => transfer.address));
  return {
    transfers: away
      .filter(({ hash, paymentId }) => missing.has(hash) || paidAnew.has(paymentId))
      .map(({ hash }) => hash),
    payouts: awayPayouts
      .filter(({ hash, address }) => missing.has(hash) || refundedAnew.has(address))
      .map(({ hash }) => hash),
  };
}

async function saveNews(
  app: App,
  network: Network,
  { ours, watched, payouts, spends, doubts }: News,
  gone: Gone,
): Promise<void> {
  if (ours.length + gone.transfers.length + payouts.length + gone.payouts.length === 0) return;
  await inTransaction(app, async (trx) => {
    // Only one process at a time writes a network's transfers, as with blocks.
    await lockCursor(trx, network);
    const now = app.clock();
    const dropped = await dropWaiting(trx, network, gone.transfers);
    const arrived = ours.flatMap((transfer) => arrival(network, null, transfer, watched.get(transfer.address), now));
    await saveTransfers(trx, arrived, receiptPrices(app.railFor('live'), now));
    await saveDoubts(trx, network, doubts);
    await dropPayouts(trx, network, gone.payouts, now);
    await keepPayouts(trx, network, payouts, spends, now);
    await observeMoney(app, trx, [...dropped, ...arrived.map(({ paymentId }) => paymentId)], now);
  });
}
