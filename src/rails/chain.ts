import type { AssetCode } from '../domain/asset-code.ts';
import type { Network } from '../domain/networks.ts';
import type { MempoolDoubt } from '../domain/till.ts';

/**
 * A payment of an asset to an address, as one block shows it.
 *
 * `transactionHash`, `asset` and `index` together identify it within its network: a native EVM transfer has index 0,
 * which a token's log in the same transaction may have too.
 */
export interface ChainTransfer {
  /** In the network's own form: EVM `0x` and 64 lower-case hex digits, UTXO 64 lower-case hex digits. */
  readonly transactionHash: string;
  /** Output index, or log index of a token transfer; 0 for a native EVM transfer. */
  readonly index: number;
  /** In the form of `matchingAddress`, ready to be compared with watched addresses. */
  readonly address: string;
  readonly asset: AssetCode;
  /** In the asset's smallest unit; never 0. */
  readonly amount: bigint;
}

/** The data of a block that every node keeps forever, even after pruning. */
export interface BlockHeader extends BlockId {
  /** The block's timestamp in epoch milliseconds, as its miner wrote it. */
  readonly timeMs: number;
}

export interface ChainBlock extends BlockHeader {
  /** Differs from the saved hash of `height - 1` if the chain was reorganised. */
  readonly parentHash: string;
  readonly transfers: readonly ChainTransfer[];
  /** The addresses from which its transactions may take native coins; undefined where no balances are compared. */
  readonly takers?: Takers;
}

/** Transactions that may take native coins from an address, whether they succeeded or not. */
export interface Takers {
  /** The senders of the block's transactions, in lower case, each once. */
  readonly senders: readonly string[];
  /** Deposits that are called, directly or by a contract wallet, to pay their treasury; in lower case. */
  readonly flushed: readonly string[];
  /** Calls that sweep deposits, including those that a contract wallet makes. */
  readonly sweeps: readonly NamedDeposits[];
}

/** Deposits of a treasury (in lower case) that a call names. */
export interface NamedDeposits {
  readonly treasury: string;
  readonly indexes: readonly number[];
}

/**
 * One network as its nodes show it. Every method queries the nodes, and throws `ChainUnavailableError` if none of them
 * gives a usable answer within its timeout.
 *
 * A block is read in two steps, because an EVM block lists transactions whether they moved money or were reverted, and
 * telling them apart costs another call. `block` returns every transfer that the block *claims*; the caller selects
 * those to watched addresses; `dropReverted` then leaves out those of them that failed. Where blocks contain no failed
 * transactions (Bitcoin), `dropReverted` returns what it was given.
 */
export interface ChainSource {
  readonly network: Network;
  /** The newest block of the node that answers. */
  head(): Promise<BlockId>;
  /**
   * The hash of the block at `height` on the node's chain, or null if the node does not have that height. Pruned nodes
   * answer too, so code that compares blocks uses this and not `block`.
   */
  hashAt(height: number): Promise<string | null>;
  /** The header of the block at `height`, or null if the node does not have that height. Pruned nodes answer too. */
  header(height: number): Promise<BlockHeader | null>;
  /** The block at `height`, or null if the node does not have that height (yet, or any more). */
  block(height: number): Promise<ChainBlock | null>;
  /** The blocks from `height` on, in order, at most `count`: fewer, or none, if the node has no more. */
  blocks(height: number, count: number): Promise<readonly ChainBlock[]>;
  /**
   * The transfers among `matched` (transfers of `block`) that really moved money. Null: the node no longer has exactly
   * this block, or is behind the node that returned it; read the block again.
   */
  dropReverted(block: ChainBlock, matched: readonly ChainTransfer[]): Promise<readonly ChainTransfer[] | null>;
  /**
   * Asks every node which chain it is on and how far it is. A node on another chain is never used by the other methods,
   * and one that lags only if no other answers. Call this from time to time, because it also notices when another node
   * is behind the same URL. Never throws for a fault of a node. One that takes longer than `withinMs` has no height.
   */
  checkNodes(withinMs?: number): Promise<readonly NodeReport[]>;
  /** The data needed to spend outputs (the UTXO family); undefined or null elsewhere. */
  readonly spending?: SpendingWatch | null;
  /** Native coins transferred by contracts; undefined or null where a block lists all transfers. */
  readonly native?: NativeBalances | null;
  /** The places of transactions, according to all nodes; undefined where `mempool` shows them. */
  readonly locate?: (hashes: readonly string[]) => Promise<ReadonlyMap<string, TransactionLocation>>;
  /** Transactions that wait to be mined; null for networks whose transactions are only read from blocks. */
  readonly mempool: Mempool | null;
  close(): Promise<void>;
}

/** `nowhere`: no node knows it, or another transaction has replaced it. */
export type TransactionLocation =
  | { readonly kind: 'block'; readonly height: number }
  | { readonly kind: 'waiting' | 'nowhere' };

/** The data that must be saved while a chain is read, so that the outputs a wallet received can be spent later. */
export interface SpendingWatch {
  /** The change addresses of a wallet, by index from 0; null if it is unknown whether there are any. */
  changeOf(wallet: {
    readonly kind: 'xpub' | 'descriptor' | 'treasury';
    readonly text: string;
  }): ((index: number) => string) | null;
  /**
   * The transactions of these transfers, all in `block`, that are needed in full to spend them, by hash. Transactions
   * that no node has any more are left out.
   */
  wholeTransactions(block: BlockId, transfers: readonly ChainTransfer[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /**
   * The inputs of transactions in `block`, or of unmined ones if it is null: as `txid:vout`, by hash. Transactions that
   * no node has any more are left out.
   */
  inputsOf(block: BlockId | null, hashes: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /**
   * Hands a signed transaction, in hex, to a node, which relays it; a transaction that the node already has counts as
   * sent.
   */
  send(hex: string): Promise<SendOutcome>;
}

/** A node's answer to a transaction that it should relay; `reason` is in the node's own words. */
export type SendOutcome = { readonly kind: 'sent' } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Native coins beyond those carried by a block's transactions. Contracts (exchanges, Safe wallets) transfer them within
 * a transaction, which leaves no log and no entry in the block. They show in the balance, and are found by tracing.
 */
export interface NativeBalances {
  readonly asset: AssetCode;
  /**
   * The balances in wei after `block`, by address in lower case. Throws `ChainUnavailableError` if no node has the
   * state of exactly this block (any more).
   */
  balancesAt(addresses: readonly string[], block: BlockId): Promise<ReadonlyMap<string, bigint>>;
  /**
   * The payments of contracts within the transactions of `block` to these addresses (lower case). Such a transfer has
   * an index from 1,000,000 on, the same each time it is read. Reverted ones are already left out. Null: no node can
   * trace the block. Most hosted nodes do not trace, and a trace may take longer than the timeout, so nothing may
   * depend on it.
   */
  internalTransfers(block: BlockId, addresses: ReadonlySet<string>): Promise<readonly InternalTransfer[] | null>;
}

/** A transfer within a transaction. */
export interface InternalTransfer extends ChainTransfer {
  /** The payer, in lower case. */
  readonly from: string;
}

export interface BlockId {
  readonly height: number;
  readonly hash: string;
}

/** The mempool of the node that answers. */
export interface Mempool {
  /** All its transactions; null while the node has not loaded its mempool yet, so that nothing is known about it. */
  waiting(): Promise<WaitingTransactions | null>;
  /** The transfers of these transactions, without transactions that are gone meanwhile. */
  transfersOf(hashes: readonly string[]): Promise<readonly ChainTransfer[]>;
  /** Signs that these transactions may never be mined, by hash; those without a sign are left out. */
  doubtsOf(hashes: readonly string[]): Promise<ReadonlyMap<string, MempoolDoubt>>;
}

export interface WaitingTransactions {
  readonly hashes: readonly string[];
  /**
   * The conclusion when a transaction is not listed. `mempool`: the node has the newest block and receives
   * transactions, so a transaction that it lacks is waiting nowhere. `blocks`: the node accepts no transactions before
   * they are mined. `nothing`: it may have missed blocks, for example because it is still loading the chain or has no
   * peers.
   */
  readonly proof: 'mempool' | 'blocks' | 'nothing';
}

/** The state of one node of a network. */
export interface NodeReport {
  /** Scheme, host and port. */
  readonly node: string;
  /** Its newest block; null if it did not answer. */
  readonly height: number | null;
  /** The node's problem, fit for logs; null if there is none. */
  readonly problem: string | null;
}

/** Receiving addresses of one wallet, derived from its public key only. */
export interface WalletDeriver {
  /**
   * The receiving address with this index (0 to 2^31 - 1), in the form that customers see; convert it with
   * `matchingAddress` to watch it. Throws RangeError for any other index.
   */
  addressAt(index: number): string;
  /**
   * The permanent identity of the wallet; undefined: its address at index 0, which is the same for every form of its
   * source.
   */
  readonly identity?: string;
  /** The deriver of addresses that earlier versions handed out for the same indexes, if they differ. */
  readonly former?: WalletDeriver;
}

/** The failure of one node. Contains neither the credentials nor the path of its URL. */
export interface NodeFailure {
  /** Scheme, host and port. */
  readonly node: string;
  readonly reason: string;
}

/** No node of a network gave a usable answer. Safe to log: credentials were removed from every part of it. */
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
