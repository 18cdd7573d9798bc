import type { AssetCode } from '../../domain/asset-code.ts';
import { settingOf, type Network } from '../../domain/networks.ts';
import type { MempoolDoubt } from '../../domain/till.ts';
import { ChainUnavailableError, type BlockHeader, type ChainBlock, type ChainSource, type Mempool } from '../chain.ts';
import { decodeArray, decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { NodeError, type RpcResult } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';
import { createUtxoDecoder, type UtxoDecoder } from './decode.ts';
import type { UtxoParams } from './params.ts';
import { decodeProgress, PROGRESS_CALL, readContact, stateOf } from './node-state.ts';
import { createUtxoPool, decodeHash, decodeHeight, OUT_OF_RANGE } from './pool.ts';
import { createSpendingWatch } from './spending.ts';
import type { Problems } from '../../domain/problems.ts';

/**
 * The intended size of one batch of blocks: two full Bitcoin blocks in hex. Larger batches save hardly any time, and
 * must arrive within the timeout from a node on a slow line.
 */
const BATCH_CHARACTERS = 8_000_000;
/** A node works on several batches at once, on at least as many threads as it has for RPC by default. */
const PARALLEL_BATCHES = 4;
/** How many times more blocks a batch may have than the last one, whose sizes say little about later blocks. */
const BATCH_GROWTH = 4;
/**
 * A transaction that nodes relay has up to 800,000 characters, so such a batch never exceeds the limit of an answer.
 */
const TRANSACTIONS_PER_BATCH = 100;

/** Bitcoin's usual number of blocks in an hour, the target of the fee that a transaction is compared with. */
const BLOCKS_OF_AN_HOUR = 6;

/** Error codes of Bitcoin Core (`rpc/protocol.h`). */
const NOT_FOUND = -5;
const MISC_ERROR = -1;

export interface UtxoSourceOptions {
  /** The chain that the nodes must be on. */
  readonly params: UtxoParams;
  /** The network's coin. */
  readonly asset: AssetCode;
  /** Bitcoin Core's JSON-RPC over HTTP, in order of preference; may contain credentials. At least one. */
  readonly urls: readonly string[];
  /** The nodes' cookie file, for URLs without credentials; null or unset if there is none. */
  readonly cookieFile?: string | null;
  /** For one call to one node, including the body; a method may make several calls, each to every node in turn. */
  readonly timeoutMs: number;
  readonly problems: Problems;
}

/**
 * Payments in a coin of the UTXO family as its nodes show them, in blocks and in the mempool. The nodes need neither a
 * wallet nor a transaction index, and may be pruned as long as they have the blocks that are still to be read. Outputs
 * without an address (OP_RETURN, bare keys, MWEB) are not transfers; those that leave MWEB are. Nothing is sent before
 * the first call. Throws RangeError if a URL is not usable.
 */
export function createUtxoSource({ params, asset, ...access }: UtxoSourceOptions): ChainSource {
  const { network } = params;
  const pool = createUtxoPool({ params, ...access });
  const decoder = createUtxoDecoder(asset, params.address);
  const readBlocks = createBlockReader(pool, decoder, network);

  return {
    network,
    head: () => askOne(pool, 'getblockchaininfo', (result) => decodeHead(valueOf(result))),
    hashAt: async (height) => (await readHashes(pool, height, 1))[0] ?? null,
    header: async (height) => {
      const [hash] = await readHashes(pool, height, 1);
      return hash === undefined ? null : readHeader(pool, height, hash);
    },
    block: async (height) => (await readBlocks(height, await readHashes(pool, height, 1)))[0] ?? null,
    blocks: async (height, count) => {
      const newest = await askOne(pool, 'getblockcount', (result) =>
        decodeHeight(valueOf(result), 'the newest height'),
      );
      return readBlocks(height, await readHashes(pool, height, Math.min(count, newest - height + 1)));
    },
    dropReverted: async (_block, matched) => matched,
    checkNodes: (withinMs) => pool.checkNodes(withinMs),
    mempool: createMempool(pool, decoder, params),
    spending: createSpendingWatch(pool, decoder, params),
    close: () => pool.close(),
  };
}

/** The hashes of `count` blocks from `height` on, as far as the node has them. */
function readHashes(pool: RpcPool, height: number, count: number): Promise<readonly string[]> {
  if (count <= 0) return Promise.resolve([]);
  const calls = Array.from({ length: count }, (_, i) => ({ method: 'getblockhash', params: [height + i] }));
  return pool.askAll(calls, (results) => {
    const missing = results.findIndex((result) => result.kind === 'error' && result.code === OUT_OF_RANGE);
    const present = missing < 0 ? results : results.slice(0, missing);
    return present.map((result) => decodeHash(valueOf(result), 'a block hash'));
  });
}

/** Null: the block was reorganised away, or the node that answers never had it. */
function readHeader(pool: RpcPool, height: number, hash: string): Promise<BlockHeader | null> {
  return pool.askAll([{ method: 'getblockheader', params: [hash] }], ([result]) => {
    if (result?.kind === 'error' && result.code === NOT_FOUND) return null;
    const header = decodeObject(valueOf(result), 'the header of a block');
    const seconds = header['time'];
    if (typeof seconds !== 'number' || !Number.isSafeInteger(seconds) || seconds < 0) {
      throw new MalformedAnswerError('time', 'a time in seconds');
    }
    return { height, hash, timeMs: seconds * 1_000 };
  });
}

type BlockReader = (height: number, hashes: readonly string[]) => Promise<readonly ChainBlock[]>;

/**
 * Reads blocks by hash, and ends before the first one that the node does not have or that does not follow its
 * predecessor: the chain was reorganised between two calls. The number of blocks per batch depends on their size. A
 * batch that failed, perhaps because it was too large or too slow, ends the result before it; the next batch is a
 * single block, so that reading continues as long as single blocks get through.
 */
function createBlockReader(pool: RpcPool, decoder: UtxoDecoder, network: Network): BlockReader {
  let batchSize = 1;

  async function readBatches(height: number, hashes: readonly string[], size: number): Promise<readonly ChainBlock[]> {
    const starts = Array.from({ length: Math.ceil(hashes.length / size) }, (_, i) => i * size);
    const batches = await Promise.all(
      starts.map((start) => readBatch(pool, decoder, network, height + start, hashes.slice(start, start + size))),
    );
    const longest = Math.max(...batches.map((batch) => batch.longest));
    batchSize = Math.max(1, Math.min(Math.floor(BATCH_CHARACTERS / longest), size * BATCH_GROWTH));
    return batches.flatMap((batch) => batch.blocks);
  }

  return async (height, hashes) => {
    const blocks: ChainBlock[] = [];
    while (blocks.length < hashes.length) {
      const size = Math.min(batchSize, Math.ceil((hashes.length - blocks.length) / PARALLEL_BATCHES));
      const batch = hashes.slice(blocks.length, blocks.length + (batchSize === 1 ? 1 : size * PARALLEL_BATCHES));
      batchSize = 1;
      const read = await readBatches(height + blocks.length, batch, size).catch((fault: unknown) => {
        if (blocks.length > 0 && fault instanceof ChainUnavailableError) return [];
        throw fault;
      });
      for (const block of read) {
        const before = blocks.at(-1);
        if (before && before.hash !== block.parentHash) return blocks;
        blocks.push(block);
      }
      if (read.length < batch.length) return blocks;
    }
    return blocks;
  };
}

interface BlockBatch {
  readonly blocks: readonly ChainBlock[];
  /** Characters of the largest block. */
  readonly longest: number;
}

function readBatch(
  pool: RpcPool,
  decoder: UtxoDecoder,
  network: Network,
  height: number,
  hashes: readonly string[],
): Promise<BlockBatch> {
  const calls = hashes.map((hash) => ({ method: 'getblock', params: [hash, 0] }));
  return pool.askAll(calls, (results) => {
    const missing = results.findIndex((result) => result.kind === 'error' && result.code === NOT_FOUND);
    const present = (missing < 0 ? results : results.slice(0, missing)).map((result, i) => {
      if (isPruned(result)) throw prunedError(network, height + i, result.error);
      return valueOf(result);
    });
    return {
      blocks: present.map((hex, i) => decoder.block(hex, height + i, hashes[i] ?? '')),
      longest: Math.max(1, ...present.map((hex) => (typeof hex === 'string' ? hex.length : 0))),
    };
  });
}

/** Only for pruned blocks: a block that is not loaded yet has the same code, and arrives later. */
function isPruned(result: RpcResult): result is Extract<RpcResult, { kind: 'error' }> {
  return result.kind === 'error' && result.code === MISC_ERROR && /pruned/i.test(result.error.message);
}

function prunedError(network: Network, height: number, { message, code }: NodeError): NodeError {
  return new NodeError(
    `it has pruned block ${height} (${message}). ` +
      `Add a node that still has block ${height}, such as one that is not pruned, to ${settingOf(network, 'RPC_URL')}`,
    code,
  );
}

function createMempool(pool: RpcPool, decoder: UtxoDecoder, params: UtxoParams): Mempool {
  return {
    waiting: () =>
      pool.askOneNode('getrawmempool', async (node) => {
        const calls = ['getmempoolinfo', 'getrawmempool'].map((method) => ({ method, params: [] }));
        // One batch, so that conclusions hold for the moment at which the list was made.
        const [info, list, progress] = await node.callAll([...calls, PROGRESS_CALL]);
        const isLoading = decodeObject(valueOf(info), 'the state of the mempool')['loaded'] === false;
        const hashes = decodeArray(valueOf(list), 'the mempool').map((hash) => decodeHash(hash, 'a hash'));
        if (isLoading) return null;
        const { proof } = stateOf(params, decodeProgress(valueOf(progress)), await readContact(node));
        return { hashes, proof };
      }),
    transfersOf: async (hashes) => {
      const transfers = [];
      for (let start = 0; start < hashes.length; start += TRANSACTIONS_PER_BATCH) {
        const some = hashes.slice(start, start + TRANSACTIONS_PER_BATCH);
        const calls = some.map((hash) => ({ method: 'getrawtransaction', params: [hash] }));
        const paid = await pool.askAll(calls, (results) =>
          results.flatMap((result, i) =>
            result.kind === 'error' && result.code === NOT_FOUND
              ? []
              : decoder.transfers(valueOf(result), some[i] ?? ''),
          ),
        );
        transfers.push(...paid);
      }
      return transfers;
    },
    doubtsOf: async (hashes) => {
      const calls = hashes.map((hash) => ({ method: 'getmempoolentry', params: [hash] }));
      const estimate = { method: 'estimatesmartfee', params: [BLOCKS_OF_AN_HOUR] };
      return pool.askAll([estimate, ...calls], ([fee, ...entries]) => {
        const usual = fee?.kind === 'ok' ? Object(fee.result).feerate : undefined;
        return new Map(
          entries.flatMap((entry, i) => {
            const doubt = doubtOf(entry, typeof usual === 'number' ? usual : 0);
            return doubt === null ? [] : [[hashes[i] ?? '', doubt] as const];
          }),
        );
      });
    },
  };
}

/**
 * The doubt about a waiting transaction. `usual` is the node's estimate, in coins per 1,000 virtual bytes; 0 if it has
 * none, as on a new chain. A transaction is mined with its unmined ancestors, so that their fees count too.
 */
function doubtOf(entry: RpcResult, usual: number): MempoolDoubt | null {
  const {
    vsize,
    ancestorsize,
    fees,
    'bip125-replaceable': isReplaceable,
  } = Object(entry.kind === 'ok' ? entry.result : null) as Readonly<Record<string, unknown>>;
  const { base, ancestor } = Object(fees) as Readonly<Record<string, unknown>>;
  const rates = [
    [base, vsize],
    [ancestor, ancestorsize],
  ].map(([fee, size]) => (Number(fee) * 1_000) / Number(size));
  if (typeof isReplaceable !== 'boolean' || rates.some(Number.isNaN)) return 'unknown';
  if (isReplaceable) return 'replaceable';
  return Math.min(...rates) < usual ? 'low_fee' : null;
}

/** Sent as a batch of one, so that a node without the method counts as failed and another one is asked. */
function askOne<T>(pool: RpcPool, method: string, decode: (result: RpcResult | undefined) => T): Promise<T> {
  return pool.askAll([{ method, params: [] }], ([result]) => decode(result));
}

/** The result of a call in a batch; its error counts as the node's fault. */
function valueOf(result: RpcResult | undefined): unknown {
  if (result?.kind === 'error') throw new NodeError(result.error.message, result.code);
  return result?.result;
}

function decodeHead(answer: unknown): { height: number; hash: string } {
  const head = decodeObject(answer, 'the state of the chain');
  return { height: decodeHeight(head['blocks'], 'blocks'), hash: decodeHash(head['bestblockhash'], 'bestblockhash') };
}
