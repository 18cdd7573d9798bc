import { useLocale } from '../locale.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';

interface LeaveDialogProps {
  readonly onLeave: () => void;
  readonly onStay: () => void;
}

/** Asks before unsaved input is lost. */
export function LeaveDialog({ onLeave, onStay }: LeaveDialogProps) {
  const { t } = useLocale();
  return (
    <Dialog title={t('leave_title')} description={t('leave_question')} onClose={onStay}>
      <DialogActions confirm={t('leave')} isDangerous onCancel={onStay} onConfirm={onLeave} />
    </Dialog>
  );
}
