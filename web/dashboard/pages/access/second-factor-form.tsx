import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Factor } from '../../../../src/http/dashboard/account/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { isDismissed, signInWithPasskey } from '../../passkeys.ts';
import { problemOf, problemOfForm } from '../../problem.ts';
import type { SessionAnswer } from '../../session.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CodeField } from '../../ui/code-field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import css from './access.module.css';

export type { Factor };

interface SecondFactorFormProps {
  readonly factors: readonly Factor[];
  readonly onDone: (answer: SessionAnswer) => void;
  readonly onBack: () => void;
}

/** The second step: a one-time code, a passkey, or a recovery code. */
export function SecondFactorForm({ factors, onDone, onBack }: SecondFactorFormProps) {
  const { t } = useLocale('access');
  const { api } = useDashboard();
  const [kind, choose] = useState<Exclude<Factor, 'passkey'>>(factors.includes('totp') ? 'totp' : 'recovery_code');
  const [code, setCode] = useState('');
  const passkey = useMutation({ mutationFn: () => signInWithPasskey(api), onSuccess: onDone });
  const send = useMutation({
    mutationFn: () =>
      kind === 'totp'
        ? api('POST /dashboard/api/sign-in/code', { body: { code: code.replaceAll(/\s/g, '') } })
        : api('POST /dashboard/api/sign-in/recovery-code', { body: { code: code.trim() } }),
    onSuccess: onDone,
  });
  const back = useMutation({ mutationFn: () => api('POST /dashboard/api/sign-out'), onSettled: onBack });
  const passkeyProblem = isDismissed(passkey.error) ? null : problemOfForm(passkey.error, [], t);
  const problem = problemOfForm(send.error, ['code'], t) ?? passkeyProblem;
  const other = kind === 'totp' ? 'recovery_code' : 'totp';
  const hasCode = factors.includes(kind);
  return (
    <>
      <p className={css.lead}>{t('second_factor_text')}</p>
      {problem === null ? null : <Notice kind="problem">{problem}</Notice>}
      {factors.includes('passkey') ? (
        <Button
          icon="key"
          wide
          kind={hasCode ? 'plain' : 'primary'}
          busy={passkey.isPending}
          onClick={() => passkey.mutate()}
        >
          {t('use_passkey')}
        </Button>
      ) : null}
      {hasCode ? (
        <Form fault={send.error} onSubmit={() => send.mutate()}>
          <CodeField kind={kind} autoFocus value={code} problem={problemOf(send.error, 'code')} onChange={setCode} />
          <Button kind="primary" type="submit" wide busy={send.isPending}>
            {t('sign_in')}
          </Button>
        </Form>
      ) : null}
      <div className={css.below}>
        {factors.includes(other) && hasCode ? (
          <LinkButton
            onClick={() => {
              choose(other);
              setCode('');
              send.reset();
            }}
          >
            {t(other === 'totp' ? 'use_one_time_code' : 'use_recovery_code')}
          </LinkButton>
        ) : null}
        <LinkButton onClick={() => back.mutate()}>{t('sign_in_as_another')}</LinkButton>
      </div>
    </>
  );
}
