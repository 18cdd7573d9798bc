import type { FastifyInstance, FastifyRequest } from 'fastify';
import { forRequest } from '../../app/context.ts';
import { refusalText, type Rejected } from '../../app/rejected.ts';
import { changeEndpoint, pauseEndpoint } from '../../app/webhooks/change-endpoint.ts';
import {
  createEndpoint,
  deleteEndpoint,
  MAX_SECRET,
  MIN_SECRET,
  reopenEndpoint,
  rotateEndpointSecret,
} from '../../app/webhooks/webhook-endpoints.ts';
import { decodeId, encodeId } from '../../domain/id.ts';
import { isMessageType, MESSAGE_TYPES, type StoredEventType } from '../../domain/shop-message.ts';
import { findEndpoint, listEndpoints, type WebhookEndpoint } from '../../store/webhooks/webhook-endpoints.ts';
import { keyOf } from '../api.ts';
import { invalid, notFound, type RequestError } from '../errors.ts';
import { exactFields, isObject, type JsonObject } from './shop-json.ts';
import { greenfieldGuard, type Greenfield } from './store.ts';

const WEBHOOKS = '/api/v1/stores/:storeId/webhooks';
const FORMAT = 'greenfield' as const;
/** The limit of the dashboard: each message is sent to all of them. */
const MAX_ENDPOINTS = 50;

interface OneWebhook {
  readonly Params: { readonly id: string };
}

/** The endpoints of a store that get Greenfield's messages; those of our own events are not shown here. */
export function webhookRoutes(app: FastifyInstance, api: Greenfield): void {
  const one = `${WEBHOOKS}/:id`;
  const own = (request: FastifyRequest) => forRequest(api.app, request.id);
  app.get(WEBHOOKS, greenfieldGuard('read_webhooks'), async (request) => (await ownEndpoints(api, request)).map(view));
  app.get<OneWebhook>(one, greenfieldGuard('read_webhooks'), async (request) => view(await endpointOf(api, request)));
  app.post(WEBHOOKS, greenfieldGuard('change_webhooks'), async (request) => {
    const body = exactFields(request.rawBody);
    const scope = scopeOf(request);
    const pausedAt = isOff(body) ? api.app.clock() : null;
    if ((await ownEndpoints(api, request)).length >= MAX_ENDPOINTS) {
      throw invalid('url', `A store can have ${MAX_ENDPOINTS} webhooks. Delete one that is not used.`);
    }
    const wanted = {
      ...scope,
      url: urlOf(body),
      events: typesOf(body).join(','),
      secret: secretOf(body),
      format: FORMAT,
    };
    const { sealingKeys } = await api.webhooks();
    const made = done(await createEndpoint(own(request), sealingKeys, api.policyOf, wanted));
    if (pausedAt !== null) done(await pauseEndpoint(own(request), made.endpoint.id, scope));
    return { ...view({ ...made.endpoint, pausedAt }), secret: made.secret };
  });
  app.put<OneWebhook>(one, greenfieldGuard('change_webhooks'), async (request) => {
    const body = exactFields(request.rawBody);
    const { id } = await endpointOf(api, request);
    const within = scopeOf(request);
    const [secret, isPaused] = [secretOf(body), isOff(body)];
    done(await changeEndpoint(own(request), api.policyOf, id, { url: urlOf(body), events: typesOf(body) }, { within }));
    if (secret !== undefined) {
      const { sealingKeys } = await api.webhooks();
      done(await rotateEndpointSecret(own(request), sealingKeys, id, { overlapMs: 0, within, given: secret }));
    }
    done(await (isPaused ? pauseEndpoint : reopenEndpoint)(own(request), id, within));
    return view(await endpointOf(api, request));
  });
  app.delete<OneWebhook>(one, greenfieldGuard('change_webhooks'), async (request) => {
    const { id } = await endpointOf(api, request);
    done(await deleteEndpoint(own(request), id, scopeOf(request)));
    return {};
  });
}

function scopeOf(request: FastifyRequest) {
  const { project, mode } = keyOf(request);
  return { projectId: project.id, mode };
}

async function ownEndpoints({ app }: Greenfield, request: FastifyRequest): Promise<readonly WebhookEndpoint[]> {
  const { projectId, mode } = scopeOf(request);
  const all = await listEndpoints(app.db, projectId);
  return all.filter((endpoint) => endpoint.mode === mode && endpoint.format === FORMAT);
}

async function endpointOf({ app }: Greenfield, request: FastifyRequest<OneWebhook>): Promise<WebhookEndpoint> {
  const { projectId, mode } = scopeOf(request);
  const id = decodeId('endpoint', request.params.id);
  const endpoint = id === null ? null : await findEndpoint(app.db, id);
  const isOwn = endpoint?.projectId === projectId && endpoint.mode === mode && endpoint.format === FORMAT;
  if (!isOwn) throw noWebhook();
  return endpoint;
}

function view({ id, url, events, disabledAt, pausedAt }: WebhookEndpoint) {
  const everything = events.length === MESSAGE_TYPES.length;
  return {
    id: encodeId('endpoint', id),
    enabled: disabledAt === null && pausedAt === null,
    automaticRedelivery: true,
    url,
    authorizedEvents: { everything, specificEvents: everything ? [] : events },
  };
}

function done<Done>(outcome: Done | Rejected): Done {
  if (!isRefusal(outcome)) return outcome;
  if (outcome.code === 'no_endpoint') throw noWebhook();
  const field = outcome.param === 'events' ? 'authorizedEvents.specificEvents' : (outcome.param ?? 'url');
  throw invalid(field, refusalText(outcome, field));
}

function isRefusal(outcome: unknown): outcome is Rejected {
  return isObject(outcome) && outcome['kind'] === 'rejected';
}

function noWebhook(): RequestError {
  return notFound('The store has no webhook with this id.', 'webhook-not-found');
}

function urlOf({ url }: JsonObject): string {
  if (typeof url === 'string') return url.trim();
  throw invalid('url', 'url must be the address to which messages are sent, such as https://shop.example/hook.');
}

function isOff({ enabled }: JsonObject): boolean {
  if (enabled === undefined || enabled === null || typeof enabled === 'boolean') return enabled === false;
  throw invalid('enabled', 'enabled must be true or false.');
}

/** A missing secret and an empty one leave the choice to us. */
function secretOf({ secret }: JsonObject): string | undefined {
  if (secret === undefined || secret === null || secret === '') return undefined;
  const isText = typeof secret === 'string' && secret.isWellFormed() && !secret.includes('\0');
  if (isText && secret.length >= MIN_SECRET && secret.length <= MAX_SECRET) return secret;
  throw invalid('secret', 'secret must be text of 8 to 256 characters.');
}

/** Types of BTCPay Server that a plugin may ask for beside others, and that nothing here happens for. */
const NEVER_SENT = ['InvoiceExpiredPaidPartial', 'InvoicePaidAfterExpiration'];

/** The types of messages; all of them unless the body names some. */
function typesOf({ authorizedEvents }: JsonObject): readonly StoredEventType[] {
  if (authorizedEvents === undefined || authorizedEvents === null) return MESSAGE_TYPES;
  const field = 'authorizedEvents';
  if (!isObject(authorizedEvents)) throw invalid(field, `${field} must be an object such as {"everything":true}.`);
  const { everything, specificEvents } = authorizedEvents;
  if (everything === true) return MESSAGE_TYPES;
  const given: readonly unknown[] = Array.isArray(specificEvents) ? specificEvents : [];
  const names = given.filter((name) => typeof name !== 'string' || !NEVER_SENT.includes(name));
  const types = names.filter((name) => typeof name === 'string' && isMessageType(name));
  if (types.length > 0 && types.length === names.length) return MESSAGE_TYPES.filter((type) => types.includes(type));
  throw invalid(
    `${field}.specificEvents`,
    `specificEvents must name at least one of ${MESSAGE_TYPES.join(', ')}, and no others.`,
  );
}
