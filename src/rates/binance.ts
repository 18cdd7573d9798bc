import type { AssetCode } from '../domain/asset.ts';
import { MalformedAnswerError, marketPrice, member, parseJson } from './answer.ts';
import { midPrice } from './decimal.ts';
import type { SourcePrice, WebSource } from './source.ts';

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

/** Binance's host for public market data only; api.binance.com refuses some countries. */
export const BINANCE: WebSource = {
  name: 'binance',
  everyMs: 0,
  url: `https://data-api.binance.vision/api/v3/ticker/bookTicker?symbols=${encodeURIComponent(JSON.stringify([...SYMBOLS.keys()]))}`,
  parse: parseBookTicker,
};

/** https://github.com/binance/binance-spot-api-docs/blob/master/rest-api.md#symbol-order-book-ticker */
function parseBookTicker(body: string): readonly SourcePrice[] {
  const tickers = parseJson(body);
  if (!Array.isArray(tickers)) throw new MalformedAnswerError('it is not a list');
  return tickers.flatMap((ticker: unknown) => {
    const code = SYMBOLS.get(member(ticker, 'symbol'));
    if (code === undefined) return [];
    return marketPrice(code, midPrice(member(ticker, 'bidPrice'), member(ticker, 'askPrice')), { unit: 'USDT' });
  });
}
