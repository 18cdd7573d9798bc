import type { Logger } from 'pino';
import { createRequestLog } from '../app/dashboard/request-log.ts';
import { createLogWatch } from '../app/live/log-watch.ts';
import { createPaymentWatch } from '../app/live/payment-watch.ts';
import { createEventReader, type EventReader } from '../app/live/read-events.ts';
import { createPaymentCreator } from '../app/payments/create-payment.ts';
import { createPaymentReader } from '../app/payments/read-payment.ts';
import { createAccess } from '../app/projects/access.ts';
import { createKeyUses } from '../app/projects/key-uses.ts';
import type { Config } from '../config/config.ts';
import type { Mode } from '../domain/permission.ts';
import type { Problems } from '../domain/problems.ts';
import type { Api } from '../http/api.ts';
import { checkoutRoutes } from '../http/checkout/routes.ts';
import { eventRoutes } from '../http/events/routes.ts';
import { greenfieldRoutes } from '../http/greenfield/routes.ts';
import type { Greenfield } from '../http/greenfield/store.ts';
import { homeRoute } from '../http/docs/home.ts';
import { docsRoutes } from '../http/docs/routes.ts';
import type { Assets } from '../http/pages/assets.ts';
import { loggedPath } from '../http/path.ts';
import { createRateLimits } from '../http/rate-limit.ts';
import type { SharedRedis } from '../http/redis.ts';
import { paymentRequestRoutes } from '../http/payment-requests/routes.ts';
import { refundRoutes } from '../http/refunds/routes.ts';
import { buildServer, type AnsweredRequest } from '../http/server.ts';
import { paymentApis } from './payment-apis.ts';
import { prepareAddresses } from '../modes/prepare-addresses.ts';
import type { Notifications } from '../store/notifications.ts';
import { startLoop } from '../workers/loop.ts';
import type { Cointill } from './core.ts';
import { authorizeRoute } from '../http/dashboard/connect/pages.ts';
import { openDashboard, openDashboardUrl } from './dashboard.ts';
import { closeServers, listenOn, readTls } from './listening.ts';
import type { Counting, Monitoring } from './monitoring.ts';
import { durationText } from './plain-text.ts';
import { createWebhookSending, type WebhookSending } from './webhook-sending.ts';
import { createRefusalLines } from './refusal-lines.ts';

/** The last use of a key is shown to the minute. */
const SAVE_USES_MS = 20_000;
const SLOW_MS = 1_000;

/** Parts that both servers share with the rest of the service. */
export interface ServerParts {
  readonly counting: Counting;
  readonly monitoring: Monitoring;
  readonly redis: SharedRedis | null;
  readonly assets: Assets;
  /** The name of our commands in answers. */
  readonly program: string;
}

/** Opens the live and the test address; returns how to close them. */
export async function startServers(
  config: Config,
  core: Cointill,
  notifications: Notifications,
  { counting, monitoring, redis, program, assets }: ServerParts,
): Promise<() => Promise<void>> {
  const { app, log, problems } = core;
  const sending = createWebhookSending(core);
  const api = apiOf(core, sending);
  const access = createAccess(app.db, notifications, app.clock);
  const { keyUses, stopUses } = startKeyUses(core);
  const watch = createPaymentWatch(notifications);
  const logs = createLogWatch(notifications);
  const baseUrls = { live: config.baseUrl, test: config.sandboxBaseUrl };
  const plugins = [
    ...monitoring.plugins,
    ...apiRoutes(api, createEventReader(app, logs), { access, policyOf: core.policyOf }),
    checkoutRoutes({ ...api, access, assets, watch, problems, documents: { app, renderer: core.renderer } }),
    docsRoutes({ baseUrls, assets, program }),
  ];
  const answers = recordAnswers(config, core, counting);
  const common = {
    access,
    keyUses,
    limits: createRateLimits(config.rateLimits, redis?.client ?? null),
    baseUrls,
    production: config.production,
    trustProxy: config.trustProxy,
    plainHttpFrom: config.plainHttpFrom,
    tls: await readTls(config),
    log,
    problems,
    program,
    onAnswered: answers.onAnswered,
    isStopping: () => monitoring.isStopping(),
    plugins,
  };
  const shared = { notifications, redis, creator: api.creator, assets, keyUses, sending };
  const dashboard = await openDashboard(config, core, shared, plugins);
  const own = (side: Mode) => ownPages(config, side, assets);
  const live = buildServer({ ...common, ...dashboard, side: 'live', plugins: [...dashboard.plugins, ...own('live')] });
  const sandbox = buildServer({ ...common, side: 'test', plugins: [...plugins, ...own('test')] });
  const servers = [
    { server: live, port: config.port },
    { server: sandbox, port: config.sandboxPort },
  ];
  const stop = async (): Promise<void> => {
    // Calls that wait for events are answered with what there is.
    logs.stop();
    await closeServers(servers, config.drainMs > 0);
    await sending.close();
    watch.stop();
    await stopUses();
    await api.creator.idle();
    await answers.stop();
  };
  try {
    for (const { server, port } of servers) await listenOn(server, config.host, port);
  } catch (error) {
    await stop();
    throw error;
  }
  // Nothing waits for it: an order that arrives first derives its own address.
  prepareAddresses(app.db, core.networks, core.nextAddresses).catch((error: unknown) =>
    log.warn({ err: error }, 'addresses could not be derived in advance; each order derives its own'),
  );
  return stop;
}

/** The pages that differ between the addresses. */
function ownPages(config: Config, side: Mode, assets: Assets) {
  const baseUrls = { live: config.baseUrl, test: config.sandboxBaseUrl };
  return [
    homeRoute({ side, baseUrls, dashboardUrl: openDashboardUrl(config), assets }),
    authorizeRoute({ side, dashboard: config.dashboard }),
  ];
}

function apiOf({ app, handle }: Cointill, sending: WebhookSending): Api {
  const creator = createPaymentCreator(app, handle.pipeline);
  return { app, creator, reader: createPaymentReader(app), webhooks: sending.delivery };
}

function apiRoutes(api: Api, events: EventReader, { access, policyOf }: Pick<Greenfield, 'access' | 'policyOf'>) {
  return [
    ...paymentApis(api),
    paymentRequestRoutes(api),
    refundRoutes(api),
    eventRoutes(api, events, access),
    greenfieldRoutes({ ...api, access, policyOf }),
  ];
}

/** Saves the uses of keys every while, and when it is stopped. */
function startKeyUses({ app, problems }: Cointill) {
  const keyUses = createKeyUses(app.db, app.clock);
  const work = () => keyUses.save().then(() => false);
  const loop = startLoop({ name: 'uses of keys', work, restMs: SAVE_USES_MS, problems });
  const stopUses = async (): Promise<void> => {
    await loop.stop();
    await keyUses.save();
  };
  return { keyUses, stopUses };
}

/** Records every answered request: in the metrics, in the log, and in the dashboard's log of requests. */
function recordAnswers({ dashboard }: Config, { app, log, problems }: Cointill, { metrics }: Counting) {
  const onFault = (error: unknown): void => problems.happened('the log of requests', error);
  const refusal = createRefusalLines(log, problems);
  const requests = dashboard === null ? null : createRequestLog(app, { onFault });
  return {
    onAnswered: (answer: AnsweredRequest): void => {
      metrics.onAnswered(answer);
      logAnswer(log, problems, answer);
      const { id: requestId, method, status, durationMs, call, denied } = answer;
      if (denied !== null) refusal({ what: 'request', ...denied, request: requestId });
      if (call !== null) requests?.add({ ...call, requestId, method, path: loggedPath(answer), status, durationMs });
    },
    stop: async (): Promise<void> => requests?.stop(),
  };
}

/**
 * Logs an answered request without its query, at level `debug` alone, because a busy service answers thousands per
 * second. Slow requests are reported at any level.
 */
function logAnswer(log: Logger, problems: Problems, answer: AnsweredRequest): void {
  // A call that advances time waits for the answers of the shop's server.
  const isSlow = answer.durationMs > SLOW_MS && !answer.route.endsWith('/advance');
  if (!isSlow && !log.isLevelEnabled('debug')) return;
  const { id: request, method, status, route } = answer;
  const path = loggedPath(answer);
  const durationMs = Math.round(answer.durationMs);
  if (isSlow) {
    const problem = `${method} ${path} took ${durationText(durationMs)}`;
    problems.happened('slow requests', problem, { request, path, status, duration_ms: durationMs });
  }
  const fields = { kind: 'request', request, method, route, path, status, duration_ms: durationMs };
  log.debug(fields, `${method} ${path}: ${status}`);
}
