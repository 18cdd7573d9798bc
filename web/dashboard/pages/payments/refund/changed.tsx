import { useState } from 'react';
import { accessText } from '../../../session.ts';
import { useDashboard, useStore } from '../../../dashboard.ts';
import { useLocale } from '../../../locale.tsx';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Notice } from '../../../ui/notice.tsx';
import css from '../payment/payment-parts.module.css';

/** Whether the state that a dialog shows has changed since it opened. */
export function useChanged(state: string): boolean {
  const [opened] = useState(state);
  return opened !== state;
}

interface GoneDialogProps {
  readonly name: string;
  readonly onClose: () => void;
}

/** Replaces a dialog whose action became impossible while it was open. */
export function GoneDialog({ name, onClose }: GoneDialogProps) {
  const { t } = useLocale('detail');
  const access = useStore(useDashboard().access);
  return (
    <Dialog title={name} onClose={onClose}>
      <Notice kind="problem">{accessText(access, t) ?? t('changed_gone')}</Notice>
      <div className={css.end}>
        <Button onClick={onClose}>{t('close')}</Button>
      </div>
    </Dialog>
  );
}
