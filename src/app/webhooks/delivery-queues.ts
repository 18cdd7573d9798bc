import type { DueDelivery } from '../../store/webhooks/deliveries.ts';

/** How many deliveries are sent at once to an endpoint that is new or failing; doubled with each success. */
const MIN_CONCURRENCY = 8;
const MAX_CONCURRENCY = 128;
/**
 * For an endpoint that answers, up to this many times its concurrency is claimed: a large claim costs hardly more than
 * a small one.
 */
const PREFETCH = 4;
/**
 * Claimed deliveries that still wait are released after this: the endpoint is slower than expected, or was changed
 * meanwhile.
 */
const MAX_WAIT_MS = 2_000;
/** New and failing endpoints share these slots, so that dead endpoints never take those of healthy ones. */
const UNPROVEN_SLOTS = 1_000;
/** Idle queues keep what was learnt about their endpoints, unless there are more queues than this. */
const MAX_IDLE_QUEUES = 1_000;

/** One endpoint's deliveries in this process. Only `createDeliveryQueues` changes it. */
export interface DeliveryQueue {
  /** Claimed and not yet being sent, oldest first. */
  waiting: DueDelivery[];
  takenAt: number;
  sending: number;
  /** How many may be sent at once. */
  concurrency: number;
  /** Whether the latest attempt was acknowledged. */
  proven: boolean;
  /** Whether the database may have more; false if the last claim found less than there was room for. */
  mayHaveMore: boolean;
}

/** How many deliveries may be claimed: per endpoint, and for each endpoint that is not named. */
export interface Quotas {
  readonly named: Readonly<Record<string, number>>;
  readonly others: number;
}

/** How deliveries were claimed; `isCut` if the claim as a whole hit its limit, whatever the quotas. */
export interface Claim {
  readonly quotas: Quotas;
  readonly isCut: boolean;
  readonly now: number;
}

export interface DeliveryQueues {
  quotas(): Quotas;
  /** Adds claimed deliveries to their queues and returns the queues that got some. */
  enqueue(due: readonly DueDelivery[], claim: Claim): Iterable<DeliveryQueue>;
  /** The queue's next delivery, to be sent now; null if its concurrency is used up or nothing waits. */
  start(queue: DeliveryQueue): DueDelivery | null;
  /** Records the end of an attempt: success doubles the queue's concurrency, failure resets it. */
  end(queue: DeliveryQueue, acknowledged: boolean): void;
  /** Whether there is room for more and probably something to claim. */
  wantsMore(queue: DeliveryQueue): boolean;
  anyWantsMore(): boolean;
  /** Removes and returns what waits in one queue. */
  drain(queue: DeliveryQueue): readonly DueDelivery[];
  /** Removes and returns what has waited for too long. */
  drainStale(now: number): readonly DueDelivery[];
  drainAll(): readonly DueDelivery[];
}

/** One queue per endpoint, so that a slow or dead endpoint fills only its own. */
export function createDeliveryQueues(): DeliveryQueues {
  const queues = new Map<string, DeliveryQueue>();
  /** The slots of each queue that is not proven; 0 when all of them are used. */
  let unprovenSlots = MIN_CONCURRENCY;

  const queueOf = (endpointId: string): DeliveryQueue => {
    const known = queues.get(endpointId);
    if (known !== undefined) return known;
    const queue = newQueue();
    queues.set(endpointId, queue);
    return queue;
  };

  /** Slots are offered when half of them are free, so that claims are few and large. */
  const freeSlots = (queue: DeliveryQueue): number => {
    const most = queue.proven ? queue.concurrency * PREFETCH : unprovenSlots;
    const taken = heldIn(queue);
    return taken <= most / 2 ? most - taken : 0;
  };

  const wantsMore = (queue: DeliveryQueue): boolean => queue.mayHaveMore && freeSlots(queue) > 0;

  const drainWhere = (isStale: (queue: DeliveryQueue) => boolean): readonly DueDelivery[] =>
    [...queues.values()].filter(isStale).flatMap((queue) => queue.waiting.splice(0));

  return {
    quotas() {
      for (const [id, queue] of queues) if (queues.size > MAX_IDLE_QUEUES && heldIn(queue) === 0) queues.delete(id);
      const unproven = [...queues.values()].filter((queue) => !queue.proven);
      const isFull = unproven.reduce((sum, queue) => sum + heldIn(queue), 0) >= UNPROVEN_SLOTS;
      unprovenSlots = isFull ? 0 : Math.min(MIN_CONCURRENCY, Math.ceil(UNPROVEN_SLOTS / Math.max(1, unproven.length)));
      const named = [...queues].map(([id, queue]) => [id, freeSlots(queue)] as const);
      return { named: Object.fromEntries(named), others: isFull ? 0 : MIN_CONCURRENCY };
    },
    enqueue(due, { quotas, isCut, now }) {
      // A queue without a free slot was left out of the claim.
      for (const [id, slots] of Object.entries(quotas.named)) queueOf(id).mayHaveMore = isCut || slots === 0;
      const filled = Map.groupBy(due, (delivery) => delivery.endpoint.id);
      return [...filled].map(([id, deliveries]) => {
        const queue = queueOf(id);
        if (queue.waiting.length === 0) queue.takenAt = now;
        queue.waiting.push(...deliveries);
        queue.mayHaveMore = isCut || deliveries.length >= (quotas.named[id] ?? quotas.others);
        return queue;
      });
    },
    start(queue) {
      const next = queue.sending < queue.concurrency ? queue.waiting.shift() : undefined;
      if (next === undefined) return null;
      queue.sending += 1;
      return next;
    },
    end(queue, acknowledged) {
      queue.sending -= 1;
      queue.proven = acknowledged;
      queue.concurrency = acknowledged ? Math.min(MAX_CONCURRENCY, queue.concurrency * 2) : MIN_CONCURRENCY;
    },
    wantsMore,
    drain: (queue) => queue.waiting.splice(0),
    anyWantsMore: () => [...queues.values()].some(wantsMore),
    drainStale: (now) => drainWhere((queue) => now - queue.takenAt > MAX_WAIT_MS),
    drainAll: () => drainWhere(() => true),
  };
}

function newQueue(): DeliveryQueue {
  return { waiting: [], takenAt: 0, sending: 0, concurrency: MIN_CONCURRENCY, proven: false, mayHaveMore: false };
}

function heldIn(queue: DeliveryQueue): number {
  return queue.waiting.length + queue.sending;
}
