import { sql } from 'kysely';
import { affectedRows, timestamp, type Database, type Trx } from '../database.ts';

/** The time of a test payment, held by one caller. */
export interface HeldTime {
  /** Up to when it was moved; null if it never was. */
  readonly advancedTo: number | null;
}

/** Holds the time of a payment until `until`; null while somebody else does. */
export async function holdTime(
  db: Database,
  paymentId: string,
  { now, until }: { readonly now: number; readonly until: number },
): Promise<HeldTime | null> {
  const { rows } = await sql<HeldTime>`
    insert into advanced_payments as known (payment_id, held_until) values (${paymentId}, ${timestamp(until)})
    on conflict (payment_id) do update set held_until = excluded.held_until
      where known.held_until is null or known.held_until <= ${timestamp(now)}
    returning advanced_to as "advancedTo"`.execute(db);
  return rows[0] ?? null;
}

/** Holds the time for longer. Returns whether it was still held until `from`. */
export async function holdLonger(db: Database, paymentId: string, from: number, until: number): Promise<boolean> {
  return (
    (await affectedRows(
      db,
      sql`update advanced_payments set held_until = ${timestamp(until)}
        where payment_id = ${paymentId} and held_until = ${timestamp(from)}`,
    )) > 0
  );
}

/** Ends the hold until `from`. */
export async function releaseTime(db: Database, paymentId: string, from: number): Promise<void> {
  await sql`update advanced_payments set held_until = null
    where payment_id = ${paymentId} and held_until = ${timestamp(from)}`.execute(db);
}

/** Keeps up to when the time was moved. The caller holds it. */
export async function keepAdvancedTo(trx: Trx, paymentId: string, at: number): Promise<void> {
  await sql`
    update advanced_payments set advanced_to = ${timestamp(at)}, farthest = greatest(farthest, ${timestamp(at)})
    where payment_id = ${paymentId}`.execute(trx);
}

/** The farthest time to which a test payment was ever moved; null if it never was. */
export async function farthestTime(trx: Trx, paymentId: string): Promise<number | null> {
  const row = await trx
    .selectFrom('advanced_payments')
    .select('farthest')
    .where('payment_id', '=', paymentId)
    .executeTakeFirst();
  return row?.farthest ?? null;
}

/** When the payment itself and the first of its refunds are due; null if they are not. */
export async function dueTimesOf(
  db: Database,
  paymentId: string,
): Promise<{ readonly payment: number | null; readonly refund: number | null }> {
  const { rows } = await sql<{ payment: number | null; refund: number | null }>`
    select p.due_at as payment, (select min(r.due_at) from refunds r where r.payment_id = p.id) as refund
    from payments p where p.id = ${paymentId}`.execute(db);
  return rows[0] ?? { payment: null, refund: null };
}
