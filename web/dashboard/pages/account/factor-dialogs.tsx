import { useMutation } from '@tanstack/react-query';
import { useState, useEffect } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { isDismissed, makePasskey, type PasskeysHere } from '../../passkeys.ts';
import { problemOfForm, problemOf } from '../../problem.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { NameField, Form, CodeField } from '../../ui/form.tsx';
import { CopyButton } from '../../ui/value.tsx';
import { Notice, Problem } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/placeholder.tsx';
import css from './account.module.css';
import { Button } from '../../ui/button.tsx';
import rows from '../../ui/row.module.css';

interface PasskeyDialogProps {
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Creates a passkey on this device or a security key, under a name of its own. */
export function PasskeyDialog({ onDone, onClose }: PasskeyDialogProps) {
  const { t } = useLocale('access');
  const { api, toast } = useDashboard();
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: async () => {
      const { options } = await api('POST /dashboard/api/account/passkeys/options');
      const response = await makePasskey(options);
      return api('POST /dashboard/api/account/passkeys/add', { body: { name: name.trim(), response } });
    },
    onSuccess: ({ recovery_codes }) => {
      toast(t('passkey_added'));
      if (recovery_codes === null) onDone();
    },
  });
  const codes = add.data?.recovery_codes ?? null;
  if (codes !== null) return <RecoveryCodesDialog codes={codes} onClose={onDone} />;
  const error = isDismissed(add.error) ? null : add.error;
  const isKnown = add.error instanceof Error && add.error.name === 'InvalidStateError';
  return (
    <Dialog title={t('add_passkey')} description={t('add_passkey_text')} onClose={onClose}>
      <Form fault={error} onSubmit={() => add.mutate()}>
        <NameField value={name} fault={error} hint={t('passkey_name_hint')} onValue={setName} />
        <DialogActions
          confirm={t('add_passkey')}
          isBusy={add.isPending}
          problem={isKnown ? t('passkey_known') : problemOfForm(error, ['name'], t)}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}

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
  return (
    <Dialog title={t('add_totp')} description={t('totp_scan')} onClose={onClose}>
      <Problem error={start.error} />
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
            confirm={t('confirm')}
            isBusy={confirm.isPending}
            problem={problemOfForm(confirm.error, ['code'], t)}
            onCancel={onClose}
          />
        </Form>
      )}
    </Dialog>
  );
}

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
      <div className={rows.buttons}>
        <CopyButton text={text}>{t('copy_codes')}</CopyButton>
        <Button small onClick={save}>
          {t('save_codes')}
        </Button>
      </div>
      <DialogActions confirm={t('codes_kept')} onConfirm={onClose} />
    </Dialog>
  );
}

type Off = Extract<PasskeysHere, { readonly offered: false }>;

/** Why passkeys do not work at this address, and which setting changes that. */
export function PasskeysOff({ passkeys: { reason, dashboard_url } }: { readonly passkeys: Off }) {
  const { t } = useLocale('access');
  return (
    <Notice>
      <b>{t('passkeys_off')}</b>
      <p>{t(`passkeys_${reason}`, { url: dashboard_url })}</p>
    </Notice>
  );
}
