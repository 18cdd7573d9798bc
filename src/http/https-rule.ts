import type { FastifyRequest } from 'fastify';
import { RequestError } from './errors.ts';

export interface HttpsPolicy {
  readonly production: boolean;
  /** Whether `TRUST_PROXY` is set: the proxy must then confirm that the client used HTTPS. */
  readonly behindProxy: boolean;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ADDRESS = /^(?:127\.|::1$|::ffff:127\.)/;

/** Refuses plain HTTP, except from a developer on the same machine with no proxy in between (docs/guide/https.md). */
export function checkHttps(request: FastifyRequest, policy: HttpsPolicy): RequestError | null {
  if (cameEncrypted(request, policy.behindProxy)) return null;
  if (policy.behindProxy) return refusal();
  return !policy.production && isLocal(request) ? null : refusal();
}

/** Whether the request was encrypted all the way, as far as this process knows. */
export function cameEncrypted(request: FastifyRequest, behindProxy: boolean): boolean {
  return (request.raw.socket as { encrypted?: boolean }).encrypted === true || (behindProxy && cameByHttps(request));
}

/** Whether a request comes from this machine and names this machine as its host, so that it crossed no network. */
export function isLocal(request: FastifyRequest): boolean {
  return isDirect(request) && LOOPBACK_HOST.test(request.raw.headers.host ?? '');
}

/** Whether a request comes from this machine without a proxy; behind a proxy every client looks local. */
export function isDirect(request: FastifyRequest): boolean {
  return (
    LOOPBACK_ADDRESS.test(request.raw.socket.remoteAddress ?? '') &&
    !Object.keys(request.raw.headers).some(
      (name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'),
    )
  );
}

/**
 * Whether a trusted proxy reports HTTPS (`request.protocol` is `http` for others). Several proxies each add a value;
 * all of them must be https, so that no hop was plain.
 */
function cameByHttps(request: FastifyRequest): boolean {
  const withoutEmpty = request.headers['x-forwarded-proto'];
  return (
    typeof withoutEmpty === 'string' &&
    request.protocol.toLowerCase() === 'https' &&
    withoutEmpty.split(',').every((word) => word.trim().toLowerCase() === 'https')
  );
}

function refusal(): RequestError {
  return new RequestError(
    'https_required',
    'Requests must use HTTPS. Behind a proxy, set TRUST_PROXY and make the proxy send X-Forwarded-Proto: https.',
  );
}
