import type { AssetCode } from '../../domain/asset.ts';
import { untracedHash } from '../../domain/payment.ts';
import type { ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { awaitingMoney, type AwaitingAddress } from '../../store/watched-addresses.ts';
import { awaitingLost, lostTransfers } from '../../store/lost-transfers.ts';
import type { App } from '../context.ts';
import { findTransfers } from '../../store/transfers.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';

/** How many blocks are traced to find one transfer; an older transfer is recorded without its transaction. */
const MAX_TRACED_BLOCKS = 64;
/** Above every index in a trace, so that an untraced transfer never collides with a traced one. */
const UNTRACED_INDEX = 2_000_000_000;

/**
 * How often the addresses of payments that ended, or that ask for another asset, are checked too while they are
 * watched.
 */
const ENDED_STEP_MS = 10 * 60_000;

/** What a comparison of balances found. */
export interface ContractTransfers {
  readonly found: readonly FoundTransfer[];
  /** Addresses that hold less than arrived, to be saved together with what was found. */
  readonly spent: readonly { readonly address: string; readonly spentUnits: bigint }[];
}

/** Finds native coins that contracts transferred: no block lists them, but they show in the balance. */
export interface ContractWatch {
  /** Such transfers to the addresses of payments after these blocks; `found` is what the blocks list. */
  find(blocks: readonly ChainBlock[], found: readonly FoundTransfer[]): Promise<ContractTransfers>;
}

const NOTHING: ContractTransfers = { found: [], spent: [] };

/**
 * Compares the balances of payments' addresses with the transfers seen so far. A difference is explained by tracing the
 * newest blocks. If no node can trace it, it is recorded without a hash and left to the merchant to accept.
 */
export function createContractWatch(app: App, source: ChainSource): ContractWatch {
  const native = source.native ?? null;
  let newest: readonly ChainBlock[] = [];
  let endedCheckedAt = 0;

  return {
    find: async (blocks, found) => {
      const tip = blocks.at(-1);
      if (native === null || tip === undefined) return NOTHING;
      const first = blocks[0]?.height ?? tip.height;
      newest = [...newest.filter(({ height }) => height < first), ...blocks].slice(-MAX_TRACED_BLOCKS);
      const now = app.clock();
      const isTimeForEnded = now - endedCheckedAt >= ENDED_STEP_MS || now < endedCheckedAt;
      const ofPayments = await awaitingMoney(app.db, source.network, native.asset, isTimeForEnded ? now : null);
      const since = now - app.policy.monitoringMs;
      const ofNobody = isTimeForEnded ? await awaitingLost(app.db, source.network, native.asset, since) : [];
      const awaiting = [...ofPayments, ...ofNobody];
      // While older blocks are caught up with, there is nothing to compare.
      const balances = await balancesOf(native, awaiting, tip);
      if (balances === null) return NOTHING;
      if (isTimeForEnded) endedCheckedAt = now;
      const { surplus, spent } = compare(awaiting, balances, native.asset, found);
      if (surplus.size === 0) return { found: [], spent };
      const payments = new Set([...surplus.values()].flatMap(({ paymentId }) => paymentId ?? []));
      const transfers = [...(await findTransfers(app.db, [...payments])).values()].flat();
      const lost = ofNobody.length === 0 ? [] : await lostTransfers(app.db);
      // A dropped transfer may come back.
      const known = new Set([
        ...transfers.filter(({ state }) => state !== 'dropped').map(keyOf),
        ...lost.map(({ transactionHash, outputIndex: index }) => keyOf({ transactionHash, index })),
      ]);
      return { found: await explain(native, surplus, newest, tip, known), spent };
    },
  };
}

interface Surplus {
  readonly paymentId: string | null;
  readonly units: bigint;
}

/** Per address: how much it holds beyond what arrived and was not spent, or how much of that has been spent by now. */
function compare(
  awaiting: readonly AwaitingAddress[],
  balances: ReadonlyMap<string, bigint>,
  asset: AssetCode,
  found: readonly FoundTransfer[],
): { readonly surplus: ReadonlyMap<string, Surplus>; readonly spent: ContractTransfers['spent'] } {
  const arrivedNow = new Map<string, bigint>();
  for (const { transfer } of found) {
    if (transfer.asset !== asset) continue;
    arrivedNow.set(transfer.address, (arrivedNow.get(transfer.address) ?? 0n) + transfer.amount);
  }
  const surplus = new Map<string, Surplus>();
  const spent: { address: string; spentUnits: bigint }[] = [];
  for (const { address, paymentId, arrivedUnits, spentUnits } of awaiting) {
    const arrived = arrivedUnits + (arrivedNow.get(address) ?? 0n);
    const balance = balances.get(address) ?? 0n;
    const units = balance + spentUnits - arrived;
    if (units > 0n) surplus.set(address, { paymentId, units });
    else if (units < 0n) spent.push({ address, spentUnits: arrived - balance });
  }
  return { surplus, spent };
}

function keyOf({ transactionHash, index }: { readonly transactionHash: string; readonly index: number }): string {
  return `${transactionHash} ${index}`;
}

async function explain(
  native: NativeBalances,
  surplus: ReadonlyMap<string, Surplus>,
  blocks: readonly ChainBlock[],
  tip: ChainBlock,
  known: ReadonlySet<string>,
): Promise<readonly FoundTransfer[]> {
  const missing = new Map(surplus);
  const found: FoundTransfer[] = [];
  for (const block of blocks.toReversed()) {
    if (missing.size === 0) break;
    const transfers = await native.internalTransfers(block, new Set(missing.keys()));
    // A node that does not trace this block will not trace older ones either.
    if (transfers === null) break;
    for (const transfer of transfers) {
      const rest = missing.get(transfer.address);
      if (rest === undefined || transfer.amount > rest.units || known.has(keyOf(transfer))) continue;
      found.push({ block, transfer, ...ownerOf(rest) });
      const units = rest.units - transfer.amount;
      if (units === 0n) missing.delete(transfer.address);
      else missing.set(transfer.address, { ...rest, units });
    }
  }
  for (const [address, rest] of missing) {
    const transactionHash = untracedHash(`${address}@${tip.hash}`);
    const transfer = { transactionHash, index: UNTRACED_INDEX, address, asset: native.asset, amount: rest.units };
    found.push({ block: tip, transfer, ...ownerOf(rest) });
  }
  return found;
}

function ownerOf({ paymentId }: Surplus): Pick<FoundTransfer, 'paymentId'> {
  return paymentId === null ? {} : { paymentId };
}
