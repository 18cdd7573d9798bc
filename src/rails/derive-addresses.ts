import type { Network } from '../domain/networks.ts';
import type { WalletDeriver } from './chain.ts';
import type { WalletSource } from './family.ts';
import type { WalletOpener } from './wallet.ts';

/**
 * Derives `count` receiving addresses of a wallet from index `from` on, in the form that customers see. Null if the
 * wallet cannot be read; rejects with a RangeError if it has no such indexes.
 */
export type DeriveAddresses = (
  network: Network,
  source: WalletSource,
  from: number,
  count: number,
) => Promise<readonly string[] | null>;

/** Derives in this thread: about 0.3 ms for each key of an address. */
export function derivingWith(openWallet: WalletOpener): DeriveAddresses {
  return async (network, source, from, count) => {
    const deriver = openWallet(network, source);
    return deriver && addressesFrom(deriver, from, count);
  };
}

export function addressesFrom(deriver: WalletDeriver, from: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_, place) => deriver.addressAt(from + place));
}
