import type { claimDeliveries, DueDelivery } from '../../store/webhooks/deliveries.ts';

/* The queues of `deliver-due.ts`, where their states are described. */

const MIN_CONCURRENCY = 8;
const MAX_CONCURRENCY = 128;
/**
 * For a healthy endpoint, up to this many times its concurrency is claimed: a large claim costs hardly more than a
 * small one.
 */
const PREFETCH = 4;
/**
 * Claimed deliveries that still wait are released after this time: the endpoint is slower than expected, or was changed
 * meanwhile.
 */
const MAX_WAIT_MS = 2_000;
const TRIAL_SLOTS = 1_000;
/** Idle queues keep the state of their endpoints, unless there are more queues than this. */
const MAX_IDLE_QUEUES = 1_000;
/** An endpoint that this process cannot sign for is tried again after this. */
const CLOSED_MS = 60_000;

/** One endpoint's deliveries in this process. */
export interface DeliveryQueue {
  /** Claimed and not yet being sent, oldest first. */
  readonly waiting: DueDelivery[];
  takenAt: number;
  sending: number;
  /** How many may be sent at once; more than MIN_CONCURRENCY only for a healthy endpoint. */
  concurrency: number;
  /** Whether the database may have more; false if the last claim found less than there was room for. */
  mayHaveMore: boolean;
  /** Nothing is claimed before this time, because this process cannot sign; 0: it can, as far as it knows. */
  closedUntil: number;
}

type Quotas = Pick<Parameters<typeof claimDeliveries>[1], 'quotas' | 'defaultQuota'>;

export type DeliveryQueues = ReturnType<typeof createDeliveryQueues>;

export function createDeliveryQueues() {
  const queues = new Map<string, DeliveryQueue>();
  /** The slots of each queue on trial; 0 when all of them are used. */
  let slotsOnTrial = MIN_CONCURRENCY;

  const queueOf = (endpointId: string): DeliveryQueue => {
    const existing = queues.get(endpointId);
    if (existing !== undefined) return existing;
    const queue = {
      waiting: [],
      takenAt: 0,
      sending: 0,
      concurrency: MIN_CONCURRENCY,
      mayHaveMore: false,
      closedUntil: 0,
    };
    queues.set(endpointId, queue);
    return queue;
  };

  /** Slots are offered when half of them are free, so that claims are few and large. */
  const freeSlots = (queue: DeliveryQueue): number => {
    const most = isOnTrial(queue) ? slotsOnTrial : queue.concurrency * PREFETCH;
    const taken = heldIn(queue);
    return taken <= most / 2 ? most - taken : 0;
  };

  /** Whether there is room for more and probably something to claim. */
  const wantsMore = (queue: DeliveryQueue): boolean =>
    queue.mayHaveMore && queue.closedUntil === 0 && freeSlots(queue) > 0;

  const drainWhere = (isStale: (queue: DeliveryQueue) => boolean): readonly DueDelivery[] =>
    [...queues.values()].filter(isStale).flatMap((queue) => queue.waiting.splice(0));

  return {
    /** How many may be claimed now. */
    quotas(now: number): Quotas {
      for (const [id, queue] of queues) if (queues.size > MAX_IDLE_QUEUES && heldIn(queue) === 0) queues.delete(id);
      const onTrial = [...queues.values()].filter(isOnTrial);
      const isFull = onTrial.reduce((sum, queue) => sum + heldIn(queue), 0) >= TRIAL_SLOTS;
      slotsOnTrial = isFull ? 0 : Math.min(MIN_CONCURRENCY, Math.ceil(TRIAL_SLOTS / Math.max(1, onTrial.length)));
      for (const queue of queues.values()) if (queue.closedUntil <= now) queue.closedUntil = 0;
      const slots = [...queues].map(([id, queue]) => [id, queue.closedUntil > 0 ? 0 : freeSlots(queue)] as const);
      return { quotas: Object.fromEntries(slots), defaultQuota: isFull ? 0 : MIN_CONCURRENCY };
    },
    /**
     * Adds claimed deliveries to their queues and returns the queues that got some. `isCut`: the claim as a whole hit
     * its limit, whatever the quotas.
     */
    enqueue(due: readonly DueDelivery[], claim: Quotas & { readonly isCut: boolean; readonly now: number }) {
      // A queue without a free slot was left out of the claim: there may be more for it.
      for (const [id, slots] of Object.entries(claim.quotas)) queueOf(id).mayHaveMore = claim.isCut || slots === 0;
      return [...Map.groupBy(due, ({ endpoint }) => endpoint.id)].map(([id, deliveries]) => {
        const queue = queueOf(id);
        if (queue.waiting.length === 0) queue.takenAt = claim.now;
        queue.waiting.push(...deliveries);
        queue.mayHaveMore = claim.isCut || deliveries.length >= (claim.quotas[id] ?? claim.defaultQuota);
        return queue;
      });
    },
    wantsMore,
    /** True also for a queue that emptied during a claim, which nothing else would wake. */
    anyWantsMore: (): boolean => [...queues.values()].some(wantsMore),
    /** Removes and returns the deliveries that have waited for too long. */
    drainStale: (now: number): readonly DueDelivery[] => drainWhere((queue) => now - queue.takenAt > MAX_WAIT_MS),
    drainAll: (): readonly DueDelivery[] => drainWhere(() => true),
  };
}

/** The queue's next delivery, to be sent now; null if its concurrency is used up or nothing waits. */
export function startNext(queue: DeliveryQueue): DueDelivery | null {
  const next = queue.sending < queue.concurrency ? queue.waiting.shift() : undefined;
  if (next === undefined) return null;
  queue.sending += 1;
  return next;
}

export function endAttempt(queue: DeliveryQueue, isAcknowledged: boolean): void {
  queue.sending -= 1;
  queue.concurrency = isAcknowledged ? Math.min(MAX_CONCURRENCY, queue.concurrency * 2) : MIN_CONCURRENCY;
}

/** Leaves an endpoint to other processes for a while, and returns its waiting deliveries. */
export function closeQueue(queue: DeliveryQueue, now: number): readonly DueDelivery[] {
  queue.closedUntil = now + CLOSED_MS;
  return queue.waiting.splice(0);
}

function isOnTrial(queue: DeliveryQueue): boolean {
  return queue.concurrency === MIN_CONCURRENCY;
}

function heldIn(queue: DeliveryQueue): number {
  return queue.waiting.length + queue.sending;
}
