import type { AssetCode } from '../../domain/asset.ts';
import { nativeAsset } from '../../domain/networks.ts';
import type { EvmCaller } from '../../rails/evm/caller.ts';
import { factoryOf } from '../../rails/evm/deposit.ts';
import { parseSweep } from '../../rails/evm/sweep.ts';
import type { DepositFlow } from '../../store/deposit-balances.ts';
import type { PaidDeposit } from '../../store/issued-addresses.ts';
import { contractOf, type SweepChain } from './chain.ts';

/** What left a deposit in a way that nobody reported; a deposit can pay its treasury alone, so it went there. */
export interface OutsideTaking {
  readonly deposit: PaidDeposit;
  readonly token: string | null;
  readonly asset: AssetCode;
  readonly units: bigint;
  /** Null: no node knows any more when it left. */
  readonly height: number | null;
  /** Null: the block is unknown, or the deposit was emptied by way of another contract that is not found in it. */
  readonly transactionHash: string | null;
}

/** More than this many blocks with sweeps are not searched for in one check; what is left is found by the next one. */
const MAX_SEARCHED = 50;

interface Searched {
  readonly deposit: PaidDeposit;
  readonly flow: DepositFlow;
  readonly token: string | null;
}

/**
 * What is missing on deposits after a block: what arrived there, less what sweeps that are known took, less what lies
 * there. The block where it left is searched by balances, from the newest backwards, because most nodes know those of
 * the last blocks alone; then the transaction by the calls and logs of that block.
 */
export async function findOutside(
  chain: SweepChain,
  height: number,
  deposits: readonly PaidDeposit[],
  flows: readonly DepositFlow[],
  balanceOf: (address: string, asset: AssetCode) => bigint,
): Promise<readonly OutsideTaking[]> {
  const byAddress = new Map(deposits.map((deposit) => [deposit.address, deposit]));
  const found: OutsideTaking[] = [];
  const heights = new Set<number>();
  const blocks = new Map<number, ReturnType<EvmCaller['block']>>();
  const blockAt = (at: number) => {
    const known = blocks.get(at) ?? chain.caller.block(at);
    blocks.set(at, known);
    return known;
  };
  for (const flow of flows) {
    const deposit = byAddress.get(flow.address);
    const token = contractOf(chain, flow.asset, nativeAsset(chain.network));
    if (deposit === undefined || token === undefined) continue;
    const searched = { deposit, flow, token };
    let missing = sumUpTo(flow, height) - balanceOf(flow.address, flow.asset);
    let base = 0n;
    while (missing > 0n) {
      if (heights.size >= MAX_SEARCHED) return found;
      const step = await search(chain.caller, searched, base, height, heights);
      const units = step === null || step.units > missing ? missing : step.units;
      const at = step?.height ?? null;
      if (at !== null) heights.add(at);
      const transactionHash = at === null ? null : await transactionIn(chain, searched, at, blockAt);
      found.push({ deposit, token, asset: flow.asset, units, height: at, transactionHash });
      missing -= units;
      base += units;
    }
  }
  return found;
}

function sumUpTo({ steps }: DepositFlow, height: number): bigint {
  return steps.reduce((sum, step) => (step.height <= height ? sum + step.units : sum), 0n);
}

/** The first block after which more than `base` is missing, and how much more; null if no node knows it. */
async function search(
  caller: EvmCaller,
  { deposit: { address }, flow, token }: Searched,
  base: bigint,
  head: number,
  heights: ReadonlySet<number>,
): Promise<{ readonly height: number; readonly units: bigint } | null> {
  const missingAt = async (at: number): Promise<bigint> =>
    sumUpTo(flow, at) - (await caller.balanceAt(address, token, at)) - base;
  try {
    // A sweep mostly empties many deposits at once.
    for (const height of heights) {
      const units = await missingAt(height);
      if (units > 0n && (await missingAt(height - 1)) <= 0n) return { height, units };
    }
    let upper = head;
    let step = 1;
    let lower = Math.max(0, upper - step);
    while (lower > 0 && (await missingAt(lower)) > 0n) {
      upper = lower;
      step *= 2;
      lower = Math.max(0, upper - step);
    }
    while (upper - lower > 1) {
      const middle = Math.floor((upper + lower) / 2);
      if ((await missingAt(middle)) > 0n) upper = middle;
      else lower = middle;
    }
    const units = await missingAt(upper);
    return units > 0n ? { height: upper, units } : null;
  } catch {
    // Only archive nodes know what lay there long ago.
    return null;
  }
}

async function transactionIn(
  { caller }: SweepChain,
  { deposit, token }: Searched,
  height: number,
  blockAt: (height: number) => ReturnType<EvmCaller['block']>,
): Promise<string | null> {
  const { treasury, index, address } = deposit;
  const factory = factoryOf(treasury, index, address)?.address.toLowerCase();
  const call = (await blockAt(height))?.transactions.find(({ to, data }) => {
    const sweep = to === factory ? parseSweep(data) : null;
    return sweep?.treasury === treasury.toLowerCase() && sweep.indexes.includes(index);
  });
  if (call !== undefined) return call.hash;
  return token === null ? null : ((await caller.takenBy(address, token, height))[0] ?? null);
}
