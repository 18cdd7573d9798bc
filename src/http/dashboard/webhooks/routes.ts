import { rejected } from '../../../app/rejected.ts';
import { changeEndpoint, pauseEndpoint } from '../../../app/webhooks/change-endpoint.ts';
import { sendTestEvent } from '../../../app/webhooks/deliveries.ts';
import {
  allOf,
  createEndpoint,
  deleteEndpoint,
  reopenEndpoint,
  rotateEndpointSecret,
} from '../../../app/webhooks/webhook-endpoints.ts';
import { decodeId, deliveryId, encodeId } from '../../../domain/id.ts';
import { STORED_EVENT_TYPES, typesOfFormat, WEBHOOK_FORMATS } from '../../../domain/shop-message.ts';
import {
  endpointHealth,
  type EndpointHealth,
  findEndpoint,
  listEndpoints,
  type WebhookEndpoint,
} from '../../../store/webhooks/webhook-endpoints.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { SIGNATURE_CHECKS } from '../../signature-checks.ts';
import { done } from '../refusal-words.ts';
import { refusalError } from '../../page-sentences.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ProjectScope } from '../scope.ts';
import type { EndpointView } from './contract.ts';

const WEBHOOKS = '/dashboard/api/projects/:project/:mode/webhooks';
const HOUR_MS = 60 * 60_000;
const HEALTH_MS = 7 * 24 * HOUR_MS;
/** Nobody needs more endpoints than this, and each event is sent to all of them. */
const MAX_ENDPOINTS = 50;

/** A project's endpoints in a mode. */
export function webhookRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core, sealingKeys } = dashboard.people;
  const { policyOf } = dashboard.webhooks;
  const MANAGE = { action: 'manage_webhooks' } as const;
  const healthOf = (scope: ProjectScope) => endpointHealth(core.db, scope, core.clock() - HEALTH_MS);
  const viewOf = async (scope: ProjectScope, id: string): Promise<EndpointView> => {
    const endpoint = await findEndpoint(core.db, id);
    if (endpoint === null) throw noEndpoint();
    return endpointView(endpoint, (await healthOf(scope)).get(id), core.clock());
  };
  routes.add(`GET ${WEBHOOKS}`, { action: 'read_developer' }, async ({ scope }) => {
    const [endpoints, health] = await Promise.all([ownEndpoints(dashboard, scope), healthOf(scope)]);
    return {
      data: endpoints.map((endpoint) => endpointView(endpoint, health.get(endpoint.id), core.clock())),
      events: [null, ...WEBHOOK_FORMATS].flatMap((format) =>
        typesOfFormat(format).map((type) => ({ type, format, documented: allOf(format).includes(type) })),
      ),
      checks: SIGNATURE_CHECKS.map(({ name, code }) => ({ name, code })),
    };
  });
  routes.add(`POST ${WEBHOOKS}`, MANAGE, async ({ scope, body, own }) => {
    if ((await ownEndpoints(dashboard, scope)).length >= MAX_ENDPOINTS) {
      throw refusalError(rejected('too_many_endpoints', { max: MAX_ENDPOINTS }));
    }
    const wanted = { ...scope, url: body.url.trim(), events: body.events.join(','), format: body.format ?? null };
    const made = done(await createEndpoint(own, await sealingKeys(), policyOf, wanted));
    return { endpoint: await viewOf(scope, made.endpoint.id), secret: made.secret };
  });
  routes.add(`POST ${WEBHOOKS}/:endpoint`, MANAGE, async ({ scope, params, body, own }) => {
    const id = endpointId(params.endpoint);
    const wanted = { url: body.url.trim(), events: STORED_EVENT_TYPES.filter((type) => body.events.includes(type)) };
    done(await changeEndpoint(own, policyOf, id, wanted, { within: scope, shown: body.shown }));
    return viewOf(scope, id);
  });
  routes.add(`POST ${WEBHOOKS}/:endpoint/pause`, MANAGE, async ({ scope, params, own }) => {
    const id = endpointId(params.endpoint);
    done(await pauseEndpoint(own, id, scope));
    return viewOf(scope, id);
  });
  routes.add(`POST ${WEBHOOKS}/:endpoint/enable`, MANAGE, async ({ scope, params, own }) => {
    const id = endpointId(params.endpoint);
    done(await reopenEndpoint(own, id, scope));
    return viewOf(scope, id);
  });
  routes.add(`POST ${WEBHOOKS}/:endpoint/delete`, MANAGE, async ({ scope, params, own }) => {
    done(await deleteEndpoint(own, endpointId(params.endpoint), scope));
    return {};
  });
  routes.add(`POST ${WEBHOOKS}/:endpoint/rotate`, MANAGE, async ({ scope, params, body, own }) => {
    const id = endpointId(params.endpoint);
    const options = { overlapMs: body.overlap_hours * HOUR_MS, within: scope };
    const { secret } = done(await rotateEndpointSecret(own, await sealingKeys(), id, options));
    return { endpoint: await viewOf(scope, id), secret };
  });
  routes.add(`POST ${WEBHOOKS}/:endpoint/test`, MANAGE, async ({ scope, params, body, own }) => {
    const sent = done(await sendTestEvent(own, endpointId(params.endpoint), body.type, scope));
    return { delivery: deliveryId(sent.deliveryId) };
  });
}

async function ownEndpoints(
  { people: { app } }: Dashboard,
  { projectId, mode }: ProjectScope,
): Promise<readonly WebhookEndpoint[]> {
  return (await listEndpoints(app.db, projectId)).filter((endpoint) => endpoint.mode === mode);
}

/** The endpoint in a path or query, `we_…`. */
export function endpointId(text: string): string {
  const id = decodeId('endpoint', text);
  if (id === null) throw noEndpoint();
  return id;
}

/** The answer is the same for an endpoint that does not exist, was deleted, or is of another project or mode. */
function noEndpoint() {
  return refusalError(rejected('no_endpoint'));
}

function endpointView(endpoint: WebhookEndpoint, health: EndpointHealth | undefined, now: number): EndpointView {
  const { disabledAt, pausedAt, previousSecretUntil } = endpoint;
  return {
    id: encodeId('endpoint', endpoint.id),
    url: endpoint.url,
    format: endpoint.format,
    events: [...endpoint.events],
    state: disabledAt !== null ? 'disabled' : pausedAt !== null ? 'paused' : 'on',
    paused_at: isoTimeOrNull(pausedAt),
    disabled_at: isoTimeOrNull(disabledAt),
    disabled_reason: endpoint.disabledReason,
    previous_secret_until: isoTimeOrNull((previousSecretUntil ?? 0) > now ? previousSecretUntil : null),
    created_at: isoTime(endpoint.createdAt),
    health: {
      attempts: health?.attempts ?? 0,
      acknowledged: health?.acknowledged ?? 0,
      median_ms: health?.medianMs ?? null,
      p95_ms: health?.p95Ms ?? null,
      waiting: health?.waiting ?? 0,
      // Deliveries to a paused endpoint wait until somebody enables it, so that the time is unknown.
      next_attempt_at: isoTimeOrNull(pausedAt === null ? (health?.nextAttemptAt ?? null) : null),
      last_attempt_at: isoTimeOrNull(health?.lastAttemptAt ?? null),
      failing_since: isoTimeOrNull(health?.failingSince ?? null),
    },
  };
}
