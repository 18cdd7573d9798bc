import type { AssetCode } from '../domain/asset-code.ts';
import type { Fiat } from '../domain/money.ts';
import { MalformedAnswerError, marketPrice, parseJson } from './answer.ts';
import { midPrice } from './decimal.ts';
import type { WebSource } from './source.ts';

/** An exchange that answers with a list of tickers, one per pair. */
interface Exchange {
  readonly name: string;
  readonly url: string;
  /** The asset or currency of each symbol. */
  readonly symbols: ReadonlyMap<unknown, AssetCode | Fiat>;
  /** The quote currency; USD by default. */
  readonly unit?: 'USD' | 'USDT';
  /** Reads a ticker; null if it is unusable. */
  readonly read: (ticker: unknown) => Ticker | null;
}

interface Ticker {
  readonly symbol: unknown;
  readonly bid: unknown;
  readonly ask: unknown;
  /** The exchange's own time of the ticker, if it states one. */
  readonly at?: number;
}

/** Reads the middle of bid and ask of each pair from an exchange; unknown symbols are left out. */
export function tickerSource({ name, url, symbols, unit = 'USD', read }: Exchange): WebSource {
  return {
    name,
    everyMs: 0,
    url,
    parse: (body) => {
      const tickers = parseJson(body);
      if (!Array.isArray(tickers)) throw new MalformedAnswerError('it is not a list');
      return tickers.flatMap((given: unknown) => {
        const ticker = read(given);
        const code = symbols.get(ticker?.symbol);
        if (ticker === null || code === undefined) return [];
        return marketPrice(code, midPrice(ticker.bid, ticker.ask), { unit, at: ticker.at ?? null });
      });
    },
  };
}
