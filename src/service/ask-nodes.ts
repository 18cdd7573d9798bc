import type { Network } from '../domain/networks.ts';
import type { NodeReport } from '../rails/chain.ts';
import { createChainSource } from '../rails/networks.ts';
import type { Cointill } from './core.ts';

const NODE_TIMEOUT_MS = 10_000;

/** Asks the nodes of a network which chain they are on and how far they are; null where the service has none. */
export async function askNodes(
  { networkConfigs, troubles }: Pick<Cointill, 'networkConfigs' | 'troubles'>,
  network: Network,
): Promise<readonly NodeReport[] | null> {
  const nodes = networkConfigs.find((one) => one.network === network);
  if (nodes === undefined) return null;
  const source = createChainSource(nodes, { timeoutMs: NODE_TIMEOUT_MS, troubles });
  try {
    return await source.checkNodes();
  } finally {
    await source.close();
  }
}
