import { useState } from 'react';
import type { NoteView, PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { ConfirmDialog } from '../../../ui/action-dialog.tsx';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Form, TextArea } from '../../../ui/form.tsx';
import { Moment } from '../../../ui/value.tsx';
import { Problem } from '../../../ui/notice.tsx';
import css from './payment-parts.module.css';
import { usePaymentChange } from '../refund/changed.tsx';

const PATH = '/dashboard/api/projects/:project/:mode/payments/:payment/notes';
/** The server's limit. */
const MAX_LENGTH = 4_000;

interface NotesProps {
  readonly payment: PaymentView;
}

/** The notes about a payment, oldest first, and a field for more. */
export function Notes({ payment }: NotesProps) {
  const { t } = useLocale('detail');
  const { notes } = payment;
  return (
    <div className={css.part}>
      {notes.length === 0 ? (
        <p className={css.soft}>{t('no_notes')}</p>
      ) : (
        <ul className={css.rows}>
          {notes.map((note) => (
            <Note key={note.id} payment={payment} note={note} />
          ))}
        </ul>
      )}
      <NewNote payment={payment} />
    </div>
  );
}

interface NoteProps extends NotesProps {
  readonly note: NoteView;
}

function Note({ payment, note }: NoteProps) {
  const { t, dateTime } = useLocale('detail');
  // The edit began from this version, even if another arrives.
  const [edited, edit] = useState<NoteView | null>(null);
  const [isDeleting, askToDelete] = useState(false);
  return (
    <li>
      {edited === null ? (
        <p className={css.written}>{note.text}</p>
      ) : (
        <EditNote payment={payment} note={edited} onClose={() => edit(null)} />
      )}
      <small>
        <span title={note.author_name === null ? undefined : note.author}>{note.author_name ?? note.author}</span> ·{' '}
        <Moment iso={note.created_at} />
        {note.edited_at === null ? null : ` · ${t('edited', { time: dateTime(note.edited_at) })}`}
      </small>
      {edited !== null || (!note.can.edit && !note.can.delete) ? null : (
        <div className={css.rowFoot}>
          {note.can.edit ? <LinkButton onClick={() => edit(note)}>{t('edit_note')}</LinkButton> : null}
          {note.can.delete ? <LinkButton onClick={() => askToDelete(true)}>{t('delete_note')}</LinkButton> : null}
        </div>
      )}
      {isDeleting ? <DeleteNote payment={payment} note={note} onClose={() => askToDelete(false)} /> : null}
    </li>
  );
}

function NewNote({ payment }: NotesProps) {
  const { t } = useLocale('detail');
  const [text, setText] = useState('');
  const add = usePaymentChange(payment.id, {
    send: (api, params) => api(`POST ${PATH}`, { params, body: { text: text.trim() } }),
    done: t('note_added'),
    onDone: () => setText(''),
  });
  if (!payment.can.annotate) {
    // The role was changed meanwhile: the typed text stays, to be copied, or saved once that is permitted again.
    return text.trim() === '' ? null : (
      <Form isDirty onSubmit={() => undefined}>
        <TextArea
          label={t('note')}
          isLabelHidden
          value={text}
          readOnly
          problem={t('note_not_saved')}
          onValue={setText}
        />
      </Form>
    );
  }
  return (
    <NoteForm
      label={t('note')}
      name={t('add_note')}
      text={text}
      isDirty={text.trim() !== ''}
      action={add}
      onText={setText}
    />
  );
}

function EditNote({ payment, note, onClose }: NoteProps & { readonly onClose: () => void }) {
  const { t } = useLocale('detail');
  const [text, setText] = useState(note.text);
  const { id, version } = note;
  const save = usePaymentChange(payment.id, {
    send: (api, params) => api(`POST ${PATH}/edit`, { params, body: { id, version, text: text.trim() } }),
    done: t('note_saved'),
    onDone: onClose,
  });
  return (
    <NoteForm
      label={t('edit_note')}
      name={t('save')}
      text={text}
      isDirty={text !== note.text}
      action={save}
      onText={setText}
      onCancel={onClose}
    />
  );
}

function DeleteNote({ payment, note, onClose }: NoteProps & { readonly onClose: () => void }) {
  const { t } = useLocale('detail');
  const body = { id: note.id, version: note.version };
  const remove = usePaymentChange(payment.id, {
    send: (api, params) => api(`POST ${PATH}/delete`, { params, body }),
    done: t('note_deleted'),
    onDone: onClose,
  });
  return (
    <ConfirmDialog name={t('delete_note')} text={t('delete_note_text')} isDangerous action={remove} onClose={onClose}>
      <blockquote className={css.written}>{note.text}</blockquote>
    </ConfirmDialog>
  );
}

interface NoteFormProps {
  readonly label: string;
  /** The button's name. */
  readonly name: string;
  readonly text: string;
  readonly isDirty: boolean;
  readonly action: ReturnType<typeof usePaymentChange<PaymentView>>;
  readonly onText: (text: string) => void;
  readonly onCancel?: () => void;
}

function NoteForm({ label, name, text, isDirty, action, onText, onCancel }: NoteFormProps) {
  const { t } = useLocale('detail');
  const count = lengthOf(text.trim());
  const tooLong = count > MAX_LENGTH ? t('note_too_long', { max: MAX_LENGTH, count }) : null;
  return (
    <Form isDirty={isDirty} fault={action.error} onSubmit={() => (tooLong === null ? action.mutate() : undefined)}>
      <TextArea
        label={label}
        isLabelHidden
        value={text}
        required
        placeholder={label}
        problem={tooLong}
        onValue={onText}
      />
      <Problem error={action.error} />
      <div className={css.actions}>
        <Button small type="submit" busy={action.isPending}>
          {name}
        </Button>
        {onCancel === undefined ? null : (
          <Button small kind="quiet" onClick={onCancel}>
            {t('cancel')}
          </Button>
        )}
      </div>
    </Form>
  );
}

/** The length in characters as the server counts them; of a very long text, in units of UTF-16. */
function lengthOf(text: string): number {
  return text.length > 2 * MAX_LENGTH ? text.length : Array.from(text).length;
}
