import { Redis } from 'ioredis';
import { certificateFault } from '../config/tls.ts';

/** Why Redis is down, with the way out if it may be the setting's fault. Never repeats the password in the URL. */
function redisProblem(redisUrl: string, error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  const reason = code === '' ? error.message.replace(/\.$/, '') : code;
  const out = wayOut(redisUrl.startsWith('rediss:'), code, error.message);
  return out === null ? reason : `${reason}. ${out}`;
}

function wayOut(isEncrypted: boolean, code: string, message: string): string | null {
  if (/^(?:NOAUTH|WRONGPASS)\b/.test(message))
    return 'REDIS_URL must have the right password, such as redis://:password@host:6379.';
  if (/^READONLY\b/.test(message)) return 'REDIS_URL points to a replica. Set it to the primary.';
  if (!isEncrypted) {
    return BROKEN.has(code) || message === 'the connection was closed'
      ? 'If the server accepts only TLS, REDIS_URL must begin with rediss://.'
      : null;
  }
  switch (certificateFault(code)) {
    case 'authority':
      return 'The certificate of the server in REDIS_URL was issued by an authority that is not trusted here. Set NODE_EXTRA_CA_CERTS to the file with the certificate of that authority.';
    case 'host':
      return 'The host in REDIS_URL must match a name in the certificate of its server.';
    case 'time':
      return 'Renew the certificate of the server in REDIS_URL, or correct the clock of this machine.';
    case null:
      return BROKEN.has(code) || code === 'ETIMEDOUT' || message === 'connect ETIMEDOUT'
        ? 'REDIS_URL begins with rediss://, so TLS is used. If the server does not offer TLS, use redis:// instead.'
        : null;
  }
}

/** Errors of a connection on which only one end speaks TLS. */
const BROKEN = new Set([
  'ECONNRESET',
  'EPIPE',
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);

/**
 * No request waits for a Redis that is down or hangs: its connection is closed, and this process counts until Redis is
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
/** Writes from a script, like counting. */
const TRY = "return redis.call('set', KEYS[1], '1', 'px', 60000)";
const TRY_KEY = 'cointill:health';

/** A Redis that counts for all processes while it is available. */
export interface SharedRedis {
  readonly client: Redis;
  /**
   * Why Redis is not in use now, with the way out if it may be the setting's fault; null if it is in use, or its state
   * is still unknown.
   */
  readonly problem: () => string | null;
  readonly close: () => void;
}

/** Called once at the beginning and once at the end of each time that Redis is down. */
export interface RedisWatcher {
  readonly onAway: (problem: string) => void;
  readonly onBack: (awayMs: number) => void;
}

/** Connects in the background, and reconnects as often as needed. */
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
