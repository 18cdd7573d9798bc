import type { AssetCode } from './asset-code.ts';
import { NETWORK_FACTS, type Network } from './networks.ts';

/** A coin of a choice: an asset on a network. */
interface Coin {
  readonly asset: AssetCode;
  readonly network: Network;
}

/** The coins that a project offers its customers, in their order, named as by `coinName`. */
export interface CoinChoice {
  /** The coins that come first, in this order; the others follow in the usual one. Empty: the usual order. */
  readonly order: readonly string[];
  /** Coins that are not offered. */
  readonly off: readonly string[];
}

/** The choice of a project that has made none. */
export const ALL_COINS: CoinChoice = { order: [], off: [] };

/** The name of a coin, such as `USDT/polygon`. */
export function coinName({ asset, network }: Coin): string {
  return `${asset}/${network}`;
}

/** Whether a payment can be paid in a coin; `coins` are its assets and coins, null for all. */
export function isPayableIn(coins: readonly string[] | null, coin: Coin): boolean {
  return coins === null || coins.includes(coin.asset) || coins.includes(coinName(coin));
}

/** The offered coins in the chosen order. `coins` are in the usual order. */
export function offeredCoins<Each extends Coin>(coins: readonly Each[], { order, off }: CoinChoice): readonly Each[] {
  if (order.length === 0 && off.length === 0) return coins;
  const place = (coin: Each): number => {
    const at = order.indexOf(coinName(coin));
    return at === -1 ? order.length : at;
  };
  return coins.filter((coin) => !off.includes(coinName(coin))).toSorted((a, b) => place(a) - place(b));
}

/** The coins with those of one asset or coin first, which is named as in `isPayableIn`; null: unchanged. */
export function withFirst<Each extends Coin>(coins: readonly Each[], first: string | null): readonly Each[] {
  if (first === null) return coins;
  const isFirst = (coin: Each): boolean => isPayableIn([first], coin);
  return [...coins.filter(isFirst), ...coins.filter((coin) => !isFirst(coin))];
}

/**
 * The order in which a page lists coins by default: of each asset the networks with low fees first, because a customer
 * without a preference takes the first one.
 */
export function cheapFirst<Each extends Coin>(coins: readonly Each[]): readonly Each[] {
  const dear = ({ network }: Each): number => (NETWORK_FACTS[network].fees === 'low' ? 0 : 1);
  const assets = [...Map.groupBy(coins, ({ asset }) => asset).values()];
  return assets.flatMap((group) => group.toSorted((a, b) => dear(a) - dear(b)));
}
