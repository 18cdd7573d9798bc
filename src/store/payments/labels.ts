import { sql } from 'kysely';
import type { Mode } from '../../domain/permission.ts';
import type { Database, Trx } from '../database.ts';

/** A word that people add to a project's payments of both modes. */
export interface Label {
  readonly id: string;
  readonly name: string;
}

/** A project's labels, sorted by name. */
export async function labelsOfProject(
  executor: Database | Trx,
  projectId: string,
  limit: number,
): Promise<readonly Label[]> {
  return executor
    .selectFrom('labels')
    .select(['id', 'name'])
    .where('project_id', '=', projectId)
    .orderBy(sql`lower(name)`)
    .limit(limit)
    .execute();
}

/** The names of each payment's labels, sorted; payments without labels are left out. */
export async function labelsOfPayments(
  executor: Database | Trx,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (paymentIds.length === 0) return new Map();
  const rows = await executor
    .selectFrom('payment_labels as p')
    .innerJoin('labels as l', 'l.id', 'p.label_id')
    .select(['p.payment_id as paymentId', 'l.name'])
    .where('p.payment_id', 'in', paymentIds)
    .orderBy(sql`lower(l.name)`)
    .execute();
  const groups = Map.groupBy(rows, ({ paymentId }) => paymentId);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ name }) => name)]));
}

/**
 * The project's label with this name, ignoring case; created if there is none. Locked until the transaction ends, so
 * that nobody deletes it meanwhile.
 */
export async function takeLabel(
  trx: Trx,
  label: { readonly id: string; readonly projectId: string; readonly name: string; readonly createdAt: number },
): Promise<Label> {
  const { rows } = await sql<Label>`
    insert into labels (id, project_id, name, created_at)
    values (${label.id}, ${label.projectId}, ${label.name}, ${new Date(label.createdAt)})
    on conflict (project_id, lower(name)) do update set name = labels.name
    returning id, name`.execute(trx);
  const [taken] = rows;
  if (taken === undefined) throw new Error('An insert that returns its row returned none.');
  return taken;
}

/** Adds a label to a payment; false if the payment had it already. */
export async function putLabel(
  trx: Trx,
  labelId: string,
  payment: { readonly id: string; readonly mode: Mode },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('payment_labels')
    .values({ payment_id: payment.id, label_id: labelId, mode: payment.mode })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Removes a label from a payment, and deletes it if no other payment has it. Returns the label's id; null if the
 * payment did not have it.
 */
export async function removeLabel(
  trx: Trx,
  projectId: string,
  paymentId: string,
  name: string,
): Promise<string | null> {
  const label = await trx
    .selectFrom('labels')
    .select('id')
    .where('project_id', '=', projectId)
    .where(sql`lower(name)`, '=', sql`lower(${name})`)
    .forUpdate()
    .executeTakeFirst();
  if (label === undefined) return null;
  const { numDeletedRows } = await trx
    .deleteFrom('payment_labels')
    .where('payment_id', '=', paymentId)
    .where('label_id', '=', label.id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return null;
  await trx
    .deleteFrom('labels as l')
    .where('l.id', '=', label.id)
    .where((where) =>
      where.not(
        where.exists(where.selectFrom('payment_labels').select('payment_id').whereRef('label_id', '=', 'l.id')),
      ),
    )
    .execute();
  return label.id;
}
