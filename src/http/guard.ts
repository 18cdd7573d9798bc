import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access, AccessKey } from '../app/access.ts';
import type { Mode, Operation } from '../domain/permission.ts';
import { authenticate, authorise } from './auth.ts';
import { clientAddress } from './client.ts';
import { allowOrigin, answerPreflight } from './cors.ts';
import { invalid, RequestError, type ErrorSurface } from './errors.ts';
import { checkHttps, type HttpsPolicy } from './https-rule.ts';
import { clientBucket, type Allowance, type Bucket, type RateLimits } from './rate-limit.ts';

/** How a route is guarded. `api`: by key. `page`: by the page's rate limit. `open`: not counted. `health`: plain HTTP too. */
export type Guard =
  | { readonly kind: 'api'; readonly surface: ErrorSurface; readonly operation: Operation }
  | { readonly kind: 'page' }
  | { readonly kind: 'open' }
  | { readonly kind: 'health' };

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard;
  }
  interface FastifyRequest {
    /** The key that the request came with; set on every guarded API route. */
    key: AccessKey | null;
  }
}

export interface GuardOptions {
  readonly side: Mode;
  readonly access: Access;
  readonly limits: RateLimits;
  readonly https: HttpsPolicy;
  readonly baseUrls: Readonly<Record<Mode, string>>;
}

/** The surface whose error shape a path takes. */
export function surfaceOf(path: string): ErrorSurface {
  return path.startsWith('/api/') ? 'transaction' : 'order';
}

/** Checks every request in one order: HTTPS, key, rate limit, allow-list, project active, permission. The body comes after. */
export function guardRequests(app: FastifyInstance, options: GuardOptions): void {
  app.decorateRequest('key', null);
  app.addHook('onRequest', (request, reply) => guard(request, reply, options));
}

async function guard(request: FastifyRequest, reply: FastifyReply, options: GuardOptions): Promise<unknown> {
  const known = request.routeOptions.config.guard;
  const rule: Guard = known ?? { kind: 'open' };
  const path = request.url;
  const isApi = rule.kind === 'api' || (known === undefined && /^\/(?:v1|api\/transactions)(?:[/?]|$)/.test(path));
  const address = clientAddress(request);
  const fault = duplicateHeader(request);
  if (rule.kind !== 'health') {
    const refusal = checkHttps(request, options.https);
    if (refusal !== null) {
      await tell(reply, options.limits, 'test', address);
      throw refusal;
    }
  }
  if (request.method === 'OPTIONS') return preflight(request, reply, options, address);
  if (isApi) return guardApi(request, reply, options, address, rule, fault);
  const counted = rule.kind === 'page' || known === undefined;
  const bucket: Bucket = rule.kind === 'page' ? 'page' : 'test';
  if (counted) await count(reply, options.limits, bucket, clientBucket(address));
  else await tell(reply, options.limits, 'test', address);
  if (fault !== null) throw fault;
  return undefined;
}

async function guardApi(
  request: FastifyRequest,
  reply: FastifyReply,
  options: GuardOptions,
  address: string,
  rule: Guard,
  fault: RequestError | null,
): Promise<undefined> {
  const surface = rule.kind === 'api' ? rule.surface : surfaceOf(request.url);
  let key: AccessKey | RequestError;
  if (fault?.type === 'authentication_error') key = fault;
  else {
    const found = authenticate(options.access, request.headers.authorization, surface, options);
    key = found instanceof Promise ? await found : found;
  }
  if (key instanceof RequestError) {
    await count(reply, options.limits, 'test', clientBucket(address));
    throw key;
  }
  request.key = key;
  if (key.kind === 'public') allowOrigin(reply, request.headers.origin, key);
  await count(reply, options.limits, key.mode, key.id);
  const refusal = authorise(key, address, rule.kind === 'api' ? rule.operation : null, surface);
  if (refusal !== null) throw refusal;
  if (fault !== null) throw fault;
  return undefined;
}

async function preflight(
  request: FastifyRequest,
  reply: FastifyReply,
  options: GuardOptions,
  address: string,
): Promise<FastifyReply> {
  await tell(reply, options.limits, 'test', address);
  const { origin } = request.headers;
  answerPreflight(reply, origin ?? '', origin !== undefined && (await options.access.anyProjectAllows(origin)));
  return reply.send();
}

/** Counts the request, tells what is left and refuses it when nothing is. */
async function count(reply: FastifyReply, limits: RateLimits, bucket: Bucket, id: string): Promise<void> {
  const allowance = await limits.consume(bucket, id);
  setHeaders(reply, allowance);
  if (allowance.allowed) return;
  const seconds = allowance.retryAfterSeconds;
  void reply.header('retry-after', String(seconds));
  throw new RequestError(
    'rate_limit_error',
    `Too many requests: ${allowance.limit} a minute are allowed. Try again in ${seconds} s.`,
  );
}

/** Tells what is left without counting. */
async function tell(reply: FastifyReply, limits: RateLimits, bucket: Bucket, address: string): Promise<void> {
  setHeaders(reply, await limits.peek(bucket, clientBucket(address)));
}

function setHeaders(reply: FastifyReply, allowance: Allowance): void {
  void reply
    .header('x-ratelimit-limit', String(allowance.limit))
    .header('x-ratelimit-remaining', String(allowance.remaining))
    .header('x-ratelimit-reset', String(allowance.resetSeconds));
}

/** Headers that decide something must come once: two of them mean two readers could read different ones. */
const SINGLE = new Set(['authorization', 'host', 'content-type', 'content-length', 'idempotency-key', 'origin']);

function duplicateHeader(request: FastifyRequest): RequestError | null {
  const raw = request.raw.rawHeaders;
  let seen = '';
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.includes(`|${name}|`)) {
      return name === 'authorization'
        ? new RequestError('authentication_error', 'The Authorization header must be sent once.')
        : invalid(null, `The header ${name} must be sent once.`);
    }
    seen += `|${name}|`;
  }
  return null;
}
