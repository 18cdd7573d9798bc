import { NETWORKS, isUtxoNetwork, perNetwork, type Network } from '../domain/networks.ts';
import type { ChainSource } from './chain.ts';
import { evmFamily, type EvmNodes } from './evm/family.ts';
import type { NetworkRules, NodeAccess } from './family.ts';
import { utxoFamily, type UtxoNodes } from './utxo/family.ts';

/** A network and its nodes, as the operator configured them. */
export type NetworkNodes = UtxoNodes | EvmNodes;

const RULES: Readonly<Record<Network, NetworkRules>> = perNetwork(NETWORKS, (network) =>
  isUtxoNetwork(network) ? utxoFamily.rulesOf(network) : evmFamily.rulesOf(network),
);

/** The formats of a network. */
export function rulesOf(network: Network): NetworkRules {
  return RULES[network];
}

/** Creates the source that follows a network's chain. Throws RangeError if a URL is not usable. */
export function createChainSource(nodes: NetworkNodes, access: NodeAccess): ChainSource {
  switch (nodes.family) {
    case 'utxo':
      return utxoFamily.createSource(nodes, access);
    case 'evm':
      return evmFamily.createSource(nodes, access);
  }
}
