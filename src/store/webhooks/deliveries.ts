import { sql, type RawBuilder } from 'kysely';
import { KEPT_EVENTS } from '../../domain/event-log.ts';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import { wake } from '../wake.ts';
import { ATTEMPT, type AttemptDetails } from './delivery-list.ts';
import type { DeliveryState } from '../schema/webhooks.ts';
import { toRow } from '../rows.ts';
import { findEndpoint, findEndpoints, type WebhookEndpoint } from './webhook-endpoints.ts';

/** A delivery with the data that an attempt needs. */
export interface Delivery {
  readonly id: bigint;
  /** Scheduled attempts that failed so far. */
  readonly attempts: number;
  readonly eventId: string;
  readonly body: string;
  /** The request that caused the event; null if there was none. */
  readonly requestId: string | null;
  readonly endpoint: WebhookEndpoint;
}

/** A delivery claimed by this process, to be attempted and recorded before its lease ends. */
export interface DueDelivery extends Delivery {
  readonly leaseUntil: number;
  /** Whether somebody sends it again together with others: an extra attempt. */
  readonly isRetried: boolean;
}

interface DeliveryRow extends Omit<Delivery, 'endpoint'> {
  readonly endpointId: string;
}

interface DueRow extends DeliveryRow {
  readonly state: DeliveryState;
  readonly isRetried: boolean;
}

/**
 * A part of a statement that makes its commit not wait for the disk. If the database crashes and loses a claim or a
 * record, the delivery is due again: it is sent twice, as receivers must expect, and never lost.
 */
export const UNFLUSHED = sql`unflushed as materialized (select set_config('synchronous_commit', 'off', true) as setting)`;

/**
 * Claims due deliveries for this process: of each endpoint at most its quota, so that no endpoint's backlog delays
 * another's. If `limit` is reached, chance decides between endpoints. A claim moves `next_attempt_at` to `leaseUntil`.
 * Deliveries that still wait for a closed endpoint are cancelled instead; those for a paused one go on waiting.
 */
export async function claimDeliveries(
  db: Database,
  claim: {
    readonly now: number;
    readonly leaseUntil: number;
    /** Free slots by endpoint id; an endpoint that is not named has `defaultQuota`. */
    readonly quotas: Readonly<Record<string, number>>;
    readonly defaultQuota: number;
    readonly limit: number;
  },
): Promise<readonly DueDelivery[]> {
  const endpoints = await endpointsWithDue(db, claim.now);
  if (endpoints.length === 0) return [];
  const quotas = endpoints.map((id) => claim.quotas[id] ?? claim.defaultQuota);
  const picked = sql`${UNFLUSHED}, picked as materialized (
      select d.id from unflushed cross join unnest(${endpoints}::uuid[], ${quotas}::integer[]) w (endpoint_id, quota)
      cross join lateral (
        select id from deliveries
        where endpoint_id = w.endpoint_id and next_attempt_at <= ${timestamp(claim.now)}
        order by next_attempt_at, id limit w.quota
        for update skip locked
      ) d
      limit ${claim.limit}
    )`;
  return claimPicked(db, picked, claim.leaseUntil);
}

/**
 * The endpoints that have something due and are not paused, in an order of chance. They are found by skipping along the
 * index from one to the next, so that the cost grows with the number of endpoints that have something waiting, not with
 * the number of deliveries. Read before the claim, because Citus refuses a recursion in a statement that locks rows.
 */
async function endpointsWithDue(db: Database, now: number): Promise<readonly string[]> {
  // Sorted like the index of waiting deliveries, so that a planner with old statistics uses that index.
  const { rows } = await sql<{ id: string }>`
    with recursive waiting (endpoint_id, due_at) as (
      (select endpoint_id, next_attempt_at from deliveries where next_attempt_at is not null
       order by endpoint_id, next_attempt_at, id limit 1)
      union all
      select d.endpoint_id, d.next_attempt_at from waiting cross join lateral (
        select endpoint_id, next_attempt_at from deliveries
        where next_attempt_at is not null and endpoint_id > waiting.endpoint_id
        order by endpoint_id, next_attempt_at, id limit 1) d
    )
    select endpoint_id as id from waiting where due_at <= ${timestamp(now)} and not exists (
      select from webhook_endpoints p
      where p.id = waiting.endpoint_id and p.paused_at is not null and p.disabled_at is null and p.deleted_at is null
    ) order by random()`.execute(db);
  return rows.map(({ id }) => id);
}

/** Claims the deliveries that a statement of its own has `picked`. */
export async function claimPicked(
  db: Database,
  picked: RawBuilder<unknown>,
  leaseUntil: number,
): Promise<readonly DueDelivery[]> {
  // Updated by an array of ids, because a planner with old statistics might read both tables in full for a join.
  const { rows } = await sql<DueRow>`
    with ${picked}
    update deliveries d set
      state = case when w.deleted_at is null and w.disabled_at is null then d.state else 'stopped' end,
      next_attempt_at = case when w.deleted_at is null and w.disabled_at is null then ${timestamp(leaseUntil)} end
    from events e, webhook_endpoints w
    where d.id = any (array(select id from picked)) and e.id = d.event_id and w.id = d.endpoint_id
    returning d.id, d.state, d.attempts, d.event_id as "eventId", e.body, e.request_id as "requestId",
      d.endpoint_id as "endpointId", exists (
      select from retried_deliveries r join delivery_retries t on t.id = r.retry_id
      where r.delivery_id = d.id and not r.attempted and t.stopped_at is null
    ) as "isRetried"`.execute(db);
  const due = rows.filter(({ state }) => state === 'waiting');
  // Read once for all deliveries of an endpoint.
  const endpoints = await findEndpoints(db, [...new Set(due.map(({ endpointId }) => endpointId))]);
  return due.flatMap(({ endpointId, state: _state, ...delivery }) => {
    const endpoint = endpoints.get(endpointId);
    return endpoint === undefined ? [] : [{ ...delivery, endpoint, leaseUntil }];
  });
}

/** Releases claimed deliveries that were not attempted, so that they are due again before their lease ends. */
export async function releaseDeliveries(
  db: Database,
  taken: readonly Pick<DueDelivery, 'id' | 'leaseUntil'>[],
  now: number,
): Promise<void> {
  const rows = taken.map(({ id, leaseUntil }) => ({ id: String(id), lease_until: new Date(leaseUntil).toISOString() }));
  await sql`
    update deliveries d set next_attempt_at = ${timestamp(now)}
    from json_to_recordset(${JSON.stringify(rows)}::json) as taken (id bigint, lease_until timestamptz)
    where d.id = taken.id and d.next_attempt_at = taken.lease_until`.execute(db);
}

/**
 * One delivery with the data that an attempt needs, in any state; null if there is none or its endpoint was deleted.
 */
export async function findDelivery(db: Database, id: bigint): Promise<Delivery | null> {
  const row = await db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .select(['d.id', 'd.attempts', 'd.event_id as eventId', 'e.body', 'e.request_id as requestId'])
    .select('d.endpoint_id as endpointId')
    .where('d.id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { endpointId, ...delivery } = row;
  const endpoint = await findEndpoint(db, endpointId);
  return endpoint === null ? null : { ...delivery, endpoint };
}

/** A delivery as the log shows it. */
export interface DeliverySummary {
  readonly id: bigint;
  readonly eventId: string;
  readonly type: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
  readonly body: string;
  readonly log: readonly AttemptDetails[];
}

/** The newest deliveries of an endpoint, each with its attempts, oldest attempt first. */
export async function listDeliveries(
  db: Database,
  endpointId: string,
  limit: number,
): Promise<readonly DeliverySummary[]> {
  const rows = await db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .select(['d.id', 'd.event_id as eventId', 'e.type', 'd.state', 'd.attempts', 'd.next_attempt_at as nextAttemptAt'])
    .select(['d.created_at as createdAt', 'd.delivered_at as deliveredAt', 'e.body'])
    .where('d.endpoint_id', '=', endpointId)
    .orderBy('d.id', 'desc')
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.id);
  const attempts =
    ids.length === 0
      ? []
      : await db
          .selectFrom('delivery_attempts')
          .select(ATTEMPT)
          .select('delivery_id as deliveryId')
          .where('delivery_id', 'in', ids)
          .orderBy('id')
          .execute();
  const byDelivery = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  return rows.map((row) => ({ ...row, log: byDelivery.get(row.id) ?? [] }));
}

/** Makes one event due at one endpoint, even if the endpoint is not registered for its type: test events. */
export async function insertDelivery(trx: Trx, eventId: string, endpointId: string, now: number): Promise<bigint> {
  const row = await trx
    .insertInto('deliveries')
    .values(
      toRow(
        'deliveries',
        { eventId, endpointId, state: 'waiting', nextAttemptAt: now, createdAt: now, deliveredAt: null },
        { without: ['id', 'attempts'] },
      ),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  await wake(trx, ['deliveries']);
  return row.id;
}

/** Deletes up to `limit` finished deliveries created before a time, with their attempts; returns how many. */
export async function purgeDeliveriesBefore(db: Database, before: number, limit: number): Promise<number> {
  return affectedRows(
    db,
    sql`
      with old as (
        select id, event_id from deliveries
        where created_at < ${timestamp(before)} and next_attempt_at is null and state <> 'waiting' limit ${limit}
      ), forgotten as (
        -- Events that left the log while a delivery waited for them, and samples.
        delete from events e using old
        where e.id = old.event_id and e.type <> all (${[...KEPT_EVENTS]}::text[])
          and not exists (select from event_positions p where p.event_id = e.id)
          and not exists (select from unnumbered_events u where u.event_id = e.id)
          and not exists (select from event_numbering)
          and not exists (select from deliveries d where d.event_id = e.id and d.id <> all (array(select id from old)))
      ), attempts as (delete from delivery_attempts a using old where a.delivery_id = old.id)
      delete from deliveries d using old where d.id = old.id`,
  );
}
