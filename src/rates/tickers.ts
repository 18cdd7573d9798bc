import type { AssetCode } from '../domain/asset.ts';
import type { Fiat } from '../domain/money.ts';
import { MalformedAnswerError, marketPrice, parseJson } from './answer.ts';
import { midPrice } from './decimal.ts';
import type { WebSource } from './source.ts';

/** An exchange that answers with a list, a ticker for each pair. */
interface Exchange {
  readonly name: string;
  readonly url: string;
  /** What each of its symbols is the price of. */
  readonly symbols: ReadonlyMap<unknown, AssetCode | Fiat>;
  /** What it quotes in; USD unless said otherwise. */
  readonly unit?: 'USD' | 'USDT';
  /** What a ticker says; null where it is of no use. */
  readonly read: (ticker: unknown) => Ticker | null;
}

interface Ticker {
  readonly symbol: unknown;
  readonly bid: unknown;
  readonly ask: unknown;
  /** The exchange's own time of it, where it gives one. */
  readonly at?: number;
}

/** Asks an exchange for the middle of bid and ask of each pair; symbols that are not ours are left out. */
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
