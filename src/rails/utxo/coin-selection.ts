import { divCeil } from '../../domain/money.ts';
import type { WalletOutput } from './output.ts';
import type { UtxoNetwork } from '../../domain/networks.ts';
import { dustUnits, transactionVsize } from './transaction-size.ts';

/** An output to spend, in the smallest units. */
export interface Coin {
  readonly amountUnits: bigint;
  /**
   * `held`: reserved when this payout was shown before, so it is spent whatever it costs: two transactions that pay the
   * same refund must never both be valid. `first`: preferred. `free`: used as needed.
   */
  readonly use: 'held' | 'first' | 'free';
}

export interface Payout {
  readonly network: UtxoNetwork;
  /** The sum of the payments to all `payScripts`. */
  readonly payUnits: bigint;
  /** One output each. */
  readonly payScripts: readonly Uint8Array[];
  /** The change output. All inputs have its form, which determines what an input adds to the transaction's size. */
  readonly change: WalletOutput;
  /** Fee per 1,000 virtual bytes. */
  readonly feeUnitsPerKvb: bigint;
}

export type Funding =
  /** `changeUnits` 0: the change would have been dust and is part of the fee. */
  | { readonly kind: 'ok'; readonly feeUnits: bigint; readonly changeUnits: bigint }
  | { readonly kind: 'short'; readonly missingUnits: bigint };

export type Selection<C extends Coin> =
  | { readonly kind: 'ok'; readonly coins: readonly C[] }
  | { readonly kind: 'short'; readonly missingUnits: bigint }
  /** The payout would need more inputs than nodes relay in one transaction. */
  | { readonly kind: 'too_large'; readonly coinCount: number };

/** `MAX_STANDARD_TX_WEIGHT` of Bitcoin Core and Litecoin Core, in virtual bytes. */
const MAX_VSIZE = 100_000;

/**
 * Chooses the inputs of a payout: first those reserved for it, then the preferred ones, then the smallest output that
 * is enough, or the largest ones until they are enough. An output worth less than the cost of spending it is not used.
 * Fails only if all outputs worth spending are not enough.
 */
export function selectCoins<C extends Coin>(payout: Payout, coins: readonly C[]): Selection<C> {
  const sizes = createSizes(payout);
  const descending = (a: C, b: C): number =>
    a.amountUnits < b.amountUnits ? 1 : a.amountUnits > b.amountUnits ? -1 : 0;
  const chosen = coins.filter(({ use }) => use === 'held');
  const worthy = coins.filter(({ use, amountUnits }) => use !== 'held' && amountUnits > sizes.costOfCoin);
  const first = worthy.filter(({ use }) => use === 'first').toSorted(descending);
  const free = worthy.filter(({ use }) => use === 'free').toSorted(descending);
  let total = chosen.reduce((sum, { amountUnits }) => sum + amountUnits, 0n);
  const take = (coin: C): void => {
    chosen.push(coin);
    total += coin.amountUnits;
  };
  const isEnough = (extra = 0n, more = 0): boolean =>
    chosen.length + more > 0 && fund(payout, sizes, chosen.length + more, total + extra).kind === 'ok';

  const smallestEnough = (): C | undefined => free.findLast(({ amountUnits }) => isEnough(amountUnits, 1));

  while (!isEnough()) {
    const next = first.shift() ?? (isEnough(free[0]?.amountUnits, 1) ? smallestEnough() : free.shift());
    if (next === undefined) break;
    take(next);
    if (sizes.vsize(chosen.length, true) > MAX_VSIZE) return { kind: 'too_large', coinCount: chosen.length };
  }
  const funding = fund(payout, sizes, chosen.length, total);
  return funding.kind === 'ok' ? { kind: 'ok', coins: chosen } : funding;
}

/** The fee and the change if all of these inputs are spent; the inputs may have different forms. */
export function fundingOf(
  payout: Payout,
  inputs: readonly { readonly amountUnits: bigint; readonly output: WalletOutput }[],
): Funding {
  const spent = inputs.map(({ output }) => output);
  const vsize = (_count: number, hasChange: boolean): number => transactionVsize(spent, scriptsOf(payout, hasChange));
  return fund(
    payout,
    { vsize },
    inputs.length,
    inputs.reduce((sum, { amountUnits }) => sum + amountUnits, 0n),
  );
}

interface Sizes {
  /** Virtual bytes of a transaction with this many inputs, with or without a change output. */
  readonly vsize: (inputs: number, hasChange: boolean) => number;
}

function createSizes(payout: Payout): Sizes & { readonly costOfCoin: bigint } {
  const vsize = (inputs: number, hasChange: boolean): number =>
    transactionVsize(
      Array.from({ length: inputs }, () => payout.change),
      scriptsOf(payout, hasChange),
    );
  // Weights are rounded up to bytes once per transaction: over four inputs, no fraction is left.
  const costOfCoin = divCeil(BigInt(vsize(5, false) - vsize(1, false)) * payout.feeUnitsPerKvb, 4_000n);
  return { vsize, costOfCoin };
}

function fund(
  { network, payUnits, change, feeUnitsPerKvb }: Payout,
  { vsize }: Sizes,
  count: number,
  total: bigint,
): Funding {
  const feeOf = (hasChange: boolean): bigint => divCeil(BigInt(vsize(count, hasChange)) * feeUnitsPerKvb, 1_000n);
  const left = total - payUnits;
  const feeWithChange = feeOf(true);
  if (left - feeWithChange >= dustUnits(network, change.script)) {
    return { kind: 'ok', feeUnits: feeWithChange, changeUnits: left - feeWithChange };
  }
  const fee = feeOf(false);
  return left >= fee ? { kind: 'ok', feeUnits: left, changeUnits: 0n } : { kind: 'short', missingUnits: fee - left };
}

function scriptsOf({ payScripts, change }: Payout, hasChange: boolean): readonly Uint8Array[] {
  return hasChange ? [...payScripts, change.script] : payScripts;
}
