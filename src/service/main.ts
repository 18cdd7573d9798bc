import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type { Logger } from 'pino';
import { createAccess } from '../app/projects/access.ts';
import { createPaymentCreator } from '../app/payments/create-payment.ts';
import { prepareAddresses } from '../modes/prepare-addresses.ts';
import type { Mailer } from '../app/notifications/send-mails.ts';
import type { ServiceClock } from '../app/service-clock.ts';
import { createPaymentWatch } from '../app/live/payment-watch.ts';
import { createPaymentReader } from '../app/payments/read-payment.ts';
import { startScheduledBackups } from '../backup/scheduled-backups.ts';
import type { Config } from '../config/config.ts';
import { thisInstance } from '../config/instance.ts';
import { machineClock, startClockWatch, type ClockWatch } from './clock.ts';
import { openCointill, type Cointill } from './core.ts';
import { startAnswered } from './answered.ts';
import { startKeyUses } from './key-uses.ts';
import { watchDisks } from './disk-space.ts';
import { openDashboard, openDashboardUrl } from './dashboard.ts';
import { closeServers, drain, listenOn, readTls, STOP_GRACE_MS } from './listening.ts';
import { logTroubles } from './log.ts';
import type { Mode } from '../domain/permission.ts';
import type { Troubles } from '../domain/trouble.ts';
import type { Api } from '../http/api.ts';
import { loadAssets, type Assets } from '../http/pages/assets.ts';
import { checkoutRoutes } from '../http/checkout/routes.ts';
import { homeRoute } from '../http/docs/home.ts';
import { docsRoutes } from '../http/docs/routes.ts';
import { orderRoutes } from '../http/orders/routes.ts';
import { createRateLimits } from '../http/rate-limit.ts';
import type { SharedRedis } from '../http/redis.ts';
import { refundRoutes } from '../http/refunds/routes.ts';
import { buildServer } from '../http/server.ts';
import { transactionRoutes } from '../http/transactions/routes.ts';
import { createChainSource } from '../rails/networks.ts';
import { createServiceMailer, createServiceNoticing } from './mailer.ts';
import { createMonitoring, startCounting, type Counting, type Monitoring } from './monitoring.ts';
import { startPrices } from './prices.ts';
import type { WatchedPart } from './readiness.ts';
import { introduce, type Started } from './started.ts';
import { createSweepChains } from './sweeps.ts';
import { forgetAtHead } from '../store/chains/chain.ts';
import { listen, type Notifications } from '../store/notifications.ts';
import { hasSealingKey } from '../webhooks/secret.ts';
import { createWebhookSender } from '../webhooks/send.ts';
import { startSweeps } from '../workers/sweeps.ts';
import { watchChain } from '../workers/watch-chain.ts';
import { startWorkers } from '../workers/workers.ts';

/** A running service. */
export interface Service extends Started {
  /** After `DRAIN_SECONDS` finishes running work within ten seconds, and disconnects from the database. */
  stop(): Promise<void>;
}

/** How a service is started. */
export interface StartOptions {
  /** How answers name our commands. */
  readonly program: string;
  /** Whether a first key and a link to set the dashboard up are made: somebody reads them, and nothing keeps them. */
  readonly withSecrets: boolean;
}

/** Starts what the role requires: both addresses of the API, the workers, or everything. */
export async function startService(config: Config, log: Logger, options: StartOptions): Promise<Service> {
  const { program, withSecrets } = options;
  const troubles = logTroubles(log);
  // First: without its pages nothing is begun, a new database least of all.
  const assets = config.role === 'worker' ? null : await loadAssets();
  const clock = machineClock();
  const prices = startPrices(config, troubles, clock);
  const counting = startCounting();
  const applicationName = config.role === 'all' ? 'cointill' : `cointill ${config.role}`;
  const core = await openCointill(config, log, {
    rates: prices.rates,
    clock,
    observer: counting.observer,
    troubles,
    applicationName,
  }).catch(async (error: unknown) => {
    await prices.stop();
    throw error;
  });
  const closers: (() => Promise<unknown>)[] = [() => core.close(), () => prices.stop()];
  const parts: (() => Promise<unknown>)[] = [];
  const closed = (close: () => Promise<unknown>): Promise<unknown> =>
    close().catch((error: unknown) => log.error({ err: error }, 'stopping a part failed'));
  let onStop = (): void => {};
  const stop = async (): Promise<void> => {
    onStop();
    // Together, so that they share the available time; then what they depend on.
    await Promise.all(parts.splice(0).map(closed));
    for (const close of closers.splice(0).toReversed()) await closed(close);
  };
  try {
    const clockWatch = await startClockWatch(core, clock, prices.asked);
    parts.push(clockWatch.stop);
    const notifications = listen(core.handle, {
      onWithheld: (problem) => troubles.failed('notifications of the database', problem),
    });
    notifications.onUp(() => troubles.works('notifications of the database'));
    closers.push(() => notifications.stop());
    const { metricsToken, monitorPort } = config;
    const hasOwnPort = monitorPort !== null;
    const redis = config.role === 'worker' ? null : await sharedRedis(config.redisUrl, troubles);
    closers.push(async () => redis?.close());
    const backups = config.role === 'api' ? null : startBackups(config, core);
    if (backups !== null) parts.push(() => backups.stop());
    const mailer = config.role === 'api' ? null : createServiceMailer(config, core);
    const watched = { disks: watchDisks(config), parts: watchedParts(clock, redis, backups, mailer) };
    const monitoring = createMonitoring(core, notifications, prices, watched, counting, {
      metricsToken,
      hasOwnPort,
      instance: thisInstance(config),
    });
    onStop = () => monitoring.stopping();
    // Health is answered until the very end, so it is closed after the parts.
    if (monitorPort !== null) closers.push(await monitoring.listen(monitorPort));
    // A process that only answers makes no key of its own before it needs one.
    if (hasSealingKey(config)) await core.sealingKey();
    if (config.role !== 'api') parts.push(await startWorkerParts(config, core, notifications, mailer, clockWatch));
    if (assets !== null)
      parts.push(
        await startServers(config, core, notifications, { counting, monitoring, redis, program, assets }, log),
      );
    // Last, because the key must only be shown by a start that succeeded.
    const started = await introduce(config, core, withSecrets);
    return { ...started, stop: () => drain(config, monitoring).then(stop) };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Problem = Pick<WatchedPart, 'problem'>;

/** Parts that may fail while the service works; null: not used. */
function watchedParts(
  clock: ServiceClock,
  redis: SharedRedis | null,
  backups: Problem | null,
  mailer: Problem | null,
): readonly WatchedPart[] {
  return [
    { name: 'clock', problem: () => clock.state().problem },
    ...(redis === null ? [] : [{ name: 'redis', problem: () => limitsProblem(redis) }]),
    ...(backups === null ? [] : [{ name: 'backups', problem: () => backups.problem() }]),
    ...(mailer === null ? [] : [{ name: 'mail', problem: () => mailer.problem() }]),
  ];
}

function limitsProblem(redis: SharedRedis): string | null {
  const away = redis.problem();
  return away === null ? null : `rate limits count in this process alone: ${away}`;
}

/** What the servers share with monitoring. */
interface Shared {
  readonly counting: Counting;
  readonly monitoring: Monitoring;
  readonly redis: SharedRedis | null;
  readonly assets: Assets;
  /** How answers name our commands. */
  readonly program: string;
}

async function startServers(
  config: Config,
  core: Cointill,
  notifications: Notifications,
  { counting, monitoring, redis, program, assets }: Shared,
  log: Logger,
): Promise<() => Promise<void>> {
  const { app, troubles } = core;
  const api: Api = { app, creator: createPaymentCreator(app, core.handle.pipeline), reader: createPaymentReader(app) };
  const access = createAccess(app.db, notifications, app.clock);
  const { keyUses, stopUses } = startKeyUses(core);
  const watch = createPaymentWatch(notifications);
  const baseUrls = { live: config.baseUrl, test: config.sandboxBaseUrl };
  const plugins = [
    ...monitoring.plugins,
    transactionRoutes(api),
    orderRoutes(api),
    refundRoutes(api),
    checkoutRoutes({ ...api, access, assets, watch, troubles }),
    docsRoutes({ baseUrls, assets, program }),
  ];
  const answered = startAnswered(config, core, counting, log);
  const common = {
    access,
    keyUses,
    limits: createRateLimits(config.rateLimits, redis?.client ?? null),
    baseUrls,
    production: config.production,
    trustProxy: config.trustProxy,
    tls: await readTls(config),
    log,
    troubles,
    program,
    onAnswered: answered.onAnswered,
    isStopping: () => monitoring.isStopping(),
    plugins,
  };
  const dashboard = await openDashboard(
    config,
    core,
    { notifications, redis, creator: api.creator, assets, keyUses },
    plugins,
  );
  const home = (side: Mode) => homeRoute({ side, baseUrls, dashboardUrl: openDashboardUrl(config), assets });
  const live = { ...common, ...dashboard, plugins: [...dashboard.plugins, home('live')] };
  const sandbox = { ...common, plugins: [...plugins, home('test')] };
  const servers = [
    { server: buildServer({ ...live, side: 'live' }), port: config.port },
    { server: buildServer({ ...sandbox, side: 'test' }), port: config.sandboxPort },
  ];
  const stop = async (): Promise<void> => {
    await closeServers(servers, config.drainMs > 0);
    watch.stop();
    await stopUses();
    await api.creator.idle();
    await answered.stop();
  };
  try {
    for (const { server, port } of servers) await listenOn(server, config.host, port);
  } catch (error) {
    await stop();
    throw error;
  }
  // Nothing waits for it: an order that arrives first derives its own address.
  prepareAddresses(app.db, core.networks, core.nextAddresses).catch((error: unknown) =>
    log.warn({ err: error }, 'addresses could not be derived ahead; orders derive their own'),
  );
  return stop;
}

/** Loaded only if it is used: it takes a third of the program's start. */
async function sharedRedis(redisUrl: string | null, troubles: Troubles): Promise<SharedRedis | null> {
  if (redisUrl === null) return null;
  const { connectRedis } = await import('../http/redis.ts');
  return connectRedis(redisUrl, {
    onAway: (problem) =>
      troubles.failed('Redis', `rate limits count in this process alone, since it is away: ${problem}`),
    onBack: () => troubles.works('Redis'),
  });
}

async function startWorkerParts(
  config: Config,
  core: Cointill,
  notifications: Notifications,
  mailer: Mailer | null,
  { judged }: ClockWatch,
): Promise<() => Promise<void>> {
  const { app, troubles } = core;
  const sealingKey = await core.sealingKey();
  const sender = createWebhookSender({ policyOf: core.policyOf, now: () => performance.now() });
  // Before anybody is answered, because blocks may have come while no process was running.
  await forgetAtHead(app.db);
  const swept = createSweepChains(core);
  const sweeps = startSweeps(app, swept.chainOf, troubles);
  const holder = leaseHolder();
  const noticing = config.dashboard === null ? null : createServiceNoticing(core, holder);
  const workers = startWorkers(app, { sender, sealingKey }, notifications, troubles, { mailer, noticing, judged });
  const sources = config.networks.map((nodes) => createChainSource(nodes, { timeoutMs: NODE_TIMEOUT_MS, troubles }));
  const chains = sources.map((source) => watchChain(app, source, holder, troubles, config.nodePollMs, core.derive));
  return async () => {
    await Promise.all([workers.stop(STOP_GRACE_MS), sweeps.stop(), ...chains.map((chain) => chain.stop())]);
    await Promise.all([sender.close(0), swept.close(), ...sources.map((source) => source.close())]);
  };
}

/** A name that no other process has. */
function leaseHolder(): string {
  return `${os.hostname()} ${process.pid} ${randomBytes(4).toString('hex')}`;
}

/** The scheduled backups to BACKUP_DIR; null if it is not set. */
function startBackups(
  { backups }: Config,
  { app, log, troubles }: Cointill,
): ReturnType<typeof startScheduledBackups> | null {
  if (backups === null) return null;
  return startScheduledBackups(app, backups, leaseHolder(), {
    onGood: (details) => log.info(details, 'made the scheduled backup'),
    troubles,
  });
}

/** How long one call to a node may take. */
const NODE_TIMEOUT_MS = 10_000;
