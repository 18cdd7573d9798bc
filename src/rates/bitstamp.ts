import type { AssetCode } from '../domain/asset-code.ts';
import type { Fiat } from '../domain/money.ts';
import { member } from './answer.ts';
import { tickerSource } from './tickers.ts';

const SYMBOLS: ReadonlyMap<unknown, AssetCode | Fiat> = new Map([
  ['BTC/USD', 'BTC'],
  ['ETH/USD', 'ETH'],
  ['LTC/USD', 'LTC'],
  ['USDT/USD', 'USDT'],
  ['USDC/USD', 'USDC'],
  ['EUR/USD', 'EUR'],
  ['GBP/USD', 'GBP'],
]);

/**
 * https://www.bitstamp.net/api/#tag/Tickers/operation/GetCurrencyPairTickers: all pairs, each with its Unix time in
 * seconds.
 */
export const BITSTAMP = tickerSource({
  name: 'bitstamp',
  url: 'https://www.bitstamp.net/api/v2/ticker/',
  symbols: SYMBOLS,
  read: (ticker) => {
    const seconds = Number(member(ticker, 'timestamp'));
    if (!Number.isSafeInteger(seconds)) return null;
    const [symbol, bid, ask] = [member(ticker, 'pair'), member(ticker, 'bid'), member(ticker, 'ask')];
    return { symbol, bid, ask, at: seconds * 1000 };
  },
});
