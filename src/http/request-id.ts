import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Visible ASCII without spaces, because it is copied into headers, log lines and terminals. */
const USABLE = /^[\u0021-\u007E]{1,128}$/;

/**
 * The id of each request: the client's `X-Request-Id` if it is usable, otherwise a random word of the process and a
 * number, which identify the request within a log.
 */
export function requestIds(): (request?: Pick<IncomingMessage, 'headers'>) => string {
  const prefix = randomBytes(4).toString('hex');
  let number = 0;
  return (request) => {
    // If the header was sent twice, the values are joined by a comma and a space.
    const given = request?.headers['x-request-id'];
    return typeof given === 'string' && USABLE.test(given) ? given : `${prefix}-${(number += 1).toString(36)}`;
  };
}
