import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { createServiceHealth } from '../app/dashboard/health.ts';
import { createNoticing } from '../app/notifications/notice.ts';
import { createMailer, type Mailer } from '../app/notifications/send-mails.ts';
import { startScheduledBackups } from '../backup/scheduled-backups.ts';
import type { Config } from '../config/config.ts';
import { createMailSender } from '../mail/send.ts';
import { createChainSource } from '../rails/networks.ts';
import { forgetAtHead } from '../store/chains/chain.ts';
import type { Notifications } from '../store/notifications.ts';
import { createWebhookSender } from '../webhooks/send.ts';
import { startSweeps } from '../workers/sweeps.ts';
import { watchChain } from '../workers/watch-chain.ts';
import { startWorkers } from '../workers/workers.ts';
import type { ClockWatch } from './clock.ts';
import type { Cointill } from './core.ts';
import { STOP_GRACE_MS } from './listening.ts';
import { createSweepChains, createSweepWatch } from './sweeps.ts';

/** The time limit of one call to a node. */
const NODE_TIMEOUT_MS = 10_000;

/** Starts everything that works without a request; returns how to stop it. */
export async function startWorkerParts(
  config: Config,
  core: Cointill,
  notifications: Notifications,
  mailer: Mailer | null,
  { judged }: ClockWatch,
): Promise<() => Promise<void>> {
  const { app, problems } = core;
  const sealingKeys = await core.sealingKeys();
  const sender = createWebhookSender({ policyOf: core.policyOf, now: () => performance.now() });
  // Before anybody is answered, because blocks may have come while no process was running.
  await forgetAtHead(app.db);
  const swept = createSweepChains(core);
  const sweeps = startSweeps(app, swept.chainOf, problems);
  const holder = leaseHolder();
  const serviceHealth = createServiceHealth(app, core.networks);
  const noticing =
    config.dashboard === null ? null : createNoticing(app, { serviceHealth, sweeps: createSweepWatch(core) }, holder);
  const workers = startWorkers(app, { sender, sealingKeys }, notifications, problems, {
    mailer,
    noticing,
    judged,
    eventLifetimeMs: config.eventLifetimeMs,
  });
  const sources = config.networks.map((nodes) => createChainSource(nodes, { timeoutMs: NODE_TIMEOUT_MS, problems }));
  const chains = sources.map((source) => ({
    network: source.network,
    loop: watchChain(app, source, holder, problems, config.nodePollMs, core.derive),
  }));
  notifications.on('poll', ([network]) => chains.find((chain) => chain.network === network)?.loop.wake());
  return async () => {
    await Promise.all([workers.stop(STOP_GRACE_MS), sweeps.stop(), ...chains.map(({ loop }) => loop.stop())]);
    await Promise.all([sender.close(0), swept.close(), ...sources.map((source) => source.close())]);
  };
}

/** Sends the service's mails; null: the settings name no mail server, or no dashboard that mails could link to. */
export function createServiceMailer({ mail, dashboard }: Config, { app, renderer, problems }: Cointill): Mailer | null {
  if (mail === null || dashboard === null) return null;
  const { address: from } = mail.from;
  return createMailer(app, { sender: createMailSender(mail), from, siteUrl: dashboard.url, renderer, problems });
}

/** The scheduled backups to BACKUP_DIR; null if that is not set. */
export function startBackups(
  { backups }: Config,
  { app, log, problems }: Cointill,
): ReturnType<typeof startScheduledBackups> | null {
  if (backups === null) return null;
  return startScheduledBackups(app, backups, leaseHolder(), {
    onGood: (details) => log.info(details, 'made the scheduled backup'),
    problems,
  });
}

/** A name that no other process has. */
function leaseHolder(): string {
  return `${os.hostname()} ${process.pid} ${randomBytes(4).toString('hex')}`;
}
