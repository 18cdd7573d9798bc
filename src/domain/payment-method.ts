import { allTokens, isAssetCode, usualNetwork } from './asset.ts';
import type { AssetCode } from './asset-code.ts';
import { coinName } from './coin-choice.ts';
import { nativeAsset, type Network } from './networks.ts';

/** The id of a coin as BTCPay's plugins know it: `BTC-CHAIN` on its own network, otherwise `USDT-POLYGON`. */
export function methodId({ asset, network }: { readonly asset: AssetCode; readonly network: Network }): string {
  return `${asset}-${isOwnNetwork(asset, network) ? 'CHAIN' : network.toUpperCase()}`;
}

function isOwnNetwork(asset: AssetCode, network: Network): boolean {
  return network === usualNetwork(asset) && asset === nativeAsset(network);
}

/** The endings with which BTCPay before 2.0 named a coin on its own chain. */
const CHAIN_ENDINGS = ['', '-CHAIN', '-ONCHAIN', '-BITCOINLIKE'];
const METHODS = new Map(allTokens().map((token) => [methodId(token), coinName(token)] as const));

/**
 * The coin that the id of a payment method names, as in `coins` of invoices; null if there is none. Any case, `_` for
 * `-`, and older spellings are read; an asset alone that has no chain of its own means all of its networks.
 */
export function coinOfMethod(text: string): string | null {
  const id = text.trim().toUpperCase().replaceAll('_', '-');
  const known = METHODS.get(id);
  if (known !== undefined) return known;
  const [asset = ''] = id.split('-');
  if (!isAssetCode(asset) || !CHAIN_ENDINGS.includes(id.slice(asset.length))) return null;
  const own = METHODS.get(`${asset}-CHAIN`);
  return own ?? (id === asset ? asset : null);
}
