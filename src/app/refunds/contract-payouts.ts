import type { BlockId, ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { isTracedAgain, MAX_LATE_PAYOUT_MS } from '../../domain/refund-payout.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { knownBlock, readCursor, type Cursor } from '../../store/chains/chain.ts';
import {
  unpaidRefunds,
  type BalanceCheck,
  type Growth,
  type UnpaidRefund,
} from '../../store/refunds/refund-balances.ts';
import type { Database } from '../../store/database.ts';
import type { App } from '../context.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';

/**
 * How many blocks are traced for one refund: as many as are taken in together. If a balance is further back and no node
 * tells it, nodes have forgotten it: they keep little more.
 */
const MAX_TRACED_BLOCKS = 100;
/** How many blocks in one go may fail to be traced: each may take a node's whole timeout, and blocks wait for it. */
const MAX_FAILED_TRACES = 3;

/** A contract's transfer and the ids of the refunds that it may pay: later ones got their address after its block. */
interface FoundPayout extends FoundTransfer {
  readonly mayPay: readonly string[];
}

/** The results of comparing the balances on refund addresses. */
export interface ContractPayouts {
  readonly found: readonly FoundPayout[];
  readonly checks: readonly BalanceCheck[];
}

/** Finds refunds paid by contracts: no block lists a Safe's payment, but it shows in the balance. */
export interface ContractPayoutWatch {
  find(blocks: readonly ChainBlock[]): Promise<ContractPayouts>;
  /**
   * The last block that was read, if the balances after it are those that were compared; null if not, and while no node
   * tells them. Judged by what is saved, because another process may have read the block.
   */
  comparedUpTo(): Promise<Cursor | null>;
}

const NOTHING: ContractPayouts = { found: [], checks: [] };

/**
 * Compares the balances in the network's own coin on the addresses of unpaid refunds, failed ones among them, with
 * those of the last check. If one grew by at least the refund's amount, the blocks since are traced for an explanation.
 * If no node can trace them, the growth is kept as unexplained, and the blocks are traced again for a while. Such
 * growth completes nothing, but a person who is about to pay the refund is warned.
 */
export function createContractPayoutWatch(app: Pick<App, 'db' | 'clock'>, source: ChainSource): ContractPayoutWatch {
  const native = source.native ?? null;
  let latest: readonly ChainBlock[] = [];

  return {
    comparedUpTo: async () => {
      const cursor = await readCursor(app.db, source.network);
      if (cursor === null || native === null) return cursor;
      const refunds = await unpaidRefunds(app.db, source.network, native.asset, app.clock() - MAX_LATE_PAYOUT_MS);
      const now = await balancesOf(native, refunds, cursor);
      // Refunds that got their address since the block was read are compared with the next.
      const isAsCompared = ({ seen, address }: UnpaidRefund): boolean =>
        seen === null || seen.balance === (now?.get(address) ?? 0n);
      return now !== null && refunds.every(isAsCompared) ? cursor : null;
    },
    find: async (blocks) => {
      const [first, tip] = [blocks[0], blocks.at(-1)];
      if (native === null || first === undefined || tip === undefined) return NOTHING;
      latest = following(latest, blocks);
      const unpaid = await unpaidRefunds(app.db, source.network, native.asset, app.clock() - MAX_LATE_PAYOUT_MS);
      const now = await balancesOf(native, unpaid, tip);
      if (now === null) return { found: [], checks: unpaid.flatMap((refund) => notCompared(refund, first.height - 1)) };
      const refunds = await withBalancesBefore(app.db, source, native, unpaid, { first, tip });
      const suspects = refunds.flatMap((refund): readonly Suspect[] => {
        const { address, units, from, seen } = refund;
        const more = from.balance === null ? 0n : (now.get(address) ?? 0n) - from.balance;
        const isAgain = seen?.grown ? isTracedAgain(seen.grown.height, first.height, tip.height) : false;
        return more >= units || isAgain ? [{ refund, more, after: seen?.grown?.after ?? from.height }] : [];
      });
      latest = await withBlocksSince(source, latest, Math.min(...suspects.map(({ after }) => after + 1)));
      const since = latest;
      const searches = suspects.flatMap((suspect) => searchesFor(suspect, since, native));
      const traced = await trace(native, since, searches);
      const unexplained = new Map(searches.map((search) => [search.refund.id, remaining(search, since, traced)]));
      return {
        found: traced.found,
        checks: refunds.map(({ id: refundId, address, from, seen }): BalanceCheck => {
          const found = unexplained.get(refundId);
          const grown = found === undefined ? (seen?.grown ?? null) : found;
          if (from.balance === null) return { refundId, balance: null, height: from.height, grown };
          return { refundId, balance: now.get(address) ?? 0n, height: tip.height, grown };
        }),
      };
    },
  };
}

/** The latest blocks with these after them. Another process may have read blocks between, on another branch too. */
function following(latest: readonly ChainBlock[], blocks: readonly ChainBlock[]): readonly ChainBlock[] {
  const [first] = blocks;
  const earlier = latest.filter(({ height }) => height < (first?.height ?? 0));
  const isTied = earlier.at(-1)?.hash === first?.parentHash;
  return [...(isTied ? earlier : []), ...blocks].slice(-MAX_TRACED_BLOCKS);
}

/**
 * Notes, the first time that a refund is not compared, from which block on it has to be. Older versions left rows above
 * the block that a rollback went back to.
 */
function notCompared({ id, seen }: UnpaidRefund, height: number): readonly BalanceCheck[] {
  const isNoted = seen !== null && seen.height <= height;
  return isNoted ? [] : [{ refundId: id, balance: null, height, grown: seen?.grown ?? null }];
}

/** An unpaid refund, and the balance after the block from which on it is compared; null while no node tells it. */
interface ComparedRefund extends UnpaidRefund {
  readonly from: Pick<BalanceCheck, 'balance' | 'height'>;
}

/**
 * The refunds with their balances at the last check, or else before the first of these blocks. A balance that is
 * forgotten counts as none: then all that is there may have come since.
 */
async function withBalancesBefore(
  db: Database,
  { network }: ChainSource,
  native: NativeBalances,
  unpaid: readonly UnpaidRefund[],
  { first, tip }: { readonly first: ChainBlock; readonly tip: ChainBlock },
): Promise<readonly ComparedRefund[]> {
  const parent = { height: first.height - 1, hash: first.parentHash };
  const heightOf = ({ seen }: UnpaidRefund): number => Math.min(seen?.height ?? parent.height, parent.height);
  const unknown = Map.groupBy(
    unpaid.filter(({ seen }) => (seen?.balance ?? null) === null),
    heightOf,
  );
  const read = new Map<number, ReadonlyMap<string, bigint>>();
  // From the newest on: if no node tells a balance, none tells an older one.
  for (const [height, refunds] of [...unknown].toSorted(([a], [b]) => b - a)) {
    const block = height === parent.height ? parent : await knownBlock(db, network, height);
    const balances = block === null ? null : await balancesOf(native, refunds, block);
    if (balances === null) break;
    read.set(height, balances);
  }
  return unpaid.map((refund) => {
    const height = heightOf(refund);
    const balances = read.get(height);
    const forgotten = tip.height - height > MAX_TRACED_BLOCKS ? 0n : null;
    const told = balances === undefined ? forgotten : (balances.get(refund.address) ?? 0n);
    return { ...refund, from: { balance: refund.seen?.balance ?? told, height } };
  });
}

/** The blocks, and those before them that a restart has lost, from a height on. */
async function withBlocksSince(
  source: ChainSource,
  blocks: readonly ChainBlock[],
  height: number,
): Promise<readonly ChainBlock[]> {
  const [first, tip] = [blocks[0], blocks.at(-1)];
  if (first === undefined || tip === undefined) return blocks;
  const from = Math.max(height, tip.height - MAX_TRACED_BLOCKS + 1);
  const lost: ChainBlock[] = [];
  while (from + lost.length < first.height) {
    const height = from + lost.length;
    const more = await source.blocks(height, first.height - height);
    const isTied = lost.length === 0 || more[0]?.parentHash === lost.at(-1)?.hash;
    if (more.length === 0 || !isTied) return blocks;
    lost.push(...more);
  }
  return lost.at(-1)?.hash === first.parentHash ? [...lost, ...blocks] : blocks;
}

/** Transfers to a refund's address that these blocks list. */
function listed(blocks: readonly ChainBlock[], address: string, { asset }: NativeBalances): bigint {
  const all = blocks.flatMap((block) => block.transfers.map((transfer) => ({ block, transfer })));
  return sumOf(all, ({ transfer }) => transfer.address === address && transfer.asset === asset);
}

function sumOf(found: readonly FoundTransfer[], isCounted: (one: FoundTransfer) => boolean): bigint {
  return found.filter(isCounted).reduce((sum, { transfer }) => sum + transfer.amount, 0n);
}

/** Growth that payouts by contracts may explain: all of a refund that no trace has explained so far. */
interface Search {
  readonly refund: ComparedRefund;
  readonly grown: Growth;
}

/** A refund whose balance is `more` than before, and the height after which it may have been paid. */
interface Suspect {
  readonly refund: ComparedRefund;
  readonly more: bigint;
  readonly after: number;
}

/** New growth that the blocks do not list is one with what was unexplained before. */
function searchesFor(
  { refund, more, after }: Suspect,
  blocks: readonly ChainBlock[],
  native: NativeBalances,
): readonly Search[] {
  const { address, units, from, seen } = refund;
  const old = seen?.grown ?? null;
  const since = blocks.filter(({ height }) => height > from.height);
  const unlisted = more - listed(since, address, native);
  const [tip] = blocks.slice(-1);
  if (tip !== undefined && more >= units && unlisted >= units) {
    return [{ refund, grown: { units: unlisted + (old?.units ?? 0n), after, height: tip.height } }];
  }
  return old === null ? [] : [{ refund, grown: old }];
}

function isIn({ height }: Pick<BlockId, 'height'>, { after, height: upTo }: Growth): boolean {
  return height > after && height <= upTo;
}

interface Traced {
  readonly found: readonly FoundPayout[];
  /** The heights of blocks that no node traced. */
  readonly untraced: readonly number[];
}

/**
 * Contract transfers that pay exactly these refunds. Oldest first, because the node that traces may be some blocks
 * behind the one that told the newest.
 */
async function trace(
  native: NativeBalances,
  blocks: readonly ChainBlock[],
  searches: readonly Search[],
): Promise<Traced> {
  const found: FoundPayout[] = [];
  const untraced: number[] = [];
  for (const block of blocks) {
    const its = searches.flatMap(({ refund, grown }) => (isIn(block, grown) ? [refund] : []));
    if (its.length === 0) continue;
    const addresses = new Set(its.map(({ address }) => address));
    const transfers = untraced.length < MAX_FAILED_TRACES ? await native.internalTransfers(block, addresses) : null;
    if (transfers === null) untraced.push(block.height);
    for (const transfer of transfers ?? []) {
      const paid = its.filter(({ address, units }) => address === transfer.address && units === transfer.amount);
      if (paid.length > 0) found.push({ block, transfer, mayPay: paid.map(({ id }) => id) });
    }
  }
  return { found, untraced };
}

/** The growth, while blocks that no node has traced may still contain the refund's payout. */
function remaining(
  { refund, grown }: Search,
  blocks: readonly ChainBlock[],
  { found, untraced }: Traced,
): Growth | null {
  const explained = sumOf(found, ({ block, transfer }) => transfer.address === refund.address && isIn(block, grown));
  const isTraced = !untraced.some((height) => isIn({ height }, grown)) && (blocks[0]?.height ?? 0) <= grown.after + 1;
  return isTraced || grown.units - explained < refund.units ? null : grown;
}
