import type { Network } from '../../domain/networks.ts';
import type { Notifications } from '../../store/notifications.ts';

/** Tells those who show a payment that it may have changed, whichever process changed it. */
export interface PaymentWatch {
  /**
   * Wakes the listener whenever the payment may have changed, and with every block of `network` where one is given. A wake
   * says no more than that it is time to look. The listener must not throw. Returns how to stop.
   */
  watch(paymentId: string, network: Network | null, listener: () => void): () => void;
  /** How many watch now. */
  watchers(): number;
  stop(): void;
}

export interface PaymentWatchOptions {
  /** How often everybody is woken while notifications are down. */
  readonly wakeWhileDownMs?: number;
  /** Over how long it is spread that everybody is woken. */
  readonly spreadMs?: number;
}

interface Watcher {
  readonly wake: () => void;
}

/** Into how many parts a waking of all is cut. */
const SPREAD_STEPS = 20;

/**
 * The watch of one process. When notifications come back everybody is woken once, for something may have been missed; while
 * they are down, again and again. Both are spread, so that thousands do not ask the database in the same moment.
 */
export function createPaymentWatch(
  notifications: Pick<Notifications, 'healthy' | 'on' | 'onUp'>,
  { wakeWhileDownMs = 15_000, spreadMs = 1_000 }: PaymentWatchOptions = {},
): PaymentWatch {
  const byPayment = new Map<string, Set<Watcher>>();
  const byNetwork = new Map<Network, Set<Watcher>>();
  const all = new Set<Watcher>();
  let spreading: NodeJS.Timeout | undefined;

  /** A waking of all that begins takes the place of one under way: it wakes those that one did not come to. */
  const wakeAll = (): void => {
    clearTimeout(spreading);
    const waiting = [...all];
    const perStep = Math.ceil(waiting.length / SPREAD_STEPS);
    const step = (): void => {
      for (const watcher of waiting.splice(0, perStep)) if (all.has(watcher)) watcher.wake();
      if (waiting.length > 0) spreading = setTimeout(step, spreadMs / SPREAD_STEPS);
    };
    step();
  };

  notifications.on('payments', (ids) => {
    for (const id of ids) wakeEach(byPayment.get(id));
  });
  notifications.on('chain', ([network]) => wakeEach(byNetwork.get(network)));
  notifications.onUp(wakeAll);
  const downTimer = setInterval(() => {
    if (!notifications.healthy()) wakeAll();
  }, wakeWhileDownMs);

  return {
    watch: (paymentId, network, listener) => {
      const watcher: Watcher = { wake: listener };
      all.add(watcher);
      join(byPayment, paymentId, watcher);
      if (network !== null) join(byNetwork, network, watcher);
      return () => {
        all.delete(watcher);
        leave(byPayment, paymentId, watcher);
        if (network !== null) leave(byNetwork, network, watcher);
      };
    },
    watchers: () => all.size,
    stop: () => {
      clearInterval(downTimer);
      clearTimeout(spreading);
      for (const group of [all, byPayment, byNetwork]) group.clear();
    },
  };
}

function wakeEach(watchers: ReadonlySet<Watcher> | undefined): void {
  // A copy: a listener may stop watching, and watch again, while it is called.
  for (const watcher of new Set(watchers)) watcher.wake();
}

function join<Key>(groups: Map<Key, Set<Watcher>>, key: Key, watcher: Watcher): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, new Set([watcher]));
  else group.add(watcher);
}

function leave<Key>(groups: Map<Key, Set<Watcher>>, key: Key, watcher: Watcher): void {
  const group = groups.get(key);
  group?.delete(watcher);
  if (group?.size === 0) groups.delete(key);
}
