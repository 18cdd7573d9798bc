import type { DueDelivery } from '../../store/deliveries.ts';

/** This many go at once to an endpoint that nothing is known of yet or that fails; twice as many with each success. */
const MIN_CONCURRENCY = 8;
const MAX_CONCURRENCY = 128;
/** Of an endpoint that answers, up to this many times its width is taken: a large claim costs hardly more than a small one. */
const PREFETCH = 4;
/** What was taken ahead is given back after this: the endpoint is slower than thought, or was changed meanwhile. */
const MAX_WAIT_MS = 2_000;
/** Endpoints that are new or fail share these places, so that dead ones never take those of the living. */
const UNPROVEN_SLOTS = 1_000;
/** Idle lanes are remembered for what was learnt of their endpoints, unless there are more lanes than this. */
const MAX_IDLE_QUEUES = 1_000;

/** One endpoint's deliveries in this process. Only `createDeliveryQueues` changes it. */
export interface DeliveryQueue {
  /** Taken and not yet being sent, oldest first. */
  waiting: DueDelivery[];
  takenAt: number;
  sending: number;
  /** How many may be sent at once. */
  concurrency: number;
  /** The latest attempt was acknowledged. */
  proven: boolean;
  /** Unless the last claim looked and found less than there was room for. */
  mayHaveMore: boolean;
}

/** How many deliveries may be taken: by endpoint, and of each endpoint that is not named. */
export interface Quotas {
  readonly named: Readonly<Record<string, number>>;
  readonly others: number;
}

/** How deliveries were taken; `isCut` when the claim as a whole was limited, whatever the quotas. */
export interface Claim {
  readonly quotas: Quotas;
  readonly isCut: boolean;
  readonly now: number;
}

export interface DeliveryQueues {
  quotas(): Quotas;
  /** Lines up what was taken, and returns the lanes that got something. */
  enqueue(due: readonly DueDelivery[], claim: Claim): Iterable<DeliveryQueue>;
  /** The lane's next delivery, to be sent now; null when its width is used up or nothing waits. */
  start(queue: DeliveryQueue): DueDelivery | null;
  /** Notes that an attempt ended. A lane doubles its width with each success and is narrow again after a failure. */
  end(queue: DeliveryQueue, acknowledged: boolean): void;
  /** Whether there is room for more and probably something to take. */
  wantsMore(queue: DeliveryQueue): boolean;
  anyWantsMore(): boolean;
  /** Takes out what waits in one lane. */
  drain(queue: DeliveryQueue): readonly DueDelivery[];
  /** Takes out what has waited for too long. */
  drainStale(now: number): readonly DueDelivery[];
  drainAll(): readonly DueDelivery[];
}

/** A lane for each endpoint, so that a slow or dead one fills only its own. */
export function createDeliveryQueues(): DeliveryQueues {
  const queues = new Map<string, DeliveryQueue>();
  /** Of each lane that is not proven; 0 when their places are used up. */
  let unprovenSlots = MIN_CONCURRENCY;

  const queueOf = (endpointId: string): DeliveryQueue => {
    const known = queues.get(endpointId);
    if (known !== undefined) return known;
    const queue = newQueue();
    queues.set(endpointId, queue);
    return queue;
  };

  /** Places are offered when half of them are free, so that claims are few and large. */
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
      // A lane without a free place was not looked at.
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
