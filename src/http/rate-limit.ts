import type { Redis } from 'ioredis';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import { GUESS_LIMITS, type GuessBucket, type GuessLimits } from '../app/people/guess-limits.ts';

/**
 * `test` and `live` count per key, and per client for a public key; `test-shared` and `live-shared` count a public key
 * over all its clients; `page` (the payment page) and `docs` (the documentation) count per client address; `dashboard`
 * counts per session; `no-session` counts requests with a cookie of no session, per client address; `invoices` counts
 * what a client address does to make invoices of one payment request.
 */
export type Bucket =
  | 'test'
  | 'live'
  | 'test-shared'
  | 'live-shared'
  | 'page'
  | 'docs'
  | 'dashboard'
  | 'no-session'
  | 'invoices';

export interface Allowance {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix time in seconds, rounded up, when the window ends. */
  readonly resetSeconds: number;
  readonly retryAfterSeconds: number;
}

export interface RateLimits {
  /** Counts one request. */
  consume(bucket: Bucket, id: string): Promise<Allowance>;
  /** Reads the allowance without counting. */
  peek(bucket: Bucket, id: string): Promise<Allowance>;
}

const WINDOW_MS = 60_000;
/** Default requests per minute of a session of the dashboard. */
export const SESSION_LIMIT = 1_200;

/**
 * Enough for the visitors behind one address, with a mistyped amount here and there. The window is as long as an
 * invoice usually waits for money, so that no client fills the places of a request by itself (`MAX_LIVING`).
 */
const INVOICE_LIMIT = 30;
const INVOICE_WINDOW_MS = 30 * 60_000;

/** All clients of a public key together may use this many times its limit. */
const SHARED_FACTOR = 10;
/** Windows of one bucket kept in memory, about 15 MB; beyond that the oldest is dropped. */
const MAX_WINDOWS = 100_000;

/**
 * Fixed windows of one minute, for `invoices` of half an hour, in memory or shared through Redis. While Redis is down
 * each process counts for itself.
 *
 * @param limits requests per minute: of a test key, of a live key, of a client on the pages, and of a session
 */
export function createRateLimits(
  limits: Readonly<Record<'test' | 'live' | 'page', number>> & { readonly dashboard?: number },
  redis: Redis | null,
  maxWindows = MAX_WINDOWS,
): RateLimits {
  const counterOf = (bucket: Bucket, limit: number, windowMs = WINDOW_MS): Counter => {
    return { ...windowsOf(redis, bucket, windowMs, maxWindows), limit, windowMs };
  };
  const counters: Readonly<Record<Bucket, Counter>> = {
    test: counterOf('test', limits.test),
    live: counterOf('live', limits.live),
    'test-shared': counterOf('test-shared', limits.test * SHARED_FACTOR),
    'live-shared': counterOf('live-shared', limits.live * SHARED_FACTOR),
    page: counterOf('page', limits.page),
    docs: counterOf('docs', limits.page),
    'no-session': counterOf('no-session', limits.page),
    invoices: counterOf('invoices', INVOICE_LIMIT, INVOICE_WINDOW_MS),
    dashboard: counterOf('dashboard', limits.dashboard ?? SESSION_LIMIT),
  };
  const allowance = (
    { limit, windowMs }: Counter,
    { used, msLeft: reportedMs }: Window,
    allowed: boolean,
  ): Allowance => {
    // If the clock was set back meanwhile, this is longer than a window can be.
    const msLeft = Math.min(reportedMs, windowMs);
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - used),
      resetSeconds: Math.ceil((Date.now() + msLeft) / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
    };
  };
  return {
    consume: async (bucket, id) => {
      const counter = counters[bucket];
      const window = await counter.consume(id);
      return allowance(counter, window, window.used <= counter.limit);
    },
    peek: async (bucket, id) => {
      const counter = counters[bucket];
      return allowance(counter, await counter.peek(id), true);
    },
  };
}

/** Limits of guesses at passwords and codes, counted like requests. */
export function createGuessLimits(redis: Redis | null): GuessLimits {
  const buckets = Object.keys(GUESS_LIMITS) as readonly GuessBucket[];
  const counters = new Map(
    buckets.map((bucket) => [bucket, windowsOf(redis, bucket, GUESS_LIMITS[bucket].windowMs, MAX_WINDOWS)]),
  );
  const counterOf = (bucket: GuessBucket): Windows => {
    const counter = counters.get(bucket);
    if (counter === undefined) throw new Error(`Nothing counts ${bucket}.`);
    return counter;
  };
  return {
    take: async ({ bucket, id }) => {
      const { used, msLeft } = await counterOf(bucket).consume(id);
      return {
        allowed: used <= GUESS_LIMITS[bucket].guesses,
        isLast: used === GUESS_LIMITS[bucket].guesses,
        retryAfterSeconds: Math.max(1, Math.ceil(msLeft / 1000)),
      };
    },
    giveBack: async ({ bucket, id }) => counterOf(bucket).giveBack(id),
  };
}

/** The used part of a window, including this request, and its remaining time. */
interface Window {
  readonly used: number;
  readonly msLeft: number;
}

interface Windows {
  consume(id: string): Window | Promise<Window>;
  peek(id: string): Window | Promise<Window>;
  /** Uncounts one use. */
  giveBack(id: string): void | Promise<void>;
}

function windowsOf(redis: Redis | null, bucket: string, windowMs: number, maxWindows: number): Windows {
  const memory = countInMemory(windowMs, maxWindows);
  return redis === null ? memory : countInRedis(redis, bucket, windowMs, memory);
}

interface Counter extends Windows {
  readonly limit: number;
  readonly windowMs: number;
}

/** Windows end by the monotonic clock, so that setting the time of day does not prolong one. */
function countInMemory(windowMs: number, maxWindows: number): Windows {
  // All windows are equally long, so they end in the order of insertion.
  const windows = new Map<string, { used: number; readonly endsAtMs: number }>();
  const forgetEnded = (nowMs: number): void => {
    for (const [id, { endsAtMs }] of windows) {
      if (endsAtMs > nowMs && windows.size < maxWindows) return;
      windows.delete(id);
    }
  };
  const current = (id: string, nowMs: number) => {
    const window = windows.get(id);
    return window === undefined || window.endsAtMs <= nowMs ? null : window;
  };
  return {
    consume: (id) => {
      const nowMs = performance.now();
      let window = current(id, nowMs);
      if (window === null) {
        windows.delete(id);
        forgetEnded(nowMs);
        window = { used: 0, endsAtMs: nowMs + windowMs };
        windows.set(id, window);
      }
      window.used += 1;
      return { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
    peek: (id) => {
      const nowMs = performance.now();
      const window = current(id, nowMs);
      return window === null ? { used: 0, msLeft: windowMs } : { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
    giveBack: (id) => {
      const window = current(id, performance.now());
      if (window !== null && window.used > 0) window.used -= 1;
    },
  };
}

/** Windows in Redis, which expire there; `standIn` counts while Redis is down. */
function countInRedis(redis: Redis, bucket: string, windowMs: number, standIn: Windows): Windows {
  // The caller knows the limit and refuses.
  const limiter = new RateLimiterRedis({
    keyPrefix: `cointill:${bucket}`,
    points: Number.MAX_SAFE_INTEGER,
    duration: windowMs / 1000,
    storeClient: redis,
    rejectIfRedisNotReady: true,
  });
  const windowOf = ({ consumedPoints, msBeforeNext }: RateLimiterRes): Window => ({
    used: consumedPoints,
    msLeft: msBeforeNext < 0 ? windowMs : msBeforeNext,
  });
  return {
    consume: (id) => limiter.consume(id).then(windowOf, () => standIn.consume(id)),
    peek: (id) =>
      limiter.get(id).then(
        (found) => (found === null ? { used: 0, msLeft: windowMs } : windowOf(found)),
        () => standIn.peek(id),
      ),
    giveBack: async (id) => {
      await limiter.reward(id).catch(() => standIn.giveBack(id));
    },
  };
}

/** The range in which an address is counted in addition to its own bucket: the /24 of IPv4, the /48 of IPv6. */
export function clientRange(address: string): string {
  const bucket = clientBucket(address);
  return bucket.includes(':')
    ? `${bucket.split(':').slice(0, 3).join(':')}::/48`
    : `${bucket.split('.').slice(0, 3).join('.')}.0/24`;
}

/** The id under which requests without a key are counted: IPv6 clients own whole /64 networks. */
export function clientBucket(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  const [head = '', tail] = address.split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups =
    tail === undefined
      ? left
      : [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
