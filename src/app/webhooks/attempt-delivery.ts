import { createHash } from 'node:crypto';
import { encodeId } from '../../domain/id.ts';
import { nextAttemptDelayMs } from '../../domain/retry-schedule.ts';
import type { Delivery, DueDelivery } from '../../store/webhooks/deliveries.ts';
import { recordAttempts, type AttemptRecord } from '../../store/webhooks/delivery-attempts.ts';
import { closeEndpoint, type WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import type { AttemptResult } from '../../webhooks/exchange.ts';
import { openSecret, type SealingKeys } from '../../webhooks/secret.ts';
import type { WebhookSender } from '../../webhooks/send.ts';
import { signDelivery, signMessage } from '../../webhooks/signature.ts';
import { hasCustomerData } from '../../wire/customer-data.ts';
import { sentMessage } from '../../wire/shop-message.ts';
import { createBatcher } from '../batch.ts';
import { realNow, type App } from '../context.ts';
import { wasRolledBack } from '../idempotency.ts';
import { inTransaction, emitAfterCommit } from '../in-transaction.ts';
import type { AttemptOutcome } from '../observer.ts';
import { refusalText } from '../rejected.ts';
import { recordMessages } from './record-messages.ts';

const GONE = 'The endpoint answered 410 Gone.';

export interface Attempted {
  readonly record: AttemptRecord;
  readonly delivery: Delivery;
  /** The receiver says that the endpoint no longer exists (410). */
  readonly gone: boolean;
}

/**
 * Attempts one delivery, under its lease or for a waiting person (null), and returns the next state. Nothing is saved
 * yet.
 */
export async function attempt(
  app: App,
  sender: WebhookSender,
  secrets: SecretCache,
  delivery: Delivery,
  lease: Pick<DueDelivery, 'leaseUntil' | 'isRetried'> | null,
): Promise<Attempted> {
  const isManual = lease === null || lease.isRetried;
  const startedAt = app.clock();
  const { headers, body } = requestOf(delivery, secrets, { isManual, signedAt: realNow(app) });
  const { url, mode } = delivery.endpoint;
  const result = await sender.send({ url, mode, headers, body });
  const endedAt = startedAt + result.durationMs;
  const acknowledged = result.kind === 'response' && result.status >= 200 && result.status < 300;
  return {
    delivery,
    gone: result.kind === 'response' && result.status === 410,
    record: {
      deliveryId: delivery.id,
      leaseUntil: lease?.leaseUntil ?? null,
      isManual,
      startedAt,
      durationMs: result.durationMs,
      requestHeaders: { ...headers, 'content-type': 'application/json' },
      ...outcome(result),
      personal: personalOf(delivery),
      next: acknowledged ? { kind: 'delivered', at: endedAt } : afterFailure(delivery, isManual, endedAt),
    },
  };
}

/** The signed request of an attempt. A verifier refuses a time that is not the present one. */
function requestOf(
  delivery: Delivery,
  secrets: SecretCache,
  { isManual, signedAt }: { readonly isManual: boolean; readonly signedAt: number },
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const { endpoint, eventId, id, attempts, body } = delivery;
  const valid = secrets.of(endpoint, signedAt);
  if (endpoint.format === null) {
    const timestampSeconds = Math.floor(signedAt / 1000);
    return { headers: signDelivery({ secrets: valid, id: encodeId('event', eventId), body, timestampSeconds }), body };
  }
  const attempt = isManual ? `by-hand-${signedAt}` : attempts;
  const sent = sentMessage(body, { endpointId: endpoint.id, deliveryId: id, attempt });
  return { headers: signMessage(valid[0], sent), body: sent };
}

function afterFailure(delivery: Delivery, isManual: boolean, endedAt: number): AttemptRecord['next'] {
  if (isManual) return { kind: 'as_scheduled' };
  const delayMs = nextAttemptDelayMs(delivery.attempts + 1);
  if (delayMs === null) return { kind: 'failed' };
  return { kind: 'again', at: Math.ceil(endedAt + delayMs) };
}

function personalOf({ eventId, body }: Delivery): AttemptRecord['personal'] {
  return hasCustomerData(body) ? { eventId, bodySha256: createHash('sha256').update(body).digest('hex') } : null;
}

function outcome(result: AttemptResult): Pick<AttemptRecord, 'response' | 'error'> {
  if (result.kind === 'error') {
    const { stage, message } = result;
    return { response: null, error: { stage, message: typeof message === 'string' ? message : refusalText(message) } };
  }
  const { status, responseHeaders, responseBody, truncated } = result;
  return { response: { status, headers: responseHeaders, body: responseBody, truncated }, error: null };
}

type Recorded = { readonly kind: 'recorded' } | { readonly kind: 'fault'; readonly error: unknown };

/**
 * Saves attempts, all of events or all of messages, in one statement or transaction, and disables the endpoints that
 * are gone. If the database refuses an attempt, the others are still saved, each alone.
 */
export async function record(app: App, attempted: readonly Attempted[]): Promise<readonly Recorded[]> {
  const outcomes = await save(app, attempted);
  for (const [index, { delivery, record: made }] of attempted.entries()) {
    if (outcomes[index]?.kind !== 'recorded') continue;
    app.observer?.({ kind: 'delivery_attempted', delivery, record: made, outcome: outcomeOf(made) });
  }
  await closeGone(app, attempted);
  return outcomes;
}

/**
 * Records attempts. Those that end together are saved in one statement, one statement at a time: fewer, larger
 * statements cost the database less. Messages may wait for the locks of their payments, and have their own turns.
 * Throws the fault that kept an attempt from being recorded.
 */
export function createRecorder(app: App, maxWaiting: number): (attempted: Attempted) => Promise<void> {
  const batcherOf = (maxInFlight: number) =>
    createBatcher<Attempted, Recorded>({ maxInFlight, maxBatch: 200, maxWaiting }, (batch) => record(app, batch));
  const [events, messages] = [batcherOf(1), batcherOf(4)];
  return async (attempted) => {
    const recorded = await (isMessage(attempted) ? messages : events).add(attempted);
    if (recorded.kind === 'fault') throw recorded.error;
  };
}

function isMessage({ delivery }: Attempted): boolean {
  return delivery.endpoint.format !== null;
}

async function save(app: App, attempted: readonly Attempted[]): Promise<readonly Recorded[]> {
  const records = attempted.map((one) => one.record);
  const saveRecords = (some: readonly AttemptRecord[]): Promise<void> =>
    attempted.some(isMessage) ? recordMessages(app, some) : recordAttempts(app.db, some);
  try {
    await saveRecords(records);
    return records.map(() => ({ kind: 'recorded' }));
  } catch (error) {
    if (records.length === 1 || !wasRolledBack(error)) throw error;
  }
  const outcomes: Recorded[] = [];
  for (const one of records) {
    outcomes.push(
      await saveRecords([one]).then(
        () => ({ kind: 'recorded' as const }),
        (error: unknown) => ({ kind: 'fault' as const, error }),
      ),
    );
  }
  return outcomes;
}

function outcomeOf({ next, response }: AttemptRecord): AttemptOutcome {
  if (next.kind === 'delivered') return 'delivered';
  return response === null ? 'no_answer' : 'rejected';
}

/**
 * Disables endpoints that answered 410, each in its own transaction and apart from the records: otherwise two batches
 * with deliveries to the same endpoint could block each other.
 */
async function closeGone(app: App, attempted: readonly Attempted[]): Promise<void> {
  const gone = new Map(
    attempted.filter((one) => one.gone).map(({ delivery: { endpoint } }) => [endpoint.id, endpoint]),
  );
  for (const endpoint of gone.values()) {
    await inTransaction(app, async (trx) => {
      const isClosed = await closeEndpoint(trx, endpoint.id, { kind: 'disabled', reason: GONE }, realNow(app));
      if (isClosed) emitAfterCommit(trx, { kind: 'endpoint_disabled', endpoint, reason: GONE });
    });
  }
}

/** The decrypted secrets of the endpoints in use, so that none is decrypted at every attempt. */
export interface SecretCache {
  /** The secrets to sign with now, newest first. During the overlap the previous secret also signs. */
  of(endpoint: WebhookEndpoint, now: number): readonly [newest: string, ...previous: readonly string[]];
}

/** Some 10 MB. */
const MAX_CACHED = 50_000;

export function createSecretCache(keys: SealingKeys): SecretCache {
  const cache = new Map<string, { readonly sealed: Buffer; readonly secret: string }>();
  const open = (endpointId: string, version: number, sealed: Buffer): string => {
    const name = `${endpointId} ${version}`;
    const cached = cache.get(name);
    if (cached?.sealed.equals(sealed)) return cached.secret;
    try {
      const secret = openSecret(keys, sealed, endpointId);
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(name, { sealed, secret });
      return secret;
    } catch (error) {
      // The same secret, sealed with a key that this process gets at its next start: until then it signs with it.
      if (cached !== undefined) return cached.secret;
      throw error;
    }
  };
  return {
    of: ({ id, secretVersion, sealedSecret, previousSealedSecret, previousSecretUntil }, now) => {
      const newest = open(id, secretVersion, sealedSecret);
      if (previousSealedSecret === null || previousSecretUntil === null || previousSecretUntil <= now) return [newest];
      return [newest, open(id, secretVersion - 1, previousSealedSecret)];
    },
  };
}
