import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { NetworkStatus } from '../app/chains/network-status.ts';
import { sharedAnswer } from '../app/shared-answer.ts';
import { readBearer } from './auth.ts';
import { RequestError } from './errors.ts';
import { isDirect } from './https-rule.ts';
import type { AnsweredRequest } from './server.ts';

export interface Metrics {
  readonly registry: Registry;
  /** Counts an answered request. */
  readonly onAnswered: (answer: AnsweredRequest) => void;
}

/** The process's metrics, and a histogram of requests by route, method and status. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'cointill_http_request_seconds',
    help: 'Duration of answered requests.',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  return {
    registry,
    onAnswered: ({ route, method, status, durationMs }) =>
      requests.observe({ route, method, status: String(status) }, durationMs / 1000),
  };
}

/** Renders the answer to a scrape. */
export interface Scrape {
  readonly contentType: string;
  readonly bytes: Buffer;
}

/**
 * Renders the registry and the state of the chains once for everybody who asks at the same time or within `keepMs`: a
 * separate text for each request of a burst would use up the memory.
 */
export function createScrape(
  registry: Registry,
  networks: () => Promise<readonly NetworkStatus[]>,
  { keepMs = 0, now }: { readonly keepMs?: number; readonly now?: () => number } = {},
): () => Promise<Scrape> {
  registerNetworks(registry, networks);
  const render = async (): Promise<Scrape> => ({
    contentType: registry.contentType,
    bytes: Buffer.from(await registry.metrics()),
  });
  return sharedAnswer(keepMs, render, now);
}

/**
 * `GET /metrics` in Prometheus' format, with `METRICS_TOKEN` or for clients allowed by `mayRead`: by default this
 * machine. Everybody else reads `refusal`.
 */
export function metricsRoute(
  scrape: () => Promise<Scrape>,
  token: string | null,
  mayRead: (request: FastifyRequest) => boolean = isDirect,
  refusal = 'Metrics can be read only from this machine, or with METRICS_TOKEN as the bearer token.',
): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/metrics', { config: { guard: { kind: 'local' } }, schema: { hide: true } }, async (request, reply) => {
      if (!hasToken(request, token) && !mayRead(request)) throw new RequestError('permission_error', refusal);
      const { contentType, bytes } = await scrape();
      return reply.header('content-type', contentType).send(bytes);
    });
  };
}

/** Metrics of following the chains, read again for each scrape. */
function registerNetworks(registry: Registry, networks: () => Promise<readonly NetworkStatus[]>): void {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['network'] as const, registers: [registry] });
  const cursor = gauge('cointill_network_cursor_height', 'Height of the last block that Cointill has processed.');
  const height = gauge('cointill_network_height', 'Height of the newest block that any node has.');
  const lag = gauge('cointill_network_lag_blocks', 'Blocks between the last processed block and the newest block.');
  const age = gauge('cointill_network_block_age_seconds', 'Age of the last block that Cointill has processed.');
  registry.registerMetric(
    new Gauge({
      name: 'cointill_network_healthy',
      help: '1 if the network is followed without problems.',
      labelNames: ['network'] as const,
      registers: [],
      async collect() {
        // If the database is down, these metrics are missing, but not the whole scrape.
        for (const status of await networks().catch(() => [])) {
          const { network } = status;
          this.set({ network }, status.problem === null ? 1 : 0);
          if (status.cursor !== null) cursor.set({ network }, status.cursor.height);
          if (status.height !== null) height.set({ network }, status.height);
          if (status.lagBlocks !== null) lag.set({ network }, status.lagBlocks);
          if (status.lagMs !== null) age.set({ network }, status.lagMs / 1000);
        }
      },
    }),
  );
}

/** Whether a request carries `METRICS_TOKEN` as the bearer token. */
export function hasToken(request: FastifyRequest, token: string | null): boolean {
  if (token !== null) {
    const given = readBearer(request.headers.authorization);
    if (typeof given === 'string') {
      const [a, b] = [Buffer.from(given), Buffer.from(token)];
      if (a.length === b.length && timingSafeEqual(a, b)) return true;
    }
  }
  return false;
}
