import type { Network } from '../domain/networks.ts';
import type { AddressCheck, PayoutChain } from './family.ts';
import { rulesOf } from './networks.ts';

/** Checks an address that a payout shall go to: `NetworkRules.checkPayoutAddress`. */
export function checkPayoutAddress(
  network: Network,
  text: string,
  chain: PayoutChain,
  contracts: readonly string[] = [],
): AddressCheck {
  return rulesOf(network).checkPayoutAddress(text.trim(), chain, contracts);
}

/**
 * The form in which an address is stored and compared with what blocks show: EVM addresses in lowercase hex, because
 * nodes write them so and the letters' case is only a checksum; all others as they are. Takes a valid address.
 */
export function matchingAddress(network: Network, address: string): string {
  return rulesOf(network).matchingAddress(address);
}

/** The reverse of `matchingAddress`: the form in which customers are shown an address. */
export function shownAddress(network: Network, address: string): string {
  return rulesOf(network).shownAddress(address);
}
