import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { isDismissed, signInWithPasskey } from '../../passkeys.ts';
import { problemOf, problemOfForm } from '../../problem.ts';
import type { SessionAnswer } from '../../session.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CodeField, EmailField, PasswordField, Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import css from './access.module.css';
import type { Factor } from '../../../../src/http/dashboard/account/contract.ts';

interface SignInFormProps {
  /** The person whose session ended. */
  readonly email?: string;
  /** Whether passkeys work at this address. */
  readonly passkeys: boolean;
  /** The factors for the second step, if the password was already accepted. */
  readonly factors?: readonly Factor[];
  readonly onDone: (answer: SessionAnswer) => void;
}

/** E-mail and password, then the second factor; or a passkey alone. */
export function SignInForm({ email = '', passkeys, factors, onDone }: SignInFormProps) {
  const [asked, ask] = useState<readonly Factor[] | null>(factors ?? null);
  const take = (answer: SessionAnswer): void => {
    if (answer.state === 'second_factor') ask(answer.factors);
    else onDone(answer);
  };
  if (asked !== null) return <SecondFactorForm factors={asked} onDone={take} onBack={() => ask(null)} />;
  return <FirstStep email={email} passkeys={passkeys} onDone={take} />;
}

function FirstStep({ email: first, passkeys, onDone }: Required<Omit<SignInFormProps, 'factors'>>) {
  const { t } = useLocale('access');
  const { api } = useDashboard();
  const [email, setEmail] = useState(first);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string | null>(null);
  const signIn = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/sign-in', {
        body: { email: email.trim(), password, ...(code === null || code === '' ? {} : { code }) },
      }),
    onSuccess: onDone,
    // Strangers used up the attempts at this account, and a code bypasses the limit.
    onError: (fault) => (problemOf(fault, 'code') === null ? undefined : setCode(code ?? '')),
  });
  const passkey = useMutation({ mutationFn: () => signInWithPasskey(api), onSuccess: onDone });
  const passkeyProblem = isDismissed(passkey.error) ? null : problemOfForm(passkey.error, [], t);
  const problem = problemOfForm(signIn.error, ['email', 'password', 'code'], t) ?? passkeyProblem;
  return (
    <>
      {problem === null ? null : <Notice kind="problem">{problem}</Notice>}
      <Form fault={signIn.error} onSubmit={() => signIn.mutate()}>
        <EmailField
          autoComplete="username webauthn"
          autoFocus={first === ''}
          value={email}
          problem={problemOf(signIn.error, 'email')}
          onValue={setEmail}
        />
        <PasswordField
          label={t('password')}
          name="password"
          autoComplete="current-password"
          autoFocus={first !== ''}
          value={password}
          problem={problemOf(signIn.error, 'password')}
          onValue={setPassword}
        />
        {code === null ? null : (
          <CodeField
            kind="totp"
            required={false}
            value={code}
            problem={problemOf(signIn.error, 'code')}
            onChange={setCode}
          />
        )}
        <Button kind="primary" type="submit" wide busy={signIn.isPending}>
          {t('sign_in')}
        </Button>
      </Form>
      {passkeys ? (
        <>
          <div className={css.or}>{t('or')}</div>
          <Button icon="key" wide busy={passkey.isPending} onClick={() => passkey.mutate()}>
            {t('use_passkey')}
          </Button>
        </>
      ) : null}
      <Forgotten email={email.trim()} />
    </>
  );
}

/** Explains how to sign in without the password. */
function Forgotten({ email }: { readonly email: string }) {
  const { t } = useLocale('access');
  const [isOpen, open] = useState(false);
  return (
    <div className={css.below}>
      <LinkButton aria-expanded={isOpen} onClick={() => open(!isOpen)}>
        {t('forgot_password')}
      </LinkButton>
      {isOpen ? (
        <Notice>
          <p>{t('forgot_password_text')}</p>
          <code className={css.command}>cointill user reset {email === '' ? 'you@example.com' : email}</code>
        </Notice>
      ) : null}
    </div>
  );
}

export type { Factor };

interface SecondFactorFormProps {
  readonly factors: readonly Factor[];
  readonly onDone: (answer: SessionAnswer) => void;
  readonly onBack: () => void;
}

/** The second step: a one-time code, a passkey, or a recovery code. */
function SecondFactorForm({ factors, onDone, onBack }: SecondFactorFormProps) {
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
