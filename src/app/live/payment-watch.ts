import type { Network } from '../../domain/networks.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Notifications } from '../../store/notifications.ts';
import type { PaymentSelector } from '../payments/change-payment.ts';
import type { PaymentReader } from '../payments/read-payment.ts';

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
const TURNS = 20;

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
    const perTurn = Math.ceil(waiting.length / TURNS);
    const turn = (): void => {
      for (const watcher of waiting.splice(0, perTurn)) if (all.has(watcher)) watcher.wake();
      if (waiting.length > 0) spreading = setTimeout(turn, spreadMs / TURNS);
    };
    turn();
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
  // A copy, for who is woken may leave and come back.
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

/** Looks under way at once. The rest wait here and not in the reader, which requests share. */
const LOOKS_AT_ONCE = 100;
const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_AT_MOST_MS = 15_000;

export interface LookerOptions {
  readonly reader: PaymentReader;
  readonly watch: PaymentWatch;
  /** A short text that changes exactly when what is shown of the payment does. */
  readonly versionOf: (payment: Payment) => string | Promise<string>;
  readonly selector: PaymentSelector;
  readonly queue: LookQueue;
  readonly onVersion: (version: string) => void;
  readonly onFault: (error: unknown) => void;
}

export interface Looker {
  /** The payment's version now; null when there is no such payment. */
  look(): Promise<string | null>;
  /** Looks whenever the payment may have changed, and did since the first look. */
  start(): void;
  stop(): void;
}

/** Watches a payment from the beginning, so that nothing is missed between the first look and the start. */
export function createLooker({ reader, watch, versionOf, selector, queue, onVersion, onFault }: LookerOptions): Looker {
  let isStopped = false;
  // Until it starts, wakes are only remembered.
  let isLooking = true;
  let isStale = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  let network: Network | null = null;

  const wake = (): void => {
    if (isLooking) isStale = true;
    else if (!isStopped) queue.add(lookAgain);
  };
  const rest = (): void => {
    isLooking = false;
    if (isStale) wake();
  };
  let unwatch = watch.watch(selector.id, network, wake);

  const look = async (): Promise<string | null> => {
    const payment = await reader.read(selector);
    if (payment === null) return null;
    const counting = countingNetwork(payment);
    if (counting !== network && !isStopped) {
      network = counting;
      unwatch();
      unwatch = watch.watch(selector.id, network, wake);
    }
    return versionOf(payment);
  };

  const lookAgain = async (): Promise<void> => {
    isLooking = true;
    isStale = false;
    clearTimeout(retry);
    try {
      const version = await look();
      failures = 0;
      if (version !== null) onVersion(version);
    } catch (error) {
      onFault(error);
      if (!isStopped) retry = setTimeout(wake, Math.min(LOOK_AGAIN_AT_MOST_MS, LOOK_AGAIN_MS * 2 ** failures));
      failures += 1;
    }
    rest();
  };

  return {
    look,
    start: rest,
    stop: () => {
      isStopped = true;
      clearTimeout(retry);
      queue.remove(lookAgain);
      unwatch();
    },
  };
}

/** The network whose blocks change what the page shows: confirmations are counted while a payment is on its way. */
function countingNetwork({ status, quote }: Payment): Network | null {
  const isCounting = status === 'processing' || status === 'confirming';
  return isCounting ? (quote?.network ?? null) : null;
}

export interface LookQueue {
  /** Runs the job when its turn comes; a job that waits already waits once. A job must not fail. */
  add(job: () => Promise<void>): void;
  remove(job: () => Promise<void>): void;
}

/** One queue for all lookers of a process. */
export function createLookQueue(): LookQueue {
  const waiting = new Set<() => Promise<void>>();
  let running = 0;
  const run = async (job: () => Promise<void>): Promise<void> => {
    running += 1;
    await job();
    running -= 1;
    start();
  };
  const start = (): void => {
    for (const job of waiting) {
      if (running >= LOOKS_AT_ONCE) return;
      waiting.delete(job);
      void run(job);
    }
  };
  return {
    add: (job) => {
      waiting.add(job);
      start();
    },
    remove: (job) => void waiting.delete(job),
  };
}
