import type { FastifyRequest } from 'fastify';
import { RequestError } from './errors.ts';

export interface HttpsPolicy {
  readonly production: boolean;
  /** Whether `TRUST_PROXY` is set: the proxy then has to say that the client came by HTTPS. */
  readonly behindProxy: boolean;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ADDRESS = /^(?:127\.|::1$|::ffff:127\.)/;

/** Refuses plain HTTP, except by a developer on the same machine with no proxy in between (decisions, HTTPS). */
export function checkHttps(request: FastifyRequest, policy: HttpsPolicy): RequestError | null {
  if ((request.raw.socket as { encrypted?: boolean }).encrypted === true) return null;
  if (policy.behindProxy) return request.protocol === 'https' ? null : refusal();
  const headers = request.raw.headers;
  const local =
    !policy.production &&
    LOOPBACK_ADDRESS.test(request.raw.socket.remoteAddress ?? '') &&
    LOOPBACK_HOST.test(headers.host ?? '') &&
    !Object.keys(headers).some((name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'));
  return local ? null : refusal();
}

function refusal(): RequestError {
  return new RequestError(
    'https_required',
    'Requests must use HTTPS. Behind a proxy, set TRUST_PROXY and have it send X-Forwarded-Proto: https.',
  );
}
