import { ChainUnavailableError, type NodeFailure, type NodeReport } from '../chain.ts';
import { createNodeChecks, type NodeChecksOptions } from './check-nodes.ts';
import { MethodMissingError, type RpcCall, type RpcNode, type RpcResult } from './node.ts';
import { createVerifiedNodes, type VerifiedNodesOptions } from './verified-nodes.ts';

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

export type RpcPoolOptions = VerifiedNodesOptions & Omit<NodeChecksOptions, 'verified'>;

export function createRpcPool(options: RpcPoolOptions): RpcPool {
  const { network, nodes } = options;
  const verified = createVerifiedNodes(options);
  const { checkNodes, lags } = createNodeChecks({ ...options, verified });
  /** The number of the node that answered last. */
  let preferred = 0;

  function inOrder(): readonly RpcNode[] {
    const ring = [...nodes.slice(preferred), ...nodes.slice(0, preferred)];
    return [...ring.filter((node) => !lags(node)), ...ring.filter(lags)];
  }

  async function fromAny<T>(method: string, work: (node: RpcNode) => Promise<T>): Promise<T> {
    const failures: NodeFailure[] = [];
    let missing: MethodMissingError | null = null;
    for (const node of inOrder()) {
      try {
        const answer = await verified.ask(node, work);
        preferred = nodes.indexOf(node);
        return answer;
      } catch (fault) {
        // Another node may offer the method; if none does, the caller asks otherwise.
        if (fault instanceof MethodMissingError) missing = fault;
        else failures.push(verified.failed(node, method, fault));
      }
    }
    throw missing ?? new ChainUnavailableError(network, method, failures);
  }

  async function fromEvery<T>(method: string, work: (node: RpcNode) => Promise<T>): Promise<readonly T[]> {
    const failures: NodeFailure[] = [];
    const answers = await Promise.all(
      nodes.map(async (node): Promise<readonly T[]> => {
        try {
          return [await verified.ask(node, work)];
        } catch (fault) {
          failures.push(verified.failed(node, method, fault));
          return [];
        }
      }),
    );
    if (failures.length === nodes.length) throw new ChainUnavailableError(network, method, failures);
    return answers.flat();
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
