import type { AssetCode } from '../domain/asset-code.ts';
import { tickerSource } from './tickers.ts';

/** Bitfinex calls USDT "UST" and USDC "UDC". */
const SYMBOLS: ReadonlyMap<unknown, AssetCode> = new Map([
  ['tBTCUSD', 'BTC'],
  ['tETHUSD', 'ETH'],
  ['tLTCUSD', 'LTC'],
  ['tUSTUSD', 'USDT'],
  ['tUDCUSD', 'USDC'],
]);

/** https://docs.bitfinex.com/reference/rest-public-tickers: one list per pair: symbol, bid, bid size, ask, and more. */
export const BITFINEX = tickerSource({
  name: 'bitfinex',
  url: `https://api-pub.bitfinex.com/v2/tickers?symbols=${[...SYMBOLS.keys()].join(',')}`,
  symbols: SYMBOLS,
  read: (ticker) => {
    if (!Array.isArray(ticker)) return null;
    const [symbol, bid, , ask]: readonly unknown[] = ticker;
    return { symbol, bid, ask };
  },
});
