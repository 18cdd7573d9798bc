import type { Network } from '../../domain/networks.ts';
import type { Notifications } from '../../store/notifications.ts';

/** Wakes the pages and streams that show a payment when it may have changed, in any process. */
export interface PaymentWatch {
  /**
   * Wakes the listener whenever the payment may have changed, and with every block of `network` if one is given. A
   * wake-up only means that it is time to read the payment again. The listener must not throw. Returns a function that
   * stops watching.
   */
  watch(paymentId: string, network: Network | null, listener: () => void): () => void;
  /** Whether changes may be missed now, because the database does not answer or notifications do not arrive. */
  isDown(): boolean;
  /** Calls the listener whenever notifications stop. The listener must not throw. */
  onDown(listener: () => void): void;
  /** The number of current watchers. */
  watchers(): number;
  stop(): void;
}

export interface PaymentWatchOptions {
  /** How often each watcher is woken anyway: a wake-up can be lost with the process that sends it. */
  readonly everyMs?: number;
  /** The time over which waking all watchers is spread once notifications arrive again. */
  readonly spreadMs?: number;
}

interface Watcher {
  readonly wake: () => void;
}

/** How many steps it takes to wake all watchers. */
const STEPS = 20;

/**
 * The watch of one process. When notifications come back, all watchers are woken once, because a change may have been
 * missed, and at intervals anyway. Both are spread over time, so that thousands of watchers do not query the database
 * at the same moment.
 */
export function createPaymentWatch(
  notifications: Pick<Notifications, 'healthy' | 'on' | 'onUp' | 'onDown'>,
  { everyMs = 15_000, spreadMs = 1_000 }: PaymentWatchOptions = {},
): PaymentWatch {
  const byPayment = new Map<string, Set<Watcher>>();
  const byNetwork = new Map<Network, Set<Watcher>>();
  const all = new Set<Watcher>();
  /** Watchers by the turn in which they began to watch: each is woken anyway when its turn comes again. */
  const byTurn = new Map<number, Set<Watcher>>();
  let turn = 0;
  let spreading: NodeJS.Timeout | undefined;

  /**
   * Wakes all watchers. A new round replaces one still under way, and also wakes those that the old round did not
   * reach.
   */
  const wakeAll = (): void => {
    clearTimeout(spreading);
    const waiting = [...all];
    const perStep = Math.ceil(waiting.length / STEPS);
    const step = (): void => {
      for (const watcher of waiting.splice(0, perStep)) if (all.has(watcher)) watcher.wake();
      if (waiting.length > 0) spreading = setTimeout(step, spreadMs / STEPS);
    };
    step();
  };

  notifications.on('payments', (ids) => {
    for (const id of ids) wakeEach(byPayment.get(id));
  });
  notifications.on('chain', ([network]) => wakeEach(byNetwork.get(network)));
  notifications.onUp(wakeAll);
  const timer = setInterval(() => {
    turn = (turn + 1) % STEPS;
    wakeEach(byTurn.get(turn));
  }, everyMs / STEPS);

  return {
    watch: (paymentId, network, listener) => {
      const watcher: Watcher = { wake: listener };
      const own = turn;
      all.add(watcher);
      join(byTurn, own, watcher);
      join(byPayment, paymentId, watcher);
      if (network !== null) join(byNetwork, network, watcher);
      return () => {
        all.delete(watcher);
        leave(byTurn, own, watcher);
        leave(byPayment, paymentId, watcher);
        if (network !== null) leave(byNetwork, network, watcher);
      };
    },
    isDown: () => !notifications.healthy(),
    onDown: (listener) => notifications.onDown(listener),
    watchers: () => all.size,
    stop: () => {
      clearInterval(timer);
      clearTimeout(spreading);
      for (const group of [all, byPayment, byNetwork, byTurn]) group.clear();
    },
  };
}

function wakeEach(watchers: ReadonlySet<Watcher> | undefined): void {
  // A copy: a listener may stop watching, and start again, while it is called.
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
