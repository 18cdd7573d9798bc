import type { Database, Trx } from '../database.ts';
import { countRows, deleteRows, fields, findRow, insertRows, updateRows, type Stored } from '../rows.ts';
import { sql } from 'kysely';
import type { Mode } from '../../domain/permission.ts';

/** A person's note about a payment. */
export type Note = Stored<'payment_notes'>;

/** A note with the name of its author as it is now. */
export interface ReadNote extends Note {
  readonly personName: string | null;
}

/** A payment's notes, oldest first. */
export async function notesOf(
  executor: Database | Trx,
  paymentId: string,
  limit: number,
): Promise<readonly ReadNote[]> {
  return executor
    .selectFrom('payment_notes as n')
    .leftJoin('people as p', 'p.id', 'n.author_id')
    .select(fields('payment_notes', { of: 'n' }))
    .select('p.name as personName')
    .where('n.payment_id', '=', paymentId)
    .orderBy('n.id')
    .limit(limit)
    .execute();
}

export async function countNotes(trx: Trx, paymentId: string): Promise<number> {
  return countRows(trx, 'payment_notes', { paymentId });
}

/** Locks a note of a payment until the transaction ends; null if there is none with that id. */
export async function lockNote(trx: Trx, paymentId: string, id: string): Promise<Note | null> {
  return findRow(trx, 'payment_notes', { id, paymentId }, { isLocked: true });
}

export async function insertNote(trx: Trx, note: Note): Promise<void> {
  await insertRows(trx, 'payment_notes', [note]);
}

/** Saves an edit of a locked note. */
export async function updateNote(trx: Trx, { id, body, version, editedAt }: Note): Promise<void> {
  await updateRows(trx, 'payment_notes', { id }, { body, version, editedAt });
}

export async function deleteNote(trx: Trx, id: string): Promise<void> {
  await deleteRows(trx, 'payment_notes', { id });
}

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
  const row = { paymentId: payment.id, labelId, mode: payment.mode };
  return (await insertRows(trx, 'payment_labels', [row], { conflict: {} })) === 1;
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
  if ((await deleteRows(trx, 'payment_labels', { paymentId, labelId: label.id })) === 0) return null;
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
