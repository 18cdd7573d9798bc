import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { isDismissed, reauthenticateWithPasskey } from '../passkeys.ts';
import { problemOf, problemOfForm } from '../problem.ts';
import { sessionQuery, useSignedIn, type SessionAnswer } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { PasswordField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { CodeField } from '../ui/code-field.tsx';

type Typed = 'totp' | 'recovery_code' | 'password';

/** Asks for reauthentication before a dangerous action, which continues by itself afterwards. */
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
    queries.setQueryData(sessionQuery(api).queryKey, answer);
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
