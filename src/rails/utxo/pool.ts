import { settingOf } from '../../domain/networks.ts';
import type { Problems } from '../../domain/problems.ts';
import { decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { createRpcNode, MethodMissingError, NodeError, NodeLoadingError, type RpcNode } from '../rpc/node.ts';
import { withAnyBatch } from '../rpc/batches.ts';
import { withPatience } from '../rpc/patience.ts';
import { createRpcPool, type RpcPool } from '../rpc/pool.ts';
import { decodeProgress, PROGRESS_CALL, readContact, stateOf } from './node-state.ts';
import { chainWithGenesis, type UtxoParams } from './params.ts';

/** Blocks are ten minutes (Litecoin: two and a half) apart, and reach all nodes within seconds. */
const MAX_LAG_BLOCKS = 2;
/** Error code of Bitcoin Core (`rpc/protocol.h`) for a height that the node does not have. */
export const OUT_OF_RANGE = -8;

export interface UtxoPoolOptions {
  /** The chain that the nodes must be on. */
  readonly params: UtxoParams;
  /** Bitcoin Core's JSON-RPC over HTTP, in order of preference; may contain credentials. At least one. */
  readonly urls: readonly string[];
  /** The nodes' cookie file, for URLs without credentials; null or unset if there is none. */
  readonly cookieFile?: string | null;
  /** For one call to one node, including the body. */
  readonly timeoutMs: number;
  readonly problems: Problems;
}

/** The nodes of one chain of the UTXO family as one. Throws RangeError if a URL is not usable. */
export function createUtxoPool({ params, urls, cookieFile, timeoutMs, problems }: UtxoPoolOptions): RpcPool {
  const { network } = params;
  if (urls.length === 0) throw new RangeError(`${network} needs the URL of at least one node`);
  return createRpcPool({
    network,
    nodes: urls.map((url) => withAnyBatch(withPatience(createRpcNode(url, timeoutMs, cookieFile), urls.length))),
    checkChain: (node) => checkChain(node, params),
    stateOf: async (node) => {
      const height = decodeHeight(await node.call('getblockcount', []), 'the newest height');
      const progress = decodeProgress(await node.call(PROGRESS_CALL.method, PROGRESS_CALL.params));
      return { height, problem: stateOf(params, progress, await readContact(node)).problem };
    },
    maxLagBlocks: MAX_LAG_BLOCKS,
    problems,
  });
}

/** Checks that it is the expected chain: several chains start with the same block. */
async function checkChain(node: RpcNode, params: UtxoParams): Promise<void> {
  await checkGenesis(node, params);
  if (params.signetChallenge !== null) await checkSignet(node, params, params.signetChallenge);
  if (params.landmark !== null) await checkLandmark(node, params, params.landmark);
}

/** All signets share block 0. Nodes before Bitcoin Core 28 do not show their challenge, so their landmark decides. */
async function checkSignet(node: RpcNode, { network }: UtxoParams, expected: string): Promise<void> {
  const info = decodeObject(await node.call('getblockchaininfo', []), 'the state of the chain');
  const challenge = info['signet_challenge'];
  if (challenge === undefined || challenge === expected) return;
  throw new NodeError(
    `The node ${node.name} is on a custom signet (-signetchallenge), but the public one is expected. ` +
      `Set ${settingOf(network, 'RPC_URL')} to a node of the public signet.`,
  );
}

/** Pruned nodes keep the headers of old blocks too. */
async function checkLandmark(
  node: RpcNode,
  { network, chain }: UtxoParams,
  landmark: NonNullable<UtxoParams['landmark']>,
): Promise<void> {
  const setting = settingOf(network, 'RPC_URL');
  const [answer] = await node.callAll([{ method: 'getblockhash', params: [landmark.height] }]);
  if (answer?.kind === 'error' && answer.code === OUT_OF_RANGE) {
    throw new NodeLoadingError(
      `it is still loading the chain and has not reached block ${landmark.height} yet, which distinguishes ${network}'s chain "${chain}" from others ` +
        `that begin like it. Wait until the node has the whole chain, or add a synchronised node to ${setting}`,
      decodeHeight(await node.call('getblockcount', []), 'the newest height'),
    );
  }
  if (answer?.kind === 'error') throw answer.error;
  const hash = decodeHash(answer?.result, `the hash of block ${landmark.height}`);
  if (hash === landmark.hash) return;
  throw new NodeError(
    `The node ${node.name} is on another chain that only begins like ${network}'s chain "${chain}", such as a fork of it. ` +
      `Its block ${landmark.height} is ${hash}. Set ${setting} to a node of ${network}'s chain "${chain}".`,
  );
}

async function checkGenesis(node: RpcNode, { network, chain, genesisHash }: UtxoParams): Promise<void> {
  const setting = settingOf(network, 'RPC_URL');
  let actualHash: string;
  try {
    actualHash = decodeHash(await node.call('getblockhash', [0]), 'the hash of block 0');
  } catch (fault) {
    if (!(fault instanceof MethodMissingError)) throw fault;
    throw new NodeError(`${fault.message}. Set ${setting} to a node that offers Bitcoin Core's JSON-RPC.`);
  }
  if (actualHash === genesisHash) return;
  const actual = chainWithGenesis(actualHash);
  const where = actual ? `${actual.network}'s chain "${actual.chain}"` : `an unknown chain (block 0 is ${actualHash})`;
  const otherWay = actual?.network === network ? `, or ${settingOf(network, 'CHAIN')} to ${actual.chain}` : '';
  throw new NodeError(
    `The node ${node.name} is on ${where}, but ${network}'s chain "${chain}" is expected. ` +
      `Set ${setting} to a node of ${network}'s chain "${chain}"${otherWay}.`,
  );
}

export function decodeHeight(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(what, 'a height');
  }
  return value;
}

export function decodeHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !/^[0-9a-f]{64}$/.test(value)) {
    throw new MalformedAnswerError(what, '32 bytes of lowercase hex');
  }
  return value;
}
