import type { AssetCode } from '../domain/asset-code.ts';
import type { UsdPriceE8 } from '../domain/asset.ts';
import type { Fiat } from '../domain/money.ts';

/** Prices in memory, refreshed in the background: reading one never waits. */
export interface RateSource {
  /** USD for one whole unit of an asset or a fiat currency, scaled by 10^8; null if there is no fresh price. */
  usdPrice(code: AssetCode | Fiat): UsdPriceE8 | null;
  /** The time of the newest market price behind it; null or absent if the price is not from a market. */
  pricedAt?(code: AssetCode | Fiat): number | null;
}

/** A source's price for one whole unit. */
export interface SourcePrice {
  readonly code: AssetCode | Fiat;
  /** Above 0, scaled by 10^8. */
  readonly price: bigint;
  /**
   * The unit of the price: exchanges that trade against the stablecoin quote in it; its price in USD comes from the
   * other sources.
   */
  readonly unit: 'USD' | 'USDT';
  /** The source's own time of this price; null if it states none: then the time of the request counts. */
  readonly at: number | null;
  /**
   * Null: a market's current price, usable for RATE_MAX_AGE_SECONDS. Otherwise a reference that is published at
   * intervals and is valid for this long: it confirms or contradicts the markets, but never sets a price itself.
   */
  readonly referenceForMs: number | null;
}

export interface SourceAnswer {
  readonly prices: readonly SourcePrice[];
  /** The part that was missing in an otherwise useful answer; null if none. Fit for logs. */
  readonly problem: string | null;
}

/** A source of prices that is asked in the background. */
export interface PriceSource {
  /** One or two words, for logs and status; unique. */
  readonly name: string;
  /** How long to wait after an answer before asking again. 0: ask at every refresh. */
  readonly everyMs: number;
  /** Throws if there is no useful answer; the message is fit for logs. */
  read(signal: AbortSignal): Promise<SourceAnswer>;
}

/** A source on the web with one request and no key. */
export interface WebSource {
  readonly name: string;
  readonly everyMs: number;
  readonly url: string;
  /**
   * Pairs that are missing or have no market at the moment are left out; throws if the answer does not have the
   * expected form.
   */
  readonly parse: (body: string) => readonly SourcePrice[];
}
