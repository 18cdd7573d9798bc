import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Access } from '../app/access.ts';
import type { Mode } from '../domain/permission.ts';
import { BODY_LIMIT_BYTES, parseBodies } from './body.ts';
import { clientAddress } from './client.ts';
import { describeApi } from './docs.ts';
import { asRequestError, errorBody, invalid, notFound, type RequestError } from './errors.ts';
import { guardRequests, surfaceOf } from './guard.ts';
import { clientBucket, type Allowance, type RateLimits } from './rate-limit.ts';
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
  /** Told of every answered request. */
  readonly onAnswered: (route: string, method: string, status: number, seconds: number) => void;
  readonly plugins: readonly ((app: FastifyInstance) => void | Promise<void>)[];
}

const SLOW_SECONDS = 1;
/** As long as Node lets a request's head be: an id of any length is looked at by its route, which does not know it. */
const MAX_PARAM_LENGTH = 16_384;

/** One address of the service: the frame that every route stands in. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { limits, tls, trustProxy } = options;
  const settings = {
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    forceCloseConnections: 'idle' as const,
    return503OnClosing: false,
    trustProxy: trustProxy === null ? false : [...trustProxy],
    genReqId: requestIds(),
    // A child logger for each request costs more than the request's own log lines, which are rare and name their request.
    childLoggerFactory: (logger: FastifyBaseLogger) => logger,
    requestIdHeader: false as const,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) => {
      void limits.peek('test', clientBucket(clientAddress(request))).then((allowance) => {
        void reply.headers(rateLimitHeaders(allowance));
        return answerError(request, reply, asRequestError(error));
      });
    },
    clientErrorHandler: (error: Error, socket: Socket) => void answerMalformed(socket, limits),
  };
  const app = (tls === null ? Fastify(settings) : Fastify({ ...settings, https: tls })) as FastifyInstance;
  app.setValidatorCompiler(compileValidator);
  // Views carry exact numbers that only JSON.stringify writes as they are.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  parseBodies(app);
  app.addHook('onRequest', (request, reply, done) => {
    void reply
      .header('x-request-id', request.id)
      .header('x-content-type-options', 'nosniff')
      .header('cache-control', 'no-store');
    done();
  });
  guardRequests(app, {
    ...options,
    https: { production: options.production, behindProxy: trustProxy !== null },
  });
  app.setErrorHandler((error, request, reply) => {
    const told = asRequestError(error);
    if (told.status >= 500)
      request.log.error({ err: error, request: request.id, path: pathOf(request) }, 'a request failed');
    return answerError(request, reply, told);
  });
  app.setNotFoundHandler((request) => {
    throw notFound(`There is nothing at ${request.method} ${pathOf(request).slice(0, 200)}.`);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const seconds = reply.elapsedTime / 1000;
    options.onAnswered(request.routeOptions.url ?? 'unknown', request.method, reply.statusCode, seconds);
    if (seconds > SLOW_SECONDS) {
      request.log.warn(
        { request: request.id, path: pathOf(request), seconds, status: reply.statusCode },
        'a slow request',
      );
    }
    done();
  });
  void app.register(describeApi, { baseUrls: options.baseUrls });
  for (const plugin of options.plugins) void app.register(async (scope) => plugin(scope));
  return app;
}

function answerError(request: FastifyRequest, reply: FastifyReply, error: RequestError): FastifyReply {
  return reply
    .code(error.status)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(error, surfaceOf(request.url))));
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? '';
}

function rateLimitHeaders(allowance: Allowance): Record<string, string> {
  return {
    'x-ratelimit-limit': String(allowance.limit),
    'x-ratelimit-remaining': String(allowance.remaining),
    'x-ratelimit-reset': String(allowance.resetSeconds),
  };
}

/** What is not HTTP, or has headers beyond all bounds, never becomes a request; it is answered on the bare socket. */
async function answerMalformed(socket: Socket, limits: RateLimits): Promise<void> {
  if (!socket.writable) {
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
    ...rateLimitHeaders(allowance),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Ids that tell requests of one log apart: a random word of the process and a number. */
function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let number = 0;
  return () => `${prefix}-${(number += 1).toString(36)}`;
}
