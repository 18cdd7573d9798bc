import type { FastifyInstance } from 'fastify';
import { createServiceHealth } from '../app/dashboard/health.ts';
import type { PaymentCreator } from '../app/payments/create-payment.ts';
import type { KeyUses } from '../app/projects/key-uses.ts';
import { createProjectWatch } from '../app/live/project-watch.ts';
import { refreshDeposits } from '../app/sweeps/refresh-deposits.ts';
import { siteOf, type PeopleParts } from '../app/people/parts.ts';
import { createPasswordHasher } from '../app/people/password-hash.ts';
import type { Config } from '../config/config.ts';
import { version } from '../config/built.ts';
import { compileCidrs } from '../app/projects/allow-list.ts';
import type { Dashboard } from '../http/dashboard/route.ts';
import { dashboardRoutes } from '../http/dashboard/routes.ts';
import { logoPath } from '../http/checkout/frame.ts';
import { renderPreview } from '../http/checkout/preview.ts';
import { loadShellAssets } from '../http/dashboard/shell.ts';
import type { Assets } from '../http/pages/assets.ts';
import { createGuessLimits } from '../http/rate-limit.ts';
import type { SharedRedis } from '../http/redis.ts';
import type { ServerOptions } from '../http/server.ts';
import type { Network } from '../domain/networks.ts';
import type { Notifications } from '../store/notifications.ts';
import type { Cointill } from './core.ts';
import { createSweepChains, createSweepWatch } from './sweeps.ts';
import type { WebhookSending } from './webhook-sending.ts';
import { signingWithNodes } from './show-instructions.ts';
import type { NodeReport } from '../rails/chain.ts';
import { createChainSource } from '../rails/networks.ts';
import { openLongRead } from '../store/long-reads.ts';

const NODE_TIMEOUT_MS = 10_000;

/** Asks the nodes of a network for their chain and their height; null: the service has no node of that network. */
async function askNodes(
  { networkConfigs, problems }: Pick<Cointill, 'networkConfigs' | 'problems'>,
  network: Network,
): Promise<readonly NodeReport[] | null> {
  const nodes = networkConfigs.find((one) => one.network === network);
  if (nodes === undefined) return null;
  const source = createChainSource(nodes, { timeoutMs: NODE_TIMEOUT_MS, problems });
  try {
    return await source.checkNodes();
  } finally {
    await source.close();
  }
}

/** The parts that the dashboard shares with the APIs. */
interface Shared {
  readonly notifications: Notifications;
  readonly redis: SharedRedis | null;
  readonly creator: PaymentCreator;
  readonly keyUses: Pick<KeyUses, 'save'>;
  readonly sending: WebhookSending;
  /** The assets of the payment page. */
  readonly assets: Assets;
}

/** Adds the dashboard and its guard to the live address, unless the settings leave it out. */
export async function openDashboard(
  { dashboard, trustProxy, baseUrl, sandboxBaseUrl, production }: Config,
  core: Cointill,
  { notifications, redis, creator, assets: pages, keyUses, sending }: Shared,
  plugins: ServerOptions['plugins'],
): Promise<Pick<ServerOptions, 'dashboard' | 'plugins'>> {
  if (dashboard === null) return { dashboard: null, plugins };
  const { app } = core;
  const behindProxy = trustProxy !== null;
  const people: PeopleParts = {
    app,
    hasher: createPasswordHasher(app.random),
    limits: createGuessLimits(redis?.client ?? null),
    sealingKeys: sending.sealingKeys,
    site: siteOf(dashboard.url),
  };
  const assets = await loadShellAssets();
  const build = assets === null ? '' : `-${assets.document.etag.replaceAll(/[^0-9a-f]/g, '')}`;
  const watch = createProjectWatch(app, notifications, {
    onFault: (error) => core.problems.happened('updates of the dashboard', error),
  });
  const chains = createSweepChains(core);
  const routes = dashboardRoutes(
    {
      people,
      version: version() + build,
      baseUrls: { live: baseUrl, test: sandboxBaseUrl },
      behindProxy,
      isProduction: production,
      serviceHealth: createServiceHealth(app, core.networks),
      saveKeyUses: () => keyUses.save(),
      ...chainParts(core),
      deposits: {
        chains: chains.chainOf,
        refresh: (projectId) => refreshDeposits(app, chains.chainOf, core.problems, projectId),
      },
      live: { watch, notifications, problems: core.problems },
      exports: { connect: () => openLongRead(core.handle) },
      creator,
      renderer: core.renderer,
      checkout: checkoutOf(pages, app.clock),
      webhooks: { policyOf: core.policyOf, sender: sending.sender },
      signing: signingWithNodes(core),
    },
    assets,
  );
  return {
    dashboard: {
      app,
      allowed: dashboard.allowCidrs === null ? null : compileCidrs(dashboard.allowCidrs),
      origin: people.site.origin,
      host: dashboard.isBound ? new URL(dashboard.url).hostname : null,
      behindProxy,
      seenSessions: new Set(),
    },
    plugins: [
      ...plugins,
      (server: FastifyInstance) => {
        server.addHook('onClose', () => chains.close());
        routes(server);
      },
    ],
  };
}

/** The parts of the payment page that the dashboard uses. */
function checkoutOf(assets: Assets, clock: () => number): Dashboard['checkout'] {
  return { logoPath, preview: (shown, language) => renderPreview(shown, language, assets, clock()) };
}

function chainParts(core: Cointill): Pick<Dashboard, 'sweeps' | 'wallets'> {
  const { chains, openWallet } = core;
  return {
    sweeps: createSweepWatch(core),
    wallets: { chains, openWallet, askNodes: (network) => askNodes(core, network) },
  };
}

/** The address of the dashboard for everybody; null: there is none, or an allow-list limits it. */
export function openDashboardUrl({ dashboard }: Config): string | null {
  return dashboard === null || dashboard.allowCidrs !== null ? null : `${dashboard.url}/dashboard`;
}
