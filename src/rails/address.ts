import type { Network } from '../domain/networks.ts';
import type { AddressCheck, PayoutChain } from './family.ts';
import { rulesOf } from './networks.ts';

/** Checks an address for a payout: `NetworkRules.checkPayoutAddress`. */
export function checkPayoutAddress(
  network: Network,
  text: string,
  chain: PayoutChain,
  contracts: readonly string[] = [],
): AddressCheck {
  return rulesOf(network).checkPayoutAddress(text.trim(), chain, contracts);
}

/**
 * The form in which an address is stored and compared with what blocks contain. EVM addresses are lower-case hex,
 * because nodes write them so and the case of letters is only a checksum; all others are unchanged. Takes a valid
 * address.
 */
export function matchingAddress(network: Network, address: string): string {
  return rulesOf(network).matchingAddress(address);
}

/** The reverse of `matchingAddress`: the form in which customers see an address. */
export function shownAddress(network: Network, address: string): string {
  return rulesOf(network).shownAddress(address);
}
