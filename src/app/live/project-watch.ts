import type { Network } from '../../domain/networks.ts';
import type { Surface } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import type { Notifications } from '../../store/notifications.ts';
import type { PaymentScopeKey } from '../../store/payment-filter.ts';
import { findOwners, newestPayments, type OwnedPayment } from '../../store/payment-list.ts';
import type { App } from '../context.ts';

/** What changed in a project, and not how. */
export type ProjectNews =
  | { readonly kind: 'payment' | 'payment_created'; readonly id: string; readonly surface: Surface }
  /** A block of the network: payments that wait for it have other confirmations. */
  | { readonly kind: 'network'; readonly network: Network }
  /** So much that it is not listed, or possibly something that was missed. */
  | { readonly kind: 'anything' };

/** Tells those who look at a project's payments of one mode what changed, whichever process changed it. */
export interface ProjectWatch {
  /** Calls the listener at most once a second. It must not throw. Returns how to stop. */
  watch(scope: PaymentScopeKey, listener: (news: readonly ProjectNews[]) => void): () => void;
  /** How many watch now. */
  watchers(): number;
  stop(): void;
}

export interface ProjectWatchOptions {
  /** How often news is told at most, and new payments are looked for. */
  readonly everyMs?: number;
  /** How often everybody is told to look again while notifications are down. */
  readonly whileDownMs?: number;
  readonly onFault: (error: unknown) => void;
}

/** More of a project's payments than this in one second are told as `anything`. */
const MAX_LISTED = 50;
/** More ids than this in one second are not looked up. */
const MAX_COLLECTED = 2_000;
/** Payments get their ids before they are saved, by the clock of their process: they are looked for so far back. */
const OVERLAP_MS = 10_000;

interface Group {
  readonly scope: PaymentScopeKey;
  readonly listeners: Set<(news: readonly ProjectNews[]) => void>;
  /** Payments from before are no news. */
  readonly since: number;
  /** New payments that were told. */
  known: Set<string>;
}

/**
 * The watch of one process. Changes come by notification; new payments, of which nobody is notified so that creating
 * them stays cheap, are looked for once a second along an index, only while somebody watches.
 */
export function createProjectWatch(
  app: Pick<App, 'db' | 'clock'>,
  notifications: Pick<Notifications, 'healthy' | 'on' | 'onUp'>,
  { everyMs = 1_000, whileDownMs = 15_000, onFault }: ProjectWatchOptions,
): ProjectWatch {
  const groups = new Map<string, Group>();
  let changed = new Set<string>();
  let networks = new Set<Network>();
  let isMuch = false;
  let ticking: NodeJS.Timeout | undefined;

  const collect = (ids: readonly string[]): void => {
    if (groups.size === 0 || isMuch) return;
    for (const id of ids) changed.add(id);
    isMuch = changed.size > MAX_COLLECTED;
  };
  const muchChanged = (): void => {
    isMuch = groups.size > 0;
  };
  notifications.on('payments', collect);
  notifications.on('chain', ([network]) => {
    if (groups.size > 0) networks.add(network);
  });
  notifications.onUp(muchChanged);
  const downTimer = setInterval(() => {
    if (!notifications.healthy()) muchChanged();
  }, whileDownMs);

  const look = async (): Promise<void> => {
    const [ids, blocks, wasMuch] = [[...changed], [...networks], isMuch];
    [changed, networks, isMuch] = [new Set(), new Set(), false];
    const present = [...groups.values()];
    try {
      const from = app.clock() - OVERLAP_MS;
      const scopes = present.map(({ scope }) => scope);
      const created = await newestPayments(app.db, scopes, from, MAX_LISTED + 1);
      const owners = wasMuch || ids.length === 0 ? [] : await findOwners(app.db, ids);
      for (const group of present) tell(group, newsOf(group, { created, owners, blocks, wasMuch }));
    } catch (error) {
      // What was collected is lost with it.
      muchChanged();
      onFault(error);
    }
  };
  const tick = (): void => {
    ticking = setTimeout(() => void look().finally(() => (groups.size > 0 ? tick() : (ticking = undefined))), everyMs);
  };

  return {
    watch: (scope, listener) => {
      const key = `${scope.projectId} ${scope.mode}`;
      const group = groups.get(key) ?? { scope, listeners: new Set(), since: app.clock(), known: new Set<string>() };
      groups.set(key, group);
      group.listeners.add(listener);
      if (ticking === undefined) tick();
      return () => {
        group.listeners.delete(listener);
        if (group.listeners.size === 0 && groups.get(key) === group) groups.delete(key);
      };
    },
    watchers: () => [...groups.values()].reduce((sum, { listeners }) => sum + listeners.size, 0),
    stop: () => {
      clearInterval(downTimer);
      clearTimeout(ticking);
      groups.clear();
    },
  };
}

interface Found {
  readonly created: readonly OwnedPayment[];
  readonly owners: readonly OwnedPayment[];
  readonly blocks: readonly Network[];
  readonly wasMuch: boolean;
}

function newsOf(group: Group, { created, owners, blocks, wasMuch }: Found): readonly ProjectNews[] {
  const { projectId, mode } = group.scope;
  const isOwn = (one: OwnedPayment): boolean => one.projectId === projectId && one.mode === mode;
  const recent = created.filter(isOwn);
  const fresh = recent.filter(({ id }) => createdAt(id) >= group.since && !group.known.has(id));
  group.known = new Set(recent.map(({ id }) => id));
  const own = owners.filter(isOwn);
  if (wasMuch || fresh.length + own.length > MAX_LISTED) return [{ kind: 'anything' }];
  const isLive = (mode satisfies Mode) === 'live';
  return [
    ...fresh.toReversed().map(({ id, surface }) => ({ kind: 'payment_created' as const, id, surface })),
    ...own.map(({ id, surface }) => ({ kind: 'payment' as const, id, surface })),
    ...(isLive ? blocks.map((network) => ({ kind: 'network' as const, network })) : []),
  ];
}

/** When a payment was created, by its id. */
function createdAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

function tell({ listeners }: Group, news: readonly ProjectNews[]): void {
  if (news.length === 0) return;
  // A copy: a listener may stop watching while it is called.
  for (const listener of new Set(listeners)) listener(news);
}
