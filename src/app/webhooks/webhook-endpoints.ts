import { DOCUMENTED_EVENTS, EVENT_TYPES, isEventType, type EventType } from '../../domain/event-type.ts';
import { encodeId } from '../../domain/id.ts';
import type { Mode } from '../../domain/permission.ts';
import { eventBody } from '../../wire/event.ts';
import { findDelivery, insertDelivery, listDeliveries, type DeliverySummary } from '../../store/deliveries.ts';
import { saveEvents } from '../../store/save-changes.ts';
import type { Trx } from '../../store/database.ts';
import { findProject } from '../../store/projects.ts';
import {
  closeEndpoint,
  enableEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  replaceSecret,
  type WebhookEndpoint,
} from '../../store/webhook-endpoints.ts';
import { checkNewWebhookUrl, type WebhookPolicy } from '../../webhooks/guard.ts';
import { newWebhookSecret, sealSecret } from '../../webhooks/secret.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { attempt, createSecretCache, record } from './attempt-delivery.ts';
import type { WebhookDelivery } from './deliver-due.ts';
import { malformed, noProject, type Rejected } from '../rejected.ts';
import { sampleData } from './sample-events.ts';
import { opens } from './sealing-key.ts';

/** How long a replaced secret still signs beside the new one. */
const SECRET_OVERLAP_MS = 24 * 60 * 60_000;

const NO_ENDPOINT: Rejected = {
  kind: 'rejected',
  message: 'There is no such webhook endpoint. List them with: cointill webhook list',
};

const DISABLED: Rejected = {
  kind: 'rejected',
  message: 'The endpoint is disabled. Enable it first with: cointill webhook enable',
};

/** Parses `all` (the documented events) or a comma-separated list of event types. */
export function parseEventTypes(
  text: string,
): { readonly kind: 'ok'; readonly events: readonly EventType[] } | Rejected {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const events = new Set<EventType>();
  for (const name of names) {
    if (name === 'all') for (const type of DOCUMENTED_EVENTS) events.add(type);
    else if (isEventType(name)) events.add(name);
    else return malformed(`--events: "${name}" is not one of all, ${EVENT_TYPES.join(', ')}.`);
  }
  if (events.size === 0) return malformed(`--events must be all, or a list of ${EVENT_TYPES.join(', ')}.`);
  return { kind: 'ok', events: EVENT_TYPES.filter((type) => events.has(type)) };
}

/** Registers an endpoint. Its secret is returned only here and at rotation. */
export async function createEndpoint(
  app: App,
  sealingKey: Uint8Array,
  policyOf: (mode: Mode) => WebhookPolicy,
  request: { readonly projectId: string; readonly mode: Mode; readonly url: string; readonly events: string },
): Promise<{ readonly kind: 'done'; readonly endpoint: WebhookEndpoint; readonly secret: string } | Rejected> {
  const types = parseEventTypes(request.events);
  if (types.kind !== 'ok') return types;
  const checked = checkNewWebhookUrl(request.url, policyOf(request.mode));
  if (checked.kind === 'refused') {
    // A well-formed URL is refused because of where it leads, which other settings might allow.
    return { kind: 'rejected', malformed: !URL.canParse(request.url), message: `--url: ${checked.message}` };
  }
  const now = app.clock();
  const id = newId(app, now);
  const secret = newWebhookSecret(app.random);
  const endpoint: WebhookEndpoint = {
    id,
    projectId: request.projectId,
    mode: request.mode,
    url: checked.url.href,
    events: types.events,
    sealedSecret: sealSecret(sealingKey, secret, id),
    previousSealedSecret: null,
    previousSecretUntil: null,
    disabledAt: null,
    disabledReason: null,
    createdAt: now,
  };
  return app.db.transaction().execute(async (trx) => {
    if ((await findProject(trx, request.projectId)) === null) return noProject(request.projectId);
    await insertEndpoint(trx, endpoint);
    await audit(app, trx, 'webhook.create', endpoint);
    return { kind: 'done', endpoint, secret };
  });
}

export function endpointsOf(app: App, projectId: string | null): Promise<readonly WebhookEndpoint[]> {
  return listEndpoints(app.db, projectId);
}

/** Deletes an endpoint and cancels its waiting deliveries. */
export async function deleteEndpoint(app: App, id: string): Promise<{ readonly kind: 'done' } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, id);
    if (endpoint === null || !(await closeEndpoint(trx, id, { kind: 'deleted' }, app.clock()))) return NO_ENDPOINT;
    await audit(app, trx, 'webhook.delete', endpoint);
    return { kind: 'done' };
  });
}

/** Sends to an endpoint again after it answered 410. */
export async function reopenEndpoint(app: App, id: string): Promise<{ readonly kind: 'done' } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, id);
    if (endpoint === null || !(await enableEndpoint(trx, id))) return NO_ENDPOINT;
    await audit(app, trx, 'webhook.enable', endpoint);
    return { kind: 'done' };
  });
}

/** Gives an endpoint a new secret. The current one stays valid beside it for 24 hours, unless its key was lost. */
export async function rotateEndpointSecret(
  app: App,
  sealingKey: Uint8Array,
  id: string,
): Promise<
  | {
      readonly kind: 'done';
      readonly endpoint: WebhookEndpoint;
      readonly secret: string;
      readonly previousUntil: number | null;
    }
  | Rejected
> {
  const secret = newWebhookSecret(app.random);
  return app.db.transaction().execute(async (trx) => {
    const before = await lockEndpoint(trx, id);
    if (before === null) return NO_ENDPOINT;
    const previousUntil = opens(sealingKey, before) ? app.clock() + SECRET_OVERLAP_MS : null;
    const endpoint = await replaceSecret(trx, id, sealSecret(sealingKey, secret, id), previousUntil);
    await audit(app, trx, 'webhook.rotate', endpoint);
    return { kind: 'done', endpoint, secret, previousUntil };
  });
}

/** Keeps a change of an endpoint. Of its URL the query is left out, for some carry a token there. */
function audit(app: App, trx: Trx, action: string, endpoint: WebhookEndpoint): Promise<void> {
  const { origin, pathname } = new URL(endpoint.url);
  const told = { mode: endpoint.mode, url: origin + pathname, events: endpoint.events };
  return recordAudit(app, trx, {
    action,
    projectId: endpoint.projectId,
    subject: { kind: 'webhook', id: encodeId('endpoint', endpoint.id) },
    ...(action === 'webhook.delete' ? { before: told } : { after: told }),
  });
}

/** The delivery log of an endpoint, newest first. */
export async function deliveriesOf(
  app: App,
  endpointId: string,
  limit: number,
): Promise<{ readonly kind: 'done'; readonly deliveries: readonly DeliverySummary[] } | Rejected> {
  if ((await findEndpoint(app.db, endpointId)) === null) return NO_ENDPOINT;
  return { kind: 'done', deliveries: await listDeliveries(app.db, endpointId, limit) };
}

export interface RetryResult {
  readonly kind: 'done';
  readonly acknowledged: boolean;
  readonly responseStatus: number | null;
  readonly error: string | null;
  readonly durationMs: number;
}

/** Attempts a delivery once more, now. A failure does not change the schedule. */
export async function retryDelivery(app: App, webhooks: WebhookDelivery, id: bigint): Promise<RetryResult | Rejected> {
  const delivery = await findDelivery(app.db, id);
  if (delivery === null) {
    return {
      kind: 'rejected',
      message: 'There is no such delivery. List them with: cointill webhook deliveries ENDPOINT_ID',
    };
  }
  if (delivery.endpoint.disabledAt !== null) return DISABLED;
  const attempted = await attempt(app, webhooks.sender, createSecretCache(webhooks.sealingKey), delivery, null);
  await record(app, [attempted]);
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
): Promise<{ readonly kind: 'done'; readonly eventId: string; readonly deliveryId: bigint } | Rejected> {
  if (!isEventType(type)) return malformed(`--type must be one of ${EVENT_TYPES.join(', ')}.`);
  const endpoint = await findEndpoint(app.db, endpointId);
  if (endpoint === null) return NO_ENDPOINT;
  if (endpoint.disabledAt !== null) return DISABLED;
  const now = app.clock();
  const id = newId(app, now);
  const data = { ...sampleData(app, endpoint, type, now), test: true };
  const body = eventBody({ id, type, createdAt: now, sequence: 1, data });
  const { projectId, mode } = endpoint;
  const deliveryId = await app.db.transaction().execute(async (trx) => {
    // Stored without fan-out: a test event goes only to the endpoint under test.
    await saveEvents(trx, [{ id, projectId, mode, paymentId: null, type, body, createdAt: now, requestId: null }]);
    return insertDelivery(trx, id, endpointId, now);
  });
  return { kind: 'done', eventId: id, deliveryId };
}
