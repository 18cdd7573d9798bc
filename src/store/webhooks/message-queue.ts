import { sql } from 'kysely';
import { MAX_DELIVERY_ATTEMPTS } from '../../domain/retry-schedule.ts';
import { OUTAGE_STATUSES, OVERTAKEN_AFTER } from '../../domain/shop-message.ts';
import { timestamp, type Database, type Trx } from '../database.ts';
import { wake } from '../wake.ts';

/*
 * The order of messages: those about one invoice reach an endpoint one after the other. The unfinished ones have a row
 * in `message_queue`; only the oldest of an endpoint and payment, the head, has a next attempt. Whoever inserts
 * messages or moves the queue on holds the payment's lock, so that none is left waiting without a head.
 */

/** The unfinished messages to one endpoint about one payment. */
export interface Lane {
  readonly endpointId: string;
  readonly paymentId: string;
}

/** A head whose attempt failed: it is given up if that was its last chance and a newer message waits. */
export interface FailedHead {
  readonly id: bigint;
  /** Its next attempt, by which it is known that nobody else has claimed it meanwhile. */
  readonly nextAttemptAt: number;
  /** The shop was down: it is not given up, and attempted again soon. */
  readonly isShopDown: boolean;
}

const MINUTE_MS = 60_000;
/**
 * A head that newer messages wait for is attempted every minute, and once it is ten minutes old every five. While the
 * shop is down, these attempts use up none of its ten for three days.
 */
const HURRY = { youngMs: 10 * MINUTE_MS, waitMs: MINUTE_MS, laterMs: 5 * MINUTE_MS, longestMs: 72 * 60 * MINUTE_MS };
const MOST_USED = MAX_DELIVERY_ATTEMPTS - 1 - OVERTAKEN_AFTER;

/** The lanes in which these deliveries are. */
export async function lanesOf(executor: Database | Trx, deliveryIds: readonly bigint[]): Promise<readonly Lane[]> {
  const { rows } = await sql<Lane>`
    select distinct endpoint_id as "endpointId", payment_id as "paymentId" from message_queue
    where delivery_id = any (${deliveryIds.map(String)}::bigint[])`.execute(executor);
  return rows;
}

/** Locks the payments of lanes, in the order in which everybody locks payments. */
export async function lockLanes(trx: Trx, lanes: readonly Lane[]): Promise<void> {
  const paymentIds = [...new Set(lanes.map(({ paymentId }) => paymentId))];
  await sql`select from payments where id = any (${paymentIds}::uuid[]) order by id for update`.execute(trx);
}

/** Longer than a lease: a delivery whose next attempt is later is not being sent. */
export const LONGEST_LEASE_MS = 65_000;

/**
 * Moves lanes on, whose payments are locked: finished messages leave, failed heads that newer messages wait for are
 * given up, and the next one of each lane becomes due. So does a head that failed often before and would only be
 * attempted later.
 */
export async function moveOn(
  trx: Trx,
  lanes: readonly Lane[],
  { failed, now }: { readonly failed: readonly FailedHead[]; readonly now: number },
): Promise<void> {
  const heads = failed.map(({ id, nextAttemptAt, isShopDown }) => ({
    id: String(id),
    at: new Date(nextAttemptAt).toISOString(),
    down: isShopDown,
  }));
  const { rows } = await sql<{ readonly hasDue: boolean }>`
    with lane as materialized (
      select q.endpoint_id, q.payment_id, q.delivery_id, d.state, d.attempts, d.next_attempt_at,
        lead(q.delivery_id) over (partition by q.endpoint_id, q.payment_id order by q.delivery_id) is not null as has_newer
      from message_queue q left join deliveries d on d.id = q.delivery_id
      where (q.endpoint_id, q.payment_id) in (select * from unnest(
        ${lanes.map(({ endpointId }) => endpointId)}::uuid[], ${lanes.map(({ paymentId }) => paymentId)}::uuid[]))
    ), failed as materialized (
      select l.delivery_id, l.attempts, f.down from lane l
      join json_to_recordset(${JSON.stringify(heads)}::json) as f (id bigint, at timestamptz, down boolean)
        on f.id = l.delivery_id and f.at = l.next_attempt_at
      where l.state = 'waiting' and l.has_newer
    ), overtaken as materialized (
      select f.delivery_id from failed f where not f.down and ${OVERTAKEN_AFTER} <= (
        select count(*) from delivery_attempts a where a.delivery_id = f.delivery_id
          and a.response_status is not null and a.response_status <> all (${[...OUTAGE_STATUSES]}::smallint[]))
    ), finished as materialized (
      select delivery_id from lane where state is distinct from 'waiting'
      union all select delivery_id from overtaken
    ), next as materialized (
      select min(delivery_id) as delivery_id from lane
      where delivery_id <> all (array(select delivery_id from finished)) group by endpoint_id, payment_id
    ), due as materialized (
      select l.delivery_id from lane l join next n on n.delivery_id = l.delivery_id
      where l.next_attempt_at is null or (l.attempts >= ${OVERTAKEN_AFTER} and l.has_newer
        and l.next_attempt_at > ${timestamp(now + LONGEST_LEASE_MS)}
        and l.delivery_id <> all (array(select delivery_id from failed)))
    ), moved as (
      update deliveries d set
        state = case when d.id = any (array(select delivery_id from overtaken)) then 'overtaken' else d.state end,
        next_attempt_at = case when d.id = any (array(select delivery_id from overtaken)) then null
          when d.id = any (array(select delivery_id from due)) then least(d.created_at, clock_timestamp())
          when d.id = any (array(select delivery_id from failed))
          then least(d.next_attempt_at, case when d.created_at > ${timestamp(now - HURRY.youngMs)}
            then ${timestamp(now + HURRY.waitMs)} else ${timestamp(now + HURRY.laterMs)} end) end,
        attempts = case when d.id = any (array(select delivery_id from failed where down))
            and d.created_at > ${timestamp(now - HURRY.longestMs)}
          then least(d.attempts, ${MOST_USED}) else d.attempts end
      where d.id = any (array(
          select delivery_id from failed union all select delivery_id from due))
        and d.state = 'waiting'
    ), gone as (
      delete from message_queue where delivery_id = any (array(select delivery_id from finished))
    )
    select exists (select from due) as "hasDue"`.execute(trx);
  if (rows[0]?.hasDue === true) await wake(trx, ['deliveries']);
}

/** Ends the lanes of a closed endpoint: all that waits in them is stopped. Locked rows are about to be removed. */
export async function endLanes(trx: Trx, endpointId: string): Promise<void> {
  await sql`
    with gone as materialized (
      delete from message_queue where delivery_id = any (array(
        select delivery_id from message_queue where endpoint_id = ${endpointId}::uuid for update skip locked))
      returning delivery_id
    )
    update deliveries set state = 'stopped' where id = any (array(
      select id from deliveries where id = any (array(select delivery_id from gone))
        and state = 'waiting' and next_attempt_at is null
      for update skip locked))`.execute(trx);
}

/** Whether a delivery waits for an earlier message. */
export async function isHeld(db: Database, id: bigint): Promise<boolean> {
  const { rows } = await sql`
    select from deliveries where id = ${id}::bigint and state = 'waiting' and next_attempt_at is null`.execute(db);
  return rows.length > 0;
}

/**
 * Up to `limit` lanes that nothing moves on any more, because a process of another version sent their head, and closed
 * endpoints that got a message while they were being closed.
 */
export async function strayLanes(
  db: Database,
  limit: number,
): Promise<{ readonly stuck: readonly Lane[]; readonly closed: readonly string[] }> {
  const { rows: stuck } = await sql<Lane>`
    select q.endpoint_id as "endpointId", q.payment_id as "paymentId"
    from message_queue q left join deliveries d on d.id = q.delivery_id
    group by q.endpoint_id, q.payment_id having count(d.next_attempt_at) = 0 limit ${limit}`.execute(db);
  const { rows: closed } = await sql<{ readonly id: string }>`
    select id from webhook_endpoints w where (deleted_at is not null or disabled_at is not null)
      and exists (select from message_queue where endpoint_id = w.id)`.execute(db);
  return { stuck, closed: closed.map(({ id }) => id) };
}
