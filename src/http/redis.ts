import { Redis } from 'ioredis';
import { redisProblem } from './redis-problem.ts';

/** No request waits for a Redis that is away or hangs: its connection is given up, and this process counts until it is back. */
const REDIS_OPTIONS = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  commandTimeout: 250,
  socketTimeout: 500,
};

/** How often it is tried whether Redis does what counting needs: a replica, or one that is full, keeps its connections. */
const TRY_EVERY_MS = 5_000;
/** Writes from a script, as counting does. */
const TRY = "return redis.call('set', KEYS[1], '1', 'px', 60000)";
const TRY_KEY = 'cointill:health';

/** A Redis that counts for all processes, for as long as it is there. */
export interface SharedRedis {
  readonly client: Redis;
  /** Why it is not used now, with the way out where it may be the setting's fault; null: it is, or nothing is known yet. */
  readonly problem: () => string | null;
  readonly close: () => void;
}

/** Told once of each time that Redis is away, at its beginning and at its end. */
export interface RedisWatcher {
  readonly onAway: (problem: string) => void;
  readonly onBack: (awayMs: number) => void;
}

/** Connects in the background, and again for as long as it takes. */
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
    // What broke it says more, where anything did.
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
