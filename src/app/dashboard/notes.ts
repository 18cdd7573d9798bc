import type { Payment } from '../../domain/payment.ts';
import type { Trx } from '../../store/database.ts';
import { countNotes, deleteNote, insertNote, lockNote, updateNote, type Note } from '../../store/payments/notes.ts';
import { wake } from '../../store/wake.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { hasVisible } from '../../domain/visible.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import { recordAudit, type AuditedChange } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { selects, type PaymentSelector } from '../payments/change-payment.ts';

/** The limit keeps the page of a payment small. */
const MAX_NOTES = 200;

export type AnnotationOutcome = { readonly kind: 'done' } | Rejected;

/** Adds a note to a payment; the acting person is its author. */
export function addNote(app: App, selector: PaymentSelector, text: string): Promise<AnnotationOutcome> {
  return annotate(app, selector, async (trx, payment) => {
    const body = readBody(text);
    if (body === null) return EMPTY;
    const { actor } = app;
    if (actor?.kind !== 'person' || actor.id === null) throw new Error('Only a person writes notes.');
    if ((await countNotes(trx, payment.id)) >= MAX_NOTES) {
      return rejected('too_many_notes', { param: 'text', max: MAX_NOTES });
    }
    const createdAt = app.clock();
    const id = newId(app, createdAt);
    const author = { authorId: actor.id, authorName: actor.name };
    await insertNote(trx, { id, paymentId: payment.id, ...author, body, version: 1, createdAt, editedAt: null });
    await recordAudit(app, trx, ofPayment(payment, 'payment.note', { after: { note: id } }));
    return { kind: 'done' };
  });
}

/**
 * Changes the text of a note; only its author may. `version` is the version that was edited: the edit is refused if the
 * note has a newer one.
 */
export function editNote(
  app: App,
  selector: PaymentSelector,
  edit: { readonly id: string; readonly text: string; readonly version: number },
): Promise<AnnotationOutcome> {
  return changeNote(app, selector, {
    ...edit,
    mayChangeOthers: false,
    refusal: 'note_edit_of_other',
    save: async (trx, note) => {
      const body = readBody(edit.text);
      if (body === null) return EMPTY;
      await updateNote(trx, { ...note, body, version: note.version + 1, editedAt: app.clock() });
      return { action: 'payment.note_edit', after: { note: note.id } };
    },
  });
}

/** Deletes a note of the acting person, or with `mayDeleteOthers` of anybody. */
export function removeNote(
  app: App,
  selector: PaymentSelector,
  wanted: { readonly id: string; readonly version: number; readonly mayDeleteOthers: boolean },
): Promise<AnnotationOutcome> {
  return changeNote(app, selector, {
    ...wanted,
    mayChangeOthers: wanted.mayDeleteOthers,
    refusal: 'note_delete_of_other',
    save: async (trx, note) => {
      await deleteNote(trx, note.id);
      return { action: 'payment.note_delete', before: { note: note.id } };
    },
  });
}

/** Changes notes or labels of a locked payment, and notifies open tabs of the change. */
export async function annotate(
  app: App,
  selector: PaymentSelector,
  work: (trx: Trx, payment: Payment) => Promise<AnnotationOutcome>,
): Promise<AnnotationOutcome> {
  return app.db.transaction().execute(async (trx) => {
    const [payment] = await lockPayments(trx, [selector.id]);
    if (payment === undefined || !selects(selector, payment)) return rejected('no_payment');
    const outcome = await work(trx, payment);
    if (outcome.kind === 'done') await wake(trx, ['payments', payment.id]);
    return outcome;
  });
}

/** An entry of the audit log about a payment. It never contains a note's text, because the log cannot be deleted. */
export function ofPayment(
  payment: Payment,
  action: string,
  values: Pick<AuditedChange, 'before' | 'after'>,
): AuditedChange {
  const subject = { kind: 'payment', id: publicPaymentId(payment) };
  return { action, projectId: payment.projectId, subject, ...values };
}

/** A change of one note by the acting person. */
interface NoteChange {
  readonly id: string;
  /** The version that the person saw. */
  readonly version: number;
  /** Whether the person need not be the author. */
  readonly mayChangeOthers: boolean;
  /** The refusal of a person who may not. */
  readonly refusal: 'note_edit_of_other' | 'note_delete_of_other';
  /** Saves the change and returns its audit entry, or why it was not saved. */
  readonly save: (trx: Trx, note: Note) => Promise<Pick<AuditedChange, 'action' | 'before' | 'after'> | typeof EMPTY>;
}

function changeNote(app: App, selector: PaymentSelector, change: NoteChange): Promise<AnnotationOutcome> {
  return annotate(app, selector, async (trx, payment) => {
    const note = await lockNote(trx, payment.id, change.id);
    if (note === null) return rejected('note_deleted');
    if (note.version !== change.version) return rejected('note_edited');
    if (note.authorId !== app.actor?.id && !change.mayChangeOthers) {
      return rejected(change.refusal, { author: note.authorName });
    }
    const saved = await change.save(trx, note);
    if ('kind' in saved) return saved;
    const { action, ...values } = saved;
    await recordAudit(app, trx, ofPayment(payment, action, values));
    return { kind: 'done' };
  });
}

const EMPTY = rejected('text_empty', { param: 'text' });

/** Trims the text and normalizes its line ends; null if nothing is left. */
function readBody(text: string): string | null {
  const body = text.replaceAll(/\r\n?/g, '\n').trim();
  return hasVisible(body) ? body : null;
}
