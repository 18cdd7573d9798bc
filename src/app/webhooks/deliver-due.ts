import type { Problems } from '../../domain/problems.ts';
import { releaseDeliveries, claimDeliveries, type DueDelivery } from '../../store/webhooks/deliveries.ts';
import { SealingKeyError, type SealingKeys } from '../../webhooks/secret.ts';
import type { WebhookSender } from '../../webhooks/send.ts';
import type { App } from '../context.ts';
import {
  closeQueue,
  createDeliveryQueues,
  endAttempt,
  startNext,
  type DeliveryQueue,
  type DeliveryQueues,
} from './delivery-queues.ts';
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
 * - healthy: its latest attempt was acknowledged. Each success doubles how many are sent at once;
 * - closed: this process lacks the key of its secret. What was claimed is given back, and nothing is claimed for a
 *   minute, so that a process with the key sends it.
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
  const held = createHeldDeliveries(app, () => {
    if (!is('full') || held.isFull()) return;
    state = 'ready';
    onFree();
  });

  const report = (error: unknown): null => {
    if (!is('stopping')) problems.failed(SUBJECT, error);
    return null;
  };

  const startWaiting = (queue: DeliveryQueue): void => {
    for (let next = startNext(queue); next !== null; next = startNext(queue)) void deliver(queue, next);
  };

  const deliver = async (queue: DeliveryQueue, delivery: DueDelivery): Promise<void> => {
    let unsigned: readonly DueDelivery[] = [];
    const attempted = await attempt(app, webhooks.sender, secrets, delivery, delivery).catch((error: unknown) => {
      // Another process may have the key.
      if (error instanceof SealingKeyError) unsigned = [delivery, ...closeQueue(queue, app.clock())];
      return report(error);
    });
    held.startRecording(delivery);
    endAttempt(queue, attempted?.record.next.kind === 'delivered');
    // The waiting deliveries of an endpoint that is gone are cancelled when that is recorded.
    if (attempted?.gone === true) held.drop(queue.waiting.splice(0));
    startWaiting(queue);
    if (attempted !== null && !is('claiming') && queues.wantsMore(queue)) onFree();
    // Closing the sender cuts attempts short. The receiver is not to blame, so nothing is recorded.
    const isCutShort = is('stopping') && attempted?.record.error?.stage === 'response';
    if (attempted !== null && !isCutShort) await save(attempted).then(() => afterRecord(attempted), report);
    await held.release(unsigned).catch(report);
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
      await held.release(queues.drainAll()).catch((error: unknown) => problems.failed(SUBJECT, error));
      await held.idle();
    },
    takeDue: async () => {
      await held.release(queues.drainStale(app.clock()));
      if (is('stopping')) return false;
      state = held.isFull() ? 'full' : 'claiming';
      if (is('full')) return false;
      const claim = claimAt(app.clock(), queues);
      const due = await claimDeliveries(app.db, claim).finally(() => {
        if (is('claiming')) state = 'ready';
      });
      const isCut = due.length === MAX_CLAIMED;
      const filled = queues.enqueue(held.add(due), { ...claim, isCut });
      if (is('stopping')) await held.release(queues.drainAll());
      else for (const queue of filled) startWaiting(queue);
      return isCut || queues.anyWantsMore();
    },
  };
}

function claimAt(now: number, queues: DeliveryQueues) {
  return { ...queues.quotas(now), now, leaseUntil: now + LEASE_MS, limit: MAX_CLAIMED };
}

/** The deliveries in this process. Calls `onLeft` when some have left it. */
function createHeldDeliveries(app: App, onLeft: () => void) {
  const unsent = new Set<bigint>();
  let recording = 0;
  let idleListeners: (() => void)[] = [];
  const isIdle = (): boolean => unsent.size + recording === 0;
  const afterLeaving = (): void => {
    onLeft();
    if (isIdle()) for (const listener of idleListeners.splice(0)) listener();
  };
  /** Forgets deliveries that were waiting. */
  const drop = (deliveries: readonly DueDelivery[]): void => {
    for (const { id } of deliveries) unsent.delete(id);
    afterLeaving();
  };
  return {
    isFull: (): boolean => unsent.size + recording + MAX_CLAIMED > MAX_HELD,
    /** Adds the deliveries that neither wait nor are being sent, and returns them. */
    add: (deliveries: readonly DueDelivery[]): readonly DueDelivery[] => {
      const added = deliveries.filter(({ id }) => !unsent.has(id));
      for (const { id } of added) unsent.add(id);
      return added;
    },
    drop,
    /** Gives deliveries back, which are due at once then. */
    release: async (deliveries: readonly DueDelivery[]): Promise<void> => {
      drop(deliveries);
      if (deliveries.length > 0) await releaseDeliveries(app.db, deliveries, app.clock());
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
