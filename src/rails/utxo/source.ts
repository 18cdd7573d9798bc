import type { AssetCode } from '../../domain/asset.ts';
import { ChainUnavailableError, type ChainBlock, type ChainSource, type Mempool, type RailLog } from '../chain.ts';
import { decodeArray, decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { createRpcNode, MethodMissingError, NodeError, type RpcNode, type RpcResult } from '../rpc/node.ts';
import { createRpcPool, type RpcPool } from '../rpc/pool.ts';
import { createUtxoDecoder, type UtxoDecoder } from './decode.ts';
import { chainWithGenesis, type UtxoParams } from './params.ts';

/** Blocks come ten minutes (Litecoin: two and a half) apart, and reach all nodes within seconds. */
const MAX_LAG_BLOCKS = 2;
/**
 * How much one batch of blocks is meant to bring: two full blocks of Bitcoin in hex. More saves no time worth naming, and
 * must come within the timeout from a node on a slow line.
 */
const BATCH_CHARACTERS = 8_000_000;
/** By how much a batch may have more blocks than the last, whose sizes say little about those that follow. */
const BATCH_GROWTH = 4;
/** A transaction that nodes relay has up to 800,000 characters: a batch can never exceed what is read of an answer. */
const TRANSACTIONS_PER_BATCH = 100;

/** Error codes of Bitcoin Core (`rpc/protocol.h`). */
const NOT_FOUND = -5;
const OUT_OF_RANGE = -8;

export interface UtxoSourceOptions {
  /** The chain that the nodes must be on. */
  readonly params: UtxoParams;
  /** The network's coin. */
  readonly asset: AssetCode;
  /** Bitcoin Core's JSON-RPC over HTTP, in the order of preference; credentials may be inside. At least one. */
  readonly urls: readonly string[];
  /** For one call to one node, body included; a method may make several calls, each to every node in turn. */
  readonly timeoutMs: number;
  readonly log: RailLog;
}

/**
 * Payments of Bitcoin or a coin of its kin as its nodes show them, in blocks and while they wait. The nodes need neither a
 * wallet nor a transaction index, and may be pruned as far as they have the blocks that are still to be read. Outputs without an
 * address (OP_RETURN, bare keys, MWEB) are no transfers; those that leave MWEB are. Nothing is asked before the first call.
 * Throws RangeError when a URL is not usable.
 */
export function createUtxoSource({ params, asset, urls, timeoutMs, log }: UtxoSourceOptions): ChainSource {
  const { network } = params;
  if (urls.length === 0) throw new RangeError(`${network} needs the URL of at least one node`);
  const pool = createRpcPool({
    network,
    nodes: urls.map((url) => createRpcNode(url, timeoutMs)),
    checkChain: (node) => checkGenesis(node, params),
    heightOf: async (node) => decodeHeight(await node.call('getblockcount', []), 'the newest height'),
    maxLagBlocks: MAX_LAG_BLOCKS,
    log,
  });
  const decoder = createUtxoDecoder(asset, params.address);
  const readBlocks = createBlockReader(pool, decoder);

  return {
    network,
    head: () => askOne(pool, 'getblockchaininfo', (result) => decodeHead(valueOf(result))),
    block: async (height) => (await readBlocks(height, await readHashes(pool, height, 1)))[0] ?? null,
    blocks: async (height, count) => {
      const newest = await askOne(pool, 'getblockcount', (result) =>
        decodeHeight(valueOf(result), 'the newest height'),
      );
      return readBlocks(height, await readHashes(pool, height, Math.min(count, newest - height + 1)));
    },
    settle: async (_block, matched) => matched,
    survey: () => pool.survey(),
    mempool: createMempool(pool, decoder),
    close: () => pool.close(),
  };
}

async function checkGenesis(node: RpcNode, { network, chain, genesisHash }: UtxoParams): Promise<void> {
  const setting = network.toUpperCase();
  let actualHash: string;
  try {
    actualHash = decodeHash(await node.call('getblockhash', [0]), 'the hash of block 0');
  } catch (fault) {
    if (!(fault instanceof MethodMissingError)) throw fault;
    throw new NodeError(`${fault.message}. Set ${setting}_RPC_URL to a node that offers Bitcoin Core's JSON-RPC.`);
  }
  if (actualHash === genesisHash) return;
  const actual = chainWithGenesis(actualHash);
  const where = actual ? `${actual.network}'s chain "${actual.chain}"` : `an unknown chain (block 0 is ${actualHash})`;
  const otherWay = actual?.network === network ? `, or ${setting}_CHAIN to ${actual.chain}` : '';
  throw new NodeError(
    `The node ${node.name} is on ${where}, but ${network}'s chain "${chain}" is expected. ` +
      `Set ${setting}_RPC_URL to a node of ${network}'s chain "${chain}"${otherWay}.`,
  );
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

type BlockReader = (height: number, hashes: readonly string[]) => Promise<readonly ChainBlock[]>;

/**
 * Reads blocks by their hashes, and ends before the first one that the node does not have or that does not follow on the
 * one before it: there the chain was reorganised between two calls. How many blocks are asked for at once follows their
 * size. A batch that failed, perhaps because it was too large or too slow to come, ends what was read before it; the next
 * one is of a single block, so that reading goes on as long as single blocks come through.
 */
function createBlockReader(pool: RpcPool, decoder: UtxoDecoder): BlockReader {
  let batchSize = 1;

  async function readBatch(height: number, hashes: readonly string[]): Promise<readonly ChainBlock[]> {
    batchSize = 1;
    const calls = hashes.map((hash) => ({ method: 'getblock', params: [hash, 0] }));
    let longest = 1;
    const blocks = await pool.askAll(calls, (results) => {
      const missing = results.findIndex((result) => result.kind === 'error' && result.code === NOT_FOUND);
      return (missing < 0 ? results : results.slice(0, missing)).map((result, i) => {
        const hex = valueOf(result);
        if (typeof hex === 'string') longest = Math.max(longest, hex.length);
        return decoder.block(hex, height + i, hashes[i] ?? '');
      });
    });
    batchSize = Math.max(1, Math.min(Math.floor(BATCH_CHARACTERS / longest), hashes.length * BATCH_GROWTH));
    return blocks;
  }

  return async (height, hashes) => {
    const blocks: ChainBlock[] = [];
    while (blocks.length < hashes.length) {
      const wanted = hashes.slice(blocks.length, blocks.length + batchSize);
      const batch = await readBatch(height + blocks.length, wanted).catch((fault: unknown) => {
        if (blocks.length > 0 && fault instanceof ChainUnavailableError) return [];
        throw fault;
      });
      for (const block of batch) {
        const before = blocks.at(-1);
        if (before && before.hash !== block.parentHash) return blocks;
        blocks.push(block);
      }
      if (batch.length < wanted.length) return blocks;
    }
    return blocks;
  };
}

function createMempool(pool: RpcPool, decoder: UtxoDecoder): Mempool {
  return {
    hashes: () => {
      const calls = ['getmempoolinfo', 'getrawmempool'].map((method) => ({ method, params: [] }));
      return pool.askAll(calls, ([info, hashes]) => {
        const isLoading = decodeObject(valueOf(info), 'the state of the mempool')['loaded'] === false;
        const waiting = decodeArray(valueOf(hashes), 'the mempool').map((hash) => decodeHash(hash, 'a hash'));
        return isLoading ? null : waiting;
      });
    },
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
  };
}

/** Sent as a batch of one, so that a node that lacks the method is one that failed: then another is asked. */
function askOne<T>(pool: RpcPool, method: string, decode: (result: RpcResult | undefined) => T): Promise<T> {
  return pool.askAll([{ method, params: [] }], ([result]) => decode(result));
}

/** What a call of a batch came to; its error is the node's fault. */
function valueOf(result: RpcResult | undefined): unknown {
  if (result?.kind === 'error') throw new NodeError(result.error.message, result.code);
  return result?.result;
}

function decodeHead(answer: unknown): { height: number; hash: string } {
  const head = decodeObject(answer, 'the state of the chain');
  return { height: decodeHeight(head['blocks'], 'blocks'), hash: decodeHash(head['bestblockhash'], 'bestblockhash') };
}

function decodeHeight(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(what, 'a height');
  }
  return value;
}

function decodeHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) {
    throw new MalformedAnswerError(what, '32 bytes of lowercase hex');
  }
  return value;
}
