import type { Redis } from 'ioredis';
import { RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';

/**
 * `test` and `live` count per key, and per client for a public key; `test-shared` and `live-shared` count a public key
 * over all its clients; `page` (the payment page) and `docs` (the documentation) count per client address.
 */
export type Bucket = 'test' | 'live' | 'test-shared' | 'live-shared' | 'page' | 'docs';

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

/** All clients of a public key together may use this many times its limit. */
const SHARED_FACTOR = 10;
/** Windows of one bucket kept in memory, about 15 MB; beyond that the oldest is dropped. */
const MAX_WINDOWS = 100_000;

/**
 * Fixed windows of one minute, in memory or shared through Redis. While Redis is down each process counts for itself.
 *
 * @param limits requests per minute: of a test key, of a live key, and of a client on the pages
 */
export function createRateLimits(
  limits: Readonly<Record<'test' | 'live' | 'page', number>>,
  redis: Redis | null,
  maxWindows = MAX_WINDOWS,
): RateLimits {
  const counterOf = (bucket: Bucket, limit: number): Counter => {
    const memory = countInMemory(maxWindows);
    const counter = redis === null ? memory : countInRedis(redis, bucket, memory);
    return { ...counter, limit };
  };
  const counters: Readonly<Record<Bucket, Counter>> = {
    test: counterOf('test', limits.test),
    live: counterOf('live', limits.live),
    'test-shared': counterOf('test-shared', limits.test * SHARED_FACTOR),
    'live-shared': counterOf('live-shared', limits.live * SHARED_FACTOR),
    page: counterOf('page', limits.page),
    docs: counterOf('docs', limits.page),
  };
  const allowance = (limit: number, { used, msLeft: reportedMs }: Window, allowed: boolean): Allowance => {
    // If the clock was set back meanwhile, this is longer than a window can be.
    const msLeft = Math.min(reportedMs, WINDOW_MS);
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
      return allowance(counter.limit, window, window.used <= counter.limit);
    },
    peek: async (bucket, id) => {
      const counter = counters[bucket];
      return allowance(counter.limit, await counter.peek(id), true);
    },
  };
}

/** How much of a window is used, this request included, and how long it still lasts. */
interface Window {
  readonly used: number;
  readonly msLeft: number;
}

interface Windows {
  consume(id: string): Window | Promise<Window>;
  peek(id: string): Window | Promise<Window>;
}

interface Counter extends Windows {
  readonly limit: number;
}

const UNUSED: Window = { used: 0, msLeft: WINDOW_MS };

/** Windows end by the monotonic clock, so that setting the time of day does not make one last longer. */
function countInMemory(maxWindows: number): Windows {
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
        window = { used: 0, endsAtMs: nowMs + WINDOW_MS };
        windows.set(id, window);
      }
      window.used += 1;
      return { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
    peek: (id) => {
      const nowMs = performance.now();
      const window = current(id, nowMs);
      return window === null ? UNUSED : { used: window.used, msLeft: window.endsAtMs - nowMs };
    },
  };
}

/** Windows in Redis, which expire there; `standIn` counts while Redis is down. */
function countInRedis(redis: Redis, bucket: Bucket, standIn: Windows): Windows {
  // The caller, who knows the limit, does the refusing.
  const limiter = new RateLimiterRedis({
    keyPrefix: `cointill:${bucket}`,
    points: Number.MAX_SAFE_INTEGER,
    duration: WINDOW_MS / 1000,
    storeClient: redis,
    rejectIfRedisNotReady: true,
  });
  const windowOf = ({ consumedPoints, msBeforeNext }: RateLimiterRes): Window => ({
    used: consumedPoints,
    msLeft: msBeforeNext < 0 ? WINDOW_MS : msBeforeNext,
  });
  return {
    consume: (id) => limiter.consume(id).then(windowOf, () => standIn.consume(id)),
    peek: (id) =>
      limiter.get(id).then(
        (found) => (found === null ? UNUSED : windowOf(found)),
        () => standIn.peek(id),
      ),
  };
}

/** The id by which requests without a key are counted: IPv6 clients own whole /64 networks. */
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
