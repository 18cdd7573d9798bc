import { encodeId } from '../../domain/id.ts';
import { isStoredEventType, STORED_EVENT_TYPES } from '../../domain/shop-message.ts';
import { findDelivery, insertDelivery, listDeliveries, type DeliverySummary } from '../../store/webhooks/deliveries.ts';
import { saveEvents } from '../../store/payments/save-changes.ts';
import { isHeld } from '../../store/webhooks/message-queue.ts';
import { findEndpoint, type WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { recordPeoplesAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { attempt, createSecretCache, record } from './attempt-delivery.ts';
import type { WebhookDelivery } from './deliver-due.ts';
import { sampleBody } from './sample-events.ts';
import { isWithin, typesRefusal } from './webhook-endpoints.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** The delivery log of an endpoint, newest first. */
export async function deliveriesOf(
  app: App,
  endpointId: string,
  limit: number,
): Promise<{ readonly kind: 'done'; readonly deliveries: readonly DeliverySummary[] } | Rejected> {
  if ((await findEndpoint(app.db, endpointId)) === null) return rejected('no_endpoint');
  return { kind: 'done', deliveries: await listDeliveries(app.db, endpointId, limit) };
}

/** The refusal for an endpoint to which nothing is sent; null if it is on. */
export function offRefusal({
  disabledAt,
  pausedAt,
}: Pick<WebhookEndpoint, 'disabledAt' | 'pausedAt'>): Rejected | null {
  if (disabledAt !== null) return rejected('endpoint_disabled');
  return pausedAt === null ? null : rejected('endpoint_paused');
}

export interface RetryResult {
  readonly kind: 'done';
  readonly acknowledged: boolean;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

/** Attempts a delivery once more, now. A failure does not change the schedule. */
export async function retryDelivery(
  app: App,
  webhooks: WebhookDelivery,
  id: bigint,
  within?: ProjectMode,
): Promise<RetryResult | Rejected> {
  const delivery = await findDelivery(app.db, id);
  if (delivery === null || !isWithin(delivery.endpoint, within)) {
    return rejected('no_delivery');
  }
  const off = offRefusal(delivery.endpoint);
  if (off !== null) return off;
  if (delivery.endpoint.format !== null && (await isHeld(app.db, id))) return rejected('delivery_waits');
  const attempted = await attempt(app, webhooks.sender, createSecretCache(webhooks.sealingKeys), delivery, null);
  const [recorded] = await record(app, [attempted]);
  if (recorded?.kind === 'fault') throw recorded.error;
  const { response, error, durationMs, next } = attempted.record;
  return {
    kind: 'done',
    acknowledged: next.kind === 'delivered',
    responseStatus: response?.status ?? null,
    error: error?.message ?? null,
    durationMs,
  };
}

/** Sends a sample event to one endpoint, whatever event types it is registered for. */
export async function sendTestEvent(
  app: App,
  endpointId: string,
  type: string,
  within?: ProjectMode,
): Promise<{ readonly kind: 'done'; readonly eventId: string; readonly deliveryId: bigint } | Rejected> {
  if (!isStoredEventType(type)) return rejected('one_of', { param: 'type', names: STORED_EVENT_TYPES.join(', ') });
  const endpoint = await findEndpoint(app.db, endpointId);
  if (endpoint === null || !isWithin(endpoint, within)) return rejected('no_endpoint');
  const refusal = typesRefusal([type], endpoint.format);
  if (refusal !== null) return refusal;
  const off = offRefusal(endpoint);
  if (off !== null) return off;
  const now = app.clock();
  const id = newId(app, now);
  const body = sampleBody(app, endpoint, { id, type, createdAt: now });
  const { projectId, mode } = endpoint;
  const deliveryId = await app.db.transaction().execute(async (trx) => {
    // Stored without fan-out: a test event goes only to the endpoint under test.
    await saveEvents(trx, [{ id, projectId, mode, paymentId: null, type, body, createdAt: now, requestId: null }]);
    await recordPeoplesAudit(app, trx, {
      action: 'webhook.test',
      projectId,
      subject: { kind: 'webhook', id: encodeId('endpoint', endpointId) },
      after: { mode, type },
    });
    return insertDelivery(trx, id, endpointId, now);
  });
  return { kind: 'done', eventId: id, deliveryId };
}
