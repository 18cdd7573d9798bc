import { NETWORK_FACTS, settingOf, type Network } from '../../domain/networks.ts';
import type { Problems } from '../../domain/problems.ts';
import { createRpcNode, NodeError, type RpcNode } from '../rpc/node.ts';
import { createRpcPool, type RpcPool } from '../rpc/pool.ts';
import { withAnyBatch } from '../rpc/batches.ts';
import { withPatience } from '../rpc/patience.ts';
import { decodeNumber } from './decode.ts';

/**
 * A node lags if it is further behind the best one than this and than a few blocks, because slow chains rarely make
 * one.
 */
const MAX_LAG_MS = 60_000;
const MIN_LAG_BLOCKS = 5;

export interface EvmPoolOptions {
  readonly network: Network;
  /** JSON-RPC over HTTP, in order of preference; may contain credentials. At least one. */
  readonly urls: readonly string[];
  /** The chain that the nodes must be on (EIP-155). */
  readonly chainId: number;
  /** For one call to one node, including the body. */
  readonly timeoutMs: number;
  readonly problems: Problems;
}

/** The nodes of one EVM network as one. Throws RangeError if a URL is not usable. */
export function createEvmPool({ network, urls, chainId, timeoutMs, problems }: EvmPoolOptions): RpcPool {
  if (urls.length === 0) throw new RangeError(`${network} needs the URL of at least one node`);
  return createRpcPool({
    network,
    nodes: urls.map((url) => withAnyBatch(withPatience(createRpcNode(url, timeoutMs), urls.length))),
    checkChain: (node) => checkChainId(node, network, chainId),
    stateOf: async (node) => ({
      height: decodeNumber(await node.call('eth_blockNumber', []), 'the newest height'),
      problem: null,
    }),
    maxLagBlocks: Math.max(MIN_LAG_BLOCKS, Math.ceil(MAX_LAG_MS / NETWORK_FACTS[network].blockMs)),
    problems,
  });
}

async function checkChainId(node: RpcNode, network: Network, expected: number): Promise<void> {
  const actual = decodeNumber(await node.call('eth_chainId', []), 'the chain id');
  if (actual === expected) return;
  throw new NodeError(
    `The node ${node.name} is on chain ${actual}, but ${network} is expected to be chain ${expected}. ` +
      `Set ${settingOf(network, 'RPC_URL')} to a node of chain ${expected}, or ${settingOf(network, 'CHAIN_ID')} to ${actual}.`,
  );
}
