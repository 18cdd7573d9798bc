import { ChainUnavailableError, type ChainSource, type NodeFailure } from '../chain.ts';
import { createNodeChecks, type NodeChecksOptions } from './check-nodes.ts';
import { MethodMissingError, NotKeptError, type RpcCall, type RpcNode, type RpcResult } from './node.ts';
import { createVerifiedNodes, type VerifiedNodesOptions } from './verified-nodes.ts';

/** Several nodes of one network that answer as one. */
export interface RpcPool {
  /**
   * The decoded result of one JSON-RPC call from the first node with a usable answer, starting with the node that
   * answered last; nodes that lag or have problems come last. A node is used once it has confirmed to be on the right
   * chain, and is checked again after each failure. An answer that `decode` rejects with `MalformedAnswerError` counts
   * as a failure of the node. Throws `MethodMissingError` if no healthy node supports the method, `NotKeptError` if
   * every node says that it does not keep the requested data, `ChainUnavailableError` otherwise.
   */
  ask<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<T>;
  /** Like `ask` for a batch that one node answers; `decode` says what the error of a single call means, or throws. */
  askAll<T>(calls: readonly RpcCall[], decode: (results: readonly RpcResult[]) => T): Promise<T>;
  /** Like `ask` for several calls that the same node must answer; `about` names them in messages. */
  askOneNode<T>(about: string, work: (node: RpcNode) => Promise<T>): Promise<T>;
  /**
   * Like `ask` for every node: all usable answers, and whether every node gave one. Throws `ChainUnavailableError` if
   * there is none.
   */
  askEvery<T>(method: string, params: readonly unknown[], decode: (result: unknown) => T): Promise<Answers<T>>;
  /**
   * Asks every node which chain it is on and how far it is, and moves lagging ones to the end. Never throws for a fault
   * of a node.
   */
  readonly checkNodes: ChainSource['checkNodes'];
  readonly close: () => Promise<void>;
}

export interface Answers<T> {
  readonly answers: readonly T[];
  readonly isComplete: boolean;
}

export type RpcPoolOptions = VerifiedNodesOptions & Omit<NodeChecksOptions, 'verified'>;

export function createRpcPool(options: RpcPoolOptions): RpcPool {
  const { network, nodes } = options;
  const verified = createVerifiedNodes(options);
  const { checkNodes, lags } = createNodeChecks({ ...options, verified });
  /** The index of the node that answered last. */
  let preferred = 0;

  function inOrder(): readonly RpcNode[] {
    const ring = [...nodes.slice(preferred), ...nodes.slice(0, preferred)];
    return [...ring.filter((node) => !lags(node)), ...ring.filter(lags)];
  }

  async function fromAny<T>(method: string, work: (node: RpcNode) => Promise<T>): Promise<T> {
    const failures: NodeFailure[] = [];
    let missing: MethodMissingError | null = null;
    let notKept: NotKeptError | null = null;
    for (const node of inOrder()) {
      try {
        const answer = await verified.ask(node, work);
        preferred = nodes.indexOf(node);
        return answer;
      } catch (fault) {
        // Another node may support the method; if none does, the caller has another way to ask.
        if (fault instanceof MethodMissingError) missing = fault;
        else if (fault instanceof NotKeptError) notKept = fault;
        else failures.push(verified.failed(node, method, fault));
      }
    }
    // A node that did not answer may keep the data.
    if (notKept !== null && failures.length === 0) throw notKept;
    throw missing ?? new ChainUnavailableError(network, method, failures);
  }

  async function fromEvery<T>(method: string, work: (node: RpcNode) => Promise<T>): Promise<Answers<T>> {
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
    return { answers: answers.flat(), isComplete: failures.length === 0 };
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
