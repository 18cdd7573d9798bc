import { encodeId } from '../../domain/id.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { isMessageType, typesOfFormat, type StoredEventType } from '../../domain/shop-message.ts';
import { insertRows } from '../../store/rows.ts';
import { insertDelivery } from '../../store/webhooks/deliveries.ts';
import { findEvent, holdEvent } from '../../store/webhooks/event-list.ts';
import { listEndpoints, type WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { recordPeoplesAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { answerRow, isAnswerConflict, withIdempotency, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { offRefusal } from './deliveries.ts';

export interface ResentDelivery {
  readonly id: bigint;
  readonly endpointId: string;
}

interface ResendRequest {
  readonly scope: ProjectMode;
  readonly eventId: string;
  /** Null: all endpoints that are on. */
  readonly endpointId: string | null;
  /** Whether messages to shops' plugins are events here. */
  readonly withMessages: boolean;
  readonly idempotency: IdempotencyRequest | null;
  /** Makes the body of the answer. */
  readonly present: (deliveries: readonly ResentDelivery[]) => string;
}

/**
 * Sends a stored event again, as new deliveries with a schedule of their own: to one endpoint, or to all of its format
 * that are on, whatever types they asked for.
 */
export async function resendEvent(
  app: App,
  { scope, eventId, endpointId, withMessages, idempotency, present }: ResendRequest,
): Promise<{ readonly kind: 'done'; readonly body: string } | Rejected | Replay> {
  return withIdempotency(app, idempotency, async () => {
    const event = await findEvent(app.db, scope, eventId);
    if (event === null || (!withMessages && isMessageType(event.type))) return rejected('unknown_event');
    const endpoints = await receiversOf(app, scope, event, endpointId);
    if ('kind' in endpoints) return endpoints;
    try {
      const deliveries = await app.db.transaction().execute(async (trx) => {
        if (!(await holdEvent(trx, eventId))) return null;
        const made: ResentDelivery[] = [];
        for (const { id } of endpoints) {
          made.push({ id: await insertDelivery(trx, eventId, id, app.clock()), endpointId: id });
        }
        const subject = { kind: 'event', id: encodeId('event', eventId) };
        const after = { mode: scope.mode, endpoints: endpoints.map(({ id }) => encodeId('endpoint', id)).join(', ') };
        await recordPeoplesAudit(app, trx, { action: 'webhook.resend', projectId: scope.projectId, subject, after });
        if (idempotency !== null) {
          await insertRows(trx, 'idempotency_keys', [answerRow(idempotency, present(made), app.clock())]);
        }
        return made;
      });
      return deliveries === null ? rejected('unknown_event') : { kind: 'done', body: present(deliveries) };
    } catch (error) {
      if (isAnswerConflict(error)) return { kind: 'answer_conflict' };
      throw error;
    }
  });
}

/** The endpoints that an event is sent to again. */
async function receiversOf(
  { db }: App,
  { projectId, mode }: ProjectMode,
  { type }: { readonly type: StoredEventType },
  endpointId: string | null,
): Promise<readonly WebhookEndpoint[] | Rejected> {
  const gets = ({ format }: WebhookEndpoint): boolean => typesOfFormat(format).includes(type);
  const own = (await listEndpoints(db, projectId)).filter((endpoint) => endpoint.mode === mode);
  if (endpointId === null) {
    const on = own.filter((endpoint) => gets(endpoint) && offRefusal(endpoint) === null);
    return on.length === 0 ? rejected('no_endpoint_on') : on;
  }
  const endpoint = own.find(({ id }) => id === endpointId);
  if (endpoint === undefined) return rejected('no_endpoint');
  if (!gets(endpoint)) return rejected('endpoint_format');
  return offRefusal(endpoint) ?? [endpoint];
}
