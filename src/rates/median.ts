import type { UsdPriceE8 } from '../domain/asset.ts';

/** One source's price for one unit, in USD. */
export interface Vote {
  readonly source: string;
  readonly price: UsdPriceE8;
  /** The time of the price. */
  readonly at: number;
  readonly maxAgeMs: number;
  /** `reference`: confirms or contradicts the markets, but never sets the price. */
  readonly kind: 'market' | 'reference';
}

export interface Verdict {
  /** Null: not enough sources agree on a price. */
  readonly price: UsdPriceE8 | null;
  /** The end of the verdict's validity, unless new votes arrive: the time when the first of its votes is too old. */
  readonly until: number;
}

/** Votes further than this from the median of all are outliers: 2 %. */
export const TOLERANCE_BASIS_POINTS = 200n;

/** No price depends on a single source. */
export const QUORUM = 2;

/** How far our own clock may be set back before votes are rejected as prices from the future. */
const CLOCK_STEP_MS = 5_000;

/**
 * The price on which the votes agree. Votes that are too old are ignored. Of the others, those within 2 % of the median
 * of all agree; they must be at least two, more than half, and include a market. The price is the median of the
 * agreeing markets.
 *
 * With three markets or more, a single liar cannot move the price out of the range of the honest ones. With fewer, a
 * reference reveals a lie beyond the tolerance, and smaller lies are possible.
 */
export function judge(votes: readonly Vote[], now: number): Verdict {
  const fresh = votes.filter(({ at, maxAgeMs }) => now - at <= maxAgeMs && now - at >= -CLOCK_STEP_MS);
  const until = Math.min(...fresh.map(({ at, maxAgeMs }) => at + maxAgeMs));
  if (fresh.length === 0) return { price: null, until };
  const centre = median(fresh.map(({ price }) => price));
  const agreeing = fresh.filter(({ price }) => isWithinTolerance(price, centre));
  const markets = pricesOfMarkets(agreeing);
  const isAgreed = agreeing.length >= QUORUM && agreeing.length * 2 > fresh.length && markets.length > 0;
  return { price: isAgreed ? held(median(markets), pricesOfMarkets(fresh)) : null, until };
}

/** The middle value; of an even count the mean of the middle two, halves up. At least one price. */
export function median(prices: readonly bigint[]): bigint {
  const sorted = inOrder(prices);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new RangeError('a median needs at least one price');
  return (lower + upper + 1n) / 2n;
}

/**
 * Keeps the price between the second lowest and the second highest market. If honest markets differ by more than the
 * tolerance, one of them may look like the outlier and the liar like its counterpart; this removes the liar's
 * advantage.
 */
function held(price: bigint, markets: readonly bigint[]): bigint {
  const sorted = inOrder(markets);
  const [lowest, highest] = [sorted[1], sorted[sorted.length - 2]];
  if (sorted.length < 3 || lowest === undefined || highest === undefined) return price;
  if (price < lowest) return lowest;
  return price > highest ? highest : price;
}

function pricesOfMarkets(votes: readonly Vote[]): readonly bigint[] {
  return votes.filter(({ kind }) => kind === 'market').map(({ price }) => price);
}

function isWithinTolerance(price: bigint, centre: bigint): boolean {
  const distance = price > centre ? price - centre : centre - price;
  return distance * 10_000n <= centre * TOLERANCE_BASIS_POINTS;
}

function inOrder(prices: readonly bigint[]): readonly bigint[] {
  return prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
