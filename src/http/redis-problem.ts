import { certificateFault } from '../config/tls-faults.ts';

/** Why Redis is down, with the way out if it may be the setting's fault. Never repeats the password in the URL. */
export function redisProblem(redisUrl: string, error: Error): string {
  const code = 'code' in error ? String(error.code) : '';
  const reason = code === '' ? error.message.replace(/\.$/, '') : code;
  const out = wayOut(redisUrl.startsWith('rediss:'), code, error.message);
  return out === null ? reason : `${reason}. ${out}`;
}

function wayOut(isEncrypted: boolean, code: string, message: string): string | null {
  if (/^(?:NOAUTH|WRONGPASS)\b/.test(message))
    return 'REDIS_URL must have the right password, such as redis://:password@host:6379.';
  if (/^READONLY\b/.test(message)) return 'REDIS_URL leads to a replica; set it to the primary.';
  if (!isEncrypted) {
    return BROKEN.has(code) || message === 'the connection was closed'
      ? 'If the server takes nothing but TLS, REDIS_URL must begin with rediss://.'
      : null;
  }
  switch (certificateFault(code)) {
    case 'authority':
      return 'The certificate of the server in REDIS_URL is from no authority that is known here. Name the file of that authority in NODE_EXTRA_CA_CERTS.';
    case 'host':
      return 'REDIS_URL must name the host as the certificate of its server does.';
    case 'time':
      return 'Renew the certificate of the server in REDIS_URL, or set the clock of this machine.';
    case null:
      return BROKEN.has(code) || code === 'ETIMEDOUT' || message === 'connect ETIMEDOUT'
        ? 'REDIS_URL begins with rediss://, which is TLS. If the server does not offer that, write redis://.'
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
