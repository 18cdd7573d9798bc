import type { AssetCode } from '../../src/domain/asset-code.ts';
import type { Network } from '../../src/domain/networks.ts';
import type { ChainTransfer } from '../../src/rails/chain.ts';
import type { Random } from './random.ts';

/** A payment as its sender signs it. */
export interface SimTransaction {
  readonly hash: string;
  /** The coin that it spends: a chain holds at most one of two transactions with the same coin. */
  readonly coin: string;
  readonly outputs: readonly { readonly address: string; readonly asset: AssetCode; readonly amount: bigint }[];
}

/** A payment as a block lists it; `failed`: it was reverted and moved nothing. */
export interface SimTransfer extends ChainTransfer {
  readonly failed: boolean;
}

export interface SimBlock {
  readonly height: number;
  readonly hash: string;
  readonly parent: SimBlock | null;
  readonly timeMs: number;
  readonly transactions: readonly SimTransaction[];
  readonly transfers: readonly SimTransfer[];
}

/** The possible fates of a transaction whose block is taken back. */
const FATES = [
  [11, 'mined again'],
  [5, 'waits'],
  [2, 'lost'],
  [2, 'double-spent'],
] as const;

/** A chain as a tree of blocks, with the one branch that honest nodes agree on in the end. */
export interface SimChain {
  readonly network: Network;
  tip(): SimBlock;
  /** The block with this hash, on whatever branch; null when no node ever mined it. */
  blockOf(hash: string): SimBlock | null;
  /** The branch that ends in `tip`, each block at the index of its height. */
  path(tip: SimBlock): readonly SimBlock[];
  /** The transactions that wait to be mined on top of `tip`. */
  waiting(tip?: SimBlock): readonly SimTransaction[];
  /** Broadcasts a payment; one that waits with the same coin is replaced. */
  send(outputs: SimTransaction['outputs'], coin?: string): SimTransaction;
  /** Every node forgets a transaction that waits. */
  forget(transaction: SimTransaction): void;
  /** Mines blocks, the last one now; each waiting transaction is in the first with `percent` likelihood. */
  mine(now: number, count: number, percent: number): void;
  /** Replaces the last `depth` blocks by at least one more; `empty` leaves all their transactions waiting. */
  reorganise(now: number, depth: number, empty: boolean): void;
  /** Mines a branch that honest nodes abandon, with payments of its own; returns its end. */
  branchOff(now: number, depth: number, length: number, payments: readonly SimTransaction['outputs'][]): SimBlock;
}

export interface SimChainOptions {
  readonly network: Network;
  readonly family: 'utxo' | 'evm';
  readonly nativeAsset: AssetCode;
  readonly blockMs: number;
  /** Percentage of native EVM payments that are reverted. */
  readonly failing: number;
}

const paths = new WeakMap<SimBlock, readonly SimBlock[]>();

function pathTo(end: SimBlock): readonly SimBlock[] {
  const known = paths.get(end);
  if (known !== undefined) return known;
  const path: SimBlock[] = [];
  for (let block: SimBlock | null = end; block !== null; block = block.parent) path.push(block);
  path.reverse();
  paths.set(end, path);
  return path;
}

/** Every block that was ever mined. */
function createTree(options: SimChainOptions, random: Random, newHash: () => string) {
  const { family, blockMs } = options;
  const blocks = new Map<string, SimBlock>();
  const extend = (parent: SimBlock | null, timeMs: number, transactions: readonly SimTransaction[]): SimBlock => {
    const block: SimBlock = {
      height: parent === null ? 0 : parent.height + 1,
      hash: newHash(),
      parent,
      // EVM blocks are dated in order; in the UTXO family one may be dated before the one it follows.
      timeMs: family === 'evm' && parent !== null ? Math.max(timeMs, parent.timeMs + 1_000) : timeMs,
      transactions,
      transfers: transfersOf(options, transactions, random),
    };
    blocks.set(block.hash, block);
    return block;
  };
  const dated = (now: number): number => now - (now % 1_000) + (family === 'evm' ? 0 : random.between(-90, 90) * 1_000);
  return {
    blockOf: (hash: string): SimBlock | null => blocks.get(hash) ?? null,
    /** Mines one block with each of `contents`, the last one now, none before `from`. Without it a chain begins. */
    grow: (from: SimBlock | null, now: number, contents: readonly (readonly SimTransaction[])[]): SimBlock => {
      let tip = from;
      const earliest = from === null ? -Infinity : Math.min(from.timeMs, now);
      for (const [index, transactions] of contents.entries()) {
        const at = now - (contents.length - 1 - index) * blockMs;
        tip = extend(tip, dated(Math.max(at, earliest)), transactions);
      }
      if (tip === null) throw new RangeError('A chain begins with a block.');
      return tip;
    },
  };
}

/** The transactions that nodes know, in blocks or not. */
function createPool(newHash: () => string) {
  const known = new Map<string, SimTransaction>();
  const lost = new Set<string>();
  return {
    make: (outputs: SimTransaction['outputs'], coin = newHash()): SimTransaction => ({
      hash: newHash(),
      coin,
      outputs,
    }),
    send: (transaction: SimTransaction): SimTransaction => {
      for (const other of known.values()) if (other.coin === transaction.coin) lost.add(other.hash);
      known.set(transaction.hash, transaction);
      return transaction;
    },
    forget: ({ hash }: SimTransaction): void => void lost.add(hash),
    waiting: (end: SimBlock): readonly SimTransaction[] => {
      const spent = new Set(pathTo(end).flatMap((block) => block.transactions.map(({ coin }) => coin)));
      return [...known.values()].filter(({ hash, coin }) => !lost.has(hash) && !spent.has(coin));
    },
  };
}

/** Spreads transactions over blocks in another order. */
function spread(random: Random, transactions: readonly SimTransaction[], count: number) {
  const contents = Array.from({ length: count }, (): SimTransaction[] => []);
  for (const transaction of random.shuffled(transactions)) random.pick(contents).push(transaction);
  return contents;
}

/** A chain of `height` empty blocks on its first one, the last of them mined now. */
export function createSimChain(options: SimChainOptions, random: Random, now: number, height: number): SimChain {
  const newHash = (): string => (options.family === 'evm' ? '0x' : '') + random.bytes(32).toString('hex');
  const tree = createTree(options, random, newHash);
  const pool = createPool(newHash);
  const below = (end: SimBlock, depth: number): SimBlock => pathTo(end)[Math.max(0, end.height - depth)] ?? end;
  const empty = (count: number): readonly SimTransaction[][] => Array.from({ length: count }, () => []);
  let tip = tree.grow(null, now, empty(height + 1));

  return {
    network: options.network,
    tip: () => tip,
    blockOf: tree.blockOf,
    path: pathTo,
    waiting: (end = tip) => pool.waiting(end),
    send: (outputs, coin) => pool.send(pool.make(outputs, coin)),
    forget: pool.forget,
    mine: (now, count, percent) => {
      const first = random.shuffled(pool.waiting(tip)).filter(() => random.chance(percent));
      tip = tree.grow(tip, now, [first, ...empty(count - 1)]);
    },
    reorganise: (now, depth, isEmpty) => {
      const fork = below(tip, depth);
      const again: SimTransaction[] = [];
      const takenBack = pathTo(tip).slice(fork.height + 1);
      for (const transaction of takenBack.flatMap((block) => block.transactions)) {
        const fate = isEmpty ? 'waits' : random.weighted(FATES);
        if (fate === 'mined again') again.push(transaction);
        if (fate === 'lost') pool.forget(transaction);
        // The payer's other transaction: the same coin, paid back to themselves.
        if (fate === 'double-spent') again.push(pool.send(pool.make([], transaction.coin)));
      }
      tip = tree.grow(fork, now, spread(random, again, takenBack.length + random.between(1, 2)));
    },
    branchOff: (now, depth, length, payments) => {
      const fork = below(tip, depth);
      const theirs = pool.waiting(fork).filter(() => random.chance(50));
      const spent = new Set(theirs.map(({ coin }) => coin));
      const own = payments.map((outputs) => {
        // Half of them spend what an honest transaction spends too.
        const rivals = pool.waiting(fork).filter(({ coin }) => !spent.has(coin));
        const coin = random.chance(50) && rivals.length > 0 ? random.pick(rivals).coin : newHash();
        spent.add(coin);
        return pool.make(outputs, coin);
      });
      return tree.grow(fork, now, spread(random, [...theirs, ...own], length));
    },
  };
}

/**
 * The transfers that a block lists. UTXO family: the index is the number of the output. EVM: a transaction pays its own
 * coin to one address, index 0, whether it fails or not; tokens are numbered through the block, so that another block
 * numbers them anew.
 */
function transfersOf(
  { family, nativeAsset, failing }: SimChainOptions,
  transactions: readonly SimTransaction[],
  random: Random,
): readonly SimTransfer[] {
  const transfers: SimTransfer[] = [];
  let logs = 0;
  for (const { hash, outputs } of transactions) {
    const failed = family === 'evm' && random.chance(failing);
    for (const [number, { address, asset, amount }] of outputs.entries()) {
      const isToken = asset !== nativeAsset;
      if (failed && isToken) continue;
      const index = family === 'utxo' ? number : isToken ? logs++ : 0;
      if (amount > 0n) transfers.push({ transactionHash: hash, index, address, asset, amount, failed });
    }
  }
  return transfers;
}
