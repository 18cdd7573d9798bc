import type { ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { firstUuidOf } from '../../domain/id.ts';
import { MAX_LATE_PAYOUT_MS } from '../../domain/refund-payout.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { readCursor, type StoredCursor } from '../../store/chains/chain.ts';
import { unpaidRefunds, type BalanceCheck, type UnpaidRefund } from '../../store/refunds/refund-balances.ts';
import type { App } from '../context.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';

/** How many blocks are traced for one refund: as many as are taken in together. */
const MAX_TRACED_BLOCKS = 100;

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
  comparedUpTo(): Promise<StoredCursor | null>;
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
  /** The blocks since the last successful check. */
  let unseen: readonly ChainBlock[] = [];

  return {
    comparedUpTo: async () => {
      const cursor = await readCursor(app.db, source.network);
      if (cursor === null || native === null) return cursor;
      const refunds = await unpaidRefunds(app.db, source.network, native.asset, app.clock() - MAX_LATE_PAYOUT_MS);
      const now = await balancesOf(native, refunds, cursor);
      // Refunds made since the block was read are compared with the next.
      const isNew = ({ id }: UnpaidRefund): boolean => id >= firstUuidOf(cursor.updatedAt);
      const isAsCompared = (one: UnpaidRefund): boolean =>
        one.seen === null ? isNew(one) : one.seen.balance === (now?.get(one.address) ?? 0n);
      return now !== null && refunds.every(isAsCompared) ? cursor : null;
    },
    find: async (blocks) => {
      const [first, tip] = [blocks[0], blocks.at(-1)];
      if (native === null || first === undefined || tip === undefined) return NOTHING;
      unseen = [...unseen.filter(({ height }) => height < first.height), ...blocks].slice(-MAX_TRACED_BLOCKS);
      const refunds = await unpaidRefunds(app.db, source.network, native.asset, app.clock() - MAX_LATE_PAYOUT_MS);
      const before = await balancesBefore(native, refunds, first);
      const now = await balancesOf(native, refunds, tip);
      if (now === null) return NOTHING;
      const since = unseen;
      unseen = [];
      const grown = new Map<string, bigint>();
      for (const refund of refunds) {
        const from = before.get(refund.id);
        if (from === undefined) continue;
        const its = since.filter(({ height }) => height > from.height);
        const units = (now.get(refund.address) ?? 0n) - from.balance - listed(its, refund, native);
        if (units >= refund.units) grown.set(refund.id, units);
      }
      const suspects = refunds.filter(({ id }) => grown.has(id));
      const traced = await trace(native, since, suspects);
      const isExplained = ({ id, address, units }: UnpaidRefund): boolean =>
        traced.found.some(({ transfer }) => transfer.address === address && transfer.amount === units) ||
        (traced.isComplete && (since[0]?.height ?? 0) <= (before.get(id)?.height ?? 0) + 1);
      return {
        found: traced.found,
        checks: refunds.map((refund) => ({
          refundId: refund.id,
          balance: now.get(refund.address) ?? 0n,
          height: tip.height,
          grownUnits: isExplained(refund) ? null : (grown.get(refund.id) ?? null),
        })),
      };
    },
  };
}

/** The balances at the last check, or else before the first of these blocks; no entry if no node has them any more. */
async function balancesBefore(
  native: NativeBalances,
  refunds: readonly UnpaidRefund[],
  first: ChainBlock,
): Promise<ReadonlyMap<string, { readonly balance: bigint; readonly height: number }>> {
  const fresh = refunds.filter(({ seen }) => seen === null);
  const parent = { height: first.height - 1, hash: first.parentHash };
  const read = await balancesOf(native, fresh, parent);
  return new Map(
    refunds.flatMap(({ id, address, seen }) => {
      const asked = read === null ? null : { balance: read.get(address) ?? 0n, height: parent.height };
      const known = seen ?? asked;
      return known === null ? [] : [[id, known] as const];
    }),
  );
}

/** Transfers to a refund's address that these blocks list. */
function listed(blocks: readonly ChainBlock[], { address }: UnpaidRefund, { asset }: NativeBalances): bigint {
  return blocks
    .flatMap(({ transfers }) => transfers)
    .filter((transfer) => transfer.address === address && transfer.asset === asset)
    .reduce((sum, { amount }) => sum + amount, 0n);
}

/** Contract transfers that pay exactly these refunds; incomplete where a node cannot trace. */
async function trace(
  native: NativeBalances,
  blocks: readonly ChainBlock[],
  refunds: readonly UnpaidRefund[],
): Promise<{ readonly found: readonly FoundTransfer[]; readonly isComplete: boolean }> {
  const payouts: FoundTransfer[] = [];
  if (refunds.length === 0) return { found: payouts, isComplete: true };
  const addresses = new Set(refunds.map(({ address }) => address));
  for (const block of blocks) {
    const transfers = await native.internalTransfers(block, addresses);
    if (transfers === null) return { found: payouts, isComplete: false };
    for (const transfer of transfers) {
      const isPayout = refunds.some(({ address, units }) => address === transfer.address && units === transfer.amount);
      if (isPayout) payouts.push({ block, transfer });
    }
  }
  return { found: payouts, isComplete: true };
}
