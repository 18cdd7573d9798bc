import { sql } from 'kysely';
import type { PaymentApi } from '../../domain/payment.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Trx } from '../database.ts';

/** A payment as far as its labels and its name go. */
export interface NamedPayment {
  readonly id: string;
  readonly api: PaymentApi;
  /** The merchant's name for it. */
  readonly name: string | null;
}

/**
 * The payments of a scope among these, in the order of their ids, kept from being deleted until the transaction ends.
 * Payments go on meanwhile: the lock is that of the foreign key of labels.
 */
export async function holdPayments(
  trx: Trx,
  { projectId, mode }: ProjectMode,
  ids: readonly string[],
): Promise<readonly NamedPayment[]> {
  const { rows } = await sql<NamedPayment>`
    select id, surface as api, coalesce(merchant_order_id, transaction_number) as name from payments
    where id = any (${ids}::uuid[]) and project_id = ${projectId} and mode = ${mode}
    order by id for key share`.execute(trx);
  return rows;
}

/**
 * Adds a label to payments that have fewer than `max`. Returns the ids of those that have it now and had it not, and of
 * those that were full.
 */
export async function putLabelOn(
  trx: Trx,
  labelId: string,
  { mode }: Pick<ProjectMode, 'mode'>,
  { ids, max }: { readonly ids: readonly string[]; readonly max: number },
): Promise<{ readonly added: readonly string[]; readonly full: readonly string[] }> {
  const { rows } = await sql<{ id: string; outcome: 'added' | 'had' | 'full' }>`
    with wanted as (
      select id, case when coalesce(held.has, false) then 'had' when coalesce(held.count, 0) >= ${max} then 'full' else 'added' end
        as outcome
      from unnest(${ids}::uuid[]) id
      left join (
        select payment_id, count(*) as count, bool_or(label_id = ${labelId}) as has from payment_labels
        where payment_id = any (${ids}::uuid[]) group by payment_id
      ) held on held.payment_id = id
    ), added as (
      insert into payment_labels (payment_id, label_id, mode)
      select id, ${labelId}, ${mode} from wanted where outcome = 'added' order by id
    )
    select id, outcome from wanted`.execute(trx);
  const of = (outcome: string): readonly string[] => rows.filter((row) => row.outcome === outcome).map(({ id }) => id);
  return { added: of('added'), full: of('full') };
}

/**
 * Removes a label, by its name in any case, from payments, and deletes it if no other payment has it. Returns the
 * label's id and the payments that had it; null if the project has no such label.
 */
export async function takeLabelFrom(
  trx: Trx,
  projectId: string,
  name: string,
  ids: readonly string[],
): Promise<{ readonly labelId: string; readonly removed: readonly string[] } | null> {
  const found = await sql<{ id: string }>`
    select id from labels where project_id = ${projectId} and lower(name) = lower(${name}) for update`.execute(trx);
  const labelId = found.rows[0]?.id;
  if (labelId === undefined) return null;
  const { rows } = await sql<{ id: string }>`
    delete from payment_labels where label_id = ${labelId} and payment_id = any (${ids}::uuid[])
    returning payment_id as id`.execute(trx);
  await sql`delete from labels where id = ${labelId} and not exists (select from payment_labels where label_id = ${labelId})`.execute(
    trx,
  );
  return { labelId, removed: rows.map(({ id }) => id) };
}
