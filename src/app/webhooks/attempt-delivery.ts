import { createHash } from 'node:crypto';
import { encodeId } from '../../domain/id.ts';
import { nextAttemptDelayMs } from '../../domain/retry-schedule.ts';
import type { Delivery, DueDelivery } from '../../store/webhooks/deliveries.ts';
import { recordAttempts, type AttemptRecord } from '../../store/webhooks/delivery-attempts.ts';
import { closeEndpoint, type WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import type { AttemptResult } from '../../webhooks/exchange.ts';
import { openSecret } from '../../webhooks/secret.ts';
import type { WebhookSender } from '../../webhooks/send.ts';
import { signDelivery } from '../../webhooks/signature.ts';
import { hasCustomerData } from '../../wire/customer-data.ts';
import type { App } from '../context.ts';
import { inTransaction, emitAfterCommit } from '../in-transaction.ts';
import type { AttemptOutcome } from '../observer.ts';

const GONE = 'The endpoint answered 410 Gone.';

export interface Attempted {
  readonly record: AttemptRecord;
  readonly delivery: Delivery;
  /** The receiver says that the endpoint is gone for good (410). */
  readonly gone: boolean;
}

/**
 * Attempts one delivery, under its lease or for somebody who waits for it (null), and says what comes next. Nothing is
 * saved yet.
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
  const headers = signDelivery({
    secrets: secrets.of(delivery.endpoint, startedAt),
    id: encodeId('event', delivery.eventId),
    body: delivery.body,
    timestampSeconds: Math.floor(startedAt / 1000),
  });
  const result = await sender.send({
    url: delivery.endpoint.url,
    mode: delivery.endpoint.mode,
    headers: { ...headers },
    body: delivery.body,
  });
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
  if (result.kind === 'error') return { response: null, error: { stage: result.stage, message: result.message } };
  const { status, responseHeaders, responseBody, truncated } = result;
  return { response: { status, headers: responseHeaders, body: responseBody, truncated }, error: null };
}

/** Saves attempts and disables the endpoints that are gone. */
export async function record(app: App, attempted: readonly Attempted[]): Promise<void> {
  await recordAttempts(
    app.db,
    attempted.map((one) => one.record),
  );
  for (const one of attempted) emitAttempt(app, one);
  await closeGone(app, attempted);
}

/** Emits a recorded attempt. */
export function emitAttempt({ observer }: Pick<App, 'observer'>, { delivery, record: made }: Attempted): void {
  observer?.({ kind: 'delivery_attempted', delivery, record: made, outcome: outcomeOf(made) });
}

function outcomeOf({ next, response }: AttemptRecord): AttemptOutcome {
  if (next.kind === 'delivered') return 'delivered';
  return response === null ? 'no_answer' : 'rejected';
}

/**
 * Disables endpoints that answered 410, each in its own transaction and apart from the records: otherwise two batches
 * with deliveries to the same endpoint could block each other.
 */
export async function closeGone(app: App, attempted: readonly Attempted[]): Promise<void> {
  const gone = new Map(
    attempted.filter((one) => one.gone).map(({ delivery: { endpoint } }) => [endpoint.id, endpoint]),
  );
  for (const endpoint of gone.values()) {
    await inTransaction(app, async (trx) => {
      const isClosed = await closeEndpoint(trx, endpoint.id, { kind: 'disabled', reason: GONE }, app.clock());
      if (isClosed) emitAfterCommit(trx, { kind: 'endpoint_disabled', endpoint, reason: GONE });
    });
  }
}

/** The decrypted secrets of the endpoints in use, so that none is decrypted at every attempt. */
export interface SecretCache {
  /** The secrets to sign with now, newest first. The previous secret also signs during the overlap. */
  of(endpoint: WebhookEndpoint, now: number): readonly string[];
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
    of: ({ id, sealedSecret, previousSealedSecret, previousSecretUntil }, now) => {
      const newest = open(`new ${id}`, sealedSecret, id);
      if (previousSealedSecret === null || previousSecretUntil === null || previousSecretUntil <= now) return [newest];
      return [newest, open(`old ${id}`, previousSealedSecret, id)];
    },
  };
}
