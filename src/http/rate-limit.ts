import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

/** `test` and `live` count per key, `page` the payment page per client address. */
export type Bucket = 'test' | 'live' | 'page';

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
  /** Tells without counting. */
  peek(bucket: Bucket, id: string): Promise<Allowance>;
  close(): void;
}

const WINDOW_SECONDS = 60;

/** Fixed windows of one minute, in memory or shared through Redis. While Redis is away each process counts for itself. */
export function createRateLimits(limits: Readonly<Record<Bucket, number>>, redis: Redis | null): RateLimits {
  const limiterOf = (bucket: Bucket): RateLimiterMemory | RateLimiterRedis => {
    const options = { keyPrefix: `cointill:${bucket}`, points: limits[bucket], duration: WINDOW_SECONDS };
    const memory = new RateLimiterMemory(options);
    if (redis === null) return memory;
    return new RateLimiterRedis({
      ...options,
      storeClient: redis,
      insuranceLimiter: memory,
      rejectIfRedisNotReady: true,
    });
  };
  const limiters = { test: limiterOf('test'), live: limiterOf('live'), page: limiterOf('page') };
  const allowance = (bucket: Bucket, result: RateLimiterRes | null, allowed: boolean): Allowance => {
    const limit = limits[bucket];
    const told = result === null || result.msBeforeNext < 0 ? WINDOW_SECONDS * 1000 : result.msBeforeNext;
    // A clock that was set back meanwhile makes it more than there can be.
    const msLeft = Math.min(told, WINDOW_SECONDS * 1000);
    const used = result?.consumedPoints ?? 0;
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
      try {
        return allowance(bucket, await limiters[bucket].consume(id), true);
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return allowance(bucket, refusal, false);
        throw refusal;
      }
    },
    peek: async (bucket, id) => allowance(bucket, await limiters[bucket].get(id), true),
    close: () => redis?.disconnect(),
  };
}

/** The address that requests without a key are counted by: IPv6 clients hold whole /64 networks. */
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
