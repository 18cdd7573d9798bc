import { ServerResponse, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Access } from '../app/projects/access.ts';
import type { Mode } from '../domain/permission.ts';
import type { Troubles } from '../domain/trouble.ts';
import { BODY_LIMIT_BYTES, parseBodies } from './body.ts';
import { asRequestError, errorBody, invalid, type RequestError } from './errors.ts';
import { cameEncrypted } from './https-rule.ts';
import { nameIgnoredFields } from './ignored-fields.ts';
import { createListener, TIMEOUTS } from './listener.ts';
import { guardRequests, guardUnrouted, nothingAt, rateLimitHeaders, surfaceOf, sendRateLimitHeaders } from './guard.ts';
import { pathOf } from './path.ts';
import { reportFault } from './report-fault.ts';
import { limitConcurrentReads } from './concurrent-reads.ts';
import { clientBucket, type RateLimits } from './rate-limit.ts';
import { requestIds } from './request-id.ts';
import { compileValidator } from './validation.ts';

export interface ServerOptions {
  /** Which address this is: the live one or the sandbox's. */
  readonly side: Mode;
  readonly access: Access;
  readonly limits: RateLimits;
  readonly baseUrls: Readonly<Record<Mode, string>>;
  readonly production: boolean;
  readonly trustProxy: readonly string[] | null;
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  readonly log: FastifyBaseLogger;
  readonly troubles: Troubles;
  /** Told of every answered request. */
  readonly onAnswered: (answer: AnsweredRequest) => void;
  readonly plugins: readonly ((app: FastifyInstance) => void | Promise<void>)[];
}

/** As long as Node lets a request's head be: an id of any length is looked at by its route, which does not know it. */
const MAX_PARAM_LENGTH = 16_384;
/** How long a client may take to read its last answer. */
const GOODBYE_MS = 2_000;

const SAFETY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const;

/** For a year; of this host alone, as others of the domain are not ours to speak for. */
const ONLY_HTTPS = 'max-age=31536000';

/** A request that was answered. */
export interface AnsweredRequest {
  readonly id: string;
  readonly method: string;
  /** Its pattern, such as `/v1/orders/:id`; `unknown` where none matched. */
  readonly route: string;
  /** As it came, query and all. */
  readonly url: string;
  readonly status: number;
  readonly durationMs: number;
}

/** One address of the service: the frame that every route stands in. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { limits, tls, trustProxy } = options;
  const idOf = requestIds();
  const guarding = { ...options, https: { production: options.production, behindProxy: trustProxy !== null } };
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
    // A child logger for each request costs more than the request's own log lines, which are rare and name their request.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    requestIdHeader: false as const,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      standardHeaders(request, reply, trustProxy !== null);
      const requestError = asRequestError(error);
      guardUnrouted(request, reply, guarding).then(
        () => (reply.sent ? reply : answerError(request, reply, requestError)),
        (refusal: unknown) => answerError(request, reply, asRequestError(refusal)),
      );
    },
    clientErrorHandler: (_error: Error, socket: Socket) => void answerMalformed(socket, limits, idOf()),
  };
  const app = Fastify(settings) as FastifyInstance;
  app.setValidatorCompiler(compileValidator);
  // Views carry exact numbers that only JSON.stringify writes as they are.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  parseBodies(app);
  app.addHook('onRequest', (request, reply, done) => {
    standardHeaders(request, reply, trustProxy !== null);
    done();
  });
  guardRequests(app, guarding);
  limitConcurrentReads(app);
  nameIgnoredFields(app);
  app.setErrorHandler(async (error, request, reply) => {
    if (isGone(request)) return reply.hijack();
    const requestError = asRequestError(error);
    if (requestError.status >= 500) reportFault(options.troubles, request, requestError.status, error);
    // The guard itself may have failed before it could tell, for want of the database.
    if (!reply.hasHeader('x-ratelimit-limit')) await sendRateLimitHeaders(request, reply, limits);
    return answerError(request, reply, requestError);
  });
  app.setNotFoundHandler((request) => {
    throw nothingAt(request);
  });
  app.addHook('onResponse', (request, reply, done) => {
    // An open stream's duration says nothing.
    if (request.routeOptions.config.stream === true && reply.statusCode === 200) return done();
    options.onAnswered({
      id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      url: request.url,
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
    });
    done();
  });
  for (const plugin of options.plugins) void app.register(async (scope) => plugin(scope));
  return app;
}

function answerError(request: FastifyRequest, reply: FastifyReply, error: RequestError): FastifyReply {
  const { guard } = request.routeOptions.config;
  // A path may be written with escapes, so the route knows better than its text.
  const surface = guard?.kind === 'api' ? guard.surface : surfaceOf(pathOf(request));
  return reply
    .code(error.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error, surface)));
}

function standardHeaders(request: FastifyRequest, reply: FastifyReply, behindProxy: boolean): void {
  void reply.header('x-request-id', request.id).headers(SAFETY_HEADERS);
  // Over plain HTTP nobody may believe it (RFC 6797, 7.2).
  if (cameEncrypted(request, behindProxy)) void reply.header('strict-transport-security', ONLY_HTTPS);
}

/** Whether the client hung up while its body was read: there is nobody to answer, and nothing of ours failed. */
function isGone(request: FastifyRequest): boolean {
  return request.raw.destroyed && !request.raw.complete;
}

/** What is not HTTP, or has headers beyond all bounds, never becomes a request; it is answered on the bare socket. */
async function answerMalformed(socket: Socket, limits: RateLimits, id: string): Promise<void> {
  // Behind an answer that has begun, another would read as a part of it.
  const open: unknown = Reflect.get(socket, '_httpMessage');
  if (!socket.writable || (open instanceof ServerResponse && open.headersSent)) {
    socket.destroy();
    return;
  }
  const allowance = await limits.peek('test', clientBucket(socket.remoteAddress ?? ''));
  const error = invalid(null, 'The request is not valid HTTP, or its headers are too large.');
  const body = JSON.stringify(errorBody(error, 'order'));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': id,
    ...SAFETY_HEADERS,
    ...rateLimitHeaders(allowance),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  // A client that never closes its side must not hold the socket.
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
  socket.resume();
  socket.setTimeout(GOODBYE_MS, () => socket.destroy());
}
