import { sql } from 'kysely';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';
import { wake } from '../wake.ts';
import { findRow, insertRows, updateRows } from '../rows.ts';
import type { ProjectMode } from '../../domain/permission.ts';

/** The progress of deliveries that are sent again together. */
export interface RetryProgress {
  readonly id: string;
  readonly startedAt: number;
  readonly stoppedAt: number | null;
  readonly total: number;
  /** Deliveries attempted since, or given up because their endpoint was deleted or disabled. */
  readonly done: number;
  readonly delivered: number;
}

/** Makes deliveries due at once and saves their former state. They must be locked and not delivered. */
export async function insertRetry(
  trx: Trx,
  { id, projectId, mode }: ProjectMode & { readonly id: string },
  deliveryIds: readonly bigint[],
  now: number,
): Promise<void> {
  const row = { id, projectId, mode, startedAt: now, total: deliveryIds.length, stoppedAt: null };
  await insertRows(trx, 'delivery_retries', [row]);
  await sql`
    with kept as (
      insert into retried_deliveries (retry_id, delivery_id, state, next_attempt_at, attempted)
      select ${id}::uuid, d.id, d.state, d.next_attempt_at, false from deliveries d
      where d.id = any (${deliveryIds.map(String)}::bigint[])
    )
    update deliveries set state = 'waiting', next_attempt_at = ${timestamp(now)}
    where id = any (${deliveryIds.map(String)}::bigint[])`.execute(trx);
  await wake(trx, ['deliveries']);
}

/** The progress of a retry; null if there is none in this project and mode. */
export async function findRetry(
  executor: Database | Trx,
  { projectId, mode }: ProjectMode,
  id: string,
): Promise<RetryProgress | null> {
  const { rows } = await sql<RetryProgress>`
    select t.id, t.started_at as "startedAt", t.stopped_at as "stoppedAt", t.total,
      (count(*) filter (where d.id is null or r.attempted or d.state = 'delivered'
        or (t.stopped_at is null and d.state <> 'waiting')))::integer as done,
      (count(*) filter (where d.state = 'delivered'))::integer as delivered
    from delivery_retries t
    join retried_deliveries r on r.retry_id = t.id
    left join deliveries d on d.id = r.delivery_id
    where t.id = ${id}::uuid and t.project_id = ${projectId}::uuid and t.mode = ${mode} group by t.id`.execute(
    executor,
  );
  return rows[0] ?? null;
}

/** The id of the newest retry of a project and mode; null if there is none. */
export async function newestRetry(db: Database | Trx, { projectId, mode }: ProjectMode): Promise<string | null> {
  const newest = await findRow(db, 'delivery_retries', { projectId, mode }, { order: ['id desc'], limit: 1 });
  return newest?.id ?? null;
}

/**
 * Restores the former state of deliveries that were not claimed yet; attempts under way are finished. False if the
 * retry was stopped already.
 */
export async function endRetry(trx: Trx, id: string, now: number): Promise<boolean> {
  if ((await updateRows(trx, 'delivery_retries', { id, stoppedAt: null }, { stoppedAt: now })) === 0) return false;
  // Claimed deliveries have a lease, which is later than the time at which they became due.
  await sql`
    with ended as (
      update deliveries d set state = r.state, next_attempt_at = r.next_attempt_at
      from retried_deliveries r
      where r.retry_id = ${id}::uuid and d.id = any (array(
          select l.id from deliveries l join retried_deliveries q on q.delivery_id = l.id
          where q.retry_id = ${id}::uuid and not q.attempted and l.state = 'waiting'
            and l.next_attempt_at <= ${timestamp(now)}
          order by l.id for update of l skip locked
        )) and d.id = r.delivery_id
      returning d.id
    )
    delete from retried_deliveries
    where retry_id = ${id}::uuid and delivery_id = any (array(select id from ended))`.execute(trx);
  return true;
}

/** Deletes up to `limit` retries that were started before a time; returns how many. */
export async function purgeRetriesBefore(db: Database, before: number, limit: number): Promise<number> {
  return affectedRows(
    db,
    sql`delete from delivery_retries where id in (
      select id from delivery_retries where started_at < ${timestamp(before)} limit ${limit})`,
  );
}
