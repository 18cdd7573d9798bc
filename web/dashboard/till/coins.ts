import type { SaleRow, TillCoin } from '../../../src/http/dashboard/till/contract.ts';
import { useLocale, type Translate } from '../locale.tsx';

export const coinKey = ({ asset, network }: Pick<TillCoin, 'asset' | 'network'>): string => `${asset}/${network}`;

/** Names a coin: `USDT on Polygon`. */
export function useCoinName(): (coin: TillCoin) => string {
  const { t } = useLocale('till');
  return ({ asset, network_name: network }) => t('till_coin_of', { asset, network });
}

/** The state of a sale in a few words. */
export function titleOf({ state, status }: Pick<SaleRow, 'state' | 'status'>, t: Translate<'till'>): string {
  if (state === 'choose') return t('till_choose');
  return state === 'ended' && status === 'cancelled' ? t('till_cancelled') : t(`till_${state}`);
}
