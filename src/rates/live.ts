import type { AssetCode, UsdPriceE8 } from '../domain/asset.ts';
import type { Fiat } from '../domain/money.ts';
import { judge, type Verdict, type Vote } from './median.ts';
import type { PriceSource, RateSource, SourcePrice } from './source.ts';
import type { Troubles } from '../domain/trouble.ts';

export interface LiveRatesOptions {
  readonly sources: readonly PriceSource[];
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** How old a market's price may be: RATE_MAX_AGE_SECONDS. */
  readonly maxAgeMs: number;
  /** What a source may take to answer, before it counts as failed. */
  readonly timeoutMs: number;
  /** How long a source that failed twice running is left alone; doubled at each further failure, up to five minutes. */
  readonly backOffMs: number;
  readonly troubles: Troubles;
}

export interface SourceStatus {
  readonly source: string;
  /** When it was last asked with success; null: never. */
  readonly lastOkAt: number | null;
  /** What is wrong with it at present; null: nothing. */
  readonly lastError: string | null;
}

export interface LiveRates extends RateSource {
  /**
   * Asks all sources that are due, at the same time; never rejects. Resolves when the last one answered, failed or ran
   * out of time; the prices of each count from the moment that it answers.
   */
  refresh(): Promise<void>;
  status(): readonly SourceStatus[];
  /** When the newest market price behind the usable price of a code held; null: there is no usable price. */
  pricedAt(code: AssetCode | Fiat): number | null;
  /** Gives up the questions under way. Prices go on growing old. */
  close(): void;
}

interface SourceState {
  readonly source: PriceSource;
  /** With the moment at which each price held. */
  prices: readonly (SourcePrice & { readonly at: number })[];
  failures: number;
  askedAt: number;
  /** How long to leave it alone from then on. */
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
 * Prices of several sources in memory. A price that the sources do not agree on, or that is too old, is null: nothing
 * is guessed, a stablecoin's dollar included. USD itself is always 1.
 */
export function createLiveRates(options: LiveRatesOptions): LiveRates {
  const { clock, troubles } = options;
  const states = options.sources.map((source): SourceState => ({ source, ...UNASKED }));
  // Verdicts are kept until a vote of theirs is too old or a new one comes: a busy service asks thousands of times a
  // second.
  const verdicts = new Map<AssetCode | Fiat, Verdict & { readonly from: number }>();
  const closing = new AbortController();

  function verdictOn(code: AssetCode | Fiat, now: number): Verdict {
    const known = verdicts.get(code);
    if (known !== undefined && known.from <= now && now <= known.until) return known;
    // Tether's own votes are all in USD.
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
      // Nobody knows a price of the future; and what has no time of its own is not younger than the question.
      state.prices = prices.map((price) => ({ ...price, at: Math.min(price.at ?? askedAt, askedAt) }));
      verdicts.clear();
      troubles.works(subjectOf(state.source));
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
  { backOffMs, troubles }: Pick<LiveRatesOptions, 'backOffMs' | 'troubles'>,
): void {
  state.failures += 1;
  // The first failure may be chance: the next refresh tries again.
  const restMs = state.failures === 1 ? 0 : backOffMs * 2 ** Math.min(state.failures - 2, 20);
  state.restMs = Math.min(restMs, MAX_BACK_OFF_MS);
  state.lastError = messageOf(fault);
  troubles.failed(subjectOf(state.source), state.lastError, { source: state.source.name });
}

function subjectOf({ name }: PriceSource): string {
  return `price source ${name}`;
}

function isDue({ isAsked, askedAt, restMs }: SourceState, now: number): boolean {
  // A question of the future: our clock was set back, and a rest counted from there would be too long.
  return !isAsked && (now >= askedAt + restMs || now < askedAt);
}

/** The answer, or a rejection at the abort, so that a source which does not heed its signal holds nobody up. */
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
