import { sql } from 'kysely';
import { decodeId } from '../../domain/id.ts';
import type { Refund } from '../../domain/refund.ts';
import type { Database, Trx } from '../database.ts';

/**
 * The ids of those of these refunds whose address the merchant gave when they were created: in the dashboard, by a key
 * or on the command line. The customer enters that of the others. The event of the creation keeps which it was, and is
 * never purged; a refund without that event counts as one of the merchant's.
 */
export async function withChosenAddress(
  executor: Database | Trx,
  refunds: readonly Pick<Refund, 'id' | 'paymentId' | 'address'>[],
): Promise<ReadonlySet<string>> {
  const addressed = refunds.filter(({ address }) => address !== null);
  if (addressed.length === 0) return new Set();
  const payments = [...new Set(addressed.map(({ paymentId }) => paymentId))];
  const { rows } = await sql<{ id: string }>`
    select data ->> 'id' as id from (
      select body::jsonb -> 'data' as data from events
      where payment_id = any (${payments}::uuid[]) and type = 'refund.created') as created
    where data -> 'address' = 'null'::jsonb`.execute(executor);
  const claimed = new Set(rows.map(({ id }) => decodeId('refund', id)));
  return new Set(addressed.flatMap(({ id }) => (claimed.has(id) ? [] : [id])));
}
