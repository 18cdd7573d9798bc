import type { Network } from '../../domain/networks.ts';
import type { ChainSource, ChainTransfer, WaitingTransactions } from '../../rails/chain.ts';
import { lockCursor, saveLookedAt } from '../../store/chain.ts';
import { dropWaiting, waitingTransfers } from '../../store/transfers.ts';
import { dropPayouts, waitingPayouts } from '../../store/refund-payouts.ts';
import { saveTransfers } from '../../store/transfers.ts';
import { arrival, distinct, observeMoney, paymentsWatching } from '../payments/chain-money.ts';
import type { App } from '../context.ts';
import { keepPayouts, refundsWatching, spendsOf } from '../refunds/refund-payouts.ts';
import { inTransaction } from '../in-transaction.ts';

/** Waiting transactions that are looked at in one round at most, so that a full mempool does not hold up blocks. */
const MAX_WAITING = 5_000;
/** A list of hundreds of thousands takes its time: so many times as long passes until the next. */
const REST_PER_LOOK = 9;
/** How often it is kept that everything was looked at. */
const LOOKED_AT_STEP_MS = 2_000;

/**
 * What a look proves. `mempool`: what was not there at that moment waited nowhere. `blocks`: nothing of the mempool, but
 * everything up to that moment's newest block was seen.
 */
export interface LookProof {
  readonly kind: 'mempool' | 'blocks';
  /** Up to when everything was seen that will ever be seen of that time. */
  readonly upTo: number;
}

/** What is known of a mempool: which of its transactions were looked at, and which of ours were missing from it last time. */
export function createWaitingRoom(app: App, source: ChainSource) {
  const { network, mempool } = source;
  let looked: ReadonlySet<string> = new Set();
  let missing: ReadonlySet<string> = new Set();
  let savedAt = 0;
  let notBefore = 0;

  return {
    /** Everything that waits; null where nothing is known of it, or it was asked for a moment ago. */
    look: async (): Promise<WaitingTransactions | null> => {
      // By a clock that nobody sets.
      const askedAt = performance.now();
      if (mempool === null || askedAt < notBefore) return null;
      const waiting = await mempool.waiting();
      const answeredAt = performance.now();
      notBefore = answeredAt + (answeredAt - askedAt) * REST_PER_LOOK;
      return waiting;
    },

    /** After a rollback transactions may wait again that were looked at before. */
    forget: (): void => {
      looked = new Set();
    },

    /** Without a proof, as when the node is behind or on a branch, what it has counts, but what it lacks tells nothing. */
    takeIn: async (hashes: readonly string[], proof: LookProof | null): Promise<void> => {
      if (mempool === null) return;
      const fresh = hashes.filter((hash) => !looked.has(hash)).slice(0, MAX_WAITING);
      const news = await readNews(app, source, await mempool.transfersOf(fresh));
      const there = new Set(hashes);
      const away = (await waitingTransfers(app.db, network)).filter(({ hash }) => !there.has(hash));
      const awayPayouts = (await waitingPayouts(app.db, network)).filter(({ hash }) => !there.has(hash));
      const isWhole = proof?.kind === 'mempool';
      await saveNews(app, network, news, isWhole ? goneOf(news, away, awayPayouts, missing) : NOTHING_GONE);
      if (isWhole) missing = new Set([...away, ...awayPayouts].map(({ hash }) => hash));
      const seen = new Set(fresh);
      looked = new Set(hashes.filter((hash) => looked.has(hash) || seen.has(hash)));
      const isComplete = looked.size === there.size;
      if (proof !== null && isComplete && (proof.upTo - savedAt >= LOOKED_AT_STEP_MS || proof.upTo < savedAt)) {
        await saveLookedAt(app.db, network, proof.upTo);
        savedAt = proof.upTo;
      }
    },
  };
}

/** What transactions that were not looked at yet bring. */
interface News {
  /** Transfers to payments. */
  readonly ours: readonly ChainTransfer[];
  /** Which payment watches an address. */
  readonly watched: ReadonlyMap<string, string>;
  /** Transfers that may pay a refund, and what their transactions spend. */
  readonly payouts: readonly { readonly block: null; readonly transfer: ChainTransfer }[];
  readonly spends: ReadonlyMap<string, readonly string[]>;
}

async function readNews(app: App, source: ChainSource, transfers: readonly ChainTransfer[]): Promise<News> {
  const watched = await paymentsWatching(app, source.network, transfers);
  const refunds = await refundsWatching(app, source.network, transfers);
  const ours = distinct(transfers.filter((transfer) => watched.has(transfer.address)));
  const payouts = distinct(transfers.filter((transfer) => refunds.has(transfer))).map((transfer) => ({
    block: null,
    transfer,
  }));
  return { ours, watched, payouts, spends: await spendsOf(source, payouts) };
}

/** Hashes of waiting transactions that are in no mempool any more. */
interface Gone {
  readonly transfers: readonly string[];
  readonly payouts: readonly string[];
}

const NOTHING_GONE: Gone = { transfers: [], payouts: [] };

/**
 * What is gone of what a look did not find: what it missed twice in a row, for another node of the network may not have heard of a
 * transaction yet; at once where another one came for the same payment or refund: that is what a replacement looks like.
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
  { ours, watched, payouts, spends }: News,
  gone: Gone,
): Promise<void> {
  if (ours.length + gone.transfers.length + payouts.length + gone.payouts.length === 0) return;
  await inTransaction(app, async (trx) => {
    // One writer of a network's transfers at a time, as for blocks.
    await lockCursor(trx, network);
    const now = app.clock();
    const dropped = await dropWaiting(trx, network, gone.transfers);
    const arrived = ours.flatMap((transfer) => arrival(network, null, transfer, watched.get(transfer.address), now));
    await saveTransfers(trx, arrived);
    await dropPayouts(trx, network, gone.payouts, now);
    await keepPayouts(trx, network, payouts, spends, now);
    await observeMoney(app, trx, [...dropped, ...arrived.map(({ paymentId }) => paymentId)], now);
  });
}
