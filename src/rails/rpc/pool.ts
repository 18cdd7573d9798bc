import type { Network } from '../../domain/networks.ts';
import type { Troubles } from '../../domain/trouble.ts';
import { ChainUnavailableError, type NodeFailure, type NodeReport } from '../chain.ts';
import { MalformedAnswerError } from './decode.ts';
import { MethodMissingError, NodeError, NodeLoadingError, type RpcCall, type RpcNode, type RpcResult } from './node.ts';

/** Several nodes of one network that answer as one. */
export interface RpcPool {
  /**
   * The decoded result of one JSON-RPC call from the first node that gives a usable one, beginning with the node that
   * answered last; nodes that lag, or have trouble of their own, come last. A node is used once it has said that it is
   * on the right chain, and asked again after each failure. An answer that `decode` rejects with `MalformedAnswerError`
   * is a failure of the node. Throws `MethodMissingError` when no sound node offers the method, `ChainUnavailableError`
   * when no node is usable.
   */
  ask<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<T>;
  /** The same for a batch, all of it from one node; `decode` says what an error of a single call means, or throws. */
  askAll<T>(calls: readonly RpcCall[], decode: (results: readonly RpcResult[]) => T): Promise<T>;
  /** The same for several questions that one and the same node has to answer; `about` names them in messages. */
  askOneNode<T>(about: string, work: (node: RpcNode) => Promise<T>): Promise<T>;
  /**
   * The same, of every node: the answers of all that give a usable one. Throws `ChainUnavailableError` when none does.
   */
  askEvery<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<readonly T[]>;
  /**
   * Asks every node which chain it is on and how far it is, and puts those that lag last. Never throws for a node's
   * fault.
   */
  readonly checkNodes: () => Promise<readonly NodeReport[]>;
  readonly close: () => Promise<void>;
}

export interface RpcPoolOptions {
  readonly network: Network;
  /** In the order of preference; at least one. */
  readonly nodes: readonly RpcNode[];
  /**
   * Throws `NodeError`, saying how to mend it, when the node is on another chain than the expected one, or it is too
   * early to tell.
   */
  readonly checkChain: (node: RpcNode) => Promise<void>;
  /**
   * The height of the node's newest block, and what is wrong with the node, if anything: then it comes last, as one
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
        // Another node may offer the method; if none does, the caller asks otherwise.
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
   * `isPoor`: it answers, but is not as it should be. One that fails is known by that already, and may be well at the
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

  /** Apart from whether it answers: one that lags answers all the same. */
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
