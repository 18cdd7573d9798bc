import { encodeId } from '../domain/id.ts';
import { nextAttemptDelayMs } from '../domain/retry-schedule.ts';
import { claimDeliveries, recordAttempts, type AttemptRecord, type DueDelivery } from '../store/deliveries.ts';
import { closeEndpoint } from '../store/webhook-endpoints.ts';
import type { AttemptResult } from '../webhooks/exchange.ts';
import { openSecret } from '../webhooks/secret.ts';
import type { WebhookSender } from '../webhooks/send.ts';
import { signDelivery } from '../webhooks/signature.ts';
import { createBatcher } from './batch.ts';
import type { App } from './context.ts';

/** Longer than an attempt can take, its recording included: a delivery whose worker died is due again after this. */
const LEASE_MS = 60_000;
/** An endpoint that nothing is known of yet gets this many deliveries at once, and twice as many with each success. */
const FIRST_QUOTA = 8;
const MOST_QUOTA = 128;
/** Endpoints that fail share this many places at most, so that dead ones never take those of the living. */
const FAILING_QUOTA = 8;
const FAILING_PLACES = 1_000;
const MOST_IN_FLIGHT = 2_000;
const CLAIM_LIMIT = 500;

export interface WebhookDelivery {
  readonly sender: WebhookSender;
  /** Opens the sealed secrets of endpoints. */
  readonly sealingKey: Uint8Array;
}

export interface Deliverer {
  /** Takes what is due and starts sending it; resolves when it was taken, with how many. */
  takeDue(): Promise<number>;
  /** Resolves when nothing is being sent or recorded. */
  idle(): Promise<void>;
  inFlight(): number;
}

interface EndpointState {
  inFlight: number;
  quota: number;
  failing: boolean;
}

/**
 * Sends due deliveries, each endpoint in its own lane: a lane has a quota that grows with successes and shrinks with
 * failures, and a slow or dead endpoint fills only its own. `onFree` is told when a lane has room again.
 */
export function createDeliverer(app: App, webhooks: WebhookDelivery, onFree: () => void): Deliverer {
  const lanes = new Map<string, EndpointState>();
  const secrets = createSecretCache(webhooks.sealingKey);
  let inFlight = 0;
  let idleListeners: (() => void)[] = [];

  const recorder = createBatcher<Attempted, true>(
    { maxInFlight: 2, maxBatch: 200, maxWaiting: MOST_IN_FLIGHT * 2 },
    async (attempted) => {
      await record(app, attempted);
      return attempted.map(() => true as const);
    },
  );

  const laneOf = (endpointId: string): EndpointState => {
    const lane = lanes.get(endpointId) ?? { inFlight: 0, quota: FIRST_QUOTA, failing: false };
    lanes.set(endpointId, lane);
    return lane;
  };

  const send = async (delivery: DueDelivery): Promise<void> => {
    const lane = laneOf(delivery.endpointId);
    try {
      const attempted = await attempt(app, webhooks.sender, secrets, delivery, false);
      lane.failing = attempted.record.next.kind !== 'delivered';
      lane.quota = lane.failing ? FAILING_QUOTA : Math.min(MOST_QUOTA, lane.quota * 2);
      await recorder.add(attempted);
    } finally {
      lane.inFlight -= 1;
      inFlight -= 1;
      if (lane.inFlight === 0 && !lane.failing && lanes.size > 10_000) lanes.delete(delivery.endpointId);
      onFree();
      if (inFlight === 0) for (const listener of idleListeners.splice(0)) listener();
    }
  };

  const freePlaces = (): Record<string, number> => {
    const failing = [...lanes.values()].filter((lane) => lane.failing).length;
    const share = Math.max(1, Math.floor(FAILING_PLACES / Math.max(1, failing)));
    const places: Record<string, number> = {};
    for (const [id, lane] of lanes) {
      const quota = lane.failing ? Math.min(lane.quota, share) : lane.quota;
      places[id] = Math.max(0, quota - lane.inFlight);
    }
    return places;
  };

  return {
    inFlight: () => inFlight,
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise((resolve) => idleListeners.push(resolve))),
    takeDue: async () => {
      const limit = Math.min(CLAIM_LIMIT, MOST_IN_FLIGHT - inFlight);
      if (limit <= 0) return 0;
      const now = app.clock();
      const due = await claimDeliveries(app.db, {
        now,
        leaseUntil: now + LEASE_MS,
        quotas: freePlaces(),
        defaultQuota: FIRST_QUOTA,
        limit,
      });
      for (const delivery of due) {
        laneOf(delivery.endpointId).inFlight += 1;
        inFlight += 1;
      }
      // A fault in recording leaves the delivery to its lease: it is attempted again, never lost.
      for (const delivery of due) void send(delivery).catch(() => {});
      return due.length;
    },
  };
}

interface Attempted {
  readonly record: AttemptRecord;
  readonly endpointId: string;
  /** The receiver says that it is gone for good (410). */
  readonly gone: boolean;
}

/** Attempts one delivery and says what follows; nothing is saved yet. */
export async function attempt(
  app: App,
  sender: WebhookSender,
  secrets: SecretCache,
  delivery: DueDelivery,
  manual: boolean,
): Promise<Attempted> {
  const startedAt = app.clock();
  const headers = signDelivery({
    secrets: secrets.of(delivery, startedAt),
    id: encodeId('event', delivery.eventId),
    body: delivery.body,
    timestampSeconds: Math.floor(startedAt / 1000),
  });
  const result = await sender.send({
    url: delivery.url,
    mode: delivery.mode,
    headers: { ...headers },
    body: delivery.body,
  });
  const endedAt = startedAt + result.durationMs;
  const acknowledged = result.kind === 'response' && result.status >= 200 && result.status < 300;
  return {
    endpointId: delivery.endpointId,
    gone: result.kind === 'response' && result.status === 410,
    record: {
      deliveryId: delivery.id,
      manual,
      startedAt,
      durationMs: result.durationMs,
      requestHeaders: { ...headers, 'content-type': 'application/json' },
      ...outcome(result),
      next: acknowledged ? { kind: 'delivered', at: endedAt } : afterFailure(delivery.attempts + 1, manual, endedAt),
    },
  };
}

function afterFailure(failedAttempts: number, manual: boolean, endedAt: number): AttemptRecord['next'] {
  if (manual) return { kind: 'as_scheduled' };
  const delayMs = nextAttemptDelayMs(failedAttempts);
  if (delayMs === null) return { kind: 'failed' };
  return { kind: 'again', at: Math.ceil(endedAt + delayMs) };
}

function outcome(result: AttemptResult): Pick<AttemptRecord, 'response' | 'error'> {
  if (result.kind === 'error') return { response: null, error: { stage: result.stage, message: result.message } };
  const { status, responseHeaders, responseBody, truncated } = result;
  return { response: { status, headers: responseHeaders, body: responseBody, truncated }, error: null };
}

/** Saves attempts; endpoints that are gone are disabled together with them. */
export async function record(app: App, attempted: readonly Attempted[]): Promise<void> {
  const gone = new Set(attempted.filter((one) => one.gone).map((one) => one.endpointId));
  const records = attempted.map((one) => one.record);
  if (gone.size === 0) {
    await recordAttempts(app.db, records);
    return;
  }
  await app.db.transaction().execute(async (trx) => {
    await recordAttempts(trx, records);
    for (const id of gone) {
      await closeEndpoint(trx, id, { kind: 'disabled', reason: 'The endpoint answered 410 Gone.' }, app.clock());
    }
  });
}

/** Opened secrets of the endpoints in use, so that each is decrypted once and not at every attempt. */
export interface SecretCache {
  /** The secrets to sign with now, newest first: the previous one signs along while it overlaps. */
  of(delivery: DueDelivery, now: number): readonly string[];
}

export function createSecretCache(sealingKey: Uint8Array): SecretCache {
  const opened = new Map<string, { readonly sealed: Buffer; readonly secret: string }>();
  const open = (name: string, sealed: Buffer, endpointId: string): string => {
    const known = opened.get(name);
    if (known?.sealed.equals(sealed)) return known.secret;
    const secret = openSecret(sealingKey, sealed, endpointId);
    if (opened.size >= 10_000) opened.clear();
    opened.set(name, { sealed, secret });
    return secret;
  };
  return {
    of: (delivery, now) => {
      const { endpointId, sealedSecret, previousSealedSecret, previousSecretUntil } = delivery;
      const newest = open(`new ${endpointId}`, sealedSecret, endpointId);
      if (previousSealedSecret === null || previousSecretUntil === null || previousSecretUntil <= now) return [newest];
      return [newest, open(`old ${endpointId}`, previousSealedSecret, endpointId)];
    },
  };
}
