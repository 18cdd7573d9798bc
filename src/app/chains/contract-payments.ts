import type { AssetCode } from '../../domain/asset.ts';
import { untracedHash } from '../../domain/payment.ts';
import type { ChainBlock, ChainSource, NativeBalances } from '../../rails/chain.ts';
import { balancesOf } from '../../rails/native-balances.ts';
import { awaitingMoney, type AwaitingAddress } from '../../store/watched-addresses.ts';
import { awaitingLost, lostTransfers } from '../../store/lost-transfers.ts';
import type { App } from '../context.ts';
import { findTransfers } from '../../store/transfers.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';

/** Blocks that are searched for one payment at most: a payment that came longer ago is taken as it stands. */
const MAX_TRACED_BLOCKS = 64;
/** Above any position in a trace, so that an untraced payment never meets a traced one. */
const UNTRACED_INDEX = 2_000_000_000;

/**
 * How often the addresses of payments that ended, or that ask for another asset, are looked at too, as long as they are
 * watched.
 */
const ENDED_STEP_MS = 10 * 60_000;

/** What a look at balances tells. */
export interface ContractMoney {
  readonly found: readonly FoundTransfer[];
  /** Addresses that less lies on than arrived, to be kept with what was found. */
  readonly spent: readonly { readonly address: string; readonly spentUnits: bigint }[];
}

/** Looks for native money that contracts passed on: it is in no block's list, but in the balance. */
export interface ContractWatch {
  /** Such money on the addresses of payments after these blocks, `found` being what their lists show. */
  look(blocks: readonly ChainBlock[], found: readonly FoundTransfer[]): Promise<ContractMoney>;
}

const NOTHING: ContractMoney = { found: [], spent: [] };

/**
 * Compares the balances of payments' addresses with what was seen arrive. A difference is searched for by tracing the
 * newest blocks; what no node can show is recorded without a hash, and left to the merchant to accept.
 */
export function createContractWatch(app: App, source: ChainSource): ContractWatch {
  const native = source.native ?? null;
  let newest: readonly ChainBlock[] = [];
  let endedLookedAt = 0;

  return {
    look: async (blocks, found) => {
      const tip = blocks.at(-1);
      if (native === null || tip === undefined) return NOTHING;
      const first = blocks[0]?.height ?? tip.height;
      newest = [...newest.filter(({ height }) => height < first), ...blocks].slice(-MAX_TRACED_BLOCKS);
      const now = app.clock();
      const isTimeForEnded = now - endedLookedAt >= ENDED_STEP_MS || now < endedLookedAt;
      const ofPayments = await awaitingMoney(app.db, source.network, native.asset, isTimeForEnded ? now : null);
      const since = now - app.policy.monitoringMs;
      const ofNobody = isTimeForEnded ? await awaitingLost(app.db, source.network, native.asset, since) : [];
      const awaiting = [...ofPayments, ...ofNobody];
      // While older blocks are caught up with there is nothing to compare.
      const balances = await balancesOf(native, awaiting, tip);
      if (balances === null) return NOTHING;
      if (isTimeForEnded) endedLookedAt = now;
      const { surplus, spent } = compare(awaiting, balances, native.asset, found);
      if (surplus.size === 0) return { found: [], spent };
      const payments = new Set([...surplus.values()].flatMap(({ paymentId }) => paymentId ?? []));
      const transfers = [...(await findTransfers(app.db, [...payments])).values()].flat();
      const lost = ofNobody.length === 0 ? [] : await lostTransfers(app.db);
      // One that was dropped may come back.
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

/** Per address, what is there beyond what arrived and was not spent, or how much of it is spent by now. */
function compare(
  awaiting: readonly AwaitingAddress[],
  balances: ReadonlyMap<string, bigint>,
  asset: AssetCode,
  found: readonly FoundTransfer[],
): { readonly surplus: ReadonlyMap<string, Surplus>; readonly spent: ContractMoney['spent'] } {
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
    // A node that does not trace this block will not trace the others.
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
