import type { Network } from '../domain/networks.ts';
import type { WalletDeriver } from './chain.ts';
import type { WalletSource, UtxoChains } from './family.ts';
import { rulesOf } from './networks.ts';

/**
 * The addresses of a wallet; null if its source cannot be parsed, for example because it belongs to another chain of
 * its network.
 */
export type WalletOpener = (network: Network, source: WalletSource) => WalletDeriver | null;

/**
 * Opens wallets that were checked before, and caches the last ones: reading an extended key costs more than an address.
 */
export function createWalletOpener(chains: UtxoChains): WalletOpener {
  const MOST = 1_000;
  const derivers = new Map<string, WalletDeriver>();
  return (network, source) => {
    const key = `${network} ${source.kind} ${source.text}`;
    const open = derivers.get(key);
    if (open !== undefined) return open;
    const parsed = rulesOf(network).parseWallet(source, chains);
    if (parsed.kind === 'invalid') return null;
    if (derivers.size >= MOST) derivers.clear();
    derivers.set(key, parsed.deriver);
    return parsed.deriver;
  };
}
