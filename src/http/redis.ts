import { Redis } from 'ioredis';
import { redisProblem } from './redis-problem.ts';

/**
 * No request waits for a Redis that is down or hangs: its connection is closed, and this process counts until it is
 * back.
 */
const REDIS_OPTIONS = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  commandTimeout: 250,
  socketTimeout: 500,
};

/** How often Redis is checked to do what counting needs: a replica, or a full Redis, keeps its connections open. */
const TRY_EVERY_MS = 5_000;
/** Writes from a script, as counting does. */
const TRY = "return redis.call('set', KEYS[1], '1', 'px', 60000)";
const TRY_KEY = 'cointill:health';

/** A Redis that counts for all processes while it is available. */
export interface SharedRedis {
  readonly client: Redis;
  /**
   * Why it is not in use now, with the way out if it may be the setting's fault; null: it is in use, or nothing is
   * known yet.
   */
  readonly problem: () => string | null;
  readonly close: () => void;
}

/** Called once at the beginning and once at the end of each time that Redis is down. */
export interface RedisWatcher {
  readonly onAway: (problem: string) => void;
  readonly onBack: (awayMs: number) => void;
}

/** Connects in the background, and reconnects for as long as it takes. */
export function connectRedis(
  url: string,
  { onAway, onBack }: RedisWatcher,
  tryEveryMs: number = TRY_EVERY_MS,
): SharedRedis {
  const client = new Redis(url, REDIS_OPTIONS);
  let away: { readonly sinceMs: number; readonly problem: string } | null = null;
  const onFault = (error: Error): void => {
    if (client.status === 'end') return;
    const problem = redisProblem(url, error);
    if (away === null) onAway(problem);
    away = { sinceMs: away?.sinceMs ?? performance.now(), problem };
  };
  const onSuccess = (): void => {
    if (away === null) return;
    const awayMs = performance.now() - away.sinceMs;
    away = null;
    onBack(awayMs);
  };
  const attempt = (): void => {
    if (client.status === 'ready') client.eval(TRY, 1, TRY_KEY).then(onSuccess, onFault);
  };
  const trying = setInterval(attempt, tryEveryMs);
  client.on('error', onFault);
  client.on('ready', attempt);
  client.on('close', () => {
    // The error that broke it says more, if there was one.
    if (away === null) onFault(new Error('the connection was closed'));
  });
  return {
    client,
    problem: () => away?.problem ?? null,
    close: () => {
      clearInterval(trying);
      client.disconnect();
    },
  };
}
