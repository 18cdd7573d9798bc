import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { isDismissed, proveWithPasskey } from '../passkeys.ts';
import { problemOf, problemOfForm } from '../problem.ts';
import { sessionQuery, useSignedIn, type SessionAnswer } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { PasswordField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { CodeField } from '../ui/code-field.tsx';

type Typed = 'totp' | 'recovery_code' | 'password';

/** Asks for a proof before a dangerous action, which continues by itself afterwards. */
export function ProofDialog() {
  const { t } = useLocale();
  const { api, queries, proof } = useDashboard();
  const { session } = useSignedIn();
  const { proofs } = session;
  const [typed, chooseTyped] = useState<Typed | null>(
    (['totp', 'password', 'recovery_code'] as const).find((one) => proofs.includes(one)) ?? null,
  );
  const [value, setValue] = useState('');
  const done = (answer: SessionAnswer): void => {
    queries.setQueryData(sessionQuery(api).queryKey, answer);
    proof.get()?.done(true);
  };
  const prove = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/prove', {
        body:
          typed === 'password'
            ? { password: value }
            : typed === 'totp'
              ? { code: value.replaceAll(/\s/g, '') }
              : { recovery_code: value.trim() },
      }),
    onSuccess: done,
  });
  const passkey = useMutation({ mutationFn: () => proveWithPasskey(api), onSuccess: done });
  const problem = passkey.error === null || isDismissed(passkey.error) ? prove.error : passkey.error;
  const cancel = (): void => proof.get()?.done(false);
  const field = { value, onChange: setValue, problem: problemOf(prove.error, paramOf(typed)) };
  return (
    <Dialog title={t('proof_title')} description={t('proof_text')} onClose={cancel}>
      {proofs.includes('passkey') ? (
        <Button icon="key" wide busy={passkey.isPending} onClick={() => passkey.mutate()}>
          {t('use_passkey')}
        </Button>
      ) : null}
      {typed === null ? null : (
        <Form fault={prove.error} onSubmit={() => prove.mutate()}>
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
            isBusy={prove.isPending}
            problem={problemOfForm(problem, [paramOf(typed)], t)}
            onCancel={cancel}
          />
          {typed === 'totp' && proofs.includes('recovery_code') ? (
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
