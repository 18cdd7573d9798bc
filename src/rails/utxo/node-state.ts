import { settingOf } from '../../domain/networks.ts';
import type { WaitingTransactions } from '../chain.ts';
import { decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { MethodMissingError, NodeError, type RpcCall, type RpcNode, type RpcResult } from '../rpc/node.ts';
import type { UtxoParams } from './params.ts';

/** The node's report about itself, which decides what a missing transaction proves. */
export interface NodeState {
  readonly proof: WaitingTransactions['proof'];
  /** The node's problem and what to do, fit for logs; null if there is none. */
  readonly problem: string | null;
}

/** The progress of a node, from its `getblockchaininfo`. */
export interface Progress {
  readonly blocks: number;
  /** The height of its best header, as received from its peers. */
  readonly headers: number;
  readonly initialBlockDownload: boolean;
}

/** The node's connections, from its `getnetworkinfo` and `uptime`. */
export interface Contact {
  readonly connections: number;
  /** False with `-blocksonly`: the node receives no transactions from its peers. */
  readonly relaysTransactions: boolean;
  /** Null if the node does not say. */
  readonly upSeconds: number | null;
}

/**
 * `not_shown`: a hosted node that does not support the call; `refused`: the operator's own node, by `-rpcwhitelist`.
 */
export type ContactAnswer = Contact | 'not_shown' | 'refused';

/** A node that has just started has not received the blocks and transactions that it missed. */
const MIN_UP_SECONDS = 60;
/** Headers arrive a moment before their blocks. */
const MAX_BLOCKS_UNDER_WAY = 2;

/** The call whose answer `decodeProgress` decodes. */
export const PROGRESS_CALL: RpcCall = { method: 'getblockchaininfo', params: [] };

/** Throws MalformedAnswerError if it is not an answer of Bitcoin Core or Litecoin Core. */
export function decodeProgress(answer: unknown): Progress {
  const info = decodeObject(answer, 'the state of the chain');
  const initialBlockDownload = info['initialblockdownload'];
  if (typeof initialBlockDownload !== 'boolean')
    throw new MalformedAnswerError('initialblockdownload', 'true or false');
  return { blocks: count(info['blocks'], 'blocks'), headers: count(info['headers'], 'headers'), initialBlockDownload };
}

/** Asks a node about its connections. A node that does not answer is used anyway: payments that it shows exist. */
export async function readContact(node: RpcNode): Promise<ContactAnswer> {
  try {
    const [network, uptime] = await node.callAll([
      { method: 'getnetworkinfo', params: [] },
      { method: 'uptime', params: [] },
    ]);
    if (network?.kind === 'error') throw network.error;
    return decodeContact(network?.result, uptime);
  } catch (fault) {
    if (fault instanceof MethodMissingError) return 'not_shown';
    if (fault instanceof NodeError && fault.status === 403) return 'refused';
    throw fault;
  }
}

function decodeContact(network: unknown, uptime: RpcResult | undefined): Contact {
  const info = decodeObject(network, 'the state of the network');
  return {
    connections: count(info['connections'], 'connections'),
    relaysTransactions: info['localrelay'] !== false,
    // Negative if a test sets the node's clock.
    upSeconds: uptime?.kind === 'ok' && Number.isSafeInteger(uptime.result) ? Number(uptime.result) : null,
  };
}

/**
 * The proof that a missing transaction is at this node. On regtest nodes stand alone, so neither peers nor time to find
 * them are required.
 */
export function stateOf(
  { network, chain }: Pick<UtxoParams, 'network' | 'chain'>,
  { blocks, headers, initialBlockDownload }: Progress,
  contact: ContactAnswer,
): NodeState {
  const setting = settingOf(network, 'RPC_URL');
  const wait = `Wait until the node has the whole chain, or add a synchronised node to ${setting}`;
  const nothing = (problem: string | null): NodeState => ({ proof: 'nothing', problem });
  if (initialBlockDownload) {
    return nothing(
      `it is still loading the chain (initial block download, block ${blocks} of ${headers}), so no payment expires. ${chain === 'regtest' ? 'Mine a block' : wait}`,
    );
  }
  if (blocks < headers) {
    const isFarBehind = headers - blocks > MAX_BLOCKS_UNDER_WAY;
    return nothing(
      isFarBehind ? `it has read only ${blocks} of ${headers} blocks, so no payment expires. ${wait}` : null,
    );
  }
  if (contact === 'refused') {
    return nothing(
      'it rejects getnetworkinfo or uptime, so Cointill cannot tell whether the node receives payments, and no payment expires. Allow both calls in its -rpcwhitelist',
    );
  }
  if (contact !== 'not_shown' && chain !== 'regtest') {
    if (contact.connections === 0) {
      return nothing(
        `it is not connected to any other node, so it receives no payments, and no payment expires. Check its internet connection, or add a connected node to ${setting}`,
      );
    }
    if (contact.upSeconds !== null && contact.upSeconds < MIN_UP_SECONDS) return nothing(null);
  }
  if (contact !== 'not_shown' && !contact.relaysTransactions) {
    return {
      proof: 'blocks',
      problem:
        'it accepts no transactions (-blocksonly), so payments are detected only once they are mined. Start the node without this option',
    };
  }
  return { proof: 'mempool', problem: null };
}

function count(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MalformedAnswerError(what, 'a whole number');
  }
  return value;
}
