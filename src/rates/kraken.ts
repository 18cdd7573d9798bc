import type { AssetCode } from '../domain/asset-code.ts';
import type { Fiat } from '../domain/money.ts';
import { MalformedAnswerError, marketPrice, member, parseJson } from './answer.ts';
import { midPrice } from './decimal.ts';
import type { SourcePrice, WebSource } from './source.ts';

interface KrakenPair {
  readonly code: AssetCode | Fiat;
  /**
   * The name in the request, and possible names in the answer: Kraken's older pairs have an X or Z before each
   * currency.
   */
  readonly names: readonly [asked: string, ...others: string[]];
  /** The pair is USD in the other currency. */
  readonly inverse?: boolean;
}

const CRYPTO_PAIRS: readonly KrakenPair[] = [
  { code: 'BTC', names: ['XBTUSD', 'XXBTZUSD'] },
  { code: 'ETH', names: ['ETHUSD', 'XETHZUSD'] },
  { code: 'LTC', names: ['LTCUSD', 'XLTCZUSD'] },
  { code: 'USDT', names: ['USDTUSD', 'USDTZUSD'] },
  { code: 'USDC', names: ['USDCUSD'] },
];

const FIAT_PAIRS: readonly KrakenPair[] = [
  { code: 'EUR', names: ['EURUSD', 'ZEURZUSD'] },
  { code: 'GBP', names: ['GBPUSD', 'ZGBPZUSD'] },
  { code: 'AUD', names: ['AUDUSD', 'ZAUDZUSD'] },
  { code: 'CAD', names: ['USDCAD', 'ZUSDZCAD'], inverse: true },
  { code: 'JPY', names: ['USDJPY', 'ZUSDZJPY'], inverse: true },
  { code: 'CHF', names: ['USDCHF'], inverse: true },
];

/** Two requests, because Kraken refuses a whole request if one of its pairs no longer exists. */
export const KRAKEN = krakenSource('kraken', CRYPTO_PAIRS);
export const KRAKEN_FIAT = krakenSource('kraken fiat', FIAT_PAIRS);

function krakenSource(name: string, pairs: readonly KrakenPair[]): WebSource {
  return {
    name,
    everyMs: 0,
    url: `https://api.kraken.com/0/public/Ticker?pair=${pairs.map(({ names }) => names[0]).join(',')}`,
    parse: (body) => parseTicker(body, pairs),
  };
}

/** https://docs.kraken.com/api/docs/rest-api/get-ticker-information: `a` is the ask, `b` the bid, price first. */
function parseTicker(body: string, pairs: readonly KrakenPair[]): readonly SourcePrice[] {
  const result = member(parseJson(body), 'result');
  // Errors come with status 200 and no result.
  if (result === undefined) throw new MalformedAnswerError('there is no result');
  return pairs.flatMap(({ code, names, inverse = false }) => {
    const ticker = names.map((name) => member(result, name)).find((found) => found !== undefined);
    return marketPrice(code, midPrice(first(member(ticker, 'b')), first(member(ticker, 'a'))), { inverse });
  });
}

function first(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}
