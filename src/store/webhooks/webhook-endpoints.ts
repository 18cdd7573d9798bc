import { sql, type SqlBool } from 'kysely';
import { timestamp, type Database, type Trx } from '../database.ts';
import { notify } from '../notifications.ts';
import { fields, toRow, type Stored } from '../rows.ts';

/** The receiver of a project's events. */
export type WebhookEndpoint = Omit<Stored<'webhook_endpoints'>, 'deletedAt'>;

const ENDPOINT = fields('webhook_endpoints', { without: ['deleted_at'] });

export async function insertEndpoint(trx: Trx, endpoint: WebhookEndpoint): Promise<void> {
  await trx
    .insertInto('webhook_endpoints')
    .values(toRow('webhook_endpoints', { ...endpoint, deletedAt: null }))
    .execute();
}

/** Endpoints that were not deleted, oldest first; of one project or of all. */
export async function listEndpoints(db: Database, projectId: string | null): Promise<readonly WebhookEndpoint[]> {
  let query = db.selectFrom('webhook_endpoints').select(ENDPOINT).where('deleted_at', 'is', null);
  if (projectId !== null) query = query.where('project_id', '=', projectId);
  return query.orderBy('created_at').orderBy('id').execute();
}

/** The endpoint with an id, unless it was deleted. */
function endpointOf(executor: Database | Trx, id: string) {
  return executor.selectFrom('webhook_endpoints').select(ENDPOINT).where('id', '=', id).where('deleted_at', 'is', null);
}

export async function findEndpoint(executor: Database | Trx, id: string): Promise<WebhookEndpoint | null> {
  const row = await endpointOf(executor, id).executeTakeFirst();
  return row ?? null;
}

/** These endpoints by id, without deleted ones. */
export async function findEndpoints(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WebhookEndpoint>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('webhook_endpoints')
    .select(ENDPOINT)
    .where(sql<SqlBool>`id = any (${ids}::uuid[])`)
    .where('deleted_at', 'is', null)
    .execute();
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
  const at = new Date(now);
  const row = await trx
    .updateTable('webhook_endpoints')
    .set(how.kind === 'deleted' ? { deleted_at: at } : { disabled_at: at, disabled_reason: how.reason })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .$if(how.kind === 'disabled', (update) => update.where('disabled_at', 'is', null))
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return false;
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
  const row = await trx
    .updateTable('webhook_endpoints')
    .set({ disabled_at: null, disabled_reason: null, paused_at: null })
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) return false;
  await notify(trx, 'deliveries');
  return true;
}

/** Stops claiming an endpoint's due deliveries. */
export async function pauseEndpoint(trx: Trx, id: string, now: number): Promise<void> {
  await trx
    .updateTable('webhook_endpoints')
    .set({ paused_at: new Date(now) })
    .where('id', '=', id)
    .execute();
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
    .returning(ENDPOINT)
    .executeTakeFirstOrThrow();
}

/** An endpoint that was not deleted, locked until the transaction ends. */
export async function lockEndpoint(trx: Trx, id: string): Promise<WebhookEndpoint | null> {
  const row = await endpointOf(trx, id).forUpdate().executeTakeFirst();
  return row ?? null;
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
    .set({ ...previous, secret: sealed })
    .where('id', '=', id)
    .returning(ENDPOINT)
    .executeTakeFirstOrThrow();
}
