import type { TillCoin } from '../../../src/http/dashboard/till/contract.ts';
import { useLocale } from '../locale.tsx';

export const coinKey = ({ asset, network }: Pick<TillCoin, 'asset' | 'network'>): string => `${asset}/${network}`;

/** `USDT on Polygon`. */
export function CoinName({ coin: { asset, network_name: network } }: { readonly coin: TillCoin }) {
  return useLocale('till').t('till_coin_of', { asset, network });
}
