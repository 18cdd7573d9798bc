import type { AssetCode, Network } from '../../domain/asset.ts';
import type { ChainBlock, ChainSource, ChainTransfer, RailLog } from '../chain.ts';
import {
  decodeAddress,
  decodeArray,
  decodeHash,
  decodeNumber,
  decodeObject,
  decodeQuantity,
  encodeNumber,
  MalformedAnswerError,
} from './decode.ts';
import { createEvmNode, MethodMissingError } from './node.ts';
import { createEvmPool, type EvmPool } from './pool.ts';

/** Up to so many matched transactions, asking for each one's receipt moves less data than the receipts of a whole block. */
const MAX_SINGLE_RECEIPTS = 4;
/** Calls under way at once when receipts must be asked for one by one. */
const RECEIPT_CONCURRENCY = 16;

export interface EvmSourceOptions {
  readonly network: Network;
  /** The network's native asset. */
  readonly asset: AssetCode;
  /** JSON-RPC over HTTP, in the order of preference; credentials may be inside. At least one. */
  readonly urls: readonly string[];
  /** The chain that the nodes must be on (EIP-155). Undefined: whichever the first one to answer is on. */
  readonly chainId?: number | undefined;
  /** For one call to one node, body included; a method may make several calls, each to every node in turn. */
  readonly timeoutMs: number;
  readonly log: RailLog;
}

/**
 * Native transfers of an EVM network as its nodes show them: what transactions carry to an address. Value that a contract passes on
 * within a transaction is not in the block and not seen here. Nothing is asked, and viem not loaded, before the first call.
 * Throws RangeError when a URL is not usable.
 */
export function createEvmSource({ network, asset, urls, chainId, timeoutMs, log }: EvmSourceOptions): ChainSource {
  if (urls.length === 0) throw new RangeError(`${network} needs the URL of at least one node`);
  const nodes = urls.map((url) => createEvmNode(url, timeoutMs));
  const pool = createEvmPool({ network, nodes, chainId, log });
  const receiptsOf = createReceiptReader(pool);

  return {
    network,
    head: () => pool.ask('eth_getBlockByNumber', ['latest', false], decodeHead),
    block: (height) =>
      pool.ask('eth_getBlockByNumber', [encodeNumber(height), true], (answer) => decodeBlock(answer, height, asset)),
    settle: async (block, matched) => {
      const receipts = await receiptsOf(block, new Set(matched.map((transfer) => transfer.transactionHash)));
      return receipts && matched.filter((transfer) => receipts.get(transfer.transactionHash)?.succeeded);
    },
    checkIdentity: pool.checkIdentity,
  };
}

function decodeHead(answer: unknown): { height: number; hash: string } {
  const head = decodeObject(answer, 'the latest block');
  return { height: decodeNumber(head['number'], 'block.number'), hash: decodeHash(head['hash'], 'block.hash') };
}

function decodeBlock(answer: unknown, height: number, asset: AssetCode): ChainBlock | null {
  if (answer === null) return null;
  const block = decodeObject(answer, 'the block');
  if (decodeNumber(block['number'], 'block.number') !== height) {
    throw new MalformedAnswerError('block.number', 'the number asked for');
  }
  return {
    height,
    hash: decodeHash(block['hash'], 'block.hash'),
    parentHash: decodeHash(block['parentHash'], 'block.parentHash'),
    timeMs: decodeNumber(block['timestamp'], 'block.timestamp') * 1_000,
    transfers: decodeArray(block['transactions'], 'block.transactions').flatMap((transaction) => {
      const transfer = decodeTransfer(transaction, asset);
      return transfer ? [transfer] : [];
    }),
  };
}

/** Null: the transaction carries no value, or creates a contract. */
function decodeTransfer(answer: unknown, asset: AssetCode): ChainTransfer | null {
  const transaction = decodeObject(answer, 'transaction');
  const amount = decodeQuantity(transaction['value'], 'transaction.value');
  const to = transaction['to'] ?? null;
  if (amount === 0n || to === null) return null;
  return {
    transactionHash: decodeHash(transaction['hash'], 'transaction.hash'),
    index: 0,
    address: decodeAddress(to, 'transaction.to'),
    asset,
    amount,
  };
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
 * Reads the receipts of some of a block's transactions, by transaction hash: many of them with one `eth_getBlockReceipts`, as
 * long as the nodes offer it. Null: one of them is missing or in another block, so the block is not the node's any more.
 */
function createReceiptReader(pool: EvmPool): ReceiptReader {
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

function readBlockReceipts(pool: EvmPool, height: number): Promise<readonly Receipt[]> {
  return pool.ask('eth_getBlockReceipts', [encodeNumber(height)], (answer) =>
    decodeArray(answer ?? [], 'the receipts').map(decodeReceipt),
  );
}

async function readReceipts(pool: EvmPool, transactionHashes: readonly string[]): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  for (let start = 0; start < transactionHashes.length; start += RECEIPT_CONCURRENCY) {
    const some = transactionHashes.slice(start, start + RECEIPT_CONCURRENCY);
    const answers = await Promise.all(
      some.map((hash) =>
        pool.ask('eth_getTransactionReceipt', [hash], (answer) => (answer === null ? [] : [decodeReceipt(answer)])),
      ),
    );
    receipts.push(...answers.flat());
  }
  return receipts;
}

function decodeReceipt(answer: unknown): Receipt {
  const receipt = decodeObject(answer, 'receipt');
  return {
    transactionHash: decodeHash(receipt['transactionHash'], 'receipt.transactionHash'),
    blockHash: decodeHash(receipt['blockHash'], 'receipt.blockHash'),
    succeeded: decodeQuantity(receipt['status'], 'receipt.status') === 1n,
  };
}
