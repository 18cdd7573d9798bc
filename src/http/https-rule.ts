import type { FastifyRequest } from 'fastify';
import { isOn, type AllowList } from '../app/projects/allow-list.ts';
import { connectedAddress } from './client.ts';
import { RequestError } from './errors.ts';

export interface HttpsPolicy {
  readonly production: boolean;
  /** Whether `TRUST_PROXY` is set: the proxy must then confirm that the client used HTTPS. */
  readonly behindProxy: boolean;
  /** The networks of `PLAIN_HTTP_FROM`; null: none. */
  readonly plainHttpFrom: AllowList | null;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ADDRESS = /^(?:127\.|::1$|::ffff:127\.)/;

/** Refuses plain HTTP, except from a developer with no proxy in between (docs/guide/https.md). */
export function checkHttps(request: FastifyRequest, policy: HttpsPolicy): RequestError | null {
  if (cameEncrypted(request, policy.behindProxy)) return null;
  if (!policy.behindProxy && isFromDeveloper(request, policy)) return null;
  return refusal(policy.production || policy.behindProxy ? '' : containerHint(request));
}

/**
 * Whether a request comes from a developer, who may use plain HTTP: outside production, from this machine or a network
 * of `PLAIN_HTTP_FROM`, with this machine as its host. A page of another site has another host, also by DNS rebinding.
 */
export function isFromDeveloper(
  request: FastifyRequest,
  { production, behindProxy, plainHttpFrom }: HttpsPolicy,
): boolean {
  if (production) return false;
  if (isLocal(request)) return true;
  if (plainHttpFrom === null || behindProxy || !isOn(plainHttpFrom, connectedAddress(request))) return false;
  return namesThisMachine(request) && !cameThroughProxy(request);
}

/** Whether the request was encrypted all the way, as far as this process knows. */
export function cameEncrypted(request: FastifyRequest, behindProxy: boolean): boolean {
  return (request.raw.socket as { encrypted?: boolean }).encrypted === true || (behindProxy && cameByHttps(request));
}

/** Whether a request comes from this machine and names this machine as its host, so that it crossed no network. */
export function isLocal(request: FastifyRequest): boolean {
  return isDirect(request) && namesThisMachine(request);
}

function namesThisMachine(request: FastifyRequest): boolean {
  return LOOPBACK_HOST.test(request.raw.headers.host ?? '');
}

/** Whether a request comes from this machine without a proxy; behind a proxy every client looks local. */
export function isDirect(request: FastifyRequest): boolean {
  return LOOPBACK_ADDRESS.test(request.raw.socket.remoteAddress ?? '') && !cameThroughProxy(request);
}

function cameThroughProxy(request: FastifyRequest): boolean {
  return Object.keys(request.raw.headers).some(
    (name) => name === 'forwarded' || name === 'via' || name.startsWith('x-forwarded-'),
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

function refusal(hint: string): RequestError {
  return new RequestError(
    'https_required',
    `Requests must use HTTPS. Behind a proxy, set TRUST_PROXY and make the proxy send X-Forwarded-Proto: https.${hint}`,
  );
}

/** The way out for developers whose requests come from a container's network. */
function containerHint(request: FastifyRequest): string {
  return ` For development in a container, set PLAIN_HTTP_FROM to the network of ${connectedAddress(request)}, and use the host localhost.`;
}
