import type { RequestListener } from 'node:http';
import Fastify, { type FastifyInstance } from 'fastify';
import { asRequestError, errorBody, RequestError } from './errors.ts';
import { nothingAt } from './guard.ts';
import { isLocal } from './https-rule.ts';
import { createListener, TIMEOUTS } from './listener.ts';
import { requestIds } from './request-id.ts';

/**
 * Health and metrics on a separate port that is not behind a proxy. A worker serves nothing else. `isOpen`: others may
 * use the port too, and `plugins` decide what they read; otherwise it is for this machine alone.
 */
export function buildMonitor(
  plugins: readonly ((app: FastifyInstance) => void)[],
  { isOpen = false }: { readonly isOpen?: boolean } = {},
): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: false },
    genReqId: requestIds(),
    requestIdHeader: false,
    serverFactory: (handle: RequestListener) => createListener(handle, { tls: null, ...TIMEOUTS }),
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
    // A web page in a browser on this machine uses another host name.
    if (isOpen || isLocal(request)) return;
    throw new RequestError(
      'permission_error',
      'This port can be used only from this machine. To open it for others, set MONITOR_HOST.',
    );
  });
  app.setErrorHandler((error, _request, reply) => {
    const requestError = asRequestError(error);
    return reply.code(requestError.status).send(errorBody(requestError, 'v1'));
  });
  app.setNotFoundHandler((request, reply) => {
    const requestError = nothingAt(request);
    return reply.code(requestError.status).send(errorBody(requestError, 'v1'));
  });
  for (const plugin of plugins) void app.register((scope, _options, done) => (plugin(scope), done()));
  return app;
}
