import { sql } from 'kysely';
import type { Mode } from '../domain/permission.ts';
import { timestamp, type Database, type Trx } from './database.ts';
import type { DeliveryState } from './tables.ts';

/** A delivery to be attempted now, with all that it takes. */
export interface DueDelivery {
  readonly id: bigint;
  /** Scheduled attempts that failed so far. */
  readonly attempts: number;
  readonly eventId: string;
  readonly body: string;
  readonly endpointId: string;
  readonly mode: Mode;
  readonly url: string;
  readonly sealedSecret: Buffer;
  readonly previousSealedSecret: Buffer | null;
  readonly previousSecretUntil: number | null;
}

interface DueRow {
  id: bigint;
  attempts: number;
  event_id: string;
  body: string;
  endpoint_id: string;
  mode: Mode;
  url: string;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_secret_until: number | null;
}

function dueFromRow(row: DueRow): DueDelivery {
  return {
    id: row.id,
    attempts: row.attempts,
    eventId: row.event_id,
    body: row.body,
    endpointId: row.endpoint_id,
    mode: row.mode,
    url: row.url,
    sealedSecret: row.secret,
    previousSealedSecret: row.previous_secret,
    previousSecretUntil: row.previous_secret_until,
  };
}

/**
 * Takes due deliveries for this process: at most as many of each endpoint as its quota leaves, so that no endpoint's backlog
 * stands before another's. Endpoints are found by skipping along the index from one to the next, so the cost grows with the
 * number of endpoints that have something waiting, not with what waits. Taking moves `next_attempt_at` to `leaseUntil`.
 */
export async function claimDeliveries(
  db: Database,
  claim: {
    readonly now: number;
    readonly leaseUntil: number;
    /** Free places by endpoint id; an endpoint that is not named has `defaultQuota`. */
    readonly quotas: Readonly<Record<string, number>>;
    readonly defaultQuota: number;
    readonly limit: number;
  },
): Promise<readonly DueDelivery[]> {
  const { rows } = await sql<DueRow>`
    with recursive waiting (endpoint_id) as (
      (select endpoint_id from deliveries where next_attempt_at is not null order by endpoint_id limit 1)
      union all
      select (select d.endpoint_id from deliveries d
              where d.next_attempt_at is not null and d.endpoint_id > waiting.endpoint_id
              order by d.endpoint_id limit 1)
      from waiting where waiting.endpoint_id is not null
    ), picked as materialized (
      select d.id from (select endpoint_id from waiting where endpoint_id is not null) w
      cross join lateral (
        select id from deliveries
        where endpoint_id = w.endpoint_id and next_attempt_at <= ${timestamp(claim.now)}
        order by next_attempt_at, id
        limit coalesce((${JSON.stringify(claim.quotas)}::jsonb ->> w.endpoint_id::text)::int, ${claim.defaultQuota}::int)
        for update skip locked
      ) d
      limit ${claim.limit}
    )
    update deliveries d set next_attempt_at = ${timestamp(claim.leaseUntil)}
    from picked p, events e, webhook_endpoints w
    where d.id = p.id and e.id = d.event_id and w.id = d.endpoint_id
    returning d.id, d.attempts, d.event_id, e.body, d.endpoint_id, w.mode, w.url, w.secret,
      w.previous_secret, w.previous_secret_until`.execute(db);
  return rows.map(dueFromRow);
}

/** When the next waiting delivery is due; null when none waits. */
export async function nextDeliveryAt(db: Database): Promise<number | null> {
  const row = await db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.min('next_attempt_at').as('at'))
    .where('next_attempt_at', 'is not', null)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** One delivery with what an attempt takes, whatever its state; null when there is none or its endpoint was deleted. */
export async function findDelivery(db: Database, id: bigint): Promise<DueDelivery | null> {
  const row = await db
    .selectFrom('deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .innerJoin('webhook_endpoints as w', 'w.id', 'd.endpoint_id')
    .select(['d.id', 'd.attempts', 'd.event_id', 'e.body', 'd.endpoint_id'])
    .select(['w.mode', 'w.url', 'w.secret', 'w.previous_secret', 'w.previous_secret_until'])
    .where('d.id', '=', id)
    .where('w.deleted_at', 'is', null)
    .executeTakeFirst();
  return row === undefined ? null : dueFromRow(row);
}

/** What one attempt came to, and what follows for its delivery. */
export interface AttemptRecord {
  readonly deliveryId: bigint;
  /** An extra attempt by hand; it leaves the schedule as it is unless it was acknowledged. */
  readonly manual: boolean;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly truncated: boolean;
  } | null;
  readonly error: { readonly stage: string; readonly message: string } | null;
  readonly next:
    | { readonly kind: 'delivered'; readonly at: number }
    | { readonly kind: 'again'; readonly at: number }
    | { readonly kind: 'failed' }
    | { readonly kind: 'as_scheduled' };
}

/** Records attempts and moves their deliveries on, all in one statement. A delivered one never waits again. */
export async function recordAttempts(executor: Database | Trx, records: readonly AttemptRecord[]): Promise<void> {
  const rows = records.map((record) => ({
    delivery_id: String(record.deliveryId),
    manual: record.manual,
    started_at: new Date(record.startedAt).toISOString(),
    duration_ms: Math.round(record.durationMs),
    request_headers: record.requestHeaders,
    response_status: record.response?.status,
    response_headers: record.response?.headers,
    response_body: record.response?.body,
    response_truncated: record.response?.truncated ?? false,
    error_stage: record.error?.stage,
    error: record.error?.message,
    next: record.next.kind,
    next_at: 'at' in record.next ? new Date(record.next.at).toISOString() : null,
  }));
  await sql`
    with attempt as materialized (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as a (
        delivery_id bigint, manual boolean, started_at timestamptz, duration_ms integer, request_headers jsonb,
        response_status smallint, response_headers jsonb, response_body text, response_truncated boolean,
        error_stage text, error text, next text, next_at timestamptz)
    ), recorded as (
      insert into delivery_attempts (delivery_id, manual, started_at, duration_ms, request_headers, response_status,
        response_headers, response_body, response_truncated, error_stage, error)
      select delivery_id, manual, started_at, duration_ms, request_headers, response_status,
        response_headers, response_body, response_truncated, error_stage, error from attempt
    )
    update deliveries d set
      attempts = d.attempts + case when a.manual then 0 else 1 end,
      state = case a.next when 'delivered' then 'delivered' when 'failed' then 'failed' else d.state end,
      next_attempt_at = case when a.next = 'again' and d.state = 'waiting' then a.next_at
        when a.next = 'as_scheduled' then d.next_attempt_at end,
      delivered_at = case a.next when 'delivered' then a.next_at else d.delivered_at end
    from attempt a where d.id = a.delivery_id and d.state <> 'delivered'`.execute(executor);
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
  readonly log: readonly {
    readonly manual: boolean;
    readonly startedAt: number;
    readonly durationMs: number;
    readonly requestHeaders: Readonly<Record<string, string>>;
    readonly responseStatus: number | null;
    readonly responseHeaders: Readonly<Record<string, string>> | null;
    readonly responseBody: string | null;
    readonly errorStage: string | null;
    readonly error: string | null;
  }[];
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
    .select(['d.id', 'd.event_id', 'e.type', 'd.state', 'd.attempts', 'd.next_attempt_at', 'd.created_at'])
    .select(['d.delivered_at', 'e.body'])
    .where('d.endpoint_id', '=', endpointId)
    .orderBy('d.id', 'desc')
    .limit(limit)
    .execute();
  const ids = rows.map((row) => row.id);
  const attempts =
    ids.length === 0
      ? []
      : await db.selectFrom('delivery_attempts').selectAll().where('delivery_id', 'in', ids).orderBy('id').execute();
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.delivery_id);
  return rows.map((row) => ({
    id: row.id,
    eventId: row.event_id,
    type: row.type,
    state: row.state,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
    deliveredAt: row.delivered_at,
    body: row.body,
    log: (byDelivery.get(row.id) ?? []).map((attempt) => ({
      manual: attempt.manual,
      startedAt: attempt.started_at,
      durationMs: attempt.duration_ms,
      requestHeaders: attempt.request_headers,
      responseStatus: attempt.response_status,
      responseHeaders: attempt.response_headers,
      responseBody: attempt.response_body,
      errorStage: attempt.error_stage,
      error: attempt.error,
    })),
  }));
}

/** Makes one event due at one endpoint, whatever types the endpoint asked for: test events. */
export async function insertDelivery(trx: Trx, eventId: string, endpointId: string, now: number): Promise<bigint> {
  const row = await trx
    .insertInto('deliveries')
    .values({
      event_id: eventId,
      endpoint_id: endpointId,
      state: 'waiting',
      next_attempt_at: new Date(now),
      created_at: new Date(now),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`select pg_notify('cointill', 'deliveries')`.execute(trx);
  return row.id;
}

/** Forgets up to `limit` ended deliveries that were made before a time, with their attempts; returns how many. */
export async function forgetDeliveriesBefore(db: Database, before: number, limit: number): Promise<number> {
  const { rows } = await sql<{ gone: bigint }>`
    with old as (
      select id from deliveries where created_at < ${timestamp(before)} and next_attempt_at is null limit ${limit}
    ), attempts as (delete from delivery_attempts a using old where a.delivery_id = old.id),
    gone as (delete from deliveries d using old where d.id = old.id returning 1)
    select count(*) as gone from gone`.execute(db);
  return Number(rows[0]?.gone ?? 0n);
}
