import type { AssetCode } from '../../domain/asset-code.ts';
import type { EvmNetwork } from '../../domain/networks.ts';
import type { Problems } from '../../domain/problems.ts';
import type { BlockHeader, ChainBlock, ChainSource, ChainTransfer, NativeBalances, Takers } from '../chain.ts';
import { decodeArray, decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { MethodMissingError } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';
import {
  decodeAddress,
  decodeHash,
  decodeNumber,
  decodeQuantity,
  encodeNumber,
  isQuantity,
  resultOf,
} from './decode.ts';
import { createNativeBalances } from './internal.ts';
import { createTokenReader, type TokenReader } from './logs.ts';
import { createEvmPool } from './pool.ts';
import { flushesIn, sweepsIn } from './sweep.ts';
import type { TokenContracts } from './tokens.ts';
import { locateTransactions } from './locate-transactions.ts';

/**
 * Up to this many matched transactions, reading each one's receipt transfers less data than the receipts of the whole
 * block.
 */
const MAX_SINGLE_RECEIPTS = 4;
/** The highest transaction type of Ethereum (EIP-7702). */
const LAST_ETHEREUM_TYPE = 4n;

export interface EvmSourceOptions {
  readonly network: EvmNetwork;
  /** The network's native asset; null: native coins are not read. */
  readonly nativeAsset: AssetCode | null;
  /** The contracts whose transfers are read, by asset. */
  readonly tokens: TokenContracts;
  /** JSON-RPC over HTTP, in order of preference; may contain credentials. At least one. */
  readonly urls: readonly string[];
  /** The chain that the nodes must be on (EIP-155). */
  readonly chainId: number;
  /** For one call to one node, including the body; a method may make several calls, each to every node in turn. */
  readonly timeoutMs: number;
  readonly problems: Problems;
}

export interface EvmSource extends ChainSource {
  /** Native coins transferred by contracts; null if native coins are not read. */
  readonly native: NativeBalances | null;
}

/**
 * The money on an EVM network as its nodes show it: the value that transactions carry to an address (index 0) and the
 * transfers that the configured tokens log (with the log's index). Native coins that a contract transfers within a
 * transaction are in neither; `native` finds them.
 *
 * `dropReverted` leaves out native transfers of reverted transactions. A reverted transaction leaves no logs, and a
 * trace shows only calls that were not reverted, so other transfers are returned as they are, without asking whether
 * the node still has the block.
 *
 * Nothing is sent before the first call. Throws RangeError if a URL is not usable.
 */
export function createEvmSource(options: EvmSourceOptions): EvmSource {
  const { network, nativeAsset, tokens, urls, chainId, timeoutMs, problems } = options;
  const pool = createEvmPool({ network, urls, chainId, timeoutMs, problems });
  const readBlocks = createBlockReader(pool, nativeAsset, createTokenReader(pool, network, tokens));
  const receiptsOf = createReceiptReader(pool);

  return {
    network,
    mempool: null,
    native: nativeAsset && createNativeBalances(pool, nativeAsset),
    head: () => pool.ask('eth_getBlockByNumber', ['latest', false], decodeHead),
    hashAt: async (height) => (await readHeader(pool, height))?.hash ?? null,
    header: (height) => readHeader(pool, height),
    block: async (height) => (await readBlocks(height, 1))[0] ?? null,
    blocks: readBlocks,
    dropReverted: async (block, matched) => {
      const isUncertain = ({ asset, index }: ChainTransfer): boolean => asset === nativeAsset && index === 0;
      const uncertain = new Set(matched.filter(isUncertain).map((transfer) => transfer.transactionHash));
      if (uncertain.size === 0) return matched;
      const receipts = await receiptsOf(block, uncertain);
      return (
        receipts &&
        matched.filter((transfer) => !isUncertain(transfer) || receipts.get(transfer.transactionHash)?.succeeded)
      );
    },
    locate: (hashes) => locateTransactions(pool, hashes),
    checkNodes: (withinMs) => pool.checkNodes(withinMs),
    close: () => pool.close(),
  };
}

function decodeHead(answer: unknown): { height: number; hash: string } {
  const head = decodeObject(answer, 'the latest block');
  return { height: decodeNumber(head['number'], 'block.number'), hash: decodeHash(head['hash'], 'block.hash') };
}

function readHeader(pool: RpcPool, height: number): Promise<BlockHeader | null> {
  const call = { method: 'eth_getBlockByNumber', params: [encodeNumber(height), false] };
  return pool.askAll([call], ([result]) => {
    const answer = resultOf(result);
    return answer === null ? null : decodeHeader(decodeObject(answer, 'the block'), height);
  });
}

function decodeHeader(block: Readonly<Record<string, unknown>>, height: number): BlockHeader {
  if (decodeNumber(block['number'], 'block.number') !== height) {
    throw new MalformedAnswerError('block.number', 'the requested number');
  }
  return {
    height,
    hash: decodeHash(block['hash'], 'block.hash'),
    timeMs: decodeNumber(block['timestamp'], 'block.timestamp') * 1_000,
  };
}

type BlockReader = (height: number, count: number) => Promise<readonly ChainBlock[]>;

/**
 * Reads consecutive blocks: all of them in one batch, then in another batch the logs of those that may contain any.
 * Ends early if the node has no more blocks, or if the chain was reorganised between the calls: at a block that does
 * not follow its predecessor, or whose logs the node does not have.
 */
function createBlockReader(pool: RpcPool, nativeAsset: AssetCode | null, tokenReader: TokenReader): BlockReader {
  return async (height, count) => {
    const calls = Array.from({ length: count }, (_, i) => ({
      method: 'eth_getBlockByNumber',
      params: [encodeNumber(height + i), nativeAsset !== null],
    }));
    if (calls.length === 0) return [];
    const shown = await pool.askAll(calls, (results) => {
      const blocks: ShownBlock[] = [];
      for (const [i, result] of results.entries()) {
        // A later block may be missing because the answer had no room for it: the next call starts with it.
        if (result.kind === 'error' && i > 0) break;
        const answer = resultOf(result);
        if (answer === null) break;
        const block = decodeBlock(answer, height + i, nativeAsset);
        if (i > 0 && block.parentHash !== blocks[i - 1]?.hash) break;
        blocks.push(block);
      }
      return blocks;
    });
    const withLogs = shown.filter(({ logsBloom }) => tokenReader.canHoldTransfers(logsBloom));
    const logged = await tokenReader.transfersOf(withLogs);
    const tokenTransfers = new Map(withLogs.map(({ hash }, i) => [hash, logged[i] ?? null] as const));
    const blocks: ChainBlock[] = [];
    for (const { logsBloom: _, ...block } of shown) {
      const transfers = tokenTransfers.has(block.hash) ? tokenTransfers.get(block.hash) : [];
      if (!transfers) break;
      blocks.push({ ...block, transfers: [...block.transfers, ...transfers] });
    }
    return blocks;
  };
}

/** A block with its native transfers only. */
type ShownBlock = ChainBlock & { readonly logsBloom: unknown };

function decodeBlock(answer: unknown, height: number, nativeAsset: AssetCode | null): ShownBlock {
  const block = decodeObject(answer, 'the block');
  const header = decodeHeader(block, height);
  const transactions = decodeArray(block['transactions'], 'block.transactions');
  return {
    ...header,
    parentHash: decodeHash(block['parentHash'], 'block.parentHash'),
    transfers: nativeAsset ? transactions.flatMap((transaction) => decodeTransfer(transaction, nativeAsset)) : [],
    ...(nativeAsset && { takers: decodeTakers(transactions) }),
    logsBloom: block['logsBloom'],
  };
}

function decodeTakers(transactions: readonly unknown[]): Takers {
  const decoded = transactions.map((transaction) => decodeObject(transaction, 'transaction'));
  // Not every transaction of a rollup has a sender.
  const senders = decoded.flatMap(({ from }) => (typeof from === 'string' ? [from.toLowerCase()] : []));
  const calls = decoded.flatMap(({ to, input }) =>
    typeof to === 'string' && typeof input === 'string' ? { to: to.toLowerCase(), input } : [],
  );
  return {
    senders: [...new Set(senders)],
    flushed: [...new Set(calls.flatMap(({ to, input }) => flushesIn(to, input)))],
    sweeps: calls.flatMap(({ input }) => sweepsIn(input)),
  };
}

/** Empty: the transaction carries no value, or creates a contract. */
function decodeTransfer(answer: unknown, asset: AssetCode): readonly ChainTransfer[] {
  const transaction = decodeObject(answer, 'transaction');
  const to = transaction['to'] ?? null;
  if (to === null || !(isQuantity(transaction['value']) || isOrdinary(transaction['type']))) return [];
  const amount = decodeQuantity(transaction['value'], 'transaction.value');
  if (amount === 0n) return [];
  return [
    {
      transactionHash: decodeHash(transaction['hash'], 'transaction.hash'),
      index: 0,
      address: decodeAddress(to, 'transaction.to'),
      asset,
      amount,
    },
  ];
}

/**
 * Whether a transaction must have the fields of Ethereum's transactions. Rollups add types (0x7e of OP chains, 0x64 to
 * 0x6a of Arbitrum), and not all of those carry a value.
 */
function isOrdinary(type: unknown): boolean {
  return type === undefined || (isQuantity(type) && BigInt(type) <= LAST_ETHEREUM_TYPE);
}

interface Receipt {
  readonly transactionHash: string;
  readonly blockHash: string;
  readonly succeeded: boolean;
}

type ReceiptReader = (
  block: ChainBlock,
  transactionHashes: ReadonlySet<string>,
) => Promise<ReadonlyMap<string, Receipt> | null>;

/**
 * Reads the receipts of some of a block's transactions, by hash: if there are many, with one `eth_getBlockReceipts` as
 * long as the nodes support it. Null: one of them is missing or in another block, so the node no longer has this block.
 */
function createReceiptReader(pool: RpcPool): ReceiptReader {
  let offersBlockReceipts = true;

  return async (block, transactionHashes) => {
    let receipts: readonly Receipt[] | null = null;
    if (offersBlockReceipts && transactionHashes.size > MAX_SINGLE_RECEIPTS) {
      try {
        receipts = await readBlockReceipts(pool, block.height);
      } catch (fault) {
        if (!(fault instanceof MethodMissingError)) throw fault;
        offersBlockReceipts = false;
      }
    }
    receipts ??= await readReceipts(pool, [...transactionHashes]);
    const inBlock = new Map(
      receipts
        .filter((receipt) => receipt.blockHash === block.hash)
        .map((receipt) => [receipt.transactionHash, receipt] as const),
    );
    return [...transactionHashes].every((hash) => inBlock.has(hash)) ? inBlock : null;
  };
}

function readBlockReceipts(pool: RpcPool, height: number): Promise<readonly Receipt[]> {
  return pool.ask('eth_getBlockReceipts', [encodeNumber(height)], (answer) =>
    decodeArray(answer ?? [], 'the receipts').map(decodeReceipt),
  );
}

function readReceipts(pool: RpcPool, transactionHashes: readonly string[]): Promise<readonly Receipt[]> {
  const calls = transactionHashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
  return pool.askAll(calls, (results) =>
    results.flatMap((result) => {
      const receipt = resultOf(result);
      return receipt === null ? [] : [decodeReceipt(receipt)];
    }),
  );
}

function decodeReceipt(answer: unknown): Receipt {
  const receipt = decodeObject(answer, 'receipt');
  return {
    transactionHash: decodeHash(receipt['transactionHash'], 'receipt.transactionHash'),
    blockHash: decodeHash(receipt['blockHash'], 'receipt.blockHash'),
    succeeded: decodeQuantity(receipt['status'], 'receipt.status') === 1n,
  };
}
