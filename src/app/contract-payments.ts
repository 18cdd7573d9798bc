import { untracedHash } from '../domain/payment.ts';
import { ChainUnavailableError, type ChainBlock, type ChainSource, type NativeBalances } from '../rails/chain.ts';
import { awaitingMoney, type AwaitingAddress } from '../store/chain.ts';
import type { App } from './context.ts';
import type { FoundTransfer } from './chain-money.ts';

/** Blocks that are searched for one payment at most: a payment that came longer ago is taken as it stands. */
const MOST_TRACED_BLOCKS = 64;
/** Above any position in a trace, so that an untraced payment never meets a traced one. */
const UNTRACED_INDEX = 2_000_000_000;

/** Looks for native money that contracts passed on: it is in no block's list, but in the balance. */
export interface ContractWatch {
  /** Such money on the addresses of open payments after these blocks, `found` being what their lists show. */
  look(blocks: readonly ChainBlock[], found: readonly FoundTransfer[]): Promise<readonly FoundTransfer[]>;
}

/**
 * Compares the balances of open payments' addresses with what was seen arrive. A difference is searched for by tracing the
 * blocks since the last comparison; what no node can show is recorded without a hash, and left to the merchant to accept.
 */
export function createContractWatch(app: App, source: ChainSource): ContractWatch {
  const native = source.native ?? null;
  /** The blocks since balances were last compared; older ones had nothing that is missing. */
  let unsearched: readonly ChainBlock[] = [];

  return {
    look: async (blocks, found) => {
      const tip = blocks.at(-1);
      if (native === null || tip === undefined) return [];
      unsearched = [...unsearched, ...blocks].slice(-MOST_TRACED_BLOCKS);
      const surplus = await surplusAt(app, source, native, tip, found);
      if (surplus === null) return [];
      const explained = surplus.size === 0 ? [] : await explain(native, surplus, unsearched, tip);
      unsearched = [];
      return explained;
    },
  };
}

interface Surplus {
  readonly paymentId: string;
  readonly units: bigint;
}

/** Money that is there and was not seen arrive, by address; null where no node has the balances of this block. */
async function surplusAt(
  app: App,
  { network }: ChainSource,
  native: NativeBalances,
  tip: ChainBlock,
  found: readonly FoundTransfer[],
): Promise<ReadonlyMap<string, Surplus> | null> {
  const awaiting = await awaitingMoney(app.db, network, native.asset);
  if (awaiting.length === 0) return new Map();
  const arrivedNow = new Map<string, bigint>();
  for (const { transfer } of found) {
    if (transfer.asset !== native.asset) continue;
    arrivedNow.set(transfer.address, (arrivedNow.get(transfer.address) ?? 0n) + transfer.amount);
  }
  const balances = await balancesOf(native, awaiting, tip);
  if (balances === null) return null;
  const surplus = awaiting.map(({ address, paymentId, arrivedUnits }) => {
    const known = arrivedUnits + (arrivedNow.get(address) ?? 0n);
    return [address, { paymentId, units: (balances.get(address) ?? 0n) - known }] as const;
  });
  return new Map(surplus.filter(([, { units }]) => units > 0n));
}

/** Nodes keep the balances of some hundred blocks; while older ones are caught up with there is nothing to compare. */
async function balancesOf(
  native: NativeBalances,
  awaiting: readonly AwaitingAddress[],
  tip: ChainBlock,
): Promise<ReadonlyMap<string, bigint> | null> {
  try {
    return await native.balancesAt(
      awaiting.map(({ address }) => address),
      tip,
    );
  } catch (fault) {
    if (fault instanceof ChainUnavailableError) return null;
    throw fault;
  }
}

async function explain(
  native: NativeBalances,
  surplus: ReadonlyMap<string, Surplus>,
  blocks: readonly ChainBlock[],
  tip: ChainBlock,
): Promise<readonly FoundTransfer[]> {
  const missing = new Map(surplus);
  const found: FoundTransfer[] = [];
  for (const block of blocks.toReversed()) {
    if (missing.size === 0) break;
    const transfers = await native.internalTransfers(block, new Set(missing.keys()));
    // A node that does not trace this block will not trace the others.
    if (transfers === null) break;
    for (const transfer of transfers) {
      const rest = missing.get(transfer.address);
      if (rest === undefined || transfer.amount > rest.units) continue;
      found.push({ block, transfer, paymentId: rest.paymentId });
      const units = rest.units - transfer.amount;
      if (units === 0n) missing.delete(transfer.address);
      else missing.set(transfer.address, { ...rest, units });
    }
  }
  for (const [address, { paymentId, units }] of missing) {
    const transactionHash = untracedHash(`${address}@${tip.hash}`);
    const transfer = { transactionHash, index: UNTRACED_INDEX, address, asset: native.asset, amount: units };
    found.push({ block: tip, transfer, paymentId });
  }
  return found;
}
