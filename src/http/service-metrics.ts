import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { ATTEMPT_OUTCOMES, type Observer } from '../app/observer.ts';
import { EVENT_TYPES, type EventType } from '../domain/event-type.ts';
import type { Readiness } from './health.ts';
import type { Figures } from '../store/figures/figures.ts';
import type { PaymentChange } from '../store/payments/save-changes.ts';
import type { AddressGap } from '../store/wallets/wallets.ts';
import type { Wakeups } from '../store/wakeups.ts';

/** The sources of a service's metrics, besides the activities it observes. Each function is called for every scrape. */
export interface MetricSources {
  readonly version: string;
  /** The schema of the database; null before the first connection. */
  readonly schema: () => string | null;
  /** The figures of the whole database. */
  readonly figures: () => Promise<Figures>;
  /** The address gaps of all wallets in use. */
  readonly gaps: () => Promise<readonly AddressGap[]>;
  readonly ready: () => Promise<Readiness>;
  readonly isListening: () => boolean;
  readonly clockAheadMs: () => number;
  readonly disks: () => Promise<readonly { readonly folder: string; readonly freeBytes: number }[]>;
  readonly pool: () => { readonly used: number; readonly waiting: number };
  readonly wakeups: Wakeups['counts'];
  /** The age of each pair's price, or how long it has been missing. */
  readonly prices: () => readonly { readonly pair: string; readonly ageMs: number }[];
}

/** A counter with one label. All its kinds exist from the start, so that the first event of a kind shows as a rise. */
function kindsCounter<Label extends string>(
  registry: Registry,
  of: { readonly name: string; readonly help: string; readonly label: Label; readonly kinds: readonly string[] },
): Counter<Label> {
  const { name, help, label, kinds } = of;
  const counter = new Counter({ name, help, labelNames: [label], registers: [registry] });
  for (const kind of kinds) counter.labels(kind).inc(0);
  return counter;
}

/** Counts the activities of this process. */
export function createObserver(registry: Registry): Observer {
  const registers = [registry];
  const events = kindsCounter(registry, {
    name: 'cointill_payments_total',
    help: 'Events of payments and refunds that this process saved.',
    label: 'event',
    kinds: EVENT_TYPES,
  });
  const attempts = kindsCounter(registry, {
    name: 'cointill_webhook_attempts_total',
    help: 'Attempts of this process to deliver a webhook.',
    label: 'outcome',
    kinds: ATTEMPT_OUTCOMES,
  });
  const countEvents = (changes: readonly PaymentChange[]): void => {
    const counts = new Map<EventType, number>();
    for (const { type } of changes.flatMap((change) => change.events)) counts.set(type, (counts.get(type) ?? 0) + 1);
    for (const [event, count] of counts) events.inc({ event }, count);
  };
  const batch = new Histogram({
    name: 'cointill_batch_size',
    help: 'New payments that were saved together.',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200],
    registers,
  });
  const save = new Histogram({
    name: 'cointill_save_seconds',
    help: 'How long the database took to save new payments.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
    registers,
  });
  return (activity) => {
    switch (activity.kind) {
      case 'batch_saved':
        batch.observe(activity.payments);
        save.observe(activity.seconds);
        break;
      case 'payments_created':
        countEvents(activity.changes);
        break;
      case 'payment_changed':
        countEvents([activity.change]);
        break;
      case 'money_lost':
        events.inc({ event: 'payment.lost' });
        break;
      case 'delivery_attempted':
        attempts.inc({ outcome: activity.outcome });
        break;
      // Other activities appear only in the log.
      default:
    }
  };
}

/** Metrics read at each scrape: the state of the process, and of the work shared by all processes of a database. */
export function registerService(registry: Registry, sources: MetricSources): void {
  registerProcess(registry, sources);
  registerDatabase(registry, sources.figures);
  registerGaps(registry, sources.gaps);
}

function registerProcess(registry: Registry, sources: MetricSources): void {
  gauge(
    registry,
    'build_info',
    'Always 1. The labels are the running versions, and the schema of the database.',
    ['version', 'node', 'schema'],
    (build) => build.set({ version: sources.version, node: process.versions.node, schema: sources.schema() ?? '' }, 1),
  );
  gauge(registry, 'notifications_healthy', '1 while notifications from the database arrive.', [], (healthy) =>
    healthy.set(sources.isListening() ? 1 : 0),
  );
  gauge(
    registry,
    'clock_skew_seconds',
    'How far the clock is ahead of the database, the price sources and the newest blocks, or 0 below 30 seconds.',
    [],
    (skew) => skew.set(sources.clockAheadMs() / 1000),
  );
  // Read before the gauges that query the database themselves.
  gauge(registry, 'pool_used', 'Connections of the database pool that are in use.', [], (used) =>
    used.set(sources.pool().used),
  );
  gauge(registry, 'pool_waiting', 'Statements and transactions that wait for a connection.', [], (waiting) =>
    waiting.set(sources.pool().waiting),
  );
  registry.registerMetric(
    new Counter({
      name: 'cointill_wakeups_total',
      help: 'Wake-ups of this process: told to itself (own), to the others, several as one (sent), and by them (received).',
      labelNames: ['topic', 'way'] as const,
      registers: [],
      collect() {
        this.reset();
        for (const { topic, way, count } of sources.wakeups()) this.inc({ topic, way }, count);
      },
    }),
  );
  gauge(registry, 'price_age_seconds', 'Age of the price in use, or the time without a price.', ['pair'], (age) => {
    for (const { pair, ageMs } of sources.prices()) age.set({ pair }, ageMs / 1000);
  });
  gauge(registry, 'disk_free_bytes', 'Free space on the disk of this folder.', ['folder'], async (free) => {
    for (const { folder, freeBytes } of await sources.disks()) free.set({ folder }, freeBytes);
  });
  gauge(registry, 'ready', '1 while /readyz says ready or degraded.', [], async (ready) =>
    ready.set((await sources.ready()).ok ? 1 : 0),
  );
  gauge(registry, 'check', '1 while this check of /readyz is ok.', ['name'], async (check) => {
    for (const [name, state] of Object.entries((await sources.ready()).checks))
      check.set({ name }, state === 'ok' ? 1 : 0);
  });
}

/** Ends the help text of every number that is the same in all processes. */
const OF_ALL = 'The value is for the whole database, so take its max() over all processes.';

function registerDatabase(registry: Registry, read: () => Promise<Figures>): void {
  const figure = <Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    setGauge: (gauge: Gauge<Label>, figures: Figures) => void,
  ): void =>
    gauge(registry, name, `${help} ${OF_ALL}`, labels, async (one) => {
      // If the database is down, these metrics are missing, but not the whole scrape.
      const figures = await read().catch(() => null);
      if (figures !== null) setGauge(one, figures);
    });
  figure('deliveries_waiting', 'Webhooks waiting for their next attempt, at most 100000.', [], (one, figures) =>
    one.set(figures.deliveriesWaiting),
  );
  figure('deliveries_oldest_seconds', 'Age of the oldest waiting webhook.', [], (one, figures) =>
    one.set(figures.deliveriesOldestMs / 1000),
  );
  figure('deliveries_due_lag_seconds', 'How long the most overdue webhook has been due.', [], (one, figures) =>
    one.set(figures.deliveriesLagMs / 1000),
  );
  figure('payments_due_lag_seconds', 'How long the most overdue payment has been due.', [], (one, figures) =>
    one.set(figures.paymentsLagMs / 1000),
  );
  figure('payments', 'Payments of the last 30 days by status.', ['mode', 'status'], (one, figures) => {
    for (const { mode, status, count } of figures.payments) one.set({ mode, status }, count);
  });
  figure('backup_last_success_timestamp_seconds', 'Start of the last good backup, 0 if none.', [], (one, figures) => {
    if (figures.backups !== null) one.set((figures.backups.lastGood?.startedAt ?? 0) / 1000);
  });
  figure('backup_bytes', 'Size of the last good backup.', [], (one, figures) => {
    const bytes = figures.backups?.lastGood?.bytes ?? null;
    if (bytes !== null) one.set(bytes);
  });
  figure('backup_failed', '1 while the last scheduled backup failed.', [], (one, figures) => {
    if (figures.backups !== null) one.set(figures.backups.lastFailed ? 1 : 0);
  });
  figure('lost_transfers', 'Unbooked transfers to addresses that a restore passed over.', [], (one, figures) =>
    one.set(figures.lostTransfers),
  );
  figure('wallets_halted', 'Wallets that hand out no addresses until the operator decides.', [], (one, figures) =>
    one.set(figures.haltedWallets),
  );
  figure('wallets_ahead', 'Wallets whose next addresses have already received money.', [], (one, figures) =>
    one.set(figures.walletsAhead),
  );
  const synchronous = '1 while a standby confirms each commit before it is acknowledged.';
  figure('database_synchronous', synchronous, [], (one, figures) => one.set(figures.isSynchronous ? 1 : 0));
  figure('lease_held', '1 while some process holds the lease.', ['name'], (one, figures) => {
    for (const { name, isHeld } of figures.leases) one.set({ name }, isHeld ? 1 : 0);
  });
}

function registerGaps(registry: Registry, read: () => Promise<readonly AddressGap[]>): void {
  const help = `Addresses of a wallet handed out after the last one that received money. ${OF_ALL}`;
  gauge(registry, 'address_gap', help, ['project', 'network'], async (one) => {
    for (const { projectId, network, gap } of await read().catch(() => []))
      one.set({ project: projectId, network }, gap);
  });
}

/** A gauge that is read again for each scrape, so that outdated values disappear. */
function gauge<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
  read: (gauge: Gauge<Label>) => void | Promise<void>,
): void {
  registry.registerMetric(
    new Gauge({
      name: `cointill_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [],
      async collect() {
        this.reset();
        if (labelNames.length === 0) this.remove();
        await read(this);
      },
    }),
  );
}
