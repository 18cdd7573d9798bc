import type { FastifyInstance } from 'fastify';
import { createConcurrencyLimit } from '../app/concurrency-limit.ts';
import { keyOf } from './api.ts';
import { MAX_STARTED } from './listener.ts';

/** As many as one connection may have under way, so that a client with one never waits here. */
const MAX_CONCURRENT_READS = MAX_STARTED;

/**
 * Lists, refunds and statistics of one project are read a few at a time. Each takes connections of the pool, and a page of
 * a hundred payments milliseconds of this process: all at once they would hold up what others ask and create.
 */
export function limitConcurrentReads(app: FastifyInstance): void {
  const limited = createConcurrencyLimit(MAX_CONCURRENT_READS);
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    const guard = route.config?.guard;
    if (guard?.kind !== 'api' || guard.operation !== 'read') return;
    route.handler = function (request, reply) {
      return limited(keyOf(request).project.id, async () => {
        // A client that hung up while it waited gets no answer, and costs nothing any more.
        if (request.raw.socket.destroyed) return reply.hijack();
        return handler.call(this, request, reply);
      });
    };
  });
}
