import { ServerResponse, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { Access, AccessKey } from '../app/projects/access.ts';
import { compileCidrs } from '../app/projects/allow-list.ts';
import type { KeyUses } from '../app/projects/key-uses.ts';
import type { Mode } from '../domain/permission.ts';
import type { Problems } from '../domain/problems.ts';
import { clientAddress, dashboardLanguage } from './client.ts';
import { parseBodies } from './body.ts';
import { BODY_LIMIT_BYTES, asRequestError, errorBody, invalid, type RequestError, reportFault } from './errors.ts';
import { cameEncrypted, type HttpsPolicy } from './https-rule.ts';
import { nameIgnoredFields } from './ignored-fields.ts';
import { createListener, TIMEOUTS } from './listener.ts';
import { guardRequests, guardUnrouted, nothingAt, rateLimitHeaders, apiOf, sendRateLimitHeaders } from './guard.ts';
import { pathOf } from './path.ts';
import { limitConcurrentReads } from './api.ts';
import { clientBucket, type RateLimits } from './rate-limit.ts';
import { requestIds } from './request-id.ts';
import type { DashboardGuard } from './session-guard.ts';
import { compileValidator } from './validation.ts';

import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';

export interface ServerOptions {
  /** The mode of this address: live or sandbox. */
  readonly side: Mode;
  readonly access: Access;
  /** Records the use of keys. */
  readonly keyUses?: KeyUses;
  readonly limits: RateLimits;
  readonly baseUrls: Readonly<Record<Mode, string>>;
  readonly production: boolean;
  readonly trustProxy: readonly string[] | null;
  /** The networks that may use plain HTTP as this machine may, outside production. Default: none. */
  readonly plainHttpFrom?: readonly string[] | null;
  /** If true, each answer is the last one on its connection: the next request finds another process. Default: never. */
  readonly isStopping?: () => boolean;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  readonly log: FastifyBaseLogger;
  readonly problems: Problems;
  /** The program's name in messages; by default `cointill`. */
  readonly program?: string;
  /** Called after every answered request. */
  readonly onAnswered: (answer: AnsweredRequest) => void;
  /** Null or undefined if there is no dashboard. */
  readonly dashboard?: DashboardGuard | null;
  readonly plugins: readonly ((app: FastifyInstance) => void | Promise<void>)[];
}

/**
 * The longest head of a request that Node allows: an id of any length reaches its route, which answers that it is
 * unknown.
 */
const MAX_PARAM_LENGTH = 16_384;
/** The time that a client gets to read its last answer. */
const GOODBYE_MS = 2_000;

const SAFETY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  // For answers that are not pages, which have policies of their own.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;

/** One year, and for this host only: other hosts of the domain are not ours to decide about. */
const ONLY_HTTPS = 'max-age=31536000';

/** A request that was answered. */
export interface AnsweredRequest {
  readonly id: string;
  readonly method: string;
  /** The route's pattern, such as `/v1/orders/:id`; `unknown` if none matched. */
  readonly route: string;
  /** The target as received, including the query. */
  readonly url: string;
  readonly status: number;
  readonly durationMs: number;
  /** The signed-in person, whose role did not allow the request, and the client's address. */
  readonly denied: { readonly person: string; readonly client: string; readonly reason: string } | null;
  /** Set for a call of one of the APIs with an existing key. */
  readonly call: AnsweredCall | null;
}

/** A call of one of the APIs. */
export interface AnsweredCall {
  readonly key: AccessKey;
  /** The client's address. */
  readonly client: string;
  readonly userAgent: string | null;
  /** Why the call was refused or failed. */
  readonly refusal: RequestError | null;
}

/** One address of the service: the server that all routes are registered on. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { limits, tls, trustProxy, program = 'cointill' } = options;
  const idOf = requestIds();
  const guarding = { ...options, https: httpsPolicy(options) };
  const settings = {
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    serverFactory: (handle: RequestListener) => createListener(handle, { tls, ...TIMEOUTS }),
    forceCloseConnections: 'idle' as const,
    return503OnClosing: false,
    trustProxy: trustProxy === null ? false : [...trustProxy],
    genReqId: idOf,
    // A child logger for each request costs more than the request's own log lines, which are rare and contain its id.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    requestIdHeader: false as const,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      standardHeaders(request, reply, trustProxy !== null);
      const requestError = asRequestError(error);
      guardUnrouted(request, reply, guarding).then(
        () => (reply.sent ? reply : answerError(request, reply, requestError, program)),
        (refusal: unknown) => answerError(request, reply, asRequestError(refusal), program),
      );
    },
    clientErrorHandler: (_error: Error, socket: Socket) => void answerMalformed(socket, limits, idOf()),
  };
  const app = Fastify(settings) as FastifyInstance;
  app.setValidatorCompiler(compileValidator);
  // Bodies contain exact numbers, which only JSON.stringify writes unchanged.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  parseBodies(app);
  app.addHook('onRequest', (request, reply, done) => {
    standardHeaders(request, reply, trustProxy !== null);
    if (options.isStopping?.() === true) void reply.header('connection', 'close');
    done();
  });
  guardRequests(app, guarding);
  limitConcurrentReads(app);
  nameIgnoredFields(app);
  app.setErrorHandler(async (error, request, reply) => {
    if (isGone(request)) return reply.hijack();
    const requestError = asRequestError(error, request.routeOptions.bodyLimit);
    if (requestError.status >= 500) reportFault(options.problems, request, requestError.status, error);
    // The guard itself may have failed before it could send them, because the database is down.
    if (!reply.hasHeader('x-ratelimit-limit')) await sendRateLimitHeaders(request, reply, limits);
    return answerError(request, reply, requestError, program);
  });
  app.setNotFoundHandler((request) => {
    throw nothingAt(request);
  });
  app.addHook('onResponse', (request, reply, done) => {
    // The duration of an open stream has no meaning.
    if (request.routeOptions.config.stream === true && reply.statusCode === 200) return done();
    options.onAnswered({
      id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      url: request.url,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      denied: denialOf(request),
      call: callOf(request),
    });
    done();
  });
  for (const plugin of options.plugins) void app.register(async (scope) => plugin(scope));
  return app;
}

function httpsPolicy({ production, trustProxy, plainHttpFrom = null }: ServerOptions): HttpsPolicy {
  const networks = plainHttpFrom === null ? null : compileCidrs(plainHttpFrom);
  return { production, behindProxy: trustProxy !== null, plainHttpFrom: networks };
}

function denialOf(request: FastifyRequest): AnsweredRequest['denied'] {
  const { signedIn, refusal } = request;
  if (signedIn === null || refusal?.type !== 'permission_error') return null;
  return { person: signedIn.person.id, client: clientAddress(request), reason: refusal.message };
}

function callOf(request: FastifyRequest): AnsweredCall | null {
  const { sentKey: key, refusal } = request;
  if (key === null) return null;
  return { key, client: clientAddress(request), userAgent: request.headers['user-agent'] ?? null, refusal };
}

function answerError(request: FastifyRequest, reply: FastifyReply, error: RequestError, program: string): FastifyReply {
  request.refusal = error;
  const { guard } = request.routeOptions.config;
  // A path may be written with escapes, so the route's pattern is more reliable than its text.
  const api = guard?.kind === 'api' ? guard.api : apiOf(pathOf(request));
  return reply
    .code(error.statusOn(api))
    .header('content-type', 'application/json; charset=utf-8')
    .send(
      JSON.stringify(errorBody(error, api, program, guard?.kind === 'session' ? dashboardLanguage(request) : null)),
    );
}

function standardHeaders(request: FastifyRequest, reply: FastifyReply, behindProxy: boolean): void {
  void reply.header('x-request-id', request.id).headers(SAFETY_HEADERS);
  // Over plain HTTP browsers must ignore it (RFC 6797, 7.2).
  if (cameEncrypted(request, behindProxy)) void reply.header('strict-transport-security', ONLY_HTTPS);
}

/** Whether the client hung up while its body was read: there is nobody to answer, and no fault of ours. */
function isGone(request: FastifyRequest): boolean {
  return request.raw.destroyed && !request.raw.complete;
}

/**
 * Answers bytes that are not HTTP, or have oversized headers, directly on the socket, because they never become a
 * request.
 */
async function answerMalformed(socket: Socket, limits: RateLimits, id: string): Promise<void> {
  // A second answer after one that has begun would be read as part of it.
  const open: unknown = Reflect.get(socket, '_httpMessage');
  if (!socket.writable || (open instanceof ServerResponse && open.headersSent)) {
    socket.destroy();
    return;
  }
  const allowance = await limits.peek('test', clientBucket(socket.remoteAddress ?? ''));
  const error = invalid(null, 'The request is not valid HTTP, or its headers are too large.');
  const body = JSON.stringify(errorBody(error, 'v1'));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': id,
    ...SAFETY_HEADERS,
    ...rateLimitHeaders(allowance),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  // A client that never closes its side must not keep the socket open.
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
  socket.resume();
  socket.setTimeout(GOODBYE_MS, () => socket.destroy());
}
