import type { Logger } from 'pino';
import type { ServiceClock } from '../app/service-clock.ts';
import type { Config } from '../config/config.ts';
import type { Problems } from '../domain/problems.ts';
import { loadAssets } from '../http/pages/assets.ts';
import type { SharedRedis } from '../http/redis.ts';
import { tryLongRead } from '../store/long-reads.ts';
import { listen } from '../store/notifications.ts';
import type { SealingKeys } from '../webhooks/secret.ts';
import { hasSealingKey } from '../webhooks/sealing-keys.ts';
import { machineClock, startClockWatch } from './clock.ts';
import { openCointill } from './core.ts';
import { watchDisks } from './disk-space.ts';
import { drain } from './listening.ts';
import { logProblems } from './log.ts';
import { createMonitoring, startCounting } from './monitoring.ts';
import { startPrices } from './prices.ts';
import type { WatchedPart } from './readiness.ts';
import { keyProblem } from './sealing-key.ts';
import { startServers } from './servers.ts';
import { introduce, type Started } from './started.ts';
import { createServiceMailer, startBackups, startWorkerParts } from './worker-parts.ts';

/** A running service. */
export interface Service extends Started {
  /** Drains for `DRAIN_SECONDS`, finishes running work within ten seconds, and disconnects from the database. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The name of our commands in answers. */
  readonly program: string;
  /** Whether to make a first key and a set-up link: a person reads the output, and no log keeps it. */
  readonly withSecrets: boolean;
}

/** Starts what the role requires: both addresses of the API, the workers, or everything. */
export async function startService(config: Config, log: Logger, options: StartOptions): Promise<Service> {
  const { program, withSecrets } = options;
  const problems = logProblems(log);
  // First, so that a service whose pages are not built begins nothing, a new database least of all.
  const assets = config.role === 'worker' ? null : await loadAssets();
  const clock = machineClock();
  const prices = startPrices(config, problems, clock);
  const counting = startCounting();
  const core = await openCointill(config, log, {
    rates: prices.rates,
    clock,
    observer: counting.observer,
    problems,
    applicationName: `cointill ${config.role}`,
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
    // All parts at once, so that they share the available time; then everything that they depend on.
    await Promise.all(parts.splice(0).map(closed));
    for (const close of closers.splice(0).toReversed()) await closed(close);
  };
  try {
    const clockWatch = await startClockWatch(core, clock, prices.asked);
    parts.push(clockWatch.stop);
    const notifications = listen(core.handle, {
      onWithheld: (problem) => problems.failed('notifications of the database', problem),
    });
    notifications.onUp(() => problems.works('notifications of the database'));
    closers.push(() => notifications.stop());
    const redis = config.role === 'worker' ? null : await sharedRedis(config.redisUrl, problems);
    closers.push(async () => redis?.close());
    const backups = config.role === 'api' ? null : startBackups(config, core);
    if (backups !== null) parts.push(() => backups.stop());
    const mailer = config.role === 'api' ? null : createServiceMailer(config, core);
    let keys: SealingKeys | null = null;
    const key = { problem: async () => keys && (await keyProblem(core.handle.db, keys).catch(() => null)) };
    const watched = { disks: watchDisks(config), parts: watchedParts(clock, key, redis, backups, mailer) };
    const monitoring = createMonitoring(config, core, notifications, prices, watched, counting);
    onStop = () => monitoring.stopping();
    // Closed after the parts, so that health is answered until the very end.
    if (config.monitorPort !== null) closers.push(await monitoring.listen(config.monitorPort));
    if (config.role !== 'api') parts.push(await startWorkerParts(config, core, notifications, mailer, clockWatch));
    // Checks a key that exists; a process with role `api` makes none before it needs one.
    if (hasSealingKey(config)) keys = await core.sealingKeys();
    if (assets !== null)
      parts.push(await startServers(config, core, notifications, { counting, monitoring, redis, program, assets }));
    // Last, because the key must only be shown by a start that succeeded.
    const started = await introduce(config, core, withSecrets);
    // The shop sells without a standby: whatever is wrong with it is said, and stops nothing.
    void tryLongRead(core.handle).catch((error: unknown) => problems.happened('DATABASE_READ_URL', error));
    return { ...started, stop: () => drain(config, monitoring).then(stop) };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Problem = Pick<WatchedPart, 'problem'>;

/** Parts that may fail while the service works; null: the service does not use the part. */
function watchedParts(
  clock: ServiceClock,
  key: Problem,
  redis: SharedRedis | null,
  backups: Problem | null,
  mailer: Problem | null,
): readonly WatchedPart[] {
  return [
    { name: 'clock', problem: () => clock.state().problem },
    { name: 'key', problem: () => key.problem() },
    ...(redis === null ? [] : [{ name: 'redis', problem: () => limitsProblem(redis) }]),
    ...(backups === null ? [] : [{ name: 'backups', problem: () => backups.problem() }]),
    ...(mailer === null ? [] : [{ name: 'mail', problem: () => mailer.problem() }]),
  ];
}

function limitsProblem(redis: SharedRedis): string | null {
  const away = redis.problem();
  return away === null ? null : `rate limits are counted only in this process: ${away}`;
}

/** Loads the client of Redis only if Redis is used, because loading takes a third of the program's start. */
async function sharedRedis(redisUrl: string | null, problems: Problems): Promise<SharedRedis | null> {
  if (redisUrl === null) return null;
  const { connectRedis } = await import('../http/redis.ts');
  return connectRedis(redisUrl, {
    onAway: (problem) =>
      problems.failed('Redis', `rate limits are counted only in this process, as Redis is unavailable: ${problem}`),
    onBack: () => problems.works('Redis'),
  });
}
