import type { FastifyInstance } from 'fastify';
import { networkStatus } from '../app/chains/network-status.ts';
import type { Observer } from '../app/observer.ts';
import { sharedAnswer } from '../app/shared-answer.ts';
import { within } from '../app/within.ts';
import type { Cointill } from './core.ts';
import type { DiskWatch } from './disk-space.ts';
import { healthRoutes, type Readiness } from '../http/health.ts';
import { isDirect, isLocal } from '../http/https-rule.ts';
import { ListenError } from '../http/listen-error.ts';
import { createMetrics, createScrape, hasToken, metricsRoute, type Metrics } from '../http/metrics.ts';
import { buildMonitor } from '../http/monitor.ts';
import { createObserver, registerService } from '../http/service-metrics.ts';
import type { Prices } from './prices.ts';
import { readiness, type WatchedPart } from './readiness.ts';
import { readFigures } from '../store/figures/figures.ts';
import type { Listening } from '../store/notifications.ts';
import { addressGaps } from '../store/wallets/wallets.ts';
import { isLoopback } from '../config/addresses.ts';
import type { Config } from '../config/config.ts';
import { thisInstance } from '../config/instance.ts';
import { version } from '../config/built.ts';

/** More frequent requests share one answer, so that requests without a key cost the database nothing. */
const SHARED_MS = 500;
/** Prometheus' default scrape interval. */
const FIGURES_FOR_MS = 15_000;
/** Prometheus gives up a scrape after ten seconds and loses all of it. */
const READ_WITHIN_MS = 3_000;

const NO_TOKEN =
  'Metrics are not shown at MONITOR_HOST, because METRICS_TOKEN is not set. Set METRICS_TOKEN, and send it as the bearer token.';
const WITHOUT_TOKEN = 'Metrics are shown at MONITOR_HOST only with METRICS_TOKEN as the bearer token.';

/** The counters that run from the start. */
export interface Counting {
  readonly metrics: Metrics;
  readonly observer: Observer;
}

export function startCounting(): Counting {
  const metrics = createMetrics();
  return { metrics, observer: createObserver(metrics.registry) };
}

/** The state of the service as others can read it. */
export interface Monitoring {
  /** `/healthz`, `/readyz` and `/metrics` for the addresses of the API. */
  readonly plugins: readonly ((app: FastifyInstance) => void)[];
  /** Opens a port that serves only these; returns how to close it. */
  listen(port: number): Promise<() => Promise<void>>;
  /** From now on the service is not ready: load balancers go elsewhere while it finishes. */
  stopping(): void;
  isStopping(): boolean;
}

export function createMonitoring(
  config: Config,
  core: Cointill,
  notifications: Listening,
  prices: Prices,
  { disks, parts }: { readonly disks: DiskWatch | null; readonly parts: readonly WatchedPart[] },
  { metrics }: Counting,
): Monitoring {
  let isStopping = false;
  const check = sharedAnswer(SHARED_MS, () =>
    readiness(core, notifications, [...(disks === null ? [] : [disks]), ...parts]),
  );
  const ready = async (): Promise<Readiness> =>
    isStopping ? { ok: false, checks: { service: 'stopping' }, degraded: false } : check();
  const networks = sharedAnswer(SHARED_MS, () => within(READ_WITHIN_MS, networkStatus(core.app, core.networks)));
  registerService(metrics.registry, {
    version: version(),
    schema: () => core.handle.schema(),
    figures: sharedAnswer(FIGURES_FOR_MS, () => within(READ_WITHIN_MS, readFigures(core.handle.db, core.app.clock))),
    gaps: sharedAnswer(FIGURES_FOR_MS, () => within(READ_WITHIN_MS, addressGaps(core.handle.db))),
    ready,
    isListening: () => notifications.healthy(),
    clockAheadMs: () => core.app.clockState?.().aheadMs ?? 0,
    disks: async () => disks?.read() ?? [],
    pool: () => core.handle.pool(),
    wakeups: () => core.handle.wakeups.counts(),
    prices: () => prices.ages(),
  });
  const scrape = createScrape(metrics.registry, networks, { keepMs: SHARED_MS });
  const plugins = (answersLocally: boolean) => [
    healthRoutes(ready, (request) => answersLocally && isLocal(request), thisInstance(config)),
    metricsRoute(scrape, config.metricsToken, (request) => answersLocally && isDirect(request)),
  ];
  /** For a port that others reach: what looks like this machine may be a forwarder, so that only the token counts. */
  const openPlugins = (token: string | null) => [
    healthRoutes(ready, (request) => hasToken(request, token), thisInstance(config)),
    metricsRoute(scrape, token, () => false, token === null ? NO_TOKEN : WITHOUT_TOKEN),
  ];
  return {
    // With a port of its own for this machine, the addresses of the API, which a proxy may expose, tell it no more.
    plugins: plugins(config.monitorPort === null),
    listen: async (port) => {
      const { monitorHost: host, metricsToken } = config;
      const isOpen = !isLoopback(host);
      const monitor = buildMonitor(isOpen ? openPlugins(metricsToken) : plugins(true), { isOpen });
      await monitor.listen({ host, port }).catch((error: unknown) => {
        throw new ListenError(port, error);
      });
      return () => monitor.close();
    },
    stopping: () => {
      isStopping = true;
    },
    isStopping: () => isStopping,
  };
}
