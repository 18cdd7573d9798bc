import type { ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { MAX_LATE_PAYOUT_MS } from '../../domain/refund-payout.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { knownBlock, readCursor, type Cursor } from '../../store/chains/chain.ts';
import { unpaidRefunds, type BalanceCheck, type UnpaidRefund } from '../../store/refunds/refund-balances.ts';
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

/** The results of comparing the balances on refund addresses. */
export interface ContractPayouts {
  readonly found: readonly FoundTransfer[];
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
 * If no node can trace them, the growth is kept as unexplained: it completes nothing, but a person who is about to pay
 * the refund is warned.
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
      const growing = refunds.filter(({ address, units, from }) => {
        return from.balance !== null && (now.get(address) ?? 0n) - from.balance >= units;
      });
      latest = await withBlocksSince(source, latest, growing);
      const since = latest;
      const grown = new Map<string, bigint>();
      for (const { id, address, units, from } of growing) {
        const its = since.filter(({ height }) => height > from.height);
        const more = (now.get(address) ?? 0n) - (from.balance ?? 0n) - listed(its, address, native);
        if (more >= units) grown.set(id, more);
      }
      const suspects = refunds.filter(({ id }) => grown.has(id));
      const traced = await trace(native, since, suspects);
      const isExplained = ({ id, address, units, from }: ComparedRefund): boolean => {
        const explained = sumOf(traced.found, ({ block, transfer }) => {
          return transfer.address === address && block.height > from.height;
        });
        const isTraced = traced.untracedUpTo <= from.height && (since[0]?.height ?? 0) <= from.height + 1;
        return isTraced || (grown.get(id) ?? 0n) - explained < units;
      };
      return {
        found: traced.found,
        checks: refunds.flatMap((refund): readonly BalanceCheck[] => {
          const { id: refundId, address, from } = refund;
          if (from.balance === null) return notCompared(refund, from.height);
          const grownUnits = isExplained(refund) ? null : (grown.get(refundId) ?? null);
          const check = { refundId, balance: now.get(address) ?? 0n, height: tip.height, grownUnits };
          return [{ ...check, grownAfter: grownUnits === null ? null : from.height }];
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
  return isNoted ? [] : [{ refundId: id, balance: null, height, grownUnits: null, grownAfter: null }];
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

/** The blocks, and those before them that a restart has lost, from the first one on that these refunds need. */
async function withBlocksSince(
  source: ChainSource,
  blocks: readonly ChainBlock[],
  refunds: readonly ComparedRefund[],
): Promise<readonly ChainBlock[]> {
  const [first, tip] = [blocks[0], blocks.at(-1)];
  if (first === undefined || tip === undefined) return blocks;
  const oldest = tip.height - MAX_TRACED_BLOCKS + 1;
  const from = Math.min(...refunds.map((refund) => Math.max(refund.from.height + 1, oldest)));
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

/**
 * Contract transfers that pay exactly these refunds since they are compared. Oldest first, because the node that traces
 * may be some blocks behind the one that told the newest. Of the blocks up to `untracedUpTo`, not all were traced.
 */
async function trace(
  native: NativeBalances,
  blocks: readonly ChainBlock[],
  refunds: readonly ComparedRefund[],
): Promise<{ readonly found: readonly FoundTransfer[]; readonly untracedUpTo: number }> {
  const found: FoundTransfer[] = [];
  const untraced: number[] = [];
  for (const block of blocks) {
    const its = refunds.filter(({ from }) => block.height > from.height);
    if (its.length === 0) continue;
    const addresses = new Set(its.map(({ address }) => address));
    const transfers = untraced.length < MAX_FAILED_TRACES ? await native.internalTransfers(block, addresses) : null;
    if (transfers === null) untraced.push(block.height);
    for (const transfer of transfers ?? []) {
      const isPayout = its.some(({ address, units }) => address === transfer.address && units === transfer.amount);
      if (isPayout) found.push({ block, transfer });
    }
  }
  return { found, untracedUpTo: Math.max(-1, ...untraced) };
}
