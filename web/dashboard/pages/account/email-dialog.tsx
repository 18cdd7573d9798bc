import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { EmailField } from '../../ui/field.tsx';
import { AccountDialog } from './account-dialog.tsx';

/** Changes the e-mail address for signing in, or asks the new address to confirm that. */
export function EmailDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('access');
  const { person } = useSignedIn();
  const [email, setEmail] = useState(person.email);
  return (
    <AccountDialog
      name={t('change_email')}
      text={t('change_email_text')}
      done={(session) =>
        session.state === 'signed_in' && session.person.pending_email !== null
          ? t('email_asked', { email: session.person.pending_email })
          : t('email_changed')
      }
      isDirty={email !== person.email}
      fields={['email']}
      send={(api) => api('POST /dashboard/api/account/email', { body: { email: email.trim() } })}
      onClose={onClose}
    >
      {(problem) => <EmailField autoComplete="email" value={email} problem={problem('email')} onValue={setEmail} />}
    </AccountDialog>
  );
}
