import { familyFacts, type Network } from '../../domain/networks.ts';
import { matchPayouts, type PayableRefund, type PayoutTransfer } from '../../domain/refund-payout.ts';
import type { BlockId, ChainSource, ChainTransfer } from '../../rails/chain.ts';
import type { Trx } from '../../store/database.ts';
import {
  dropPayoutsBefore,
  knownPayouts,
  refundsTo,
  savePayouts,
  dropPayouts,
  waitingPayouts,
} from '../../store/refunds/refund-payouts.ts';
import type { App } from '../context.ts';
import { lockCursor, type Cursor } from '../../store/chains/chain.ts';

/**
 * How long a payout may stay unmined if no mempool shows it: UTXO nodes forget a transaction after that
 * (`-mempoolexpiry`).
 */
const MAX_WAITING_MS = 14 * 24 * 60 * 60_000;

/** How long a transaction that a wallet has just sent may take to reach the service's nodes. */
const UNDER_WAY_MS = 2 * 60_000;

/** A transfer that may pay a refund; `block` is null while it is in a mempool. */
export interface PossiblePayout {
  readonly block: (BlockId & { readonly timeMs: number }) | null;
  readonly transfer: ChainTransfer;
  /** See `PayoutTransfer`. */
  readonly mayPay?: readonly string[];
}

/** The live refunds that some transfers may pay. */
export interface WatchedRefunds {
  /** Whether a transfer pays exactly a refund's amount to its address. */
  has(transfer: ChainTransfer): boolean;
}

/** The refunds that these transfers may pay, found by one indexed query. */
export async function refundsWatching(
  app: Pick<App, 'db'>,
  network: Network,
  transfers: readonly ChainTransfer[],
): Promise<WatchedRefunds> {
  const refunds = await refundsTo(app.db, network, addressesOf(transfers));
  const byAddress = Map.groupBy(refunds, ({ address }) => address);
  return {
    has: ({ address, asset, amount }) =>
      byAddress.get(address)?.some((refund) => refund.asset === asset && refund.units === amount) ?? false,
  };
}

/** The inputs of these payouts' transactions, as `txid:vout`; empty on EVM chains. */
export async function spendsOf(
  source: ChainSource,
  payouts: readonly PossiblePayout[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const spends = new Map<string, readonly string[]>();
  if (source.spending === undefined || source.spending === null) return spends;
  for (const [block, some] of Map.groupBy(payouts, (payout) => payout.block)) {
    const hashes = [...new Set(some.map(({ transfer }) => transfer.transactionHash))];
    for (const [hash, inputs] of await source.spending.inputsOf(block, hashes)) spends.set(hash, inputs);
  }
  return spends;
}

/** Matches these payouts with their refunds and saves them. The caller holds the network's cursor. */
export async function keepPayouts(
  trx: Trx,
  network: Network,
  payouts: readonly PossiblePayout[],
  spends: ReadonlyMap<string, readonly string[]>,
  now: number,
): Promise<void> {
  if (payouts.length === 0) return;
  const refunds: readonly PayableRefund[] = await refundsTo(
    trx,
    network,
    addressesOf(payouts.map(({ transfer }) => transfer)),
  );
  const savedPayouts = await knownPayouts(
    trx,
    refunds.map(({ id }) => id),
  );
  const transfers = payouts.map(
    ({ block, transfer, mayPay }): PayoutTransfer & { readonly blockHeight: number | null } => ({
      ...transfer,
      ...(mayPay && { mayPay }),
      blockAt: block?.timeMs ?? null,
      blockHeight: block?.height ?? null,
    }),
  );
  const matches = matchPayouts(transfers, refunds, savedPayouts, spends);
  const rows = matches.map(({ refundId, transfer, isGuess }) => ({
    ...transfer,
    refundId,
    isGuess,
    network,
    spends: spends.get(transfer.transactionHash) ?? [],
  }));
  await savePayouts(trx, rows, now);
}

/**
 * Drops payouts that stayed unmined for too long on networks where nothing else shows that they are gone; EVM nodes are
 * asked instead.
 */
export async function purgeStalePayouts(app: Pick<App, 'db'>, network: Network, now: number): Promise<void> {
  if (familyFacts(network).seesWaiting) await dropPayoutsBefore(app.db, network, now - MAX_WAITING_MS, now);
}

function addressesOf(transfers: readonly ChainTransfer[]): readonly string[] {
  return [...new Set(transfers.map(({ address }) => address))];
}

/**
 * For networks whose mempool is not listed: asks the nodes about payouts that a wallet reported, or that a
 * reorganisation removed from their block.
 */
export interface PayoutWatch {
  /** Drops payouts that are gone. `cursor` is the end of the node's chain, up to which blocks were read. */
  dropGone(cursor: Cursor): Promise<void>;
}

export function createPayoutWatch(app: App, source: ChainSource): PayoutWatch {
  const { network } = source;
  let missing: ReadonlySet<string> = new Set();

  return {
    dropGone: async (cursor) => {
      if (source.locate === undefined) return;
      const waiting = await waitingPayouts(app.db, network);
      const hashes = [...new Set(waiting.map(({ hash }) => hash))];
      const underWay = app.clock() - UNDER_WAY_MS;
      const justSent = new Set(waiting.flatMap(({ hash, sentAt }) => ((sentAt ?? 0) > underWay ? [hash] : [])));
      const places = await source.locate(hashes);
      const gone = hashes.filter((hash) => {
        const place = places.get(hash);
        // If its block was already read, the payout pays nothing any more: the transaction failed there.
        return place?.kind === 'block'
          ? place.height <= cursor.height
          : place?.kind === 'nowhere' && !justSent.has(hash);
      });
      // Missing twice in a row, because a node puts transactions of removed blocks back into its pool a moment later.
      const given = gone.filter((hash) => missing.has(hash));
      missing = new Set(gone);
      if (given.length === 0) return;
      await app.db.transaction().execute(async (trx) => {
        const locked = await lockCursor(trx, network);
        if (locked?.hash === cursor.hash) await dropPayouts(trx, network, given, app.clock());
      });
    },
  };
}
