import type { Network } from '../../domain/networks.ts';
import type { Problems } from '../../domain/problems.ts';
import type { NodeFailure } from '../chain.ts';
import { MalformedAnswerError } from './decode.ts';
import { NodeError, type RpcNode } from './node.ts';

export interface VerifiedNodesOptions {
  readonly network: Network;
  /**
   * Throws `NodeError`, with the way out, if the node is on another chain than expected, or if it is too early to tell.
   */
  readonly checkChain: (node: RpcNode) => Promise<void>;
  readonly problems: Problems;
}

/** Nodes whose chain is checked before any other call, and again after each failure. */
export interface VerifiedNodes {
  /** Runs `work` on a checked node. Throws the errors of `work` and of the check. */
  ask<T>(node: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T>;
  /** Like `ask`, after checking the node once more. */
  askAnew<T>(node: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T>;
  /** Reports a failure of the node; throws errors that are not the node's fault. */
  failed(node: RpcNode, method: string, fault: unknown): NodeFailure;
}

/** The subject of a node's problems. */
export function nodeSubject(network: Network, { name }: RpcNode): string {
  return `${network} node ${name}`;
}

export function createVerifiedNodes({ network, checkChain, problems }: VerifiedNodesOptions): VerifiedNodes {
  const verified = new Set<RpcNode>();

  async function check(node: RpcNode): Promise<void> {
    await checkChain(node);
    verified.add(node);
  }

  async function ask<T>(node: RpcNode, work: (node: RpcNode) => Promise<T>): Promise<T> {
    if (!verified.has(node)) await check(node);
    const answer = await work(node);
    problems.works(nodeSubject(network, node));
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
      problems.failed(nodeSubject(network, node), failure.reason, { network, node: node.name, method });
      return failure;
    },
  };
}
