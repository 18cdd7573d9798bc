import type { AssetCode } from '../domain/asset-code.ts';
import { member } from './answer.ts';
import { tickerSource } from './tickers.ts';

/**
 * Binance trades against USDT. The price of USDT comes from the other sources, so a stablecoin off its peg does no
 * harm.
 */
const SYMBOLS: ReadonlyMap<unknown, AssetCode> = new Map([
  ['BTCUSDT', 'BTC'],
  ['ETHUSDT', 'ETH'],
  ['LTCUSDT', 'LTC'],
  ['USDCUSDT', 'USDC'],
]);

/**
 * https://github.com/binance/binance-spot-api-docs/blob/master/rest-api.md#symbol-order-book-ticker. This
 * is Binance's host for public market data only; api.binance.com refuses some countries.
 */
export const BINANCE = tickerSource({
  name: 'binance',
  url: `https://data-api.binance.vision/api/v3/ticker/bookTicker?symbols=${encodeURIComponent(JSON.stringify([...SYMBOLS.keys()]))}`,
  symbols: SYMBOLS,
  unit: 'USDT',
  read: (ticker) => ({
    symbol: member(ticker, 'symbol'),
    bid: member(ticker, 'bidPrice'),
    ask: member(ticker, 'askPrice'),
  }),
});
