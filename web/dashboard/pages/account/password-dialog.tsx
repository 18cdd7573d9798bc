import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useSignedIn } from '../../session.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { NewPasswordField, PasswordField } from '../../ui/field.tsx';
import { useAccountChange } from './account-change.ts';

/** A new password; all other sessions end with the old one. */
export function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  const { person } = useSignedIn();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const change = useAccountChange({
    send: (api) => api('POST /dashboard/api/account/password', { body: { current_password: current, password: next } }),
    done: t('password_changed'),
    onClose,
  });
  return (
    <FormDialog
      name={t('change_password')}
      text={t('change_password_text')}
      isDirty={current !== '' || next !== ''}
      action={change}
      fields={['current_password', 'password']}
      onClose={onClose}
    >
      {/* For password managers. */}
      <input type="text" autoComplete="username" value={person.email} readOnly hidden />
      <PasswordField
        label={t('current_password')}
        autoComplete="current-password"
        value={current}
        problem={problemOf(change.error, 'current_password')}
        onValue={setCurrent}
      />
      <NewPasswordField
        label={t('new_password')}
        value={next}
        onValue={setNext}
        problem={problemOf(change.error, 'password')}
      />
    </FormDialog>
  );
}
