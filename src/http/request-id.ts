import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Visible ASCII without spaces: it goes into headers, lines of a log and terminals as it is. */
const USABLE = /^[\u0021-\u007E]{1,128}$/;

/**
 * The id of each request: the client's own `X-Request-Id` where it is usable, else one that tells the requests of one log apart, a random
 * word of the process and a number.
 */
export function requestIds(): (request?: Pick<IncomingMessage, 'headers'>) => string {
  const prefix = randomBytes(4).toString('hex');
  let number = 0;
  return (request) => {
    // One that was sent twice is joined by a comma and a space.
    const given = request?.headers['x-request-id'];
    return typeof given === 'string' && USABLE.test(given) ? given : `${prefix}-${(number += 1).toString(36)}`;
  };
}
