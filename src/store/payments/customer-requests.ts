import { sql } from 'kysely';
import { encodeId } from '../../domain/id.ts';
import { FORGOTTEN } from '../../wire/customer-data.ts';
import type { Trx } from '../database.ts';

/**
 * Clears the texts of payment requests that ask for money once and got some of these payments: they are about that
 * customer. Those that many can pay say nothing of one. The title of an invoice's request is its number. Locks them in
 * the order of their ids, as payments do. Returns their public ids.
 */
export async function clearRequests(trx: Trx, paymentIds: readonly string[]): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    update payment_requests r set description = null, metadata = null, success_url = null,
      title = case when exists (select from invoice_documents d where d.payment_request_id = r.id) then title else ${FORGOTTEN} end
    from (
      select id from payment_requests
      where max_payments = 1 and id in (select payment_request_id from payments where id = any (${paymentIds}::uuid[]))
      order by id for no key update) mine
    where r.id = mine.id
    returning r.id`.execute(trx);
  return rows.map(({ id }) => encodeId('request', id));
}

/** The ids of the events of payment requests; they belong to no payment. */
export async function eventsOfRequests(
  trx: Trx,
  projectId: string,
  requests: readonly string[],
): Promise<readonly string[]> {
  if (requests.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select id from events where project_id = ${projectId} and payment_id is null and type like 'payment_request.%'
      and substring(body from '"id":"(req_[^"]+)"') = any (${requests}::text[])`.execute(trx);
  return rows.map(({ id }) => id);
}
