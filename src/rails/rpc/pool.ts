import type { Network } from '../../domain/networks.ts';
import type { Troubles } from '../../domain/trouble.ts';
import { ChainUnavailableError, type NodeFailure, type NodeReport } from '../chain.ts';
import { MalformedAnswerError } from './decode.ts';
import { MethodMissingError, NodeError, NodeLoadingError, type RpcCall, type RpcNode, type RpcResult } from './node.ts';

/** Several nodes of one network that answer as one. */
export interface RpcPool {
  /**
   * The decoded result of one JSON-RPC call from the first node with a usable answer, starting with the node that
   * answered last; nodes that lag or have problems come last. A node is used once it has confirmed to be on the right
   * chain, and is checked again after each failure. An answer that `decode` rejects with `MalformedAnswerError` counts
   * as a failure of the node. Throws `MethodMissingError` if no healthy node supports the method,
   * `ChainUnavailableError` if no node is usable.
   */
  ask<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<T>;
  /** The same for a batch that one node answers; `decode` says what the error of a single call means, or throws. */
  askAll<T>(calls: readonly RpcCall[], decode: (results: readonly RpcResult[]) => T): Promise<T>;
  /** The same for several calls that the same node must answer; `about` names them in messages. */
  askOneNode<T>(about: string, work: (node: RpcNode) => Promise<T>): Promise<T>;
  /** The same for every node: all usable answers. Throws `ChainUnavailableError` if there is none. */
  askEvery<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<readonly T[]>;
  /**
   * Asks every node which chain it is on and how far it is, and moves lagging ones to the end. Never throws for a fault
   * of a node.
   */
  readonly checkNodes: () => Promise<readonly NodeReport[]>;
  readonly close: () => Promise<void>;
}

export interface RpcPoolOptions {
  readonly network: Network;
  /** In order of preference; at least one. */
  readonly nodes: readonly RpcNode[];
  /**
   * Throws `NodeError`, with the way out, if the node is on another chain than expected, or if it is too early to say.
   */
  readonly checkChain: (node: RpcNode) => Promise<void>;
  /**
   * The height of the node's newest block, and what is wrong with the node, if anything: then it is used last, like one
   * that lags.
   */
  readonly stateOf: (node: RpcNode) => Promise<{ readonly height: number; readonly problem: string | null }>;
  /** A node that is more blocks than this behind the best one lags. */
  readonly maxLagBlocks: number;
  readonly troubles: Troubles;
}

// oxlint-disable-next-line max-lines-per-function -- All ways of asking share the state of the nodes.
export function createRpcPool({
  network,
  nodes,
  checkChain,
  stateOf,
  maxLagBlocks,
  troubles,
}: RpcPoolOptions): RpcPool {
  const verified = new Set<RpcNode>();
  const lagging = new Set<RpcNode>();
  let preferred = 0;

  const subjectOf = ({ name }: RpcNode): string => `${network} node ${name}`;

  function noteFailure(node: RpcNode, method: string, fault: unknown): NodeFailure {
    if (!(fault instanceof NodeError || fault instanceof MalformedAnswerError)) throw fault;
    verified.delete(node);
    const failure = { node: node.name, reason: fault.message };
    troubles.failed(subjectOf(node), failure.reason, { network, node: node.name, method });
    return failure;
  }

  function inOrder(): readonly RpcNode[] {
    const ring = [...nodes.slice(preferred), ...nodes.slice(0, preferred)];
    return [...ring.filter((node) => !lagging.has(node)), ...ring.filter((node) => lagging.has(node))];
  }

  async function fromAny<T>(method: string, work: (node: RpcNode) => Promise<T>): Promise<T> {
    const failures: NodeFailure[] = [];
    let missing: MethodMissingError | null = null;
    for (const node of inOrder()) {
      try {
        if (!verified.has(node)) {
          await checkChain(node);
          verified.add(node);
        }
        const answer = await work(node);
        preferred = nodes.indexOf(node);
        troubles.works(subjectOf(node));
        return answer;
      } catch (fault) {
        // Another node may support the method; if none does, the caller has another way to ask.
        if (fault instanceof MethodMissingError) {
          missing = fault;
          continue;
        }
        failures.push(noteFailure(node, method, fault));
      }
    }
    throw missing ?? new ChainUnavailableError(network, method, failures);
  }

  async function fromEvery<T>(method: string, work: (node: RpcNode) => Promise<T>): Promise<readonly T[]> {
    const failures: NodeFailure[] = [];
    const answers = await Promise.all(
      nodes.map(async (node): Promise<readonly T[]> => {
        try {
          if (!verified.has(node)) await checkChain(node);
          verified.add(node);
          const answer = await work(node);
          troubles.works(subjectOf(node));
          return [answer];
        } catch (fault) {
          failures.push(noteFailure(node, method, fault));
          return [];
        }
      }),
    );
    if (failures.length === nodes.length) throw new ChainUnavailableError(network, method, failures);
    return answers.flat();
  }

  /**
   * `isPoor`: it answers, but is not as it should be. A node that fails is already known by that, and may work at the
   * next call.
   */
  async function report(node: RpcNode): Promise<NodeReport & { readonly of: RpcNode; readonly isPoor: boolean }> {
    try {
      await checkChain(node);
      const { height, problem } = await stateOf(node);
      verified.add(node);
      troubles.works(subjectOf(node));
      return { of: node, isPoor: problem !== null, node: node.name, height, problem };
    } catch (fault) {
      const { reason } = noteFailure(node, 'survey', fault);
      const height = fault instanceof NodeLoadingError ? fault.height : null;
      return { of: node, isPoor: false, node: node.name, height, problem: reason };
    }
  }

  /** Separate from whether it answers: a node that lags still answers. */
  function noteState(node: RpcNode, problem: string | null): void {
    const subject = `state of the ${subjectOf(node)}`;
    if (problem === null) troubles.works(subject);
    else troubles.failed(subject, problem, { network, node: node.name });
  }

  async function checkNodes(): Promise<readonly NodeReport[]> {
    const reports = await Promise.all(nodes.map(report));
    const best = Math.max(...reports.map(({ height }) => height ?? 0));
    return reports.map(({ of, isPoor, node, height, problem }) => {
      const isLagging = height !== null && height < best - maxLagBlocks;
      if (isLagging || isPoor) lagging.add(of);
      else lagging.delete(of);
      const lag = isLagging ? `it lags ${best - height} blocks behind the best node` : null;
      noteState(of, isPoor ? problem : lag);
      return { node, height, problem: problem ?? lag };
    });
  }

  return {
    ask: (method, params, decode) => fromAny(method, async (node) => decode(await node.call(method, params))),
    askAll: (calls, decode) =>
      fromAny(calls[0]?.method ?? 'nothing', async (node) => decode(await node.callAll(calls))),
    askOneNode: fromAny,
    askEvery: (method, params, decode) => fromEvery(method, async (node) => decode(await node.call(method, params))),
    checkNodes,
    close: async () => void (await Promise.all(nodes.map((node) => node.close()))),
  };
}
