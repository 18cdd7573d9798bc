import type { Database, Trx } from '../database.ts';
import { fields, toChanges, toRow, type Stored } from '../rows.ts';

/** A person's note about a payment. */
export type Note = Stored<'payment_notes'>;

/** A payment's notes, oldest first. */
export async function notesOf(executor: Database | Trx, paymentId: string, limit: number): Promise<readonly Note[]> {
  return executor
    .selectFrom('payment_notes')
    .select(fields('payment_notes'))
    .where('payment_id', '=', paymentId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function countNotes(trx: Trx, paymentId: string): Promise<number> {
  const { count } = await trx
    .selectFrom('payment_notes')
    .select((select) => select.fn.countAll<bigint>().as('count'))
    .where('payment_id', '=', paymentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Locks a note of a payment until the transaction ends; null if there is none with that id. */
export async function lockNote(trx: Trx, paymentId: string, id: string): Promise<Note | null> {
  const row = await trx
    .selectFrom('payment_notes')
    .select(fields('payment_notes'))
    .where('id', '=', id)
    .where('payment_id', '=', paymentId)
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

export async function insertNote(trx: Trx, note: Note): Promise<void> {
  await trx.insertInto('payment_notes').values(toRow('payment_notes', note)).execute();
}

/** Saves an edit of a locked note. */
export async function updateNote(trx: Trx, { id, body, version, editedAt }: Note): Promise<void> {
  await trx
    .updateTable('payment_notes')
    .set(toChanges('payment_notes', { body, version, editedAt }))
    .where('id', '=', id)
    .execute();
}

export async function deleteNote(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('payment_notes').where('id', '=', id).execute();
}
