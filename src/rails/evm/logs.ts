import { keccak_256 } from '@noble/hashes/sha3.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { AssetCode } from '../../domain/asset-code.ts';
import { NETWORK_FACTS, type EvmNetwork } from '../../domain/networks.ts';
import type { BlockId, ChainTransfer } from '../chain.ts';
import { decodeArray, decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import type { RpcResult } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';
import { decodeAddress, decodeHash, decodeNumber, encodeNumber, isUnknownBlock, resultOf } from './decode.ts';
import type { TokenContracts } from './tokens.ts';

/**
 * keccak256 of `Transfer(address,address,uint256)`, the event of ERC-20 (and of ERC-721, which also indexes its third
 * argument).
 */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const INVALID_PARAMS_CODE = -32_602;

/** The token transfers in a block's logs; null: the node does not know the block (yet, or any more). */
export type TokenTransfers = readonly ChainTransfer[] | null;

export interface TokenReader {
  /** Whether a block with this `logsBloom` can contain transfers of the watched tokens. False is certain. */
  canHoldTransfers(logsBloom: unknown): boolean;
  /** The transfers of the watched tokens in exactly these blocks, in their order. */
  transfersOf(blocks: readonly BlockId[]): Promise<readonly TokenTransfers[]>;
}

/**
 * Reads the `Transfer` logs of a few known contracts.
 *
 * The value in the log counts. A token that keeps a fee of each transfer may log more than arrived; only contracts
 * configured by the operator are read, and the built-in ones log the amount that arrives (Tether can take a fee, and
 * logs it separately). The return value of a transfer call is not used, so Tether's missing return value does not
 * matter.
 */
export function createTokenReader(pool: RpcPool, network: EvmNetwork, tokens: TokenContracts): TokenReader {
  const { hasUnshownLogs } = NETWORK_FACTS[network];
  const assets = new Map([...tokens].map(([asset, { contract }]) => [contract.toLowerCase(), asset] as const));
  const filter = { address: [...assets.keys()], topics: [TRANSFER_TOPIC] };
  const topicBits = bloomBits(TRANSFER_TOPIC);
  const contractBits = filter.address.map(bloomBits);

  function readByHash(
    blocks: readonly BlockId[],
  ): Promise<readonly { readonly block: BlockId; readonly read: TokenTransfers | 'refused' }[]> {
    const calls = blocks.map(({ hash }) => ({ method: 'eth_getLogs', params: [{ ...filter, blockHash: hash }] }));
    return pool.askAll(calls, (results) =>
      blocks.map((block, position) => {
        const result = results[position];
        if (result && isUnknownBlock(result)) return { block, read: null };
        if (result && isRefusal(result)) return { block, read: 'refused' };
        return { block, read: decodeLogs(resultOf(result), block.hash, assets) };
      }),
    );
  }

  /**
   * For nodes without EIP-234. A range of heights names no block, so the node must show that its block there is still
   * the same.
   */
  function readByHeight({ height, hash }: BlockId): Promise<TokenTransfers> {
    const at = encodeNumber(height);
    const calls = [
      { method: 'eth_getLogs', params: [{ ...filter, fromBlock: at, toBlock: at }] },
      { method: 'eth_getBlockByNumber', params: [at, false] },
    ];
    return pool.askAll(calls, ([logs, block]) => {
      const shown = resultOf(block);
      if (shown === null || decodeHash(decodeObject(shown, 'the block')['hash'], 'block.hash') !== hash) return null;
      return decodeLogs(resultOf(logs), hash, assets);
    });
  }

  return {
    canHoldTransfers: (logsBloom) => {
      if (assets.size === 0) return false;
      const bloom = hasUnshownLogs ? null : readBloom(logsBloom);
      return bloom === null || (hasBits(bloom, topicBits) && contractBits.some((bits) => hasBits(bloom, bits)));
    },
    transfersOf: async (blocks) => {
      if (blocks.length === 0 || assets.size === 0) return blocks.map(() => []);
      const transfers: TokenTransfers[] = [];
      for (const { block, read } of await readByHash(blocks)) {
        transfers.push(read === 'refused' ? await readByHeight(block) : read);
      }
      return transfers;
    },
  };
}

/** The node does not support the filter's `blockHash`. */
function isRefusal(result: RpcResult): boolean {
  return result.kind === 'error' && (result.code === INVALID_PARAMS_CODE || /block_?hash/i.test(result.error.message));
}

function decodeLogs(
  answer: unknown,
  blockHash: string,
  assets: ReadonlyMap<string, AssetCode>,
): readonly ChainTransfer[] {
  return decodeArray(answer, 'the logs').flatMap((entry) => {
    const transfer = decodeLog(decodeObject(entry, 'log'), blockHash, assets);
    return transfer ? [transfer] : [];
  });
}

/**
 * Null for a log that is no payment: of zero, removed by a reorganisation (`removed`), or not in the form of ERC-20.
 * The contract chooses that form; if a wrong form counted as a fault of the node, one odd log would stop the chain
 * forever. The fields for which the node itself is responsible (block, transaction, index) must be right.
 */
function decodeLog(
  log: Readonly<Record<string, unknown>>,
  blockHash: string,
  assets: ReadonlyMap<string, AssetCode>,
): ChainTransfer | null {
  const asset = assets.get(decodeAddress(log['address'], 'log.address'));
  if (log['removed'] === true || asset === undefined) return null;
  if (decodeHash(log['blockHash'], 'log.blockHash') !== blockHash) {
    throw new MalformedAnswerError('log.blockHash', 'the requested block');
  }
  const [topic, , receiver, ...more] = decodeArray(log['topics'], 'log.topics');
  const { data } = log;
  if (topic !== TRANSFER_TOPIC || typeof receiver !== 'string' || more.length > 0) return null;
  if (!/^0x0{24}[0-9a-fA-F]{40}$/.test(receiver)) return null;
  if (typeof data !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(data)) return null;
  const amount = BigInt(data);
  if (amount === 0n) return null;
  return {
    transactionHash: decodeHash(log['transactionHash'], 'log.transactionHash'),
    index: decodeNumber(log['logIndex'], 'log.logIndex'),
    address: `0x${receiver.slice(-40).toLowerCase()}`,
    asset,
    amount,
  };
}

/** Null if there is no usable filter. Some rollups have none, or an empty one even for blocks with logs. */
function readBloom(logsBloom: unknown): Uint8Array | null {
  if (typeof logsBloom !== 'string' || !/^0x[0-9a-fA-F]{512}$/.test(logsBloom)) return null;
  const bloom = hexToBytes(logsBloom.slice(2));
  return bloom.every((byte) => byte === 0) ? null : bloom;
}

/** The three of 2,048 bits that the yellow paper (4.3.1) sets for an address or a topic. */
function bloomBits(hex: string): readonly number[] {
  const hash = keccak_256(hexToBytes(hex.slice(2)));
  const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength);
  return [0, 2, 4].map((offset) => view.getUint16(offset) % 2_048);
}

function hasBits(bloom: Uint8Array, bits: readonly number[]): boolean {
  return bits.every((bit) => ((bloom[bloom.length - 1 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1);
}
