import { sql } from 'kysely';
import { nextAttemptDelayMs } from '../../domain/retry-schedule.ts';
import { timestamp, type Database } from '../database.ts';
import { claimPicked, UNFLUSHED, type DueDelivery } from './deliveries.ts';

/** A delivery of a payment's event that waits for its next attempt. */
export interface ScheduledDelivery {
  readonly id: bigint;
  /** When it is attempted next; the end of the lease while a worker holds it. */
  readonly dueAt: number;
  /** When the schedule says that it is attempted next. */
  readonly scheduledAt: number;
}

interface WaitingRow {
  readonly id: bigint;
  readonly dueAt: number;
  readonly attempts: number;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** The waiting deliveries of a payment's events, except those to paused endpoints. */
export async function scheduledDeliveries(db: Database, paymentId: string): Promise<readonly ScheduledDelivery[]> {
  const { rows } = await sql<WaitingRow>`
    select d.id, d.next_attempt_at as "dueAt", d.attempts, d.created_at as "createdAt",
      (select a.started_at + a.duration_ms * interval '1 ms' from delivery_attempts a
       where a.delivery_id = d.id and not a.manual order by a.id desc limit 1) as "endedAt"
    from events e join deliveries d on d.event_id = e.id join webhook_endpoints w on w.id = d.endpoint_id
    where e.payment_id = ${paymentId} and d.next_attempt_at is not null
      and (w.paused_at is null or w.disabled_at is not null or w.deleted_at is not null)`.execute(db);
  return rows.map(({ id, dueAt, attempts, createdAt, endedAt }) => {
    const waitMs = attempts === 0 ? 0 : (nextAttemptDelayMs(attempts) ?? 0);
    return { id, dueAt, scheduledAt: (endedAt ?? createdAt) + waitMs };
  });
}

/** Claims one delivery if it is still due at `dueAt`; null if somebody else claimed, sent or stopped it. */
export async function claimScheduled(
  db: Database,
  { id, dueAt }: Pick<ScheduledDelivery, 'id' | 'dueAt'>,
  leaseUntil: number,
): Promise<DueDelivery | null> {
  const picked = sql`${UNFLUSHED}, picked as materialized (
    select d.id from unflushed cross join deliveries d
    where d.id = ${id} and d.next_attempt_at = ${timestamp(dueAt)} for update of d skip locked
  )`;
  const [claimed] = await claimPicked(db, picked, leaseUntil);
  return claimed ?? null;
}
