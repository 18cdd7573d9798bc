import { sql } from 'kysely';
import type { Mode } from '../../domain/permission.ts';
import type { Database, Trx } from '../database.ts';
import { UNFLUSHED } from './deliveries.ts';
import { TABLES, type Tables } from '../tables.ts';

/** The outcome of one attempt, and what happens to its delivery next. */
export interface AttemptRecord {
  readonly deliveryId: bigint;
  /** The lease under which it was attempted; null: a person waited for it. */
  readonly leaseUntil: number | null;
  /** Whether a person asked for the attempt: an extra one, which changes the schedule only if it is acknowledged. */
  readonly isManual: boolean;
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
  /** The event that was sent, if its body has customers' data, which the answer may repeat; null if it has none. */
  readonly personal: { readonly eventId: string; readonly bodySha256: string } | null;
  readonly next:
    | { readonly kind: 'delivered'; readonly at: number }
    | { readonly kind: 'again'; readonly at: number }
    | { readonly kind: 'failed' }
    | { readonly kind: 'as_scheduled' };
}

const FLUSHED = sql`unflushed as materialized (select null as setting)`;

const ATTEMPT = Object.entries(TABLES.delivery_attempts).filter(([name]) => name !== 'id');
const ATTEMPT_NAMES = ATTEMPT.map(([name]) => name).join(', ');
/** The columns of an endpoint's answer, which may repeat the event. */
const ANSWERED = ['response_headers', 'response_body'];
const ATTEMPT_VALUES = ATTEMPT.map(([name]) =>
  ANSWERED.includes(name) ? `case when h.is_cleared is not true then a.${name} end` : `a.${name}`,
).join(', ');
const ATTEMPT_TYPES = ATTEMPT.map(([name, { sqlType }]) => `${name} ${sqlType}`).join(', ');
type AttemptRow = Readonly<
  Record<
    Exclude<keyof Tables['delivery_attempts'], 'id'> | 'lease_until' | 'next' | 'next_at' | 'event_id' | 'body_sha256',
    unknown
  >
>;

/**
 * Records attempts and updates their deliveries, all in one statement. A delivered one never waits again. If an
 * attempt's lease was lost meanwhile (claimed by another worker, cancelled, retried manually), it is logged but changes
 * nothing unless it was acknowledged: the lease's holder decides about the schedule. If the customers' data were
 * deleted from an event since its body was sent, only the status of the endpoint's answer is kept. `isFlushed`: the
 * commit waits for the disk, because a next message follows from it that may not be sent before this one again.
 */
export async function recordAttempts(
  executor: Database | Trx,
  records: readonly AttemptRecord[],
  { isFlushed = false }: { readonly isFlushed?: boolean } = {},
): Promise<void> {
  const rows = records.map((record): AttemptRow => ({
    delivery_id: String(record.deliveryId),
    lease_until: record.leaseUntil === null ? null : new Date(record.leaseUntil).toISOString(),
    manual: record.isManual,
    started_at: new Date(record.startedAt).toISOString(),
    duration_ms: Math.round(record.durationMs),
    request_headers: record.requestHeaders,
    response_status: record.response?.status,
    response_headers: record.response?.headers,
    response_body: record.response?.body,
    response_truncated: record.response?.truncated ?? false,
    error_stage: record.error?.stage,
    error: record.error?.message,
    event_id: record.personal?.eventId,
    body_sha256: record.personal?.bodySha256,
    next: record.next.kind,
    next_at: 'at' in record.next ? new Date(record.next.at).toISOString() : null,
  }));
  await sql`
    with ${isFlushed ? FLUSHED : UNFLUSHED}, attempt as materialized (
      select * from json_to_recordset(${storableJson(rows)}::json) as a (
        ${sql.raw(ATTEMPT_TYPES)}, lease_until timestamptz, next text, next_at timestamptz, event_id uuid, body_sha256 text)
    ), sent as materialized (
      -- A deletion of customers' data ends before this statement reads, or clears what it records.
      select id, body from events
      where id = any (array(select event_id from attempt where event_id is not null))
    ), recorded as (
      insert into delivery_attempts (${sql.raw(ATTEMPT_NAMES)})
      select ${sql.raw(ATTEMPT_VALUES)} from attempt a left join lateral (
        select encode(sha256(convert_to(sent.body, 'UTF8')), 'hex') <> a.body_sha256 as is_cleared
        from sent where sent.id = a.event_id
      ) h on true
    ), retried as (
      update retried_deliveries r set attempted = true
      where not r.attempted
        and r.delivery_id = any (array(select delivery_id from attempt where manual and lease_until is not null))
      returning r.retry_id, r.delivery_id, r.state, r.next_attempt_at
    ), former as (
      select distinct on (delivery_id) delivery_id, state, next_attempt_at from retried
      order by delivery_id, retry_id desc
    )
    update deliveries d set
      attempts = d.attempts + case when d.next_attempt_at = a.lease_until and not a.manual then 1 else 0 end,
      state = case when a.next = 'delivered' then 'delivered'
        when d.next_attempt_at is distinct from a.lease_until then d.state
        when a.next = 'failed' then 'failed'
        when f.delivery_id is not null then f.state else d.state end,
      next_attempt_at = case when a.next = 'delivered' then null
        when d.next_attempt_at is distinct from a.lease_until then d.next_attempt_at
        when a.next <> 'as_scheduled' then a.next_at
        when f.delivery_id is not null then f.next_attempt_at else d.next_attempt_at end,
      delivered_at = case when a.next = 'delivered' then a.next_at else d.delivered_at end
    from unflushed cross join attempt a left join former f on f.delivery_id = a.delivery_id
    where d.id = any (array(select delivery_id from attempt)) and d.id = a.delivery_id and d.state <> 'delivered'
  `.execute(executor);
}

/**
 * JSON without characters that PostgreSQL cannot store (NUL, lone surrogates), so that no answer makes other records
 * fail.
 */
function storableJson(rows: readonly object[]): string {
  const text = JSON.stringify(rows);
  if (!/\\u(0000|d[89a-f])/.test(text)) return text;
  return JSON.stringify(rows, (_name, value: unknown) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\uFFFD') : value,
  );
}

export interface NewestAttempt {
  readonly id: bigint;
  readonly projectId: string;
  readonly mode: Mode;
}

/** The newest attempts of all projects. */
export async function newestAttempts(db: Database, limit: number): Promise<readonly NewestAttempt[]> {
  const { rows } = await sql<NewestAttempt>`
    select a.id, w.project_id as "projectId", w.mode
    from (select id, delivery_id from delivery_attempts order by id desc limit ${limit}) a
    join deliveries d on d.id = a.delivery_id join webhook_endpoints w on w.id = d.endpoint_id`.execute(db);
  return rows;
}
