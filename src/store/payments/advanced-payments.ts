import { sql } from 'kysely';
import { timestamp, type Database, type Trx } from '../database.ts';

/** Up to when the time of a test payment was moved; null if it never was. */
export async function advancedTo(db: Database | Trx, paymentId: string): Promise<number | null> {
  const row = await db
    .selectFrom('advanced_payments')
    .select('advanced_to as advancedTo')
    .where('payment_id', '=', paymentId)
    .executeTakeFirst();
  return row?.advancedTo ?? null;
}

/** Keeps up to when the time of a test payment was moved; the latest time counts. */
export async function keepAdvancedTo(trx: Trx, paymentId: string, at: number): Promise<void> {
  await sql`
    insert into advanced_payments as known (payment_id, advanced_to) values (${paymentId}, ${timestamp(at)})
    on conflict (payment_id) do update set advanced_to = greatest(known.advanced_to, excluded.advanced_to)`.execute(
    trx,
  );
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
