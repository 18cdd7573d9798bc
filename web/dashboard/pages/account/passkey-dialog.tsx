import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { isDismissed, makePasskey } from '../../passkeys.ts';
import { problemOfForm } from '../../problem.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { NameField } from '../../ui/name-field.tsx';
import { Form } from '../../ui/form.tsx';
import { RecoveryCodesDialog } from './recovery-codes.tsx';

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
