import { sql } from 'kysely';
import type { Mode } from '../domain/permission.ts';
import type { Database, Trx } from './database.ts';

/** A word that people put on payments of a project, the same one in both modes. */
export interface Label {
  readonly id: string;
  readonly name: string;
}

/** The labels of a project, by name. */
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

/** The project's label of that name, in any case of its letters. */
export async function findLabel(executor: Database | Trx, projectId: string, name: string): Promise<Label | null> {
  const row = await executor
    .selectFrom('labels')
    .select(['id', 'name'])
    .where('project_id', '=', projectId)
    .where(sql`lower(name)`, '=', sql`lower(${name})`)
    .executeTakeFirst();
  return row ?? null;
}

/** The names of each payment's labels, by name; a payment without any is left out. */
export async function labelsOfPayments(
  executor: Database | Trx,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (paymentIds.length === 0) return new Map();
  const rows = await executor
    .selectFrom('payment_labels as p')
    .innerJoin('labels as l', 'l.id', 'p.label_id')
    .select(['p.payment_id', 'l.name'])
    .where('p.payment_id', 'in', paymentIds)
    .orderBy(sql`lower(l.name)`)
    .execute();
  const groups = Map.groupBy(rows, (row) => row.payment_id);
  return new Map([...groups].map(([id, group]) => [id, group.map(({ name }) => name)]));
}

/**
 * The project's label of that name, made if there is none, and locked until the transaction ends, so that nobody
 * deletes it meanwhile.
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

/** Puts a label on a payment; false when it was there already. */
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

/** Takes a label off a payment, and deletes it once no payment has it; the label's name, null when it was not there. */
export async function removeLabel(
  trx: Trx,
  projectId: string,
  paymentId: string,
  name: string,
): Promise<string | null> {
  const label = await trx
    .selectFrom('labels')
    .select(['id', 'name'])
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
  return label.name;
}
