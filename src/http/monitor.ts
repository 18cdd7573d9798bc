import type { RequestListener } from 'node:http';
import Fastify, { type FastifyInstance } from 'fastify';
import { asRequestError, errorBody, RequestError } from './errors.ts';
import { nothingAt } from './guard.ts';
import { isLocal } from './https-rule.ts';
import { createListener, TIMEOUTS } from './listener.ts';
import { requestIds } from './request-id.ts';

/** Health and metrics on a port of their own, which no proxy leads to; all that a worker answers. */
export function buildMonitor(plugins: readonly ((app: FastifyInstance) => void)[]): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: false },
    genReqId: requestIds(),
    requestIdHeader: false,
    serverFactory: (handle: RequestListener) => createListener(handle, { tls: null, ...TIMEOUTS }),
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    // A web page in a browser on this machine comes by another name.
    if (!isLocal(request)) throw new RequestError('permission_error', 'This port is for this machine alone.');
  });
  app.setErrorHandler((error, _request, reply) => {
    const told = asRequestError(error);
    return reply.code(told.status).send(errorBody(told, 'order'));
  });
  app.setNotFoundHandler((request, reply) => {
    const told = nothingAt(request);
    return reply.code(told.status).send(errorBody(told, 'order'));
  });
  for (const plugin of plugins) void app.register((scope, _options, done) => (plugin(scope), done()));
  return app;
}
