import { Dialog as Base } from '@base-ui/react/dialog';
import { createContext, useContext, useRef, useState, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { useLessAccess } from '../session.ts';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import css from './dialog.module.css';
import { Notice } from './notice.tsx';

interface DialogProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly wide?: boolean;
  /**
   * Called for Escape, the cross, and a click outside while nothing was typed. Without it, only the dialog's own
   * controls close it.
   */
  readonly onClose?: () => void;
  readonly children?: ReactNode;
}

/** Where the buttons of a dialog stand, below the part that scrolls. */
const Foot = createContext<HTMLElement | null>(null);

/** The id of the form whose fields surround the buttons of its dialog; undefined without a form. */
export const FormId = createContext<string | undefined>(undefined);

/** A modal dialog. Its title and buttons stay in sight while the content between them scrolls. */
export function Dialog({ title, description, wide = false, onClose, children }: DialogProps) {
  const { t } = useLocale();
  const { unsaved } = useDashboard();
  const [unsavedBelow] = useState(unsaved.get);
  const [foot, setFoot] = useState<HTMLElement | null>(null);
  const body = useRef<HTMLDivElement>(null);
  return (
    <Base.Root
      open
      onOpenChange={(isOpen, { reason }) => {
        // A click beside the dialog is often an accident, which must not lose typed text.
        const isSlip = reason === 'outside-press' && unsaved.get() > unsavedBelow;
        if (!isOpen && !isSlip) onClose?.();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={css.backdrop} />
        <Base.Viewport className={css.viewport}>
          <Base.Popup
            className={classNames(css.popup, wide && css.wide)}
            // The first field rather than the cross; by touch, the keyboard would cover the form.
            initialFocus={(by) =>
              by === 'touch' || (body.current?.querySelector<HTMLElement>('input, select, textarea') ?? true)
            }
          >
            <div className={css.head}>
              <Base.Title>{title}</Base.Title>
              {onClose === undefined ? null : <IconButton icon="close" label={t('close')} onClick={onClose} />}
            </div>
            <div className={css.body} ref={body}>
              {description === undefined ? null : (
                <Base.Description className={css.description} render={<div />}>
                  {description}
                </Base.Description>
              )}
              <Foot value={foot}>{children}</Foot>
            </div>
            <div className={css.foot} ref={setFoot} />
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

interface ActionsProps {
  /** The button's verb. */
  readonly confirm: string;
  /** The text of the other button; “Cancel” unless that could be mistaken for the action. */
  readonly cancel?: string;
  readonly isDangerous?: boolean;
  readonly isBusy?: boolean;
  /** The error of the last attempt. */
  readonly problem?: string | null;
  readonly onCancel?: () => void;
  /** Absent in a form, which the button submits. */
  readonly onConfirm?: () => void;
}

/**
 * The buttons of a dialog: its action and "Cancel". The action is disabled once the person may do less than when the
 * dialog opened; the page below shows whether it is still offered.
 */
export function DialogActions({
  confirm,
  cancel,
  isDangerous = false,
  isBusy = false,
  problem = null,
  onCancel,
  onConfirm,
}: ActionsProps) {
  const { t } = useLocale();
  const lessAccess = useLessAccess();
  const foot = useContext(Foot);
  const form = useContext(FormId);
  if (foot === null) return null;
  return createPortal(
    <>
      {lessAccess === null ? null : <Notice kind="problem">{`${lessAccess} ${t('access_dialog')}`}</Notice>}
      {problem === null ? null : <Notice kind="problem">{problem}</Notice>}
      <div className={css.actions}>
        {onCancel === undefined ? null : <Button onClick={onCancel}>{cancel ?? t('cancel')}</Button>}
        <Button
          kind={isDangerous ? 'danger' : 'primary'}
          type={onConfirm === undefined ? 'submit' : 'button'}
          form={onConfirm === undefined ? form : undefined}
          busy={isBusy}
          disabled={lessAccess !== null}
          {...(onConfirm !== undefined && { onClick: onConfirm })}
        >
          {confirm}
        </Button>
      </div>
    </>,
    foot,
  );
}
