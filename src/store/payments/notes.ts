import type { Selectable } from 'kysely';
import type { Database, Trx } from '../database.ts';
import { columnsOf, type NewRow, type Tables } from '../tables.ts';

/** A person's note about a payment. Times in epoch milliseconds. */
export interface Note {
  readonly id: string;
  readonly paymentId: string;
  readonly authorId: string;
  /** The author's e-mail address when it was written. */
  readonly authorName: string;
  readonly body: string;
  /** Starts at 1 and increases with each edit. */
  readonly version: number;
  readonly createdAt: number;
  readonly editedAt: number | null;
}

/** A payment's notes, oldest first. */
export async function notesOf(executor: Database | Trx, paymentId: string, limit: number): Promise<readonly Note[]> {
  const rows = await executor
    .selectFrom('payment_notes')
    .select(columnsOf('payment_notes'))
    .where('payment_id', '=', paymentId)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(noteFromRow);
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
    .select(columnsOf('payment_notes'))
    .where('id', '=', id)
    .where('payment_id', '=', paymentId)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : noteFromRow(row);
}

export async function insertNote(trx: Trx, note: Note): Promise<void> {
  await trx
    .insertInto('payment_notes')
    .values({
      id: note.id,
      payment_id: note.paymentId,
      author_id: note.authorId,
      author_name: note.authorName,
      body: note.body,
      version: note.version,
      created_at: new Date(note.createdAt),
      edited_at: note.editedAt === null ? null : new Date(note.editedAt),
    } satisfies NewRow<'payment_notes'>)
    .execute();
}

/** Saves an edit of a locked note. */
export async function updateNote(trx: Trx, { id, body, version, editedAt }: Note): Promise<void> {
  await trx
    .updateTable('payment_notes')
    .set({ body, version, edited_at: editedAt === null ? null : new Date(editedAt) })
    .where('id', '=', id)
    .execute();
}

export async function deleteNote(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('payment_notes').where('id', '=', id).execute();
}

function noteFromRow(row: Selectable<Tables['payment_notes']>): Note {
  return {
    id: row.id,
    paymentId: row.payment_id,
    authorId: row.author_id,
    authorName: row.author_name,
    body: row.body,
    version: row.version,
    createdAt: row.created_at,
    editedAt: row.edited_at,
  };
}
