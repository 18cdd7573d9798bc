import { sql } from 'kysely';
import { EVENT_TYPES, type EventType } from '../../domain/event-type.ts';
import { firstUuidOf } from '../../domain/id.ts';
import type { Database } from '../database.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import { EVENT_PAYMENT, type EventPayment } from './delivery-list.ts';

/** Filters of the log of events; null fields do not restrict. */
export interface EventSearch {
  readonly types: readonly EventType[] | null;
  readonly paymentId: string | null;
  readonly createdFrom: number | null;
  readonly createdBefore: number | null;
}

export interface EventFacts extends EventPayment {
  readonly id: string;
  readonly type: EventType;
  readonly createdAt: number;
}

export interface EventRow extends EventFacts {
  readonly deliveries: number;
  readonly delivered: number;
}

/**
 * The events of a project and mode, newest first; `after` is the last one of the page before. Each type is read along
 * its index.
 */
export async function searchEvents(
  db: Database,
  { projectId, mode }: ProjectMode,
  { types, paymentId, createdFrom, createdBefore }: EventSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly EventRow[]> {
  const parts = [sql`project_id = ${projectId}::uuid and mode = ${mode}`];
  if (page.after !== null) parts.push(sql`id < ${page.after}::uuid`);
  if (createdFrom !== null) parts.push(sql`id >= ${firstUuidOf(createdFrom)}::uuid`);
  if (createdBefore !== null) parts.push(sql`id < ${firstUuidOf(createdBefore)}::uuid`);
  const condition = sql.join(parts, sql` and `);
  const wanted = types ?? EVENT_TYPES;
  const newest =
    paymentId === null
      ? sql`select e.* from unnest(${[...wanted]}::text[]) as wanted (type) cross join lateral (
          select id, type, created_at, payment_id from events
          where ${condition} and type = wanted.type order by id desc limit ${page.limit}
        ) e`
      : sql`select id, type, created_at, payment_id from events
          where payment_id = ${paymentId}::uuid and ${condition} and type = any (${[...wanted]}::text[])`;
  const { rows } = await sql<EventRow>`
    select e.id, e.type, e.created_at as "createdAt", e.payment_id as "paymentId", ${EVENT_PAYMENT}, sent.*
    from (select * from (${newest}) e order by id desc limit ${page.limit}) e
    left join payments p on p.id = e.payment_id
    cross join lateral (
      select count(*)::integer as deliveries, (count(*) filter (where state = 'delivered'))::integer as delivered
      from deliveries where event_id = e.id
    ) sent
    order by e.id desc`.execute(db);
  return rows;
}

/** An event in the form that is sent. */
export interface StoredEvent extends EventFacts {
  readonly requestId: string | null;
  /** The exact bytes that are sent. */
  readonly body: string;
}

export async function findEvent(
  db: Database,
  { projectId, mode }: ProjectMode,
  id: string,
): Promise<StoredEvent | null> {
  const { rows } = await sql<StoredEvent>`
    select e.id, e.type, e.created_at as "createdAt", e.payment_id as "paymentId", ${EVENT_PAYMENT}, e.request_id as "requestId", e.body
    from events e left join payments p on p.id = e.payment_id
    where e.id = ${id}::uuid and e.project_id = ${projectId}::uuid and e.mode = ${mode}`.execute(db);
  return rows[0] ?? null;
}
