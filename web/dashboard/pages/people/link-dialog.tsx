import { useLocale } from '../../locale.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Once } from '../keys/once.tsx';

interface LinkDialogProps {
  readonly title: string;
  readonly email: string;
  readonly made: { readonly link: string; readonly expires_at: string; readonly is_mailed: boolean };
  readonly onClose: () => void;
}

/** Shows a one-time link. Only its button closes it, because the link is never shown again. */
export function LinkDialog({ title, email, made, onClose }: LinkDialogProps) {
  const { t, dateTime } = useLocale('people');
  const { link, expires_at: until, is_mailed: isMailed } = made;
  return (
    <Dialog title={title} description={t('link_until', { email, when: dateTime(until) })}>
      <Notice kind="warning">{t('link_warning', { email })}</Notice>
      {isMailed ? <p>{t('link_mailed', { email })}</p> : null}
      <Once text={link} copy={t('link_copy')} />
      <DialogActions confirm={t('link_done')} onConfirm={onClose} />
    </Dialog>
  );
}
