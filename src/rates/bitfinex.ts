import type { AssetCode } from '../domain/asset.ts';
import { MalformedAnswerError, marketPrice, parseJson } from './answer.ts';
import { midPrice } from './decimal.ts';
import type { SourcePrice, WebSource } from './source.ts';

/** Bitfinex calls USDT "UST" and USDC "UDC". */
const SYMBOLS: ReadonlyMap<unknown, AssetCode> = new Map([
  ['tBTCUSD', 'BTC'],
  ['tETHUSD', 'ETH'],
  ['tLTCUSD', 'LTC'],
  ['tUSTUSD', 'USDT'],
  ['tUDCUSD', 'USDC'],
]);

export const BITFINEX: WebSource = {
  name: 'bitfinex',
  everyMs: 0,
  url: `https://api-pub.bitfinex.com/v2/tickers?symbols=${[...SYMBOLS.keys()].join(',')}`,
  parse: parseTickers,
};

/** https://docs.bitfinex.com/reference/rest-public-tickers: one list per pair: symbol, bid, bid size, ask, and more. */
function parseTickers(body: string): readonly SourcePrice[] {
  const tickers = parseJson(body);
  if (!Array.isArray(tickers)) throw new MalformedAnswerError('it is not a list');
  return tickers.flatMap((ticker: unknown) => {
    if (!Array.isArray(ticker)) return [];
    const [symbol, bid, , ask]: readonly unknown[] = ticker;
    const code = SYMBOLS.get(symbol);
    return code === undefined ? [] : marketPrice(code, midPrice(bid, ask));
  });
}
