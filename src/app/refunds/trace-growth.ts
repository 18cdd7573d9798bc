import type { Network } from '../../domain/networks.ts';
import { nextTraceOf } from '../../domain/refund-payout.ts';
import type { BlockHeader, BlockId, ChainBlock, ChainTransfer, NativeBalances } from '../../rails/chain.ts';
import { knownBlock } from '../../store/chains/chain.ts';
import type { Database } from '../../store/database.ts';
import { GONE_BLOCKS, type BalanceCheck, type Growth, type UnpaidRefund } from '../../store/refunds/refund-balances.ts';

/**
 * How many blocks are traced for one refund: as many as are taken in together. If a balance is further back and no node
 * tells it, nodes have forgotten it: they keep little more.
 */
export const MAX_TRACED_BLOCKS = 100;
/** How many blocks in one go may fail to be traced: each may take a node's whole timeout, and blocks wait for it. */
const MAX_FAILED_TRACES = 3;

/** A contract's transfer and the ids of the refunds that it may pay: later ones got their address after its block. */
export interface FoundPayout {
  readonly block: BlockHeader;
  readonly transfer: ChainTransfer;
  readonly mayPay: readonly string[];
}

/** An unpaid refund, and the balance after the block from which on it is compared; null while no node tells it. */
export interface ComparedRefund extends UnpaidRefund {
  readonly from: Pick<BalanceCheck, 'balance' | 'height'>;
}

/** A refund whose balance is `more` than before. */
export interface Suspect {
  readonly refund: ComparedRefund;
  readonly more: bigint;
}

/** Growth of a refund's balance that contracts' payouts may explain, and the blocks to trace for that. */
export interface Search {
  readonly refund: ComparedRefund;
  readonly grown: Omit<Growth, 'untraced' | 'nextTrace' | 'retraces'>;
  readonly blocks: readonly BlockHeader[];
  /** Whether some of its blocks are gone. */
  readonly lacksBlocks: boolean;
  /** How often they were traced before. */
  readonly times: number;
}

/** The search for what the blocks since the last comparison do not list, if that may be the refund's payout. */
export function newSearches(
  { refund, more }: Suspect,
  latest: readonly ChainBlock[],
  native: NativeBalances,
): readonly Search[] {
  const { address, units, from } = refund;
  const blocks = latest.filter(({ height }) => height > from.height);
  const [first, tip] = [blocks[0], blocks.at(-1)];
  const unlisted = more - listed(blocks, address, native);
  if (first === undefined || tip === undefined || unlisted < units) return [];
  const grown = { units: unlisted, after: from.height, height: tip.height };
  return [{ refund, grown, blocks, lacksBlocks: first.height > from.height + 1, times: 0 }];
}

/** The searches in the blocks that no node traced before, where it is time for that. */
export async function repeatedSearches(
  db: Database,
  network: Network,
  refunds: readonly ComparedRefund[],
  tip: BlockId,
): Promise<readonly Search[]> {
  const searches: Search[] = [];
  const isDue = ({ seen }: ComparedRefund): boolean => (seen?.grown?.nextTrace ?? Infinity) <= tip.height;
  const due = new Set(refunds.filter(isDue).map(({ address }) => address));
  for (const refund of refunds) {
    const grown = refund.seen?.grown ?? null;
    // All refunds of an address at once, because each of them may be paid in these blocks.
    if (grown === null || !due.has(refund.address)) continue;
    const blocks: BlockHeader[] = [];
    for (const height of grown.untraced) {
      const block = await knownBlock(db, network, height);
      if (block !== null) blocks.push({ height, hash: block.hash, timeMs: block.blockAt });
    }
    searches.push({
      refund,
      grown,
      blocks,
      lacksBlocks: blocks.length < grown.untraced.length,
      times: grown.retraces + 1,
    });
  }
  return searches;
}

export interface Traced {
  readonly found: readonly FoundPayout[];
  /** The heights of blocks that no node traced, and of those that none was asked for. */
  readonly failed: readonly number[];
  readonly unasked: readonly number[];
}

/**
 * Contract transfers that pay exactly these refunds. Blocks in the order of the searches: oldest first, because the
 * node that traces may be some blocks behind the one that told the newest.
 */
export async function trace(native: NativeBalances, searches: readonly Search[]): Promise<Traced> {
  const found: FoundPayout[] = [];
  const [failed, unasked]: [number[], number[]] = [[], []];
  const blocks = new Map(searches.flatMap((search) => search.blocks.map((block) => [block.height, block])));
  for (const block of blocks.values()) {
    if (failed.length >= MAX_FAILED_TRACES) {
      unasked.push(block.height);
      continue;
    }
    const its = searches.filter((search) => search.blocks.some(({ height }) => height === block.height));
    const refunds = new Map(its.map(({ refund }) => [refund.id, refund]));
    const addresses = new Set(its.map(({ refund }) => refund.address));
    const transfers = await native.internalTransfers(block, addresses);
    if (transfers === null) failed.push(block.height);
    for (const transfer of transfers ?? []) {
      const mayPay = [...refunds.values()].flatMap(({ id, address, units }) =>
        address === transfer.address && units === transfer.amount ? [id] : [],
      );
      if (mayPay.length > 0) found.push({ block, transfer, mayPay });
    }
  }
  return { found, failed, unasked };
}

/** The growth of a search while blocks that no node has traced may still contain the refund's payout. */
export function remaining(
  { refund, grown, blocks, lacksBlocks, times }: Search,
  { found, failed, unasked }: Traced,
  network: Network,
  tip: BlockId,
): readonly Growth[] {
  const own = new Set(blocks.map(({ height }) => height));
  // The next time, the newest ones that no node was asked for come first: nodes forget the oldest.
  const left = [...unasked.toReversed(), ...failed].filter((height) => own.has(height));
  const isPaid = ({ block, transfer }: FoundPayout): boolean =>
    transfer.address === refund.address && own.has(block.height);
  const units = grown.units - sumOf(found, isPaid);
  if (units < refund.units || (left.length === 0 && !lacksBlocks)) return [];
  const wasAsked = left.length < own.size || failed.some((height) => own.has(height));
  const retraces = wasAsked ? times : Math.max(0, times - 1);
  const next = wasAsked ? nextTraceOf(network, tip.height, times) : tip.height + 1;
  const nextTrace = left.length === 0 ? null : next;
  return [{ ...grown, units, untraced: lacksBlocks ? [...left, GONE_BLOCKS] : left, nextTrace, retraces }];
}

/** New growth and what was left of the growth before it, whose blocks are not tried again if their times are over. */
export function together(newer: Growth, older: Growth): Growth {
  const next = [newer.nextTrace, older.nextTrace].filter((height) => height !== null);
  const olderBlocks = older.nextTrace === null ? [GONE_BLOCKS] : older.untraced;
  const untraced = [...new Set([...newer.untraced, ...olderBlocks])];
  return {
    units: newer.units + older.units,
    after: Math.min(newer.after, older.after),
    height: newer.height,
    untraced: untraced.length > MAX_TRACED_BLOCKS ? [...untraced.slice(0, MAX_TRACED_BLOCKS), GONE_BLOCKS] : untraced,
    nextTrace: next.length === 0 ? null : Math.min(...next),
    retraces: Math.min(newer.retraces, older.retraces),
  };
}

/** Transfers to a refund's address that these blocks list. */
function listed(blocks: readonly ChainBlock[], address: string, { asset }: NativeBalances): bigint {
  const all = blocks.flatMap((block) => block.transfers.map((transfer) => ({ block, transfer })));
  return sumOf(all, ({ transfer }) => transfer.address === address && transfer.asset === asset);
}

function sumOf<Found extends { readonly transfer: ChainTransfer }>(
  found: readonly Found[],
  isCounted: (one: Found) => boolean,
): bigint {
  return found.filter(isCounted).reduce((sum, { transfer }) => sum + transfer.amount, 0n);
}
