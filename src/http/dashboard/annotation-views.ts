import type { Note } from '../../store/payments/notes.ts';
import { isoTime, isoTimeOrNull } from '../../wire/time.ts';
import type { PaymentView } from './contract/payments.ts';
import type { Viewer } from './viewer.ts';

/** A payment's notes and labels. */
export function annotationsView(
  { notes, labels }: { readonly notes: readonly Note[]; readonly labels: readonly string[] },
  { personId, mayAnnotate, mayDeleteNotes }: Viewer,
): Pick<PaymentView, 'notes' | 'labels'> {
  return {
    notes: notes.map((note) => ({
      id: note.id,
      author: note.authorName,
      text: note.body,
      created_at: isoTime(note.createdAt),
      edited_at: isoTimeOrNull(note.editedAt),
      version: note.version,
      can: {
        edit: mayAnnotate && note.authorId === personId,
        delete: mayAnnotate && (note.authorId === personId || mayDeleteNotes),
      },
    })),
    labels: [...labels],
  };
}
