import { sql, type RawBuilder } from 'kysely';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Fiat } from '../../domain/money.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import type { DeliveryState } from '../schema/webhooks.ts';
import { fields, findRows, type Stored } from '../rows.ts';

/** Filters of a list of deliveries; null fields do not restrict. */
export interface DeliverySearch {
  readonly endpointId: string | null;
  readonly types: readonly string[] | null;
  /** One that waits for its next attempt after a failed one counts as failed, as every list shows it. */
  readonly state: DeliveryState | null;
  /**
   * The status code of the latest answer, or `none`. Codes outside of 200 to 299 select only deliveries that did not
   * arrive.
   */
  readonly answer: number | 'none' | null;
  /** When the delivery was created, from inclusive, before exclusive. */
  readonly createdFrom: number | null;
  readonly createdBefore: number | null;
  readonly paymentId: string | null;
}

/** The payment that an event is about; all null without one. */
export interface EventPayment {
  readonly paymentId: string | null;
  /** The merchant's order id, or the number of a transaction. */
  readonly paymentName: string | null;
  readonly api: PaymentApi | null;
  readonly amountMinor: bigint | null;
  readonly currency: Fiat | null;
}

/** A delivery in a list. */
export interface DeliveryRow extends EventPayment {
  readonly id: bigint;
  readonly endpointId: string;
  readonly url: string;
  readonly eventId: string;
  readonly type: string;
  readonly state: DeliveryState;
  readonly nextAttemptAt: number | null;
  readonly createdAt: number;
  /** Four facts of the latest attempt; null before the first. */
  readonly attemptedAt: number | null;
  readonly durationMs: number | null;
  readonly responseStatus: number | null;
  readonly errorStage: string | null;
}

/** Types with fewer events than this are searched by their events, because few deliveries are about them. */
const MAX_RARE_EVENTS = 2_000;

/**
 * The deliveries of a project and mode to all of its endpoints, including deleted ones, newest first; `after` is the
 * last one of the page before.
 */
export async function searchDeliveries(
  executor: Database | Trx,
  scope: ProjectMode,
  search: DeliverySearch,
  page: { readonly after: bigint | null; readonly limit: number },
): Promise<readonly DeliveryRow[]> {
  const condition = await conditionOf(executor, scope, search);
  const after = page.after === null ? sql`` : sql`and d.id < ${page.after}::bigint`;
  const { rows } = await sql<DeliveryRow>`
    select found.*, ${EVENT_PAYMENT} from (
      ${endpointsOf(scope, search)} cross join lateral (
        select ${COLUMNS} from ${SOURCES}
        where d.endpoint_id = w.id ${after} and ${condition}
        order by d.id desc limit ${page.limit}
      ) d order by d.id desc limit ${page.limit}
    ) found left join payments p on p.id = found."paymentId"
    order by found.id desc`.execute(executor);
  return rows;
}

/** The newest deliveries that did not arrive and could be sent, at most `limit`, locked for a change. */
export async function lockUndelivered(
  trx: Trx,
  scope: ProjectMode,
  search: DeliverySearch,
  limit: number,
): Promise<readonly bigint[]> {
  const condition = await conditionOf(trx, scope, search);
  const { rows } = await sql<{ id: bigint }>`
    select id from deliveries where id = any (array(
      select d.id from (
        ${endpointsOf(scope, search)} cross join lateral (
          select d.id from ${SOURCES}
          where d.endpoint_id = w.id and d.state <> 'delivered' and (w.format is null or ${IS_NEWEST}) and ${condition}
          order by d.id desc limit ${limit}
        ) d
        where w.deleted_at is null and w.disabled_at is null and w.paused_at is null
        order by d.id desc limit ${limit}
      ) d
    )) and state <> 'delivered' order by id for update skip locked`.execute(trx);
  return rows.map(({ id }) => id);
}

/**
 * Whether a message `d` of the event `e` neither waits for an earlier one nor was followed by a newer one about its
 * invoice: sent again, it would take a shop's order back.
 */
const IS_NEWEST = sql`(d.next_attempt_at is not null or d.state <> 'waiting') and not exists (
  select from events n join deliveries m on m.event_id = n.id
  where n.payment_id = e.payment_id and m.endpoint_id = d.endpoint_id and m.id > d.id)`;

/** The payment `p` as a row tells of it, beside its id. */
export const EVENT_PAYMENT = sql`p.surface as api, coalesce(p.merchant_order_id, p.transaction_number) as "paymentName",
  p.amount_minor as "amountMinor", p.currency`;

/** A delivery `d` with its event `e` and its latest attempt `a`. */
export const SOURCES = sql`deliveries d join events e on e.id = d.event_id
  left join lateral (
    select a.id, a.started_at, a.duration_ms, a.response_status, a.error_stage from delivery_attempts a
    where a.delivery_id = d.id order by a.id desc limit 1
  ) a on true`;

export const COLUMNS = sql`d.id, d.event_id as "eventId", e.type, d.state, d.next_attempt_at as "nextAttemptAt",
  d.created_at as "createdAt", e.payment_id as "paymentId", a.started_at as "attemptedAt",
  a.duration_ms as "durationMs", a.response_status as "responseStatus", a.error_stage as "errorStage"`;

/** The first part of a list: each endpoint has its deliveries in an index, newest first. */
function endpointsOf({ projectId, mode }: ProjectMode, { endpointId }: DeliverySearch): RawBuilder<unknown> {
  const only = endpointId === null ? sql`` : sql`and id = ${endpointId}::uuid`;
  return sql`select w.id as "endpointId", w.url, d.* from (
    select id, url, format, deleted_at, disabled_at, paused_at from webhook_endpoints
    where project_id = ${projectId}::uuid and mode = ${mode} ${only}
  ) w`;
}

async function conditionOf(
  executor: Database | Trx,
  scope: ProjectMode,
  { types, state, answer, createdFrom, createdBefore, paymentId }: DeliverySearch,
): Promise<RawBuilder<unknown>> {
  const parts = [sql`true`];
  if (state !== null) parts.push(IN_STATE[state]);
  if (createdFrom !== null) parts.push(sql`d.created_at >= ${timestamp(createdFrom)}`);
  if (createdBefore !== null) parts.push(sql`d.created_at < ${timestamp(createdBefore)}`);
  if (answer === 'none') parts.push(sql`a.id is not null and a.response_status is null`);
  else if (answer !== null) parts.push(sql`a.response_status = ${answer}`);
  // Deliveries that did not arrive are few, and in an index of their own.
  if (answer !== null && (answer === 'none' || answer < 200 || answer > 299)) parts.push(UNDELIVERED);
  if (paymentId !== null) {
    parts.push(sql`d.event_id = any (array(select id from events where payment_id = ${paymentId}::uuid))`);
  }
  if (types !== null) {
    const rare = await rareEvents(executor, scope, types);
    parts.push(sql`e.type = any (${[...types]}::text[])`);
    if (rare !== null) parts.push(sql`d.event_id = any (${[...rare]}::uuid[])`);
  }
  return sql`${sql.join(parts, sql` and `)}`;
}

/** Deliveries that did not arrive are few, and in an index of their own. */
const IN_STATE: Readonly<Record<DeliveryState, RawBuilder<unknown>>> = {
  waiting: sql`d.state = 'waiting' and (a.id is null or d.next_attempt_at is null)`,
  delivered: sql`d.state = 'delivered'`,
  failed: sql`(d.state = 'failed' or (d.state = 'waiting' and d.next_attempt_at is not null and a.id is not null))`,
  stopped: sql`d.state = 'stopped'`,
  overtaken: sql`d.state = 'overtaken'`,
};

const UNDELIVERED = sql`(d.state in ('failed', 'stopped') or d.state = 'overtaken' or d.next_attempt_at is not null)`;

/** The events of these types if they are few; null if they are many, or for all types. */
async function rareEvents(
  executor: Database | Trx,
  { projectId, mode }: ProjectMode,
  types: readonly string[],
): Promise<readonly string[] | null> {
  const { rows } = await sql<{ id: string }>`
    select id from events where project_id = ${projectId}::uuid and mode = ${mode} and type = any (${[...types]}::text[])
    limit ${MAX_RARE_EVENTS + 1}`.execute(executor);
  return rows.length > MAX_RARE_EVENTS ? null : rows.map(({ id }) => id);
}

/** One attempt with its full request and answer. */
export type AttemptDetails = Omit<Stored<'delivery_attempts'>, 'id' | 'deliveryId'>;

export const ATTEMPT = fields('delivery_attempts', { without: ['id', 'delivery_id'] });

export interface DeliveryDetails extends DeliveryRow {
  readonly body: string;
  readonly deliveredAt: number | null;
  readonly endpointState: 'on' | 'paused' | 'disabled' | 'deleted';
  /** Newest first. */
  readonly attempts: readonly AttemptDetails[];
}

/** A delivery with its newest attempts; null if there is none in this project and mode. */
export async function findDeliveryDetails(
  db: Database,
  { projectId, mode }: ProjectMode,
  id: bigint,
  maxAttempts: number,
): Promise<DeliveryDetails | null> {
  const { rows } = await sql<Omit<DeliveryDetails, 'attempts'>>`
    select ${COLUMNS}, w.id as "endpointId", w.url, ${EVENT_PAYMENT}, e.body, d.delivered_at as "deliveredAt",
      case when w.deleted_at is not null then 'deleted' when w.disabled_at is not null then 'disabled'
        when w.paused_at is not null then 'paused' else 'on' end as "endpointState"
    from ${SOURCES} join webhook_endpoints w on w.id = d.endpoint_id left join payments p on p.id = e.payment_id
    where d.id = ${id}::bigint and w.project_id = ${projectId}::uuid and w.mode = ${mode}`.execute(db);
  const [row] = rows;
  if (row === undefined) return null;
  const newest = { without: ['id', 'delivery_id'], order: ['id desc'], limit: maxAttempts } as const;
  const attempts = await findRows(db, 'delivery_attempts', { deliveryId: id }, newest);
  return { ...row, attempts };
}

/** The deliveries of an event to the endpoints of its project, oldest first. */
export async function deliveriesOfEvent(db: Database, eventId: string): Promise<readonly EventDelivery[]> {
  const { rows } = await sql<EventDelivery>`
    select d.id, d.endpoint_id as "endpointId", w.url, d.state, d.attempts, d.next_attempt_at as "nextAttemptAt",
      (select response_status from delivery_attempts where delivery_id = d.id order by id desc limit 1) as "lastStatus"
    from deliveries d join webhook_endpoints w on w.id = d.endpoint_id
    where d.event_id = ${eventId}::uuid order by d.id`.execute(db);
  return rows;
}

export interface EventDelivery {
  readonly id: bigint;
  readonly endpointId: string;
  readonly url: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly nextAttemptAt: number | null;
  /** The status code of the latest answer. */
  readonly lastStatus: number | null;
}
