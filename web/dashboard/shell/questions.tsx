import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard, sessionQuery } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { isDismissed, reauthenticateWithPasskey, passkeysHere } from '../passkeys.ts';
import { problemOf, problemOfForm } from '../problem.ts';
import { useSignedIn, type SessionAnswer } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { PasswordField, Form, CodeField } from '../ui/form.tsx';
import { SignInForm } from '../pages/access/sign-in-form.tsx';

type Typed = 'totp' | 'recovery_code' | 'password';

/** Asks for reauthentication before a dangerous action, which continues automatically afterwards. */
export function ReauthenticationDialog() {
  const { t } = useLocale();
  const { api, queries, reauthentication } = useDashboard();
  const { session } = useSignedIn();
  const { reauthentication_ways: ways } = session;
  const [typed, chooseTyped] = useState<Typed | null>(
    (['totp', 'password', 'recovery_code'] as const).find((one) => ways.includes(one)) ?? null,
  );
  const [value, setValue] = useState('');
  const done = (answer: SessionAnswer): void => {
    queries.setQueryData(sessionQuery.queryKey, answer);
    reauthentication.get()?.done(true);
  };
  const reauthenticate = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/reauthenticate', {
        body:
          typed === 'password'
            ? { password: value }
            : typed === 'totp'
              ? { code: value.replaceAll(/\s/g, '') }
              : { recovery_code: value.trim() },
      }),
    onSuccess: done,
  });
  const passkey = useMutation({ mutationFn: () => reauthenticateWithPasskey(api), onSuccess: done });
  const problem = passkey.error === null || isDismissed(passkey.error) ? reauthenticate.error : passkey.error;
  const cancel = (): void => reauthentication.get()?.done(false);
  const field = { value, onChange: setValue, problem: problemOf(reauthenticate.error, paramOf(typed)) };
  return (
    <Dialog title={t('reauthentication_title')} description={t('reauthentication_text')} onClose={cancel}>
      {ways.includes('passkey') ? (
        <Button icon="key" wide busy={passkey.isPending} onClick={() => passkey.mutate()}>
          {t('use_passkey')}
        </Button>
      ) : null}
      {typed === null ? null : (
        <Form fault={reauthenticate.error} onSubmit={() => reauthenticate.mutate()}>
          {typed === 'password' ? (
            <PasswordField
              label={t('password')}
              autoComplete="current-password"
              value={value}
              problem={field.problem}
              onValue={setValue}
            />
          ) : (
            <CodeField kind={typed} {...field} />
          )}
          <DialogActions
            confirm={t('confirm')}
            isBusy={reauthenticate.isPending}
            problem={problemOfForm(problem, [paramOf(typed)], t)}
            onCancel={cancel}
          />
          {typed === 'totp' && ways.includes('recovery_code') ? (
            <Button kind="quiet" small onClick={() => chooseTyped('recovery_code')}>
              {t('use_recovery_code')}
            </Button>
          ) : null}
        </Form>
      )}
    </Dialog>
  );
}

function paramOf(typed: Typed | null): string {
  return typed === 'totp' ? 'code' : (typed ?? '');
}

/**
 * The session ended elsewhere or expired. The page below keeps its unsaved input and continues once the same person has
 * signed in; for another person it is reloaded.
 */
export function SignedOutDialog() {
  const { t } = useLocale();
  const { queries, isSignedOut } = useDashboard();
  const [before] = useState(() => queries.getQueryData(sessionQuery.queryKey));
  const finish = (answer: SessionAnswer): void => {
    const isSame =
      answer.state === 'signed_in' && before?.state === 'signed_in' && answer.person.id === before.person.id;
    if (!isSame) return location.assign('/dashboard');
    queries.setQueryData(sessionQuery.queryKey, answer);
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

interface LeaveDialogProps {
  readonly onLeave: () => void;
  readonly onStay: () => void;
}

/** Asks before unsaved input is lost. */
export function LeaveDialog({ onLeave, onStay }: LeaveDialogProps) {
  const { t } = useLocale();
  return (
    <Dialog title={t('leave_title')} description={t('leave_question')} onClose={onStay}>
      <DialogActions confirm={t('leave')} cancel={t('back')} isDangerous onCancel={onStay} onConfirm={onLeave} />
    </Dialog>
  );
}
