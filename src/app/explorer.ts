import type { Token } from '../domain/asset.ts';
import { NETWORK_FACTS } from '../domain/networks.ts';
import type { Rail } from '../modes/rail.ts';

type OnNetwork = Pick<Token, 'asset' | 'network'>;

/** Whether the rail sees a token on its network's main chain: not on a test chain, nor in the sandbox. */
export function isMainChain(rail: Rail, token: OnNetwork): boolean {
  const facts = NETWORK_FACTS[token.network];
  return facts.family === 'evm'
    ? rail.evmChain(token)?.chainId === facts.chainId
    : rail.payoutChain(token.network) === 'main';
}

/** The block explorer of the network's main chain, as its origin; null elsewhere. Asks no chain. */
export function explorerOf(rail: Rail, token: OnNetwork): string | null {
  return isMainChain(rail, token) ? NETWORK_FACTS[token.network].explorer : null;
}
