import { sql, type RawBuilder } from 'kysely';
import { timestamp, type Database, type Trx } from '../database.ts';
import { wake } from '../wake.ts';
import { fields, findRow, findRows, insertRows, oneOf, updateRows, type Stored } from '../rows.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { endLanes } from './message-queue.ts';

/** The receiver of a project's events. */
export type WebhookEndpoint = Omit<Stored<'webhook_endpoints'>, 'deletedAt'>;

const ENDPOINT = { without: ['deleted_at'] } as const;

export async function insertEndpoint(trx: Trx, endpoint: WebhookEndpoint): Promise<void> {
  await insertRows(trx, 'webhook_endpoints', [{ ...endpoint, deletedAt: null }]);
}

/** Endpoints that were not deleted, oldest first; of one project or of all. */
export async function listEndpoints(db: Database, projectId: string | null): Promise<readonly WebhookEndpoint[]> {
  const wanted = { deletedAt: null, ...(projectId === null ? {} : { projectId }) };
  return findRows(db, 'webhook_endpoints', wanted, { ...ENDPOINT, order: ['createdAt', 'id'] });
}

export async function findEndpoint(executor: Database | Trx, id: string): Promise<WebhookEndpoint | null> {
  return findRow(executor, 'webhook_endpoints', { id, deletedAt: null }, ENDPOINT);
}

/** These endpoints by id, without deleted ones. */
export async function findEndpoints(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WebhookEndpoint>> {
  if (ids.length === 0) return new Map();
  const rows = await findRows(db, 'webhook_endpoints', { id: oneOf(ids), deletedAt: null }, ENDPOINT);
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Stops sending to an endpoint: deleted by the merchant, or disabled because it answered 410. Cancels the waiting
 * deliveries. Returns false if the endpoint was closed before.
 */
export async function closeEndpoint(
  trx: Trx,
  id: string,
  how: { readonly kind: 'deleted' } | { readonly kind: 'disabled'; readonly reason: string },
  now: number,
): Promise<boolean> {
  const open = { id, deletedAt: null, ...(how.kind === 'disabled' && { disabledAt: null }) };
  const changes = how.kind === 'deleted' ? { deletedAt: now } : { disabledAt: now, disabledReason: how.reason };
  if ((await updateRows(trx, 'webhook_endpoints', open, changes)) === 0) return false;
  await endLanes(trx, id);
  // Deliveries being recorded at this moment are left out, because waiting for each other could deadlock: claims cancel
  // them.
  await trx
    .updateTable('deliveries')
    .set({ state: 'stopped', next_attempt_at: null })
    .where('id', 'in', (deliveries) =>
      deliveries
        .selectFrom('deliveries')
        .select('id')
        .where('endpoint_id', '=', id)
        .where('next_attempt_at', 'is not', null)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
  return true;
}

/**
 * Sends to a disabled or paused endpoint again: to a disabled one from the next event on, because its deliveries were
 * cancelled and can be retried manually; to a paused one also the waiting deliveries.
 */
export async function enableEndpoint(trx: Trx, id: string): Promise<boolean> {
  const changes = { disabledAt: null, disabledReason: null, pausedAt: null };
  if ((await updateRows(trx, 'webhook_endpoints', { id, deletedAt: null }, changes)) === 0) return false;
  await wake(trx, ['deliveries']);
  return true;
}

/** Stops claiming an endpoint's due deliveries. */
export async function pauseEndpoint(trx: Trx, id: string, now: number): Promise<void> {
  await updateRows(trx, 'webhook_endpoints', { id }, { pausedAt: now });
}

/** Changes an endpoint's URL and its types of events. Waiting deliveries go to the new URL too. */
export async function changeEndpoint(
  trx: Trx,
  id: string,
  { url, events }: Pick<WebhookEndpoint, 'url' | 'events'>,
): Promise<WebhookEndpoint> {
  return trx
    .updateTable('webhook_endpoints')
    .set({ url, events })
    .where('id', '=', id)
    .returning(fields('webhook_endpoints', ENDPOINT))
    .executeTakeFirstOrThrow();
}

/** An endpoint that was not deleted, locked until the transaction ends. */
export async function lockEndpoint(trx: Trx, id: string): Promise<WebhookEndpoint | null> {
  return findRow(trx, 'webhook_endpoints', { id, deletedAt: null }, { ...ENDPOINT, isLocked: true });
}

/**
 * Gives a locked endpoint a new secret. The current one also signs until `overlapUntil`, or no longer if that is null.
 */
export async function replaceSecret(
  trx: Trx,
  id: string,
  sealed: Buffer,
  overlapUntil: number | null,
): Promise<WebhookEndpoint> {
  const previous =
    overlapUntil === null
      ? { previous_secret: null, previous_secret_until: null }
      : { previous_secret: sql<Buffer>`secret`, previous_secret_until: sql<Date>`${timestamp(overlapUntil)}` };
  return trx
    .updateTable('webhook_endpoints')
    .set({ ...previous, secret: sealed, secret_version: sql<number>`secret_version + 1` })
    .where('id', '=', id)
    .returning(fields('webhook_endpoints', ENDPOINT))
    .executeTakeFirstOrThrow();
}

/** The recent attempts at an endpoint, and the deliveries that wait for it. */
export interface EndpointHealth {
  readonly endpointId: string;
  /** Attempts of its newest deliveries, at most a thousand, since the given time. */
  readonly attempts: number;
  /** The attempts among these that were answered with 200 to 299. */
  readonly acknowledged: number;
  /** The median duration of the answers; null without any. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
  /** At most {@link MAX_COUNTED} plus one. */
  readonly waiting: number;
  readonly nextAttemptAt: number | null;
  readonly lastAttemptAt: number | null;
  /** The first attempt since the last answer of 200 to 299; null if the newest attempt was answered so. */
  readonly failingSince: number | null;
}

/** More waiting deliveries than this are not counted. */
export const MAX_COUNTED = 10_000;
const NEWEST = 1_000;

/** The health of all endpoints of a project and mode that were not deleted. */
export async function endpointHealth(
  db: Database,
  { projectId, mode }: ProjectMode,
  since: number,
): Promise<ReadonlyMap<string, EndpointHealth>> {
  const { rows } = await sql<EndpointHealth>`
    select w.id as "endpointId", lately.*, due.*
    from webhook_endpoints w
    cross join lateral (
      select count(a.id)::integer as attempts,
        (count(a.id) filter (where a.response_status between 200 and 299))::integer as acknowledged,
        ${percentile(0.5)} as "medianMs", ${percentile(0.95)} as "p95Ms",
        max(a.started_at) as "lastAttemptAt",
        min(a.started_at) filter (where a.arrived_at is null or a.started_at > a.arrived_at) as "failingSince"
      from (
        select a.id, a.response_status, a.duration_ms, a.started_at, max(a.started_at) filter (where a.response_status between 200 and 299) over () as arrived_at
        from (
          select id from deliveries where endpoint_id = w.id order by id desc limit ${NEWEST}
        ) d join delivery_attempts a on a.delivery_id = d.id and a.started_at >= ${timestamp(since)}
      ) a
    ) lately
    cross join lateral (
      select count(*)::integer as waiting, min(next_attempt_at) as "nextAttemptAt" from (
        select next_attempt_at from deliveries where endpoint_id = w.id and next_attempt_at is not null
        order by next_attempt_at limit ${MAX_COUNTED + 1}
      ) d
    ) due
    where w.project_id = ${projectId}::uuid and w.mode = ${mode} and w.deleted_at is null`.execute(db);
  return new Map(rows.map((health) => [health.endpointId, health]));
}

/** A percentile of the durations of answers, in whole milliseconds. */
function percentile(fraction: number): RawBuilder<unknown> {
  return sql`floor(0.5 + percentile_cont(${fraction}::double precision) within group (order by a.duration_ms)
    filter (where a.response_status is not null))::integer`;
}
