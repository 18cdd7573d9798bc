import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import css from './account.module.css';

interface RecoveryCodesDialogProps {
  readonly codes: readonly string[];
  readonly onClose: () => void;
}

/** Shows the ten codes. Only its button closes it, because they are never shown again. */
export function RecoveryCodesDialog({ codes, onClose }: RecoveryCodesDialogProps) {
  const { t } = useLocale('access');
  const text = codes.join('\n');
  const save = (): void => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/plain' }));
    link.download = 'cointill-recovery-codes.txt';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <Dialog title={t('recovery_codes')} description={t('recovery_codes_text')}>
      <Notice kind="warning">{t('recovery_codes_once')}</Notice>
      <ol className={css.codes}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className={css.buttons}>
        <CopyButton text={text}>{t('copy_codes')}</CopyButton>
        <Button small onClick={save}>
          {t('save_codes')}
        </Button>
      </div>
      <DialogActions confirm={t('codes_kept')} onConfirm={onClose} />
    </Dialog>
  );
}
