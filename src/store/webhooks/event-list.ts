import { sql, type RawBuilder } from 'kysely';
import type { GapReason } from '../../domain/event-log.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { StoredEventType } from '../../domain/shop-message.ts';
import type { Database, Trx } from '../database.ts';
import { EVENT_PAYMENT, type EventPayment } from './delivery-list.ts';

/** Filters of the list; null fields do not restrict. */
export interface EventSearch {
  readonly type: StoredEventType | null;
  readonly paymentId: string | null;
  readonly createdFrom: number | null;
}

export interface EventFacts extends EventPayment {
  readonly id: string;
  readonly type: StoredEventType;
  readonly createdAt: number;
}

export interface ListedEvent extends EventFacts {
  readonly position: bigint;
  readonly deliveries: number;
  readonly delivered: number;
}

/** The positions from `from` to its own, whose events nobody knows. */
export interface ListedGap {
  readonly position: bigint;
  readonly from: bigint;
  readonly reason: GapReason;
}

interface EventListPage {
  readonly entries: readonly (ListedEvent | ListedGap)[];
  /** The position below which the next page begins; null at the end. */
  readonly next: bigint | null;
}

/** Up to `limit` events below a position; null begins at the newest. */
interface Part {
  readonly below: bigint | null;
  readonly limit: number;
}

/** A page of a log, newest first. Filters leave out no gap, except those from before the payment. */
export async function listLog(
  db: Database,
  scope: ProjectMode,
  search: EventSearch,
  { below, limit }: Part,
): Promise<EventListPage> {
  const { paymentId, createdFrom } = search;
  const found = await newestEvents(db, scope, search, { below, limit: limit + 1 });
  const isInTime = ({ createdAt }: ListedEvent): boolean => createdFrom === null || createdAt >= createdFrom;
  const end = found.findIndex((event, index) => index === limit || !isInTime(event));
  const older = found[end];
  const shown = older === undefined ? found : found.slice(0, end);
  const last = shown.at(-1)?.position ?? null;
  const next = older !== undefined && isInTime(older) ? last : null;
  const above = next ?? (paymentId === null ? (older?.position ?? 0n) : last);
  const gaps = above === null ? [] : await gapsBetween(db, scope, above, below);
  return { entries: [...shown, ...gaps].toSorted((a, b) => (a.position < b.position ? 1 : -1)), next };
}

async function newestEvents(
  db: Database,
  scope: ProjectMode,
  search: EventSearch,
  part: Part,
): Promise<readonly ListedEvent[]> {
  const { source, order } = sourceOf(scope, search, part);
  const { rows } = await sql<ListedEvent>`
    select listed.position, e.id, e.type, e.created_at as "createdAt", e.payment_id as "paymentId", ${EVENT_PAYMENT},
      sent.*
    from (${source} order by ${order} limit ${part.limit}) listed join events e on e.id = listed.event_id
    left join payments p on p.id = e.payment_id
    cross join lateral (
      select count(*)::integer as deliveries, (count(*) filter (where state = 'delivered'))::integer as delivered
      from deliveries where event_id = e.id
    ) sent
    order by ${order}`.execute(db);
  return rows;
}

/**
 * The index to read along. That of types has ids, but no positions: two events that were made at the same time may be
 * on each other's page, but none is left out.
 */
function sourceOf(
  { projectId, mode }: ProjectMode,
  { type, paymentId }: EventSearch,
  { below }: Part,
): { readonly source: RawBuilder<unknown>; readonly order: RawBuilder<unknown> } {
  const own = sql`project_id = ${projectId}::uuid and mode = ${mode}`;
  const positions = sql`select position, event_id from event_positions where ${own}
    and ${below === null ? sql`true` : sql`position < ${below}::bigint`}`;
  if (paymentId !== null) {
    const isWanted = type === null ? sql`true` : sql`type = ${type}`;
    const events = sql`select id from events where payment_id = ${paymentId}::uuid and ${own} and ${isWanted}`;
    return { source: sql`${positions} and event_id = any (array(${events}))`, order: sql`position desc` };
  }
  if (type === null) return { source: sql`${positions} and event_id is not null`, order: sql`position desc` };
  const start = sql`select event_id from event_positions where ${own} and position = ${below}::bigint`;
  const source = sql`select l.position, l.event_id
    from (select id from events where ${own} and type = ${type} and ${below === null ? sql`true` : sql`id < (${start})`}) e
    join event_positions l on l.event_id = e.id`;
  return { source, order: sql`event_id desc` };
}

async function gapsBetween(
  db: Database,
  { projectId, mode }: ProjectMode,
  above: bigint,
  below: bigint | null,
): Promise<readonly ListedGap[]> {
  const isBelow = below === null ? sql`true` : sql`position < ${below}::bigint`;
  const { rows } = await sql<ListedGap>`
    select position, gap_from as "from", gap_reason as reason from event_positions
    where project_id = ${projectId}::uuid and mode = ${mode} and event_id is null
      and position > ${above}::bigint and ${isBelow}`.execute(db);
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

/** Keeps an event from being deleted until the transaction ends; false if it is not there any more. */
export async function holdEvent(trx: Trx, id: string): Promise<boolean> {
  const { rows } = await sql`select from events where id = ${id}::uuid for key share`.execute(trx);
  return rows.length > 0;
}
