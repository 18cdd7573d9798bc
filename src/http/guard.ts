import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn } from '../app/people/sessions.ts';
import type { Access, AccessKey } from '../app/projects/access.ts';
import type { KeyUses } from '../app/projects/key-uses.ts';
import type { Mode, Operation } from '../domain/permission.ts';
import { authenticate, authorise, isLetIn, WrongAddressError } from './auth.ts';
import { clientAddress, countedAddress } from './client.ts';
import { allowOrigin, answerPreflight } from './cors.ts';
import { invalid, notFound, RequestError, type HttpApi } from './errors.ts';
import { checkHttps, isLocal, type HttpsPolicy } from './https-rule.ts';
import { loggedPath, pathOf } from './path.ts';
import { checkSessionRoute, guardDashboard, type DashboardGuard, type SessionRule } from './session-guard.ts';
import { clientBucket, type Allowance, type Bucket, type RateLimits } from './rate-limit.ts';

/**
 * The guard of a route. `api`: by key. `session`: by a session of the dashboard. `dashboard`: the pages of the
 * dashboard, for everybody who can reach it. `page`, `docs`: by their own rate limits. `open`: not counted. `local`:
 * from this machine also over plain HTTP. `health`: over plain HTTP for everybody.
 */
export type Guard =
  /** `operation` null: for every secret key. */
  | { readonly kind: 'api'; readonly api: HttpApi; readonly operation: Operation | null }
  | SessionRule
  | { readonly kind: 'dashboard'; readonly isCounted: boolean }
  /** `makesInvoices`: also counted by client and `:id`, because everybody with the link can make them. */
  | { readonly kind: 'page' | 'docs'; readonly makesInvoices?: boolean }
  | { readonly kind: 'open' }
  | { readonly kind: 'local' }
  | { readonly kind: 'health' };

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: Guard;
  }
  interface FastifyRequest {
    /** The key of the request; set on every guarded API route. */
    key: AccessKey | null;
    /** The key that was sent, if any, even if it was refused. */
    sentKey: AccessKey | null;
    /** Why the request was refused or failed; null otherwise. */
    refusal: RequestError | null;
    /** The signed-in person; set on routes that a session guards. */
    signedIn: SignedIn | null;
  }
}

export interface GuardOptions {
  readonly side: Mode;
  readonly access: Access;
  readonly keyUses?: KeyUses;
  readonly limits: RateLimits;
  readonly https: HttpsPolicy;
  readonly baseUrls: Readonly<Record<Mode, string>>;
  /** Null if there is no dashboard. */
  readonly dashboard?: DashboardGuard | null;
}

const SESSION_PATH = /^\/dashboard\/api(?:\/|$)/;
/** Unknown paths of the dashboard's API are limited like its routes: by session, otherwise by IP address. */
const NOWHERE: SessionRule = { kind: 'session', action: 'anybody' };
/** All but Greenfield's health, which needs no key. */
const API_PATH = /^\/(?:v1|api\/transactions|api\/v1(?!\/health$))(?:\/|$)/;
const GREENFIELD_PATH = /^\/api\/v1(?:\/|$)/;

/** The API whose error format a path uses. */
export function apiOf(path: string): HttpApi {
  if (GREENFIELD_PATH.test(path)) return 'greenfield';
  return path.startsWith('/api/') ? 'transactions' : 'v1';
}

/**
 * Checks every request in the same order: HTTPS, key, rate limit, allow-list, project active, permission. The body
 * comes after that. Requests that match no route are refused here too, so that their bodies are never read.
 */
export function guardRequests(app: FastifyInstance, options: GuardOptions): void {
  app.decorateRequest('key', null);
  app.decorateRequest('sentKey', null);
  app.decorateRequest('refusal', null);
  app.decorateRequest('signedIn', null);
  app.addHook('onRoute', (route) => {
    // A forgotten guard would leave the operation unchecked.
    if (API_PATH.test(route.url) && route.config?.guard?.kind !== 'api') {
      throw new Error(`The route ${String(route.method)} ${route.url} has no guard of kind "api".`);
    }
    if (SESSION_PATH.test(route.url)) checkSessionRoute(route.url, String(route.method), route.config?.guard ?? null);
    const own = route.onRequest === undefined ? [] : [route.onRequest].flat();
    route.onRequest = [(request, reply) => guard(request, reply, options, route.config?.guard ?? null), ...own];
  });
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    await guard(request, reply, options, null);
    if (!reply.sent) throw nothingAt(request);
  });
}

/** The checks for a request that Fastify rejects before routing, because its path is not valid in a URL. */
export async function guardUnrouted(
  request: FastifyRequest,
  reply: FastifyReply,
  options: GuardOptions,
): Promise<void> {
  await guard(request, reply, options, null);
}

export function nothingAt(request: FastifyRequest): RequestError {
  const what = `${request.method} ${loggedPath(request).slice(0, 200)}`;
  if (apiOf(pathOf(request)) !== 'greenfield') return notFound(`There is nothing at ${what}.`);
  return notFound(`Cointill does not have this call of BTCPay's Greenfield API: ${what}.`);
}

/** Throws the reason to refuse the request, if there is one. `rule` is null if no route matches. */
async function guard(
  request: FastifyRequest,
  reply: FastifyReply,
  options: GuardOptions,
  rule: Guard | null,
): Promise<void> {
  const { limits } = options;
  const fault = headerFault(request);
  if (rule?.kind !== 'health' && !(rule?.kind === 'local' && isLocal(request))) {
    const refusal = checkHttps(request, options.https);
    if (refusal !== null) {
      await sendRateLimitHeaders(request, reply, limits);
      throw refusal;
    }
  }
  if (rule === null && request.method === 'OPTIONS') return guardOptions(request, reply, options);
  if (rule === null ? API_PATH.test(pathOf(request)) : rule.kind === 'api') {
    return guardApi(request, reply, options, rule?.kind === 'api' ? rule : null, fault);
  }
  const { dashboard = null } = options;
  const shown = rule === null && dashboard !== null && SESSION_PATH.test(pathOf(request)) ? NOWHERE : rule;
  if (shown?.kind === 'session' || shown?.kind === 'dashboard') {
    return guardDashboard(request, reply, { ...options, dashboard }, shown, {
      fault,
      countClient: () => count(reply, limits, 'page', clientId(request)),
      showLimit: () => sendRateLimitHeaders(request, reply, limits),
      countSession: (id) => count(reply, limits, 'dashboard', id),
      admitUnknown: () => refuseUsedUp(reply, limits, 'no-session', clientId(request)),
      countUnknown: () => count(reply, limits, 'no-session', clientId(request)),
    });
  }
  if (rule === null) await count(reply, limits, 'test', clientId(request));
  else if (rule.kind === 'page' || rule.kind === 'docs') {
    await count(reply, limits, rule.kind, clientId(request));
    const { id } = request.params as { readonly id?: string };
    if (rule.makesInvoices === true) await count(reply, limits, 'invoices', `${clientId(request)} ${id}`);
  } else await sendRateLimitHeaders(request, reply, limits);
  if (fault !== null) throw fault;
}

async function guardApi(
  request: FastifyRequest,
  reply: FastifyReply,
  options: GuardOptions,
  rule: Extract<Guard, { readonly kind: 'api' }> | null,
  fault: RequestError | null,
): Promise<void> {
  const api = rule?.api ?? apiOf(pathOf(request));
  const client = clientId(request);
  const { limits } = options;
  let key: AccessKey | RequestError;
  if (fault?.type === 'authentication_error') key = fault;
  else {
    // A client that has used up its requests without a key cannot have more keys looked up.
    const admit = () => refuseUsedUp(reply, limits, 'test', client);
    const found = authenticate(options.access, request.headers.authorization, api, options, admit);
    key = found instanceof Promise ? await found : found;
  }
  if (key instanceof RequestError) {
    if (key instanceof WrongAddressError) request.sentKey = key.key;
    await count(reply, limits, 'test', client);
    void reply.header('www-authenticate', 'Bearer');
    throw key;
  }
  request.key = key;
  request.sentKey = key;
  if (key.kind === 'public') allowOrigin(reply, request.headers.origin, key);
  if (key.kind === 'public') await countPublic(reply, limits, key, client);
  else await count(reply, limits, key.mode, key.id);
  const address = clientAddress(request);
  const { origin, 'user-agent': userAgent } = request.headers;
  options.keyUses?.note(key, { address, origin, userAgent, isAllowed: isLetIn(key, address) });
  const refusal = authorise(key, address, rule?.operation ?? null, api) ?? fault;
  if (refusal !== null) throw refusal;
}

/**
 * A preflight carries no key, so it is neither counted nor refused for lack of one. Any other OPTIONS is a wrong
 * method.
 */
async function guardOptions(request: FastifyRequest, reply: FastifyReply, options: GuardOptions): Promise<void> {
  await sendRateLimitHeaders(request, reply, options.limits);
  const { origin, 'access-control-request-method': method } = request.headers;
  if (method === undefined || !API_PATH.test(pathOf(request))) return;
  answerPreflight(reply, origin ?? '', origin !== undefined && (await options.access.anyProjectAllows(origin)));
  void reply.send();
}

/** Counts the request, sends the rate-limit headers, and refuses the request if the limit is exceeded. */
async function count(reply: FastifyReply, limits: RateLimits, bucket: Bucket, id: string): Promise<void> {
  refuseBeyond(reply, await limits.consume(bucket, id));
}

/** Refuses the request if nothing is left of the limit; does not count it. */
async function refuseUsedUp(reply: FastifyReply, limits: RateLimits, bucket: Bucket, id: string): Promise<void> {
  if ((await limits.peek(bucket, id)).remaining === 0) await count(reply, limits, bucket, id);
}

/** A public key is in every visitor's browser: no visitor may use it up for the others. */
async function countPublic(reply: FastifyReply, limits: RateLimits, key: AccessKey, client: string): Promise<void> {
  const own = await limits.consume(key.mode, `${key.id} ${client}`);
  // Requests that exceed the client's own limit do not count against the others.
  const shared = own.allowed ? await limits.consume(`${key.mode}-shared`, key.id) : own;
  refuseBeyond(reply, shared.remaining < own.remaining || !shared.allowed ? shared : own);
}

function refuseBeyond(reply: FastifyReply, allowance: Allowance): void {
  void reply.headers(rateLimitHeaders(allowance));
  if (allowance.allowed) return;
  const seconds = allowance.retryAfterSeconds;
  void reply.header('retry-after', String(seconds));
  throw new RequestError(
    'rate_limit_error',
    `Too many requests. The limit is ${allowance.limit} per minute. Try again in ${seconds} s.`,
  );
}

/** The id under which a client is counted. */
function clientId(request: FastifyRequest): string {
  return clientBucket(countedAddress(request));
}

/** The three headers that every response carries. */
export function rateLimitHeaders(allowance: Allowance): Record<string, string> {
  return {
    'x-ratelimit-limit': String(allowance.limit),
    'x-ratelimit-remaining': String(allowance.remaining),
    'x-ratelimit-reset': String(allowance.resetSeconds),
  };
}

/** Sends the limit and the rest that the client's address has of it, without counting the request. */
export async function sendRateLimitHeaders(
  request: FastifyRequest,
  reply: FastifyReply,
  limits: RateLimits,
): Promise<void> {
  void reply.headers(rateLimitHeaders(await limits.peek('test', clientId(request))));
}

/** Headers with consequences that must be sent once: otherwise two readers could use different values. */
const SINGLE = new Set(['authorization', 'host', 'content-type', 'content-length', 'idempotency-key', 'origin']);

function headerFault(request: FastifyRequest): RequestError | null {
  const { rawHeaders: raw, httpVersion, headers } = request.raw;
  // RFC 9112, 3.2. Node's own refusal would lack the rate-limit headers and is switched off.
  if (headers.host === undefined && httpVersion === '1.1') return invalid(null, 'The Host header is missing.');
  let seen = '';
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.includes(`|${name}|`)) {
      return name === 'authorization'
        ? new RequestError('authentication_error', 'The Authorization header must be sent only once.')
        : invalid(null, `The header ${name} must be sent only once.`);
    }
    seen += `|${name}|`;
  }
  return null;
}
