import type { AssetCode } from '../domain/asset.ts';
import type { Fiat } from '../domain/money.ts';
import { MalformedAnswerError, marketPrice, member, parseJson } from './answer.ts';
import { midPrice } from './decimal.ts';
import type { SourcePrice, WebSource } from './source.ts';

const PAIRS: ReadonlyMap<unknown, AssetCode | Fiat> = new Map([
  ['BTC/USD', 'BTC'],
  ['ETH/USD', 'ETH'],
  ['LTC/USD', 'LTC'],
  ['USDT/USD', 'USDT'],
  ['USDC/USD', 'USDC'],
  ['EUR/USD', 'EUR'],
  ['GBP/USD', 'GBP'],
]);

export const BITSTAMP: WebSource = {
  name: 'bitstamp',
  everyMs: 0,
  url: 'https://www.bitstamp.net/api/v2/ticker/',
  parse: parseTickers,
};

/**
 * https://www.bitstamp.net/api/#tag/Tickers/operation/GetCurrencyPairTickers: all pairs, each with its Unix time in
 * seconds.
 */
function parseTickers(body: string): readonly SourcePrice[] {
  const tickers = parseJson(body);
  if (!Array.isArray(tickers)) throw new MalformedAnswerError('it is not a list');
  return tickers.flatMap((ticker: unknown) => {
    const code = PAIRS.get(member(ticker, 'pair'));
    const seconds = Number(member(ticker, 'timestamp'));
    if (code === undefined || !Number.isSafeInteger(seconds)) return [];
    return marketPrice(code, midPrice(member(ticker, 'bid'), member(ticker, 'ask')), { at: seconds * 1000 });
  });
}
