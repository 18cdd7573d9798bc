import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf, problemOfForm } from '../../problem.ts';
import { CodeField } from '../../ui/code-field.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import css from './account.module.css';
import { RecoveryCodesDialog } from './recovery-codes.tsx';

interface FactorDialogProps {
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Connects an authenticator app. Its secret takes effect once a code is confirmed. */
export function TotpDialog({ onDone, onClose }: FactorDialogProps) {
  const { t } = useLocale('access');
  const { api, toast } = useDashboard();
  const [code, setCode] = useState('');
  const start = useMutation({ mutationFn: () => api('POST /dashboard/api/account/totp/start') });
  const confirm = useMutation({
    mutationFn: () => api('POST /dashboard/api/account/totp/confirm', { body: { code: code.replaceAll(/\s/g, '') } }),
    onSuccess: ({ recovery_codes }) => {
      toast(t('totp_added'));
      if (recovery_codes === null) onDone();
    },
  });
  useEffect(() => start.mutate(), []);
  const codes = confirm.data?.recovery_codes ?? null;
  if (codes !== null) return <RecoveryCodesDialog codes={codes} onClose={onDone} />;
  const problem = problemOfForm(start.error, [], t);
  return (
    <Dialog title={t('add_totp')} description={t('totp_scan')} onClose={onClose}>
      {problem === null ? null : <Notice kind="problem">{problem}</Notice>}
      {start.isPending ? <SkeletonRows count={4} /> : null}
      {start.data === undefined ? null : (
        <Form fault={confirm.error} onSubmit={() => confirm.mutate()}>
          <svg
            className={css.qr}
            viewBox={`0 0 ${start.data.qr.size} ${start.data.qr.size}`}
            shapeRendering="crispEdges"
            role="img"
            aria-label={t('totp_qr')}
          >
            <path d={start.data.qr.path} />
          </svg>
          <p className={css.secret}>
            <code>{start.data.secret.match(/.{1,4}/g)?.join(' ')}</code>
            <CopyButton text={start.data.secret}>{t('copy_secret')}</CopyButton>
          </p>
          <CodeField kind="totp" value={code} problem={problemOf(confirm.error, 'code')} onChange={setCode} />
          <DialogActions
            confirm={t('add_totp')}
            isBusy={confirm.isPending}
            problem={problemOfForm(confirm.error, ['code'], t)}
            onCancel={onClose}
          />
        </Form>
      )}
    </Dialog>
  );
}
