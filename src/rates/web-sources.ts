import { BINANCE } from './binance.ts';
import { BITFINEX } from './bitfinex.ts';
import { BITSTAMP } from './bitstamp.ts';
import { COINBASE } from './coinbase.ts';
import { ECB } from './ecb.ts';
import type { FetchText } from './http.ts';
import { KRAKEN, KRAKEN_FIAT } from './kraken.ts';
import type { PriceSource, WebSource } from './source.ts';

/** The price sources on the web. */
export const WEB_SOURCES: readonly WebSource[] = [KRAKEN, KRAKEN_FIAT, COINBASE, BINANCE, BITSTAMP, BITFINEX, ECB];

/** The owner of a source: the first word of its name. */
export function sourceOwner(name: string): string {
  return name.split(' ')[0] ?? name;
}

/** Reads web sources with `fetchText`. */
export function webSources(definitions: readonly WebSource[], fetchText: FetchText): readonly PriceSource[] {
  return definitions.map(({ name, everyMs, url, parse }) => ({
    name,
    everyMs,
    read: async (signal) => {
      const prices = parse(await fetchText(url, signal));
      if (prices.length === 0) throw new Error('the answer has no usable price');
      return { prices, problem: null };
    },
  }));
}
