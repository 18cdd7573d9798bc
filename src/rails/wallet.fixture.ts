import { derivingWith, type DeriveAddresses } from './derive-addresses.ts';
import type { UtxoChains } from './family.ts';
import { MAIN_CHAINS } from './utxo/params.ts';
import { createWalletOpener, type WalletOpener } from './wallet.ts';

/**
 * How rails of tests derive addresses: what one test derived of a wallet is there for the next one of its process, and
 * nothing is derived ahead of time, for a test ends long before it would need the 1,200 addresses of a service.
 */
function walletsOf(chains: UtxoChains): { readonly openWallet: WalletOpener; readonly derive: DeriveAddresses } {
  const openWallet = createWalletOpener(chains);
  return { openWallet, derive: derivingWith(openWallet) };
}

export const MAIN_WALLETS = walletsOf(MAIN_CHAINS);
export const REGTEST_WALLETS = walletsOf({ bitcoin: 'regtest', litecoin: 'regtest' });
