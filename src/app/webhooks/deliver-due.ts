import type { Troubles } from '../../domain/trouble.ts';
import { releaseDeliveries, claimDeliveries, type DueDelivery } from '../../store/webhooks/deliveries.ts';
import type { WebhookSender } from '../../webhooks/send.ts';
import type { App } from '../context.ts';
import { attempt, createSecretCache, emitAttempt, type Attempted, closeGone } from './attempt-delivery.ts';
import { createDeliveryQueues, type DeliveryQueue, type Quotas } from './delivery-queues.ts';
import { createHeldDeliveries, MAX_CLAIMED, MAX_HELD } from './held-deliveries.ts';
import { recordAttempts } from '../../store/webhooks/delivery-attempts.ts';
import { createBatcher } from '../batch.ts';
import { wasRolledBack } from '../idempotency.ts';

/**
 * Longer than a delivery takes to wait in its queue, be attempted and recorded. If its worker dies, it is due again
 * after this.
 */
const LEASE_MS = 60_000;
/**
 * The subject of faults that keep deliveries from being attempted or recorded: a wrong key, a database that is down.
 */
const SUBJECT = 'sending webhooks';

export interface WebhookDelivery {
  readonly sender: WebhookSender;
  /** Decrypts the endpoints' secrets. */
  readonly sealingKey: Uint8Array;
}

export interface DelivererEvents {
  /** Called when there may be something to claim again. */
  readonly onFree: () => void;
  /** Deliveries that cannot be attempted or recorded are reported here; they are due again when their leases end. */
  readonly troubles: Troubles;
}

export interface Deliverer {
  /**
   * Claims what is due and starts sending it. Resolves after the claim, with whether there is more to claim at once.
   */
  takeDue(): Promise<boolean>;
  /**
   * Starts nothing more, releases what was not started, and resolves when the running attempts are recorded. Attempts
   * cut short by closing the sender are not recorded: they are made again when their leases end.
   */
  stop(): Promise<void>;
  /** Resolves when nothing is waiting, being sent or being recorded. */
  idle(): Promise<void>;
}

/** Sends due deliveries, with a separate queue for each endpoint. */
export function createDeliverer(app: App, webhooks: WebhookDelivery, events: DelivererEvents): Deliverer {
  const queues = createDeliveryQueues();
  const held = createHeldDeliveries(events.onFree);
  const secrets = createSecretCache(webhooks.sealingKey);
  let stopping = false;
  let claiming = false;
  const recorder = createRecorder(app);

  const startWaiting = (queue: DeliveryQueue): void => {
    for (let next = queues.start(queue); next !== null; next = queues.start(queue)) void deliver(queue, next);
  };

  const deliver = async (queue: DeliveryQueue, delivery: DueDelivery): Promise<void> => {
    try {
      const attempted = await attemptIn(queue, delivery);
      // Closing the sender cut this attempt short. The receiver is not to blame, so nothing is recorded.
      if (stopping && attempted.record.error?.stage === 'response') return;
      await recordAttempt(app, recorder, attempted, events);
    } catch (error) {
      if (!stopping) events.troubles.failed(SUBJECT, error);
    } finally {
      held.endRecording();
    }
  };

  const attemptIn = async (queue: DeliveryQueue, delivery: DueDelivery): Promise<Attempted> => {
    let attempted: Attempted | null = null;
    try {
      attempted = await attempt(app, webhooks.sender, secrets, delivery, delivery);
      return attempted;
    } finally {
      held.startRecording(delivery);
      queues.end(queue, attempted?.record.next.kind === 'delivered');
      // The waiting deliveries of an endpoint that is gone are cancelled when that is recorded.
      if (attempted?.gone === true) held.release(queues.drain(queue));
      startWaiting(queue);
      // A running claim checks by itself, when it is done, whether there is room again.
      if (attempted !== null && !claiming && queues.wantsMore(queue)) events.onFree();
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
      await release(queues.drainAll()).catch((error: unknown) => events.troubles.failed(SUBJECT, error));
      await held.idle();
    },
    takeDue: async () => {
      await release(queues.drainStale(app.clock()));
      if (stopping || held.isFull()) return false;
      const now = app.clock();
      const quotas = queues.quotas();
      claiming = true;
      const due = await claimDue(app, quotas, now).finally(() => (claiming = false));
      const isCut = due.length === MAX_CLAIMED;
      // If a lease ended early, as after a sleep of the machine, no second attempt is made beside the first.
      const filled = queues.enqueue(held.take(due), { quotas, isCut, now });
      if (stopping) await release(queues.drainAll());
      else for (const queue of filled) startWaiting(queue);
      // A queue may have emptied during the claim, and nothing else would wake it.
      return isCut || queues.anyWantsMore();
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
  emitAttempt(app, attempted);
  const { next } = attempted.record;
  if (next.kind === 'again' && next.at <= app.clock()) events.onFree();
}

type Recorded = { readonly kind: 'recorded' } | { readonly kind: 'fault'; readonly error: unknown };

type Recorder = ReturnType<typeof createRecorder>;

/**
 * Saves attempts that end together in one statement, one statement at a time: fewer, larger statements cost the
 * database less.
 */
function createRecorder(app: App) {
  return createBatcher<Attempted, Recorded>({ maxInFlight: 1, maxBatch: 200, maxWaiting: MAX_HELD }, async (batch) => {
    const outcomes = await recordTogether(app, batch);
    await closeGone(app, batch);
    return outcomes;
  });
}

/** One record that the database refuses must not fail the others: then each is saved alone. */
async function recordTogether(app: App, batch: readonly Attempted[]): Promise<readonly Recorded[]> {
  const records = batch.map((attempted) => attempted.record);
  try {
    await recordAttempts(app.db, records);
    return records.map(() => ({ kind: 'recorded' }));
  } catch (error) {
    if (records.length === 1 || !wasRolledBack(error)) throw error;
  }
  const outcomes: Recorded[] = [];
  for (const record of records) {
    outcomes.push(
      await recordAttempts(app.db, [record]).then(
        () => ({ kind: 'recorded' as const }),
        (error: unknown) => ({ kind: 'fault' as const, error }),
      ),
    );
  }
  return outcomes;
}
