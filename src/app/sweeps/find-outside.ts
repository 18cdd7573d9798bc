import type { AssetCode } from '../../domain/asset-code.ts';
import { nativeAsset } from '../../domain/networks.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import type { EvmCaller } from '../../rails/evm/caller.ts';
import { factoryOf } from '../../rails/evm/deposit.ts';
import { flushesIn, sweepsIn } from '../../rails/evm/sweep.ts';
import type { DepositFlow } from '../../store/sweeps/deposit-balances.ts';
import type { PaidDeposit } from '../../store/wallets/issued-addresses.ts';
import { contractOf, type SweepChain } from './chain.ts';

/** Money that left a deposit without a known sweep. A deposit can pay only its treasury, so the money went there. */
export interface OutsideTaking {
  readonly deposit: PaidDeposit;
  readonly token: string | null;
  readonly asset: AssetCode;
  readonly units: bigint;
  /** Null: every node says that it no longer keeps the states between which the money left. */
  readonly height: number | null;
  /**
   * Null: the block is unknown, or the deposit was emptied through another contract and its transaction was not
   * identified.
   */
  readonly transactionHash: string | null;
}

/** The largest number of blocks with sweeps that one check searches for; the next check finds the rest. */
const MAX_SEARCHED = 50;

interface Searched {
  readonly deposit: PaidDeposit;
  readonly flow: DepositFlow;
  readonly token: string | null;
}

/**
 * The money missing on deposits after a block: arrivals, less what known sweeps took, less the balance. The block where
 * it left is searched by balances, from the newest backwards, because most nodes keep those of the last blocks only;
 * then the transaction is found by the calls and logs of that block. Deposits about which no node answers are left to
 * the next check.
 */
export async function findOutside(
  chain: SweepChain,
  height: number,
  deposits: readonly PaidDeposit[],
  flows: readonly DepositFlow[],
  balanceOf: (address: string, asset: AssetCode) => bigint,
): Promise<readonly OutsideTaking[]> {
  const byAddress = new Map(deposits.map((deposit) => [deposit.address, deposit]));
  const outside: OutsideTaking[] = [];
  const heights = new Set<number>();
  const caller = rememberingBlocks(chain.caller);
  for (const flow of flows) {
    const deposit = byAddress.get(flow.address);
    const token = contractOf(chain, flow.asset, nativeAsset(chain.network));
    if (deposit === undefined || token === undefined) continue;
    // A known sweep is in a block that this node does not have, or not any more: its deposits may have left in another
    // block.
    if (flow.steps.some((step) => step.units < 0n && step.height > height)) continue;
    const searched = { deposit, flow, token };
    let missing = sumUpTo(flow, height) - balanceOf(flow.address, flow.asset);
    let base = 0n;
    try {
      while (missing > 0n) {
        if (heights.size >= MAX_SEARCHED) return outside;
        const step = await search(chain.caller, searched, base, height, heights);
        const units = step === null || step.units > missing ? missing : step.units;
        const at = step?.height ?? null;
        if (at !== null) heights.add(at);
        const taking = { deposit, token, asset: flow.asset, height: at };
        const takers = at === null ? [] : await takersOf(caller, { ...deposit, token }, at);
        const isKnown = takers.reduce((sum, taker) => sum + (taker.units ?? 0n), 0n) === units;
        if (isKnown)
          outside.push(...takers.map((one) => ({ ...taking, units: one.units ?? 0n, transactionHash: one.hash })));
        else outside.push({ ...taking, units, transactionHash: takers[0]?.hash ?? null });
        missing -= units;
        base += units;
      }
    } catch (fault) {
      if (!(fault instanceof ChainUnavailableError)) throw fault;
    }
  }
  return outside;
}

function sumUpTo({ steps }: DepositFlow, height: number): bigint {
  return steps.reduce((sum, step) => (step.height <= height ? sum + step.units : sum), 0n);
}

/**
 * The first block after which more than `base` is missing, and how much more; null if every node says that it does not
 * keep the necessary states.
 */
async function search(
  caller: EvmCaller,
  { deposit: { address }, flow, token }: Searched,
  base: bigint,
  head: number,
  heights: ReadonlySet<number>,
): Promise<{ readonly height: number; readonly units: bigint } | null> {
  const missingAt = async (at: number): Promise<bigint | null> => {
    const most = sumUpTo(flow, at) - base;
    // Before the first arrival no balance is read: the token's contract may not have existed.
    if (most <= 0n) return most;
    const balance = await caller.balanceAt(address, token, at);
    return balance === null ? null : most - balance;
  };
  // A sweep mostly empties many deposits at once.
  for (const height of heights) {
    const units = await missingAt(height);
    const before = units !== null && units > 0n ? await missingAt(height - 1) : null;
    if (units !== null && before !== null && before <= 0n) return { height, units };
  }
  let upper = head;
  let step = 1;
  let lower = Math.max(0, upper - step);
  while (lower > 0) {
    const missing = await missingAt(lower);
    if (missing === null) return null;
    if (missing <= 0n) break;
    upper = lower;
    step *= 2;
    lower = Math.max(0, upper - step);
  }
  while (upper - lower > 1) {
    const middle = Math.floor((upper + lower) / 2);
    const missing = await missingAt(middle);
    if (missing === null) return null;
    if (missing > 0n) upper = middle;
    else lower = middle;
  }
  const units = await missingAt(upper);
  return units !== null && units > 0n ? { height: upper, units } : null;
}

/** A caller that asks for each block and each receipt once. */
export function rememberingBlocks(caller: EvmCaller): EvmCaller {
  return { ...caller, block: remembered(caller.block), receipt: remembered(caller.receipt) };
}

function remembered<Key, Answer>(ask: (key: Key) => Promise<Answer>): (key: Key) => Promise<Answer> {
  const known = new Map<Key, Promise<Answer>>();
  return (key) => {
    const answer = known.get(key) ?? ask(key);
    known.set(key, answer);
    return answer;
  };
}

/** A transaction that took money from a deposit. */
interface Taker {
  readonly hash: string;
  /** Null: unknown. */
  readonly units: bigint | null;
}

/**
 * The transactions of a block that took a token, or (null) the chain's own coin, from a deposit. They are found by the
 * token's logs; otherwise by the one successful call that names the deposit, to the deposit itself or the factory, also
 * through a contract wallet. If several calls or none match, a trace tells; without a trace the first is assumed.
 */
export async function takersOf(
  caller: Pick<EvmCaller, 'block' | 'receipt' | 'takenBy'>,
  from: Pick<PaidDeposit, 'address' | 'index' | 'treasury'> & { readonly token: string | null },
  height: number,
): Promise<readonly Taker[]> {
  const { treasury, index, address, token } = from;
  const logged = token === null ? [] : await caller.takenBy(address, token, height);
  if (logged !== null && logged.length > 0) return logged;
  const factory = factoryOf(treasury, index, address)?.address.toLowerCase();
  if (factory === undefined) return [];
  const isSweptBy = (data: string): boolean =>
    sweepsIn(data).some((sweep) => sweep.treasury === treasury.toLowerCase() && sweep.indexes.includes(index));
  const calls = (await caller.block(height))?.transactions.filter(
    ({ to, data }) =>
      flushesIn(to ?? '', data).includes(address.toLowerCase()) ||
      ((to === factory || data.includes(factory.slice(2))) && isSweptBy(data)),
  );
  const named: Taker[] = [];
  for (const { hash } of calls ?? []) {
    if ((await caller.receipt(hash))?.succeeded === true) named.push({ hash, units: null });
  }
  const traced = named.length === 1 || token !== null ? null : await caller.takenBy(address, token, height);
  return traced ?? named.slice(0, 1);
}
