import type { ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { MAX_LATE_PAYOUT_MS } from '../../domain/refund-payout.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { knownBlock, readCursor, type Cursor } from '../../store/chains/chain.ts';
import { unpaidRefunds, type BalanceCheck, type UnpaidRefund } from '../../store/refunds/refund-balances.ts';
import type { Database } from '../../store/database.ts';
import type { App } from '../context.ts';
import {
  MAX_TRACED_BLOCKS,
  newSearches,
  remaining,
  repeatedSearches,
  together,
  trace,
  type ComparedRefund,
  type FoundPayout,
  type Suspect,
} from './trace-growth.ts';

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
      const suspects = refunds
        .flatMap((refund): readonly Suspect[] => {
          const more = (now.get(refund.address) ?? 0n) - (refund.from.balance ?? 0n);
          return refund.from.balance !== null && more >= refund.units ? [{ refund, more }] : [];
        })
        .toSorted((a, b) => a.refund.from.height - b.refund.from.height);
      latest = await withBlocksSince(source, latest, Math.min(...suspects.map(({ refund }) => refund.from.height + 1)));
      const since = latest;
      const searches = [
        ...suspects.flatMap((suspect) => newSearches(suspect, since, native)),
        // New growth comes first: nodes keep the state of the newest blocks.
        ...(await repeatedSearches(app.db, source.network, refunds, tip)),
      ];
      const traced = await trace(native, searches);
      return {
        found: traced.found,
        checks: refunds.map((refund): BalanceCheck => {
          const { id: refundId, address, from, seen } = refund;
          const mine = searches.filter((search) => search.refund.id === refundId);
          const isRepeated = mine.some(({ times }) => times > 0);
          const old = seen?.grown && !isRepeated ? [seen.grown] : [];
          const left = [...mine.flatMap((search) => remaining(search, traced, source.network, tip)), ...old];
          const grown = left.length === 0 ? null : left.reduce(together);
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
