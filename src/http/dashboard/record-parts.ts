import { NETWORK_FACTS, type EvmNetwork } from '../../domain/networks.ts';
import type { WalletChain } from './contract-parts.ts';

/**
 * The data with which a browser wallet adds an unknown network. Null on a chain that is not the network's main chain,
 * to which these nodes and explorer belong. The service's own nodes are left out: their addresses may contain keys.
 */
export function walletChainOf(network: EvmNetwork, chainId: number): WalletChain {
  const { label, chainId: mainId, gasCoin, publicNode, explorer } = NETWORK_FACTS[network];
  if (chainId !== mainId || gasCoin === null || publicNode === null) return null;
  return { name: label, currency: gasCoin, rpc_url: publicNode, explorer_url: explorer };
}

/** The explorer's page of a transaction or address; null without an explorer. */
export function pageOf(
  explorer: string | null,
  what: string,
  page: (explorer: string, what: string) => string,
): string | null {
  return explorer === null ? null : page(explorer, what);
}
