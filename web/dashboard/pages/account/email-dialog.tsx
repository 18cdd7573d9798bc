import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useSignedIn } from '../../session.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { EmailField } from '../../ui/field.tsx';
import { useAccountChange } from './account-change.ts';

export function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale();
  const { person } = useSignedIn();
  const [email, setEmail] = useState(person.email);
  const change = useAccountChange({
    send: (api) => api('POST /dashboard/api/account/email', { body: { email: email.trim() } }),
    done: t('email_changed'),
    onClose,
  });
  return (
    <FormDialog
      name={t('change_email')}
      text={t('change_email_text')}
      isDirty={email !== person.email}
      action={change}
      fields={['email']}
      onClose={onClose}
    >
      <EmailField autoComplete="email" value={email} problem={problemOf(change.error, 'email')} onValue={setEmail} />
    </FormDialog>
  );
}
