import { setTimeout } from 'node:timers/promises';
import type { Network } from '../../domain/networks.ts';
import type { Problems } from '../../domain/problems.ts';
import type { ChainSource, NodeReport } from '../chain.ts';
import { NodeLoadingError, type RpcNode } from './node.ts';
import { nodeSubject, type VerifiedNodes } from './verified-nodes.ts';

export interface NodeChecksOptions {
  readonly network: Network;
  /** In order of preference; at least one. */
  readonly nodes: readonly RpcNode[];
  readonly verified: VerifiedNodes;
  /**
   * The height of the node's newest block, and the node's problem, if any: then it is used last, like one that lags.
   */
  readonly stateOf: (node: RpcNode) => Promise<{ readonly height: number; readonly problem: string | null }>;
  /** A node that is more blocks than this behind the best one lags. */
  readonly maxLagBlocks: number;
  readonly problems: Problems;
}

/** Checks the nodes of a network. */
export interface NodeChecks {
  /** Asks every node which chain it is on and how far it is. Never throws for a fault of a node. */
  readonly checkNodes: ChainSource['checkNodes'];
  /** Whether the node lagged or had a problem at the last check. */
  readonly lags: (node: RpcNode) => boolean;
}

interface OneReport extends NodeReport {
  readonly of: RpcNode;
  /**
   * The node answers, but has a problem. A node that fails is noticed by its failures, and may work at the next call.
   */
  readonly isPoor: boolean;
  /** It has not answered yet. */
  readonly isLate?: boolean;
}

export function createNodeChecks(options: NodeChecksOptions): NodeChecks {
  const { network, nodes, verified, stateOf, maxLagBlocks, problems } = options;
  const lagging = new Set<RpcNode>();

  async function report(of: RpcNode): Promise<OneReport> {
    const node = of.name;
    try {
      const { height, problem } = await verified.askAnew(of, stateOf);
      return { of, isPoor: problem !== null, node, height, problem };
    } catch (fault) {
      const { reason: problem } = verified.failed(of, 'survey', fault);
      return { of, isPoor: false, node, height: fault instanceof NodeLoadingError ? fault.height : null, problem };
    }
  }

  /** The state is separate from whether the node answers: a node that lags still answers. */
  function noteState(node: RpcNode, problem: string | null): void {
    const subject = `state of the ${nodeSubject(network, node)}`;
    if (problem === null) problems.works(subject);
    else problems.failed(subject, problem, { network, node: node.name });
  }

  /** Without a limit of its own, an answer takes as long as the node's timeouts. */
  async function reportWithin(of: RpcNode, withinMs: number | undefined): Promise<OneReport> {
    if (withinMs === undefined) return report(of);
    const problem = `it did not report its newest block within ${withinMs} ms`;
    const late = { of, isPoor: false, isLate: true, node: of.name, height: null, problem };
    return Promise.race([report(of), setTimeout(withinMs, late, { ref: false })]);
  }

  async function checkNodes(withinMs?: number): Promise<readonly NodeReport[]> {
    const reports = await Promise.all(nodes.map((of) => reportWithin(of, withinMs)));
    const best = Math.max(...reports.map(({ height }) => height ?? 0));
    const isWhole = !reports.some(({ isLate }) => isLate);
    return reports.map(({ of, isPoor, isLate = false, node, height, problem }) => {
      const isLagging = height !== null && height < best - maxLagBlocks;
      // The state stays while a node is late: it may be the best one.
      if (isLate || (!isWhole && !isLagging && !isPoor)) return { node, height, problem };
      if (isLagging || isPoor) lagging.add(of);
      else lagging.delete(of);
      const lag = isLagging ? `it lags ${best - height} blocks behind the best node` : null;
      noteState(of, isPoor ? problem : lag);
      return { node, height, problem: problem ?? lag };
    });
  }

  return { checkNodes, lags: (node) => lagging.has(node) };
}
