import { useState } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { SignInForm } from '../pages/access/sign-in-form.tsx';
import { passkeysHere } from '../passkeys.ts';
import { sessionQuery, type SessionAnswer } from '../session.ts';
import { Dialog } from '../ui/dialog.tsx';

/**
 * The session ended elsewhere or expired. The page below keeps its unsaved input and continues once the same person has
 * signed in; for another person it is reloaded.
 */
export function SignedOutDialog() {
  const { t } = useLocale();
  const { api, queries, isSignedOut } = useDashboard();
  const [before] = useState(() => queries.getQueryData(sessionQuery(api).queryKey));
  const finish = (answer: SessionAnswer): void => {
    const isSame =
      answer.state === 'signed_in' && before?.state === 'signed_in' && answer.person.id === before.person.id;
    if (!isSame) return location.assign('/dashboard');
    queries.setQueryData(sessionQuery(api).queryKey, answer);
    isSignedOut.set(false);
    void queries.invalidateQueries();
  };
  return (
    <Dialog title={t('signed_out_title')} description={t('signed_out_text')}>
      <SignInForm
        email={before?.state === 'signed_in' ? before.person.email : ''}
        passkeys={before !== undefined && passkeysHere(before.passkeys).offered}
        onDone={finish}
      />
    </Dialog>
  );
}
