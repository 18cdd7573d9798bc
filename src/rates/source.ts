import type { AssetCode, UsdPriceE8 } from '../domain/asset.ts';
import type { Fiat } from '../domain/money.ts';

/** Prices, kept in memory and refreshed in the background: asking for one never waits. */
export interface RateSource {
  /** USD for one whole unit of an asset or a fiat currency, scaled by 10^8; null when there is no fresh price. */
  usdPrice(code: AssetCode | Fiat): UsdPriceE8 | null;
}

/** What a source says one whole unit costs. */
export interface SourcePrice {
  readonly code: AssetCode | Fiat;
  /** Above 0, scaled by 10^8. */
  readonly price: bigint;
  /** Exchanges that trade against the stablecoin quote in it; what it is worth in USD is asked of the others. */
  readonly unit: 'USD' | 'USDT';
  /** The source's own time of this price; null where it gives none: then the moment before it was asked counts. */
  readonly at: number | null;
  /**
   * Null: a market's present price, usable for as long as RATE_MAX_AGE_SECONDS says. Else a reference that is published
   * now and then and holds for so long: it confirms or contradicts the markets, and never makes a price itself.
   */
  readonly referenceForMs: number | null;
}

export interface SourceAnswer {
  readonly prices: readonly SourcePrice[];
  /** What was missing in an answer that is otherwise of use; null: nothing. Fit for logs. */
  readonly problem: string | null;
}

/** Somebody who is asked for prices, in the background. */
export interface PriceSource {
  /** One word or two, for logs and status; unique. */
  readonly name: string;
  /** How long to leave it alone after an answer. 0: ask at every refresh. */
  readonly everyMs: number;
  /** Throws when there is no answer of use; the message is fit for logs. */
  read(signal: AbortSignal): Promise<SourceAnswer>;
}

/** A source on the web that answers one question, without a key. */
export interface WebSource {
  readonly name: string;
  readonly everyMs: number;
  readonly url: string;
  /**
   * Pairs that are missing or have no market at the moment are left out; throws when the whole is not of the known
   * form.
   */
  readonly parse: (body: string) => readonly SourcePrice[];
}
