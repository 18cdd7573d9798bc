import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { NewPasswordField, PasswordField } from '../../ui/field.tsx';
import { AccountDialog } from './account-dialog.tsx';

/** Changes the password, which ends all other sessions. */
export function PasswordDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('access');
  const { person } = useSignedIn();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const body = { current_password: current, password: next };
  return (
    <AccountDialog
      name={t('change_password')}
      text={t('change_password_text')}
      isDirty={current !== '' || next !== ''}
      fields={Object.keys(body)}
      send={(api) => api('POST /dashboard/api/account/password', { body })}
      done={() => t('password_changed')}
      onClose={onClose}
    >
      {(problem) => (
        <>
          {/* For password managers. */}
          <input type="text" autoComplete="username" value={person.email} readOnly hidden />
          <PasswordField
            label={t('current_password')}
            autoComplete="current-password"
            value={current}
            problem={problem('current_password')}
            onValue={setCurrent}
          />
          <NewPasswordField label={t('new_password')} value={next} problem={problem('password')} onValue={setNext} />
        </>
      )}
    </AccountDialog>
  );
}
