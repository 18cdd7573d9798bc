import type { Problems } from '../../domain/problems.ts';
import { releaseDeliveries, claimDeliveries, type DueDelivery } from '../../store/webhooks/deliveries.ts';
import type { SealingKeys } from '../../webhooks/secret.ts';
import type { WebhookSender } from '../../webhooks/send.ts';
import type { App } from '../context.ts';
import { attempt, createRecorder, createSecretCache, type Attempted } from './attempt-delivery.ts';

/*
 * The schedule of one process: which due deliveries it claims, and when it attempts them. Each endpoint has a queue of
 * its own, so that a slow or dead endpoint fills only its own.
 *
 * The deliverer is
 * - ready: `takeDue` claims;
 * - claiming: a claim is under way, and checks for free slots by itself when it is done;
 * - full: `takeDue` found no room for a whole claim; leaves with `onFree` when there is room;
 * - stopping: nothing is claimed or started any more. Never left.
 *
 * A claimed delivery is
 * - waiting in its endpoint's queue, the oldest first;
 * - being sent. A second claim of a delivery that waits or is being sent is ignored: its lease may have ended early, as
 *   after a sleep of the machine;
 * - being recorded. It may be claimed again as soon as its record is committed.
 * Then it is gone. A waiting one is released, so that it is due again at once, when it has waited for too long or the
 * deliverer stops.
 *
 * The endpoint of a queue is
 * - on trial: it is new, or its latest attempt failed. MIN_CONCURRENCY deliveries are sent at once, none is claimed
 *   ahead, and all queues on trial share TRIAL_SLOTS, so that dead endpoints never take the slots of healthy ones;
 * - healthy: its latest attempt was acknowledged. Each success doubles how many are sent at once.
 */
type State = 'ready' | 'claiming' | 'full' | 'stopping';

/**
 * Longer than a delivery takes to wait in its queue, be attempted and recorded. If its worker dies, it is due again
 * after this.
 */
const LEASE_MS = 60_000;
/** How many deliveries one process holds: waiting, being sent or being recorded. */
const MAX_HELD = 5_000;
/** The size of the largest claim. Nothing is claimed while there is no room for that many. */
const MAX_CLAIMED = 500;
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
/**
 * The subject of faults that keep deliveries from being attempted or recorded: a wrong key, a database that is down.
 */
const SUBJECT = 'sending webhooks';

export interface WebhookDelivery {
  readonly sender: WebhookSender;
  /** Decrypts the endpoints' secrets. */
  readonly sealingKeys: SealingKeys;
}

export interface DelivererEvents {
  /** Called when there may be something to claim again. */
  readonly onFree: () => void;
  /** Deliveries that cannot be attempted or recorded are reported here; they are due again when their leases end. */
  readonly problems: Problems;
}

export interface Deliverer {
  /**
   * Claims due deliveries and starts sending them. Resolves after the claim with whether there are more to claim at
   * once.
   */
  takeDue(): Promise<boolean>;
  /**
   * Starts nothing more, releases deliveries that were not started, and resolves when the running attempts are
   * recorded. Attempts cut short by closing the sender are not recorded: they are made again when their leases end.
   */
  stop(): Promise<void>;
  /** Resolves when nothing is waiting, being sent or being recorded. */
  idle(): Promise<void>;
}

/** Sends due deliveries, with a separate queue for each endpoint. */
export function createDeliverer(app: App, webhooks: WebhookDelivery, { onFree, problems }: DelivererEvents): Deliverer {
  const queues = createDeliveryQueues();
  const secrets = createSecretCache(webhooks.sealingKeys);
  const save = createRecorder(app, MAX_HELD);
  let state: State = 'ready';
  const is = (asked: State): boolean => state === asked;
  const held = createHeldDeliveries(() => {
    if (!is('full') || held.isFull()) return;
    state = 'ready';
    onFree();
  });

  const release = async (deliveries: readonly DueDelivery[]): Promise<void> => {
    held.drop(deliveries);
    if (deliveries.length > 0) await releaseDeliveries(app.db, deliveries, app.clock());
  };

  const report = (error: unknown): null => {
    if (!is('stopping')) problems.failed(SUBJECT, error);
    return null;
  };

  const startWaiting = (queue: DeliveryQueue): void => {
    for (let next = startNext(queue); next !== null; next = startNext(queue)) void deliver(queue, next);
  };

  const deliver = async (queue: DeliveryQueue, delivery: DueDelivery): Promise<void> => {
    const attempted = await attempt(app, webhooks.sender, secrets, delivery, delivery).catch(report);
    held.startRecording(delivery);
    endAttempt(queue, attempted?.record.next.kind === 'delivered');
    // The waiting deliveries of an endpoint that is gone are cancelled when that is recorded.
    if (attempted?.gone === true) held.drop(queue.waiting.splice(0));
    startWaiting(queue);
    if (attempted !== null && !is('claiming') && queues.wantsMore(queue)) onFree();
    // Closing the sender cuts attempts short. The receiver is not to blame, so nothing is recorded.
    const isCutShort = is('stopping') && attempted?.record.error?.stage === 'response';
    if (attempted !== null && !isCutShort) await save(attempted).then(() => afterRecord(attempted), report);
    held.endRecording();
  };

  const afterRecord = ({ record: { next } }: Attempted): void => {
    problems.works(SUBJECT);
    if (next.kind === 'again' && next.at <= app.clock()) onFree();
  };

  return {
    idle: held.idle,
    stop: async () => {
      state = 'stopping';
      await release(queues.drainAll()).catch((error: unknown) => problems.failed(SUBJECT, error));
      await held.idle();
    },
    takeDue: async () => {
      await release(queues.drainStale(app.clock()));
      if (is('stopping')) return false;
      state = held.isFull() ? 'full' : 'claiming';
      if (is('full')) return false;
      const now = app.clock();
      const claim = { ...queues.quotas(), now, leaseUntil: now + LEASE_MS, limit: MAX_CLAIMED };
      const due = await claimDeliveries(app.db, claim).finally(() => {
        if (is('claiming')) state = 'ready';
      });
      const isCut = due.length === MAX_CLAIMED;
      const filled = queues.enqueue(held.add(due), { ...claim, isCut });
      if (is('stopping')) await release(queues.drainAll());
      else for (const queue of filled) startWaiting(queue);
      return isCut || queues.anyWantsMore();
    },
  };
}

/** The deliveries in this process. Calls `onLeft` when some have left it. */
function createHeldDeliveries(onLeft: () => void) {
  const unsent = new Set<bigint>();
  let recording = 0;
  let idleListeners: (() => void)[] = [];
  const isIdle = (): boolean => unsent.size + recording === 0;
  const afterLeaving = (): void => {
    onLeft();
    if (isIdle()) for (const listener of idleListeners.splice(0)) listener();
  };
  return {
    isFull: (): boolean => unsent.size + recording + MAX_CLAIMED > MAX_HELD,
    /** Adds the deliveries that neither wait nor are being sent, and returns them. */
    add: (deliveries: readonly DueDelivery[]): readonly DueDelivery[] => {
      const added = deliveries.filter(({ id }) => !unsent.has(id));
      for (const { id } of added) unsent.add(id);
      return added;
    },
    /** Forgets deliveries that were waiting. */
    drop: (deliveries: readonly DueDelivery[]): void => {
      for (const { id } of deliveries) unsent.delete(id);
      afterLeaving();
    },
    startRecording: ({ id }: DueDelivery): void => {
      unsent.delete(id);
      recording += 1;
    },
    endRecording: (): void => {
      recording -= 1;
      afterLeaving();
    },
    idle: (): Promise<void> => (isIdle() ? Promise.resolve() : new Promise((resolve) => idleListeners.push(resolve))),
  };
}

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
    const queue = { waiting: [], takenAt: 0, sending: 0, concurrency: MIN_CONCURRENCY, mayHaveMore: false };
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
  const wantsMore = (queue: DeliveryQueue): boolean => queue.mayHaveMore && freeSlots(queue) > 0;

  const drainWhere = (isStale: (queue: DeliveryQueue) => boolean): readonly DueDelivery[] =>
    [...queues.values()].filter(isStale).flatMap((queue) => queue.waiting.splice(0));

  return {
    /** How many may be claimed now. */
    quotas(): Quotas {
      for (const [id, queue] of queues) if (queues.size > MAX_IDLE_QUEUES && heldIn(queue) === 0) queues.delete(id);
      const onTrial = [...queues.values()].filter(isOnTrial);
      const isFull = onTrial.reduce((sum, queue) => sum + heldIn(queue), 0) >= TRIAL_SLOTS;
      slotsOnTrial = isFull ? 0 : Math.min(MIN_CONCURRENCY, Math.ceil(TRIAL_SLOTS / Math.max(1, onTrial.length)));
      const slots = [...queues].map(([id, queue]) => [id, freeSlots(queue)] as const);
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

function isOnTrial(queue: DeliveryQueue): boolean {
  return queue.concurrency === MIN_CONCURRENCY;
}

function heldIn(queue: DeliveryQueue): number {
  return queue.waiting.length + queue.sending;
}
