import type { Troubles } from '../../domain/trouble.ts';
import { releaseDeliveries, claimDeliveries, type DueDelivery } from '../../store/deliveries.ts';
import type { WebhookSender } from '../../webhooks/send.ts';
import type { App } from '../context.ts';
import { attempt, createSecretCache, tellAttempt, type Attempted } from './attempt-delivery.ts';
import { createLanes, type Lane, type Quotas } from './delivery-lanes.ts';
import { createHeldDeliveries, MAX_CLAIMED } from './held-deliveries.ts';
import { createRecorder, type Recorder } from './record-attempts.ts';

/** Longer than a delivery waits in its lane, is attempted and recorded: if its worker dies, it is due again after this. */
const LEASE_MS = 60_000;
/** What fails where deliveries can be neither attempted nor recorded: a wrong key, a database that is away. */
const SUBJECT = 'sending webhooks';

export interface WebhookDelivery {
  readonly sender: WebhookSender;
  /** Opens the sealed secrets of endpoints. */
  readonly sealingKey: Uint8Array;
}

export interface DelivererEvents {
  /** There may be something to take again. */
  readonly onFree: () => void;
  /** Told when deliveries cannot be attempted or recorded; they are due again when their leases end. */
  readonly troubles: Troubles;
}

export interface Deliverer {
  /** Takes what is due and starts sending it; resolves when it was taken, with whether there is more to take at once. */
  takeDue(): Promise<boolean>;
  /**
   * Starts nothing more, gives back what was not started, and resolves when the attempts under way are recorded. Those that
   * are cut short by closing the sender count for nothing: they are made again when their leases end.
   */
  stop(): Promise<void>;
  /** Resolves when nothing is held: waiting, being sent or being recorded. */
  idle(): Promise<void>;
}

/** Sends due deliveries, each endpoint in its own lane. */
export function createDeliverer(app: App, webhooks: WebhookDelivery, events: DelivererEvents): Deliverer {
  const lanes = createLanes();
  const held = createHeldDeliveries(events.onFree);
  const secrets = createSecretCache(webhooks.sealingKey);
  let stopping = false;
  let claiming = false;
  const recorder = createRecorder(app);

  const startWaiting = (lane: Lane): void => {
    for (let next = lanes.start(lane); next !== null; next = lanes.start(lane)) void deliver(lane, next);
  };

  const deliver = async (lane: Lane, delivery: DueDelivery): Promise<void> => {
    try {
      const attempted = await attemptIn(lane, delivery);
      // Whoever closes the sender cuts short what waits for an answer. The receiver is not to blame, so nothing is recorded.
      if (stopping && attempted.record.error?.stage === 'response') return;
      await recordAttempt(app, recorder, attempted, events);
    } catch (error) {
      if (!stopping) events.troubles.failed(SUBJECT, error);
    } finally {
      held.endRecording();
    }
  };

  const attemptIn = async (lane: Lane, delivery: DueDelivery): Promise<Attempted> => {
    let attempted: Attempted | null = null;
    try {
      attempted = await attempt(app, webhooks.sender, secrets, delivery, delivery.leaseUntil);
      return attempted;
    } finally {
      held.startRecording(delivery);
      lanes.end(lane, attempted?.record.next.kind === 'delivered');
      // What waits for an endpoint that is gone is stopped when that is recorded.
      if (attempted?.gone === true) held.release(lanes.takeOut(lane));
      startWaiting(lane);
      // A claim under way looks for itself, when it is done, whether there is room again.
      if (attempted !== null && !claiming && lanes.wantsMore(lane)) events.onFree();
    }
  };

  const release = async (deliveries: readonly DueDelivery[]): Promise<void> => {
    held.release(deliveries);
    if (deliveries.length > 0) await releaseDeliveries(app.db, deliveries, app.clock());
  };

  return {
    idle: held.idle,
    stop: async () => {
      stopping = true;
      await release(lanes.takeOutAll()).catch((error: unknown) => events.troubles.failed(SUBJECT, error));
      await held.idle();
    },
    takeDue: async () => {
      await release(lanes.takeOutStale(app.clock()));
      if (stopping || held.isFull()) return false;
      const now = app.clock();
      const quotas = lanes.quotas();
      claiming = true;
      const due = await claimDue(app, quotas, now).finally(() => (claiming = false));
      const isCut = due.length === MAX_CLAIMED;
      // A lease that ended under way, since the clock was set or the machine slept, makes no second attempt beside the first.
      const filled = lanes.lineUp(held.take(due), { quotas, isCut, now });
      if (stopping) await release(lanes.takeOutAll());
      else for (const lane of filled) startWaiting(lane);
      // A lane may have emptied while its claim was under way: nothing would wake it any more.
      return isCut || lanes.anyWantsMore();
    },
  };
}

function claimDue(app: App, quotas: Quotas, now: number): Promise<readonly DueDelivery[]> {
  return claimDeliveries(app.db, {
    now,
    leaseUntil: now + LEASE_MS,
    quotas: quotas.named,
    defaultQuota: quotas.others,
    limit: MAX_CLAIMED,
  });
}

/** Throws what keeps the attempt from being recorded. */
async function recordAttempt(
  app: App,
  recorder: Recorder,
  attempted: Attempted,
  events: DelivererEvents,
): Promise<void> {
  const recorded = await recorder.add(attempted);
  if (recorded.kind === 'fault') throw recorded.error;
  events.troubles.works(SUBJECT);
  tellAttempt(app, attempted);
  const { next } = attempted.record;
  if (next.kind === 'again' && next.at <= app.clock()) events.onFree();
}
