import type { ReactNode } from 'react';
import { useLocale } from '../locale.tsx';
import { problemOfForm } from '../problem.ts';
import { Dialog, DialogActions } from './dialog.tsx';
import { Form } from './form.tsx';

/** The part of `useMutation`'s result that a dialog needs. */
interface Action {
  readonly mutate: () => void;
  readonly isPending: boolean;
  readonly error: unknown;
}

interface ConfirmDialogProps {
  /** The name of the action, on the button that opens the dialog, its title and its own button. */
  readonly name: string;
  /** The consequences. */
  readonly text: ReactNode;
  readonly isDangerous?: boolean;
  /** The text of the button that does nothing; see `DialogActions`. */
  readonly cancel?: string;
  readonly action: Action;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

/** Asks for confirmation and states the consequences. */
export function ConfirmDialog({
  name,
  text,
  isDangerous = false,
  cancel,
  action,
  onClose,
  children,
}: ConfirmDialogProps) {
  const { t } = useLocale();
  return (
    <Dialog title={name} description={text} onClose={onClose}>
      {children}
      <DialogActions
        confirm={name}
        {...(cancel !== undefined && { cancel })}
        isDangerous={isDangerous}
        isBusy={action.isPending}
        problem={problemOfForm(action.error, [], t)}
        onCancel={onClose}
        onConfirm={() => action.mutate()}
      />
    </Dialog>
  );
}

interface FormDialogProps {
  readonly name: string;
  /** The text of its button; by default its name. */
  readonly confirm?: string;
  readonly text: ReactNode;
  readonly isWide?: boolean;
  /** Whether something would be lost by leaving it. */
  readonly isDirty?: boolean;
  readonly action: Action;
  /** The server's names of the fields that show their own errors. */
  readonly fields?: readonly string[];
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog with the form of an action. */
export function FormDialog({
  name,
  confirm = name,
  text,
  isWide = false,
  isDirty = false,
  action,
  fields = [],
  onClose,
  children,
}: FormDialogProps) {
  const { t } = useLocale();
  return (
    <Dialog title={name} description={text} wide={isWide} onClose={onClose}>
      <Form isDirty={isDirty} fault={action.error} onSubmit={() => action.mutate()}>
        {children}
        <DialogActions
          confirm={confirm}
          isBusy={action.isPending}
          problem={problemOfForm(action.error, fields, t)}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
