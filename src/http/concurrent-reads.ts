import type { FastifyInstance } from 'fastify';
import { createConcurrencyLimit } from '../app/concurrency-limit.ts';
import type { Operation } from '../domain/permission.ts';
import { keyOf } from './api.ts';
import { MAX_STARTED } from './listener.ts';

/** As many as one connection can have running, so that a client with one connection never waits here. */
const MAX_CONCURRENT_READS = MAX_STARTED;

const LISTS: readonly Operation[] = ['read_payments', 'read_refunds'];

/**
 * Limits how many lists, refunds and statistics of one project are read at once. Each takes pool connections, and a
 * page of a hundred payments takes milliseconds of this process: without a limit they would hold up other requests.
 */
export function limitConcurrentReads(app: FastifyInstance): void {
  const limited = createConcurrencyLimit(MAX_CONCURRENT_READS);
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    const guard = route.config?.guard;
    if (guard?.kind !== 'api' || !LISTS.includes(guard.operation)) return;
    route.handler = function (request, reply) {
      return limited(keyOf(request).project.id, async () => {
        // A client that hung up while it waited gets no answer and costs nothing more.
        if (request.raw.socket.destroyed) return reply.hijack();
        return handler.call(this, request, reply);
      });
    };
  });
}
