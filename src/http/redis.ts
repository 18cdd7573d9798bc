import { Redis } from 'ioredis';

/** No request waits for a Redis that is away or hangs: its connection is given up, and this process counts until it is back. */
const REDIS_OPTIONS = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  connectTimeout: 2_000,
  commandTimeout: 250,
  socketTimeout: 500,
};

/** Connects in the background, and again for as long as it takes; `onError` is told of each failure. */
export function connectRedis(url: string, onError: (error: Error) => void): Redis {
  const redis = new Redis(url, REDIS_OPTIONS);
  redis.on('error', onError);
  return redis;
}
