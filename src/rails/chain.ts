import type { AssetCode } from '../domain/asset.ts';
import type { Network } from '../domain/networks.ts';

/**
 * A payment of an asset to an address, as one block shows it.
 *
 * `transactionHash`, `asset` and `index` together name it within its network: a native EVM transfer has index 0, and so
 * may a token's log in the same transaction.
 */
export interface ChainTransfer {
  /** As the network writes it: EVM `0x` and 64 lowercase hex digits, UTXO 64 lowercase hex digits. */
  readonly transactionHash: string;
  /** Output number, or log index of a token transfer; 0 for a native EVM transfer. */
  readonly index: number;
  /** In the form of `matchingAddress`, ready to be compared byte by byte with watched addresses. */
  readonly address: string;
  readonly asset: AssetCode;
  /** In the asset's smallest unit; never 0. */
  readonly amount: bigint;
}

/** What is known of a block for ever, on nodes too that have pruned it away. */
export interface BlockHeader extends BlockId {
  /** The block's own timestamp in epoch milliseconds, as its miner wrote it. */
  readonly timeMs: number;
}

export interface ChainBlock extends BlockHeader {
  /** Differs from the hash stored for `height - 1` when the chain was reorganised. */
  readonly parentHash: string;
  readonly transfers: readonly ChainTransfer[];
}

/**
 * One network as its nodes show it. Every method asks the nodes anew, and throws `ChainUnavailableError` when none of
 * them gives a usable answer within its timeout.
 *
 * A block is read in two steps, because on EVM chains a block lists a transaction whether it moved money or was
 * reverted, and telling them apart costs another call. `block` gives every transfer that the block *claims*; the caller
 * finds those to watched addresses; `dropReverted` then leaves out those of them that failed. Where a block holds no
 * failures (Bitcoin), `dropReverted` returns what it was given.
 */
export interface ChainSource {
  readonly network: Network;
  /** The newest block of the node that answers. */
  head(): Promise<BlockId>;
  /**
   * The hash of the block at `height` on the node's chain, or null: the node does not have that height. Pruned nodes
   * answer it too, so whatever compares blocks asks this and not `block`.
   */
  hashAt(height: number): Promise<string | null>;
  /** The header of the block at `height`, or null: the node does not have that height. Pruned nodes answer it too. */
  header(height: number): Promise<BlockHeader | null>;
  /** The block at `height`, or null: the node does not have that height (yet, or any more). */
  block(height: number): Promise<ChainBlock | null>;
  /** The blocks from `height` on, `count` at most and in order: fewer, or none, where the node has no more. */
  blocks(height: number, count: number): Promise<readonly ChainBlock[]>;
  /**
   * Those of `matched` (transfers of `block`) that really moved money. Null: the node no longer has exactly this block,
   * or lags behind the one that gave it; read the block again.
   */
  dropReverted(block: ChainBlock, matched: readonly ChainTransfer[]): Promise<readonly ChainTransfer[] | null>;
  /**
   * Asks every node which chain it is on and how far it has come. A node on another chain is never used for the other
   * methods and one that lags only when no other answers; a node that is exchanged behind the same URL is noticed here,
   * so call it from time to time. Never throws for a fault of a node.
   */
  checkNodes(): Promise<readonly NodeReport[]>;
  /** What spending takes where money is in outputs (the UTXO family); undefined or null elsewhere. */
  readonly spending?: SpendingWatch | null;
  /** What contracts pay natively; undefined or null where a block's transfers are all there is. */
  readonly native?: NativeBalances | null;
  /** Where transactions are, all nodes asked; undefined where `mempool` tells. */
  readonly locate?: (hashes: readonly string[]) => Promise<ReadonlyMap<string, TransactionLocation>>;
  /** Transactions that wait to be mined; null for networks whose transactions are only looked at in blocks. */
  readonly mempool: Mempool | null;
  close(): Promise<void>;
}

/** `nowhere`: no node knows it, or another transaction has taken its place. */
export type TransactionLocation =
  | { readonly kind: 'block'; readonly height: number }
  | { readonly kind: 'waiting' | 'nowhere' };

/** What has to be kept of a chain while it is read, so that what a wallet received can be spent later. */
export interface SpendingWatch {
  /** The addresses that a wallet's change goes to, numbered from 0; null where it is not known whether it has any. */
  changeOf(wallet: {
    readonly kind: 'xpub' | 'descriptor' | 'treasury';
    readonly text: string;
  }): ((index: number) => string) | null;
  /**
   * Those of the transactions of these transfers, all in `block`, that are needed whole to spend them, by their hashes.
   * One that no node has any more is left out.
   */
  wholeTransactions(block: BlockId, transfers: readonly ChainTransfer[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /**
   * What transactions in `block` spend, or that wait where it is null: as `txid:vout`, by their hashes. One that no
   * node has any more is left out.
   */
  inputsOf(block: BlockId | null, hashes: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
}

/**
 * Native money beyond what a block's transactions carry: what contracts (exchanges, Safe wallets) pass on within a
 * transaction leaves no log and is in no block. It is seen by the balance, and found by tracing.
 */
export interface NativeBalances {
  readonly asset: AssetCode;
  /**
   * The balances in wei after `block`, by address in lower case. Throws `ChainUnavailableError` when no node has the
   * state of exactly this block (any more).
   */
  balancesAt(addresses: readonly string[], block: BlockId): Promise<ReadonlyMap<string, bigint>>;
  /**
   * What contracts paid within the transactions of `block` to these addresses (lower case). Such a transfer has an
   * index from 1,000,000 on, the same each time it is read; it needs no settling, since what was reverted is left out.
   * Null: no node shows it. Most hosted nodes do not trace, and a trace may take longer than the timeout, so nothing
   * may wait for it.
   */
  internalTransfers(block: BlockId, addresses: ReadonlySet<string>): Promise<readonly ChainTransfer[] | null>;
}

export interface BlockId {
  readonly height: number;
  readonly hash: string;
}

/** The transactions that wait at the node that answers. */
export interface Mempool {
  /** All of them; null while the node has not loaded its mempool yet, so that nothing is known of it. */
  waiting(): Promise<WaitingTransactions | null>;
  /** What these transactions pay; those that are gone meanwhile are left out. */
  transfersOf(hashes: readonly string[]): Promise<readonly ChainTransfer[]>;
}

export interface WaitingTransactions {
  readonly hashes: readonly string[];
  /**
   * What may be concluded from what the node does not show. `mempool`: it has the newest block and hears of
   * transactions, so that what it lacks waits nowhere. `blocks`: it takes no transactions before they are mined.
   * `nothing`: it may have missed blocks, because it is still loading the chain, say, or is connected to nobody.
   */
  readonly proof: 'mempool' | 'blocks' | 'nothing';
}

/** How one node of a network is. */
export interface NodeReport {
  /** Scheme, host and port. */
  readonly node: string;
  /** Its newest block; null when it did not say. */
  readonly height: number | null;
  /** What is wrong with it, fit for logs; null when nothing is. */
  readonly problem: string | null;
}

/** Fresh receiving addresses of one wallet, derived from its public key alone. */
export interface WalletDeriver {
  /**
   * The receiving address number `index` (0 to 2^31 - 1), in the form in which customers are shown it; pass it through
   * `matchingAddress` for watching. Throws RangeError for any other index.
   */
  addressAt(index: number): string;
  /**
   * What the wallet is known by, for ever; undefined: its address at index 0, whatever form its source is written in.
   */
  readonly identity?: string;
  /**
   * The receiving addresses from number `from` on, `count` of them: the same as `addressAt` gives one by one. Each
   * costs a fraction of that where there are several.
   */
  addressesAt(from: number, count: number): readonly string[];
}

/** What went wrong with one node. Holds neither the credentials nor the path of its URL. */
export interface NodeFailure {
  /** Scheme, host and port. */
  readonly node: string;
  readonly reason: string;
}

/** No node of a network gave a usable answer. Safe to log: credentials were taken out of every part of it. */
export class ChainUnavailableError extends Error {
  override readonly name = 'ChainUnavailableError';
  readonly network: Network;
  readonly failures: readonly NodeFailure[];

  constructor(network: Network, method: string, failures: readonly NodeFailure[]) {
    const reasons = failures.map(({ node, reason }) => `${node}: ${reason}`).join('; ');
    super(`No ${network} node answered ${method}. ${reasons}`);
    this.network = network;
    this.failures = failures;
  }
}
