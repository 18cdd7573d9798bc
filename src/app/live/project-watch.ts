import type { Network } from '../../domain/networks.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import type { Mode, ProjectMode } from '../../domain/permission.ts';
import type { Notifications } from '../../store/notifications.ts';
import type { Database } from '../../store/database.ts';
import { newestAttempts } from '../../store/webhooks/delivery-attempts.ts';
import { findOwners, newestPayments, type OwnedPayment } from '../../store/payments/payment-list.ts';
import type { App } from '../context.ts';

/** The kind of change in a project; the listener reads the details. */
export type ProjectChange =
  | { readonly kind: 'payment' | 'payment_created'; readonly id: string; readonly api: PaymentApi }
  /** People wrote to items that need attention. */
  | { readonly kind: 'attention' }
  /** A delivery to an endpoint was attempted. */
  | { readonly kind: 'deliveries' }
  /** Balances of deposits changed, or the state of a sweep. */
  | { readonly kind: 'sweeps' }
  /** A block of the network: payments on it have new confirmations. */
  | { readonly kind: 'network'; readonly network: Network }
  /** More changes than are listed, or changes may have been missed. */
  | { readonly kind: 'anything' };

/** Passes on the changes of a project's payments in one mode, from all processes. */
export interface ProjectWatch {
  /** Calls the listener at most once a second. It must not throw. Returns a function that stops watching. */
  watch(scope: ProjectMode, listener: Listener): () => void;
  /** The number of current watchers. */
  watchers(): number;
  stop(): void;
}

type Listener = (changes: readonly ProjectChange[]) => void;

export interface ProjectWatchOptions {
  /** How often new payments are polled and changes passed on. */
  readonly everyMs?: number;
  /** How often every listener gets `anything`: a wake-up can be lost with the process that sends it. */
  readonly anywayMs?: number;
  readonly onFault: (error: unknown) => void;
}

/** More changes of one project than this in one round are passed on as `anything`. */
const MAX_LISTED = 50;
/** More ids than this in one round are not read. */
const MAX_COLLECTED = 2_000;
/** If all of this many attempts are new, there may be more, of any project. */
const MAX_ATTEMPTS = 100;
/** Changes within this time are passed on together. */
const GATHER_MS = 50;
/** Payments get their ids, by their process's clock, before they are saved: new ones are searched this far back. */
const OVERLAP_MS = 10_000;

interface Group {
  readonly scope: ProjectMode;
  readonly listeners: Set<Listener>;
  /** Payments created earlier are not passed on as new. */
  readonly since: number;
  /** Recent payments that were passed on already. */
  known: Set<string>;
}

/** The empty collection of notifications between two polls. */
function nothing() {
  return {
    changed: new Set<string>(),
    networks: new Set<Network>(),
    attention: new Set<string>(),
    swept: new Set<string>(),
  };
}

/**
 * The watch of one process. Changes arrive as notifications. New payments are polled by an index while somebody
 * watches, because a notification for each would make creating them slower.
 */
export function createProjectWatch(
  app: Pick<App, 'db' | 'clock'>,
  notifications: Pick<Notifications, 'healthy' | 'on' | 'onUp'>,
  { everyMs = 1_000, anywayMs = 15_000, onFault }: ProjectWatchOptions,
): ProjectWatch {
  const groups = new Map<string, Group>();
  let collected = nothing();
  let mayMiss = false;
  const sentSince = createSentWatch(app.db);

  const collect = (ids: readonly string[]): void => {
    if (groups.size === 0) return;
    if (!mayMiss) for (const id of ids) collected.changed.add(id);
    mayMiss ||= collected.changed.size > MAX_COLLECTED;
    pace.hurry();
  };
  const markMissed = (): void => void (mayMiss = groups.size > 0);
  notifications.on('payments', collect);
  notifications.on('chain', ([network]) => {
    if (groups.size > 0) collected.networks.add(network);
  });
  notifications.on('attention', ([projectId, mode]) => {
    if (groups.size === 0) return;
    collected.attention.add(`${projectId} ${mode}`);
    pace.hurry();
  });
  notifications.on('sweeps', ([projectId]) => {
    if (groups.size === 0) return;
    collected.swept.add(projectId);
    pace.hurry();
  });
  notifications.onUp(markMissed);
  const timer = setInterval(markMissed, anywayMs);

  const poll = async (): Promise<void> => {
    const [{ changed, networks, attention: marked, swept: moved }, hasMissed] = [collected, mayMiss];
    const [ids, blocks] = [[...changed], [...networks]];
    [collected, mayMiss] = [nothing(), false];
    const present = [...groups.values()];
    try {
      const created = await createdIn(app, present);
      const owners = hasMissed || ids.length === 0 ? [] : await findOwners(app.db, ids);
      const found = { created, owners, blocks, marked, moved, sent: await sentSince(), hasMissed };
      for (const group of present) passOn(group, changesOf(group, found));
    } catch (error) {
      // The collected ids are lost.
      markMissed();
      onFault(error);
    }
  };
  const pace = createPace(poll, everyMs, () => groups.size > 0);

  return {
    watch: (scope, listener) => {
      const leave = join(groups, scope, app.clock(), listener);
      pace.start();
      return leave;
    },
    watchers: () => watchersOf(groups),
    stop: () => {
      clearInterval(timer);
      pace.stop();
      groups.clear();
    },
  };
}

/** Adds a listener to the group of its project and mode; the group is removed with its last listener. */
function join(groups: Map<string, Group>, scope: Group['scope'], now: number, listener: Listener): () => void {
  const key = `${scope.projectId} ${scope.mode}`;
  const group = groups.get(key) ?? { scope, listeners: new Set(), since: now, known: new Set<string>() };
  groups.set(key, group);
  group.listeners.add(listener);
  return () => {
    group.listeners.delete(listener);
    if (group.listeners.size === 0 && groups.get(key) === group) groups.delete(key);
  };
}

/** The newest payments of these projects, one more than can be listed. */
function createdIn({ db, clock }: Pick<App, 'db' | 'clock'>, groups: readonly Group[]) {
  const scopes = groups.map(({ scope }) => scope);
  return newestPayments(db, scopes, clock() - OVERLAP_MS, MAX_LISTED + 1);
}

function watchersOf(groups: ReadonlyMap<string, Group>): number {
  return [...groups.values()].reduce((sum, { listeners }) => sum + listeners.size, 0);
}

interface Pace {
  /** Starts polling unless it has started. */
  start(): void;
  /** Passes the first notification after a silence on at once, and later ones once a period. */
  hurry(): void;
  stop(): void;
}

/** Calls `poll` once a period while somebody watches. */
function createPace(poll: () => Promise<void>, everyMs: number, isWatched: () => boolean): Pace {
  let timer: NodeJS.Timeout | undefined;
  let isPolling = false;
  let hurriedAt = -Infinity;
  const schedule = (afterMs: number): void => {
    timer = setTimeout(() => {
      isPolling = true;
      void poll().finally(() => {
        isPolling = false;
        timer = undefined;
        if (isWatched()) schedule(everyMs);
      });
    }, afterMs);
  };
  return {
    start: () => {
      if (timer === undefined) schedule(everyMs);
    },
    hurry: () => {
      const now = performance.now();
      if (isPolling || timer === undefined || now - hurriedAt < everyMs) return;
      hurriedAt = now;
      clearTimeout(timer);
      schedule(Math.min(everyMs, GATHER_MS));
    },
    stop: () => clearTimeout(timer),
  };
}

interface Found {
  readonly created: readonly OwnedPayment[];
  readonly owners: readonly OwnedPayment[];
  readonly blocks: readonly Network[];
  readonly marked: ReadonlySet<string>;
  /** The projects whose sweeps changed. */
  readonly moved: ReadonlySet<string>;
  /** The projects and modes with new delivery attempts. */
  readonly sent: ReadonlySet<string> | 'all';
  readonly hasMissed: boolean;
}

/** Finds the projects and modes with delivery attempts since the round before. */
function createSentWatch(db: Database): () => Promise<Found['sent']> {
  let known: ReadonlySet<bigint> | null = null;
  return async () => {
    const attempts = await newestAttempts(db, MAX_ATTEMPTS);
    const fresh = attempts.filter(({ id }) => known?.has(id) === false);
    known = new Set(attempts.map(({ id }) => id));
    if (fresh.length === MAX_ATTEMPTS) return 'all';
    return new Set(fresh.map(({ projectId, mode }) => `${projectId} ${mode}`));
  };
}

function changesOf(
  group: Group,
  { created, owners, blocks, marked, moved, sent, hasMissed }: Found,
): readonly ProjectChange[] {
  const { projectId, mode } = group.scope;
  const isOwn = (one: OwnedPayment): boolean => one.projectId === projectId && one.mode === mode;
  const recent = created.filter(isOwn);
  const fresh = recent.filter(({ id }) => createdAt(id) >= group.since && !group.known.has(id));
  group.known = new Set(recent.map(({ id }) => id));
  const own = owners.filter(isOwn);
  if (hasMissed || fresh.length + own.length > MAX_LISTED) return [{ kind: 'anything' }];
  const isLive = (mode satisfies Mode) === 'live';
  return [
    ...fresh.toReversed().map(({ id, api }) => ({ kind: 'payment_created' as const, id, api })),
    ...own.map(({ id, api }) => ({ kind: 'payment' as const, id, api })),
    ...(marked.has(`${projectId} ${mode}`) ? [{ kind: 'attention' as const }] : []),
    ...(sent === 'all' || sent.has(`${projectId} ${mode}`) ? [{ kind: 'deliveries' as const }] : []),
    ...(isLive && moved.has(projectId) ? [{ kind: 'sweeps' as const }] : []),
    ...(isLive ? blocks.map((network) => ({ kind: 'network' as const, network })) : []),
  ];
}

/** The creation time in a payment's id (UUID version 7). */
function createdAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function passOn({ listeners }: Group, changes: readonly ProjectChange[]): void {
  if (changes.length === 0) return;
  // A copy: a listener may stop watching while it is called.
  for (const listener of new Set(listeners)) listener(changes);
}
