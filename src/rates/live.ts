import type { AssetCode } from '../domain/asset-code.ts';
import type { UsdPriceE8 } from '../domain/asset.ts';
import type { Fiat } from '../domain/money.ts';
import { judge, type Verdict, type Vote } from './median.ts';
import type { PriceSource, RateSource, SourcePrice } from './source.ts';
import type { Problems } from '../domain/problems.ts';

export interface LiveRatesOptions {
  readonly sources: readonly PriceSource[];
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** The maximum age of a market's price: RATE_MAX_AGE_SECONDS. */
  readonly maxAgeMs: number;
  /** How long a source may take before it counts as failed. */
  readonly timeoutMs: number;
  /**
   * How long a source that failed twice in a row is not asked; doubled with each further failure, up to five minutes.
   */
  readonly backOffMs: number;
  readonly problems: Problems;
}

export interface SourceStatus {
  readonly source: string;
  /** The time of its last good answer; null: never. */
  readonly lastOkAt: number | null;
  /** The source's current problem; null if none. */
  readonly lastError: string | null;
}

export interface LiveRates extends RateSource {
  /**
   * Asks all due sources at the same time; never rejects. Resolves when the last one has answered, failed or timed out;
   * the prices of each source are used from the moment it answers.
   */
  refresh(): Promise<void>;
  status(): readonly SourceStatus[];
  /** The time of the newest market price behind a code's usable price; null if there is no usable price. */
  pricedAt(code: AssetCode | Fiat): number | null;
  /** Aborts running requests. The prices continue to age. */
  close(): void;
}

interface SourceState {
  readonly source: PriceSource;
  /** Prices with the time of each. */
  prices: readonly (SourcePrice & { readonly at: number })[];
  failures: number;
  askedAt: number;
  /** How long the source is not asked after that. */
  restMs: number;
  isAsked: boolean;
  lastOkAt: number | null;
  lastError: string | null;
}

const UNASKED = {
  prices: [],
  failures: 0,
  askedAt: 0,
  restMs: 0,
  isAsked: false,
  lastOkAt: null,
  lastError: null,
} as const;
const ONE_USD: UsdPriceE8 = 100_000_000n;
const MAX_BACK_OFF_MS = 300_000;
const MAX_ERROR_LENGTH = 300;

/**
 * Prices of several sources in memory. A price on which the sources do not agree, or that is too old, is null: nothing
 * is guessed, not even that a stablecoin is worth a dollar. USD itself is always 1.
 */
export function createLiveRates(options: LiveRatesOptions): LiveRates {
  const { clock, problems } = options;
  const states = options.sources.map((source): SourceState => ({ source, ...UNASKED }));
  // Verdicts are cached until one of their votes is too old or a new one arrives: a busy service asks thousands of
  // times per second.
  const verdicts = new Map<AssetCode | Fiat, Verdict & { readonly from: number }>();
  const closing = new AbortController();

  function verdictOn(code: AssetCode | Fiat, now: number): Verdict {
    const known = verdicts.get(code);
    if (known !== undefined && known.from <= now && now <= known.until) return known;
    // All votes for Tether itself are in USD.
    const tether = code === 'USDT' ? null : verdictOn('USDT', now);
    const votes = states.flatMap((state) =>
      state.prices
        .filter((price) => price.code === code)
        .flatMap((price) => voteOf(state, price, tether, options.maxAgeMs)),
    );
    const { price, until } = judge(votes, now);
    const verdict = { price, until: Math.min(until, tether?.until ?? Infinity), from: now };
    verdicts.set(code, verdict);
    return verdict;
  }

  async function ask(state: SourceState): Promise<void> {
    const askedAt = clock();
    const signal = AbortSignal.any([AbortSignal.timeout(options.timeoutMs), closing.signal]);
    state.isAsked = true;
    state.askedAt = askedAt;
    try {
      const { prices, problem } = await beforeAbort(state.source.read(signal), signal);
      // Prices cannot be from the future; and a price without its own time is not newer than the request.
      state.prices = prices.map((price) => ({ ...price, at: Math.min(price.at ?? askedAt, askedAt) }));
      verdicts.clear();
      problems.works(subjectOf(state.source));
      state.failures = 0;
      state.restMs = state.source.everyMs;
      state.lastOkAt = askedAt;
      state.lastError = problem;
    } catch (fault) {
      if (!closing.signal.aborted) noteFailure(state, fault, options);
    } finally {
      state.isAsked = false;
    }
  }

  return {
    usdPrice: (code) => (code === 'USD' ? ONE_USD : verdictOn(code, clock()).price),
    refresh: async () => {
      const now = clock();
      await Promise.all(states.filter((state) => isDue(state, now)).map(ask));
    },
    status: () => states.map(({ source, lastOkAt, lastError }) => ({ source: source.name, lastOkAt, lastError })),
    pricedAt: (code) => {
      if (verdictOn(code, clock()).price === null) return null;
      const markets = states.flatMap(({ prices }) =>
        prices.filter((price) => price.code === code && price.referenceForMs === null),
      );
      return markets.length === 0 ? null : Math.max(...markets.map(({ at }) => at));
    },
    close: () => closing.abort(),
  };
}

function voteOf(
  state: SourceState,
  price: SourceState['prices'][number],
  tether: Verdict | null,
  maxAgeMs: number,
): readonly Vote[] {
  const vote = {
    source: state.source.name,
    price: price.price,
    at: price.at,
    maxAgeMs: price.referenceForMs ?? maxAgeMs,
    kind: price.referenceForMs === null ? ('market' as const) : ('reference' as const),
  };
  if (price.unit === 'USD') return [vote];
  const tetherPrice = tether?.price ?? null;
  return tetherPrice === null ? [] : [{ ...vote, price: (price.price * tetherPrice) / ONE_USD }];
}

function noteFailure(
  state: SourceState,
  fault: unknown,
  { backOffMs, problems }: Pick<LiveRatesOptions, 'backOffMs' | 'problems'>,
): void {
  state.failures += 1;
  // The first failure may be chance: the next refresh tries again.
  const restMs = state.failures === 1 ? 0 : backOffMs * 2 ** Math.min(state.failures - 2, 20);
  state.restMs = Math.min(restMs, MAX_BACK_OFF_MS);
  state.lastError = messageOf(fault);
  problems.failed(subjectOf(state.source), state.lastError, { source: state.source.name });
}

function subjectOf({ name }: PriceSource): string {
  return `price source ${name}`;
}

function isDue({ isAsked, askedAt, restMs }: SourceState, now: number): boolean {
  // The time is in the future: our clock was set back, and a rest counted from there would be too long.
  return !isAsked && (now >= askedAt + restMs || now < askedAt);
}

/** The answer, or a rejection when aborted, so that a source that ignores its signal delays nobody. */
async function beforeAbort<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(new Error('no complete answer in time'));
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function messageOf(fault: unknown): string {
  return (fault instanceof Error ? fault.message : 'failed').slice(0, MAX_ERROR_LENGTH);
}
