import type { Token } from '../domain/asset.ts';
import { NETWORK_FACTS } from '../domain/networks.ts';
import type { Rail } from '../modes/rail.ts';

/**
 * The block explorer of the network's main chain, as its origin, if that is the chain that the rail sees the token on;
 * null on a test chain and in the sandbox. Asks no chain.
 */
export function explorerOf(rail: Rail, token: Pick<Token, 'asset' | 'network'>): string | null {
  const facts = NETWORK_FACTS[token.network];
  const isMain =
    facts.family === 'evm'
      ? rail.evmChain(token)?.chainId === facts.chainId
      : rail.payoutChain(token.network) === 'main';
  return isMain ? facts.explorer : null;
}
