import { DOCUMENTED_EVENTS } from '../../domain/event-type.ts';
import { encodeId } from '../../domain/id.ts';
import type { Mode, ProjectMode } from '../../domain/permission.ts';
import { MESSAGE_TYPES, typesOfFormat, type StoredEventType, type WebhookFormat } from '../../domain/shop-message.ts';
import { withoutQuery } from '../../domain/web-url.ts';
import type { Trx } from '../../store/database.ts';
import { findKeyCheck, replaceKeyCheck } from '../../store/key-checks.ts';
import { findProject } from '../../store/projects/projects.ts';
import {
  closeEndpoint,
  enableEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  replaceSecret,
  type WebhookEndpoint,
} from '../../store/webhooks/webhook-endpoints.ts';
import { checkNewWebhookUrl, type WebhookPolicy } from '../../webhooks/guard.ts';
import { newShopSecret, newWebhookSecret, sealSecret, type SealingKeys } from '../../webhooks/secret.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { noProject, rejected, rejectedBy, type Rejected } from '../rejected.ts';
import { keyThatSeals, opens, sealKeyCheck } from '../sealing-key.ts';

/** How long a replaced secret still signs beside the new one, unless the request names another time. */
const SECRET_OVERLAP_MS = 24 * 60 * 60_000;

type Change<Done> = (trx: Trx, endpoint: WebhookEndpoint) => Promise<Done | Rejected>;
type Changed = { readonly kind: 'done' };

/** Changes an existing endpoint within reach, locked, in its own transaction. */
export function changeReached<Done = Changed>(
  { db }: App,
  id: string,
  within: ProjectMode | undefined,
  change: Change<Done>,
): Promise<Done | Rejected> {
  return db.transaction().execute((trx) => changeReachedIn(trx, id, within, change));
}

async function changeReachedIn<Done>(
  trx: Trx,
  id: string,
  within: ProjectMode | undefined,
  change: Change<Done>,
): Promise<Done | Rejected> {
  const endpoint = await lockEndpoint(trx, id);
  return endpoint !== null && isWithin(endpoint, within) ? change(trx, endpoint) : rejected('no_endpoint');
}

export function isWithin({ projectId, mode }: ProjectMode, within?: ProjectMode): boolean {
  return within === undefined || (projectId === within.projectId && mode === within.mode);
}

/** Parses `all` (the documented events, or all messages) or a comma-separated list of a format's types. */
export function parseEventTypes(
  text: string,
  format: WebhookFormat | null = null,
): { readonly kind: 'ok'; readonly events: readonly StoredEventType[] } | Rejected {
  const types = typesOfFormat(format);
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const events = new Set(names.flatMap((name): readonly string[] => (name === 'all' ? allOf(format) : [name])));
  const refusal = typesRefusal([...events], format);
  if (refusal !== null) return refusal;
  if (events.size === 0) return rejected('no_event', { param: 'events', names: types.join(', ') });
  return { kind: 'ok', events: types.filter((type) => events.has(type)) };
}

/** The types that `all` stands for. */
export function allOf(format: WebhookFormat | null): readonly StoredEventType[] {
  return format === null ? DOCUMENTED_EVENTS : MESSAGE_TYPES;
}

export const MIN_SECRET = 8;
export const MAX_SECRET = 256;

interface NewEndpoint extends ProjectMode {
  readonly url: string;
  /** See {@link parseEventTypes}. */
  readonly events: string;
  readonly format?: WebhookFormat | null;
  /** The secret that the shop has chosen, if the format is not ours; otherwise one is made. */
  readonly secret?: string | undefined;
}

function secretRefusal({ length }: string, format: WebhookFormat | null): Rejected | null {
  if (format === null || (length >= MIN_SECRET && length <= MAX_SECRET)) return null;
  return rejected('secret_length', { param: 'secret', min: MIN_SECRET, max: MAX_SECRET });
}

function newSecret(app: App, format: WebhookFormat | null): string {
  return format === null ? newWebhookSecret(app.random) : newShopSecret(app.random);
}

/** The refusal of types that an endpoint of this format cannot get; null if there are none. */
export function typesRefusal(types: readonly string[], format: WebhookFormat | null): Rejected | null {
  const known: readonly string[] = typesOfFormat(format);
  const name = types.find((type) => !known.includes(type));
  return name === undefined ? null : rejected('event_unknown', { param: 'events', name, names: known.join(', ') });
}

/** Registers an endpoint. Its secret is returned only here and at rotation. */
export async function createEndpoint(
  app: App,
  keys: SealingKeys,
  policyOf: (mode: Mode) => WebhookPolicy,
  { projectId, mode, url, events, format = null, secret = newSecret(app, format) }: NewEndpoint,
): Promise<{ readonly kind: 'done'; readonly endpoint: WebhookEndpoint; readonly secret: string } | Rejected> {
  const types = parseEventTypes(events, format);
  if (types.kind !== 'ok') return types;
  const checked = checkedUrl(url, policyOf(mode));
  if (checked.kind !== 'ok') return checked;
  const refusal = secretRefusal(secret, format);
  if (refusal !== null) return refusal;
  const now = app.clock();
  const id = newId(app, now);
  return app.db.transaction().execute(async (trx) => {
    const endpoint: WebhookEndpoint = {
      id,
      projectId,
      mode,
      url: checked.url,
      events: types.events,
      sealedSecret: sealSecret(await keyThatSeals(trx, keys), secret, id),
      secretVersion: 1,
      previousSealedSecret: null,
      previousSecretUntil: null,
      disabledAt: null,
      disabledReason: null,
      pausedAt: null,
      createdAt: now,
      format,
    };
    if ((await findProject(trx, projectId)) === null) return noProject(projectId);
    await insertEndpoint(trx, endpoint);
    await audit(app, trx, 'webhook.create', endpoint);
    return { kind: 'done', endpoint, secret };
  });
}

/** Checks a URL for an endpoint. */
export function checkedUrl(
  text: string,
  policy: WebhookPolicy,
): { readonly kind: 'ok'; readonly url: string } | Rejected {
  const checked = checkNewWebhookUrl(text, policy);
  return checked.kind === 'ok' ? { kind: 'ok', url: checked.url.href } : rejectedBy(checked, 'url');
}

export function endpointsOf(app: App, projectId: string | null): Promise<readonly WebhookEndpoint[]> {
  return listEndpoints(app.db, projectId);
}

/** Deletes an endpoint and cancels its waiting deliveries. */
export function deleteEndpoint(app: App, id: string, within?: ProjectMode): Promise<Changed | Rejected> {
  return changeReached(app, id, within, async (trx, endpoint) => {
    if (!(await closeEndpoint(trx, id, { kind: 'deleted' }, app.clock()))) return rejected('no_endpoint');
    await audit(app, trx, 'webhook.delete', endpoint);
    return { kind: 'done' };
  });
}

/** Sends to an endpoint again after it answered 410 or was paused. */
export function reopenEndpoint(app: App, id: string, within?: ProjectMode): Promise<Changed | Rejected> {
  return changeReached(app, id, within, async (trx, endpoint) => {
    await enableEndpoint(trx, id);
    await audit(app, trx, 'webhook.enable', endpoint);
    return { kind: 'done' };
  });
}

interface Rotated {
  readonly kind: 'done';
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
  readonly previousUntil: number | null;
}

/**
 * Gives an endpoint a new secret. The current one of our own format stays valid beside it for a while, unless its key
 * was lost. With `isNewKey`, this key replaces the database's lost one.
 */
export function rotateEndpointSecret(
  app: App,
  keys: SealingKeys,
  id: string,
  {
    overlapMs = SECRET_OVERLAP_MS,
    isNewKey = false,
    within,
    given,
  }: {
    readonly overlapMs?: number;
    readonly isNewKey?: boolean;
    readonly within?: ProjectMode;
    /** A shop's own secret. */
    readonly given?: string | undefined;
  } = {},
): Promise<Rotated | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const key = isNewKey ? keys[0] : await keyThatSeals(trx, keys);
    if (isNewKey) await findKeyCheck(trx, 'update');
    return changeReachedIn<Rotated>(trx, id, within, async (_, before) => {
      const secret = given ?? newSecret(app, before.format);
      const refusal = secretRefusal(secret, before.format);
      if (refusal !== null) return refusal;
      // A message has one signature.
      const overlaps = before.format === null && overlapMs > 0 && opens(keys, before);
      const previousUntil = overlaps ? app.clock() + overlapMs : null;
      const endpoint = await replaceSecret(trx, id, sealSecret(key, secret, id), previousUntil);
      if (isNewKey) await replaceKeyCheck(trx, sealKeyCheck(key));
      await audit(app, trx, 'webhook.rotate', endpoint);
      return { kind: 'done', endpoint, secret, previousUntil };
    });
  });
}

/** An endpoint as the audit log records it. */
export function auditedEndpoint({ url, mode, events, format }: WebhookEndpoint) {
  return { mode, url: withoutQuery(url), events, ...(format !== null && { format }) };
}

/** Records a change of an endpoint in the audit log. */
export function audit(app: App, trx: Trx, action: string, endpoint: WebhookEndpoint): Promise<void> {
  const kept = auditedEndpoint(endpoint);
  return recordAudit(app, trx, {
    action,
    projectId: endpoint.projectId,
    subject: { kind: 'webhook', id: encodeId('endpoint', endpoint.id) },
    ...(action === 'webhook.delete' ? { before: kept } : { after: kept }),
  });
}
