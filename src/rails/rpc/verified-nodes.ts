import type { Network } from '../../domain/networks.ts';
import type { Troubles } from '../../domain/trouble.ts';
import type { NodeFailure } from '../chain.ts';
import { MalformedAnswerError } from './decode.ts';
import { NodeError, type RpcNode } from './node.ts';

export interface VerifiedNodesOptions {
  readonly network: Network;
  /**
   * Throws `NodeError`, saying how to mend it, when the node is on another chain than the expected one, or it is too
   * early to tell.
   */
  readonly checkChain: (node: RpcNode) => Promise<void>;
  readonly troubles: Troubles;
}

/** Nodes that are asked for their chain before anything else, and again after each failure. */
export interface VerifiedNodes {
  /** What `work` asks the node. Throws what it throws, and what stands against the node. */
  ask<T>(node: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T>;
  /** The same, of a node that is asked for its chain once more, whatever it said before. */
  askAnew<T>(node: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T>;
  /** Reports a failure of the node; throws a fault that is not the node's. */
  failed(node: RpcNode, method: string, fault: unknown): NodeFailure;
}

/** How troubles name a node. */
export function nodeSubject(network: Network, { name }: RpcNode): string {
  return `${network} node ${name}`;
}

export function createVerifiedNodes({ network, checkChain, troubles }: VerifiedNodesOptions): VerifiedNodes {
  const verified = new Set<RpcNode>();

  async function check(node: RpcNode): Promise<void> {
    await checkChain(node);
    verified.add(node);
  }

  async function ask<T>(node: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T> {
    if (!verified.has(node)) await check(node);
    const answer = await work(node);
    troubles.works(nodeSubject(network, node));
    return answer;
  }

  return {
    ask,
    askAnew: async (node, work) => {
      await check(node);
      return ask(node, work);
    },
    failed: (node, method, fault) => {
      if (!(fault instanceof NodeError || fault instanceof MalformedAnswerError)) throw fault;
      verified.delete(node);
      const failure = { node: node.name, reason: fault.message };
      troubles.failed(nodeSubject(network, node), failure.reason, { network, node: node.name, method });
      return failure;
    },
  };
}
