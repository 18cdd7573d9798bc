import type { Network } from '../../domain/asset.ts';
import { ChainUnavailableError, type ChainSource, type NodeFailure, type RailLog } from '../chain.ts';
import { MalformedAnswerError } from './decode.ts';
import { MethodMissingError, NodeError, type EvmNode } from './node.ts';

/** Several nodes of one EVM network that answer as one. */
export interface EvmPool {
  /**
   * The decoded result of one JSON-RPC call from the first node that gives a usable one, beginning with the node that
   * answered last. A node is used once it has said that it is on the right chain, and asked again after each failure.
   * An answer that `decode` rejects with `MalformedAnswerError` is a failure of the node.
   * Throws `MethodMissingError` when a sound node does not offer the method, `ChainUnavailableError` when no node is usable.
   */
  ask<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<T>;
  readonly checkIdentity: ChainSource['checkIdentity'];
}

export interface EvmPoolOptions {
  readonly network: Network;
  /** In the order of preference; at least one. */
  readonly nodes: readonly EvmNode[];
  /** Undefined: the chain of the first node that answers; all others must be on the same one. */
  readonly chainId?: number | undefined;
  readonly log: RailLog;
}

export function createEvmPool({ network, nodes, chainId, log }: EvmPoolOptions): EvmPool {
  const verified = new Set<EvmNode>();
  let expected = chainId;
  let preferred = 0;

  async function verify(node: EvmNode): Promise<void> {
    const actual = await node.chainId();
    expected ??= actual;
    if (actual !== expected) throw new WrongChainError(network, node, actual, expected);
    verified.add(node);
  }

  function noteFailure(node: EvmNode, method: string, fault: unknown): NodeFailure {
    if (!(fault instanceof NodeError || fault instanceof MalformedAnswerError)) throw fault;
    verified.delete(node);
    const failure = { node: node.name, reason: fault.message };
    log.warn({ network, method, ...failure }, 'chain node failed');
    return failure;
  }

  async function ask<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<T> {
    const failures: NodeFailure[] = [];
    for (const node of [...nodes.slice(preferred), ...nodes.slice(0, preferred)]) {
      try {
        if (!verified.has(node)) await verify(node);
        const answer = decode(await node.call(method, params));
        preferred = nodes.indexOf(node);
        return answer;
      } catch (fault) {
        if (fault instanceof MethodMissingError) throw fault;
        failures.push(noteFailure(node, method, fault));
      }
    }
    throw new ChainUnavailableError(network, method, failures);
  }

  async function checkIdentity(): ReturnType<ChainSource['checkIdentity']> {
    const failures: NodeFailure[] = [];
    const wrong: string[] = [];
    // One after the other: without a given chain id the first answer decides what the others are held to.
    for (const node of nodes) {
      try {
        await verify(node);
      } catch (fault) {
        if (fault instanceof WrongChainError) wrong.push(fault.message);
        failures.push(noteFailure(node, 'eth_chainId', fault));
      }
    }
    if (wrong.length > 0) return { kind: 'wrong', message: wrong.join(' ') };
    if (failures.length === nodes.length) throw new ChainUnavailableError(network, 'eth_chainId', failures);
    return { kind: 'ok' };
  }

  return { ask, checkIdentity };
}

class WrongChainError extends NodeError {
  override readonly name = 'WrongChainError';

  constructor(network: Network, node: EvmNode, actual: number, expected: number) {
    const setting = network.toUpperCase();
    super(
      `The node ${node.name} is on chain ${actual}, but ${network} is expected to be chain ${expected}. ` +
        `Set ${setting}_RPC_URL to a node of chain ${expected}, or ${setting}_CHAIN_ID to ${actual}.`,
    );
  }
}
