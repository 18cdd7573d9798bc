import { onTestFinished } from 'vitest';
import type { UtxoNode } from '../../../test/litecoind.ts';
import { startNode, type NodeAnswer, type NodeCall, type NodeOptions, type TestNode } from '../../../test/rpc-node.ts';
import type { ChainSource } from '../chain.ts';
import type { UtxoNetwork } from '../../domain/networks.ts';
import { utxoParams, type UtxoParams } from './params.ts';
import type { UtxoChain } from '../family.ts';
import { createUtxoSource } from './source.ts';
import { noteProblems } from '../../../test/problems.ts';

export interface WatchedSource extends ChainSource {
  /** The logged warnings. */
  readonly warnings: readonly unknown[];
}

export const COINS = { bitcoin: 'BTC', litecoin: 'LTC' } as const;

/** Throws where the network has no such chain. */
export function paramsOf(network: UtxoNetwork, chain: UtxoChain = 'regtest'): UtxoParams {
  const params = utxoParams(network, chain);
  if (!params) throw new Error(`${network} has no chain ${chain}`);
  return params;
}

/** A source of the regtest chain unless said otherwise; closed when the test ends. */
export function sourceOf(
  network: UtxoNetwork,
  urls: readonly string[],
  { chain, timeoutMs = 10_000 }: { readonly chain?: UtxoChain; readonly timeoutMs?: number } = {},
): WatchedSource {
  const problems = noteProblems();
  const params = paramsOf(network, chain);
  const source = createUtxoSource({ params, asset: COINS[network], urls, timeoutMs, problems });
  onTestFinished(() => source.close());
  return { ...source, warnings: problems.noted };
}

/** A node that answers as `node` does, but where `answer` says otherwise; stopped when the test ends. */
export async function nodeLike(
  node: UtxoNode,
  answer: (call: NodeCall) => NodeAnswer | null | Promise<NodeAnswer | null>,
  options: NodeOptions = {},
): Promise<TestNode> {
  const relay = await startNode(
    async (call) => (await answer(call)) ?? { ...(await node.answer(call.method, call.params)) },
    options,
  );
  onTestFinished(() => relay.stop());
  return relay;
}
