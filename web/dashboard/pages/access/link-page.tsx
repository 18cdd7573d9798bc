import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { LinkAnswer } from '../../../../src/http/dashboard/account/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard, sessionQuery } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmailField, NameField, NewPasswordField, Form } from '../../ui/form.tsx';
import { Notice, Problem } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/placeholder.tsx';
import { AccessFrame, AccountFrame, MailedLinkFrame, NotLoadedFrame } from './access-frame.tsx';
import css from './access.module.css';

type OpenLink = Extract<LinkAnswer, { readonly state: 'open' }>;

/** The page of a link for set-up, an invitation, a reset or a new e-mail: its form, or why the link is not valid. */
export function LinkPage() {
  const { t } = useLocale('access');
  const { token = '' } = useParams({ strict: false });
  const state = reads(['link', token], 'POST /dashboard/api/links/state', { body: { token } });
  const link = useQuery({ ...state, staleTime: Infinity });
  if (link.isError) return <NotLoadedFrame query={link} />;
  if (link.data === undefined) {
    return (
      <AccessFrame title={t('loading')}>
        <Skeleton width={1} />
        <Skeleton width={3} />
      </AccessFrame>
    );
  }
  if (link.data.state !== 'open') return <ClosedLink state={link.data.state} />;
  const { purpose, email, name } = link.data;
  if (purpose === 'email') return <ConfirmEmail email={email ?? ''} token={token} />;
  return <AcceptLink purpose={purpose} given={email} known={name} token={token} />;
}

/** A link that is no longer valid. */
function ClosedLink({ state }: { readonly state: 'used' | 'expired' | 'unknown' }) {
  const { t } = useLocale('access');
  return (
    <AccessFrame title={t(`link_${state}_title`)} lead={t(`link_${state}_text`)}>
      <Notice>
        <p>{t('link_how')}</p>
        <code className={css.command}>cointill user invite --email you@example.com --role owner</code>
        <code className={css.command}>cointill user reset you@example.com</code>
      </Notice>
      <Link className={buttonClass()} to="/sign-in">
        {t('to_sign_in')}
      </Link>
    </AccessFrame>
  );
}

function ConfirmEmail({ email, token }: { readonly email: string; readonly token: string }) {
  const { t } = useLocale('access');
  const { api, queries } = useDashboard();
  const confirm = useMutation({
    mutationFn: () => api('POST /dashboard/api/links/confirm-email', { body: { token } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  const confirmed = { title: t('email_confirmed_title'), text: t('email_confirmed_text', { email }) };
  if (confirm.isSuccess) return <AccountFrame {...confirmed} />;
  const asked = { title: t('confirm_email_title'), lead: t('confirm_email_text', { email }) };
  return <MailedLinkFrame {...asked} confirm={t('confirm_email')} action={confirm} />;
}

interface AcceptLinkProps {
  /** The e-mail of the account; null: the person enters it. */
  readonly given: string | null;
  /** The name of the account. */
  readonly known: string | null;
  readonly purpose: Exclude<OpenLink['purpose'], 'email'>;
  readonly token: string;
}

function AcceptLink({ given, known, purpose, token }: AcceptLinkProps) {
  const { t } = useLocale('access');
  const { api, queries } = useDashboard();
  const navigate = useNavigate();
  const [email, setEmail] = useState(given ?? '');
  const [name, setName] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const isReset = purpose === 'reset';
  const accept = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/links/accept', {
        body: { token, password, ...(given === null && { email: email.trim() }), ...(!isReset && { name }) },
      }),
    onSuccess: async (session) => {
      queries.setQueryData(sessionQuery.queryKey, session);
      await navigate({ to: session.state === 'signed_in' ? '/protect' : '/sign-in', replace: true });
    },
    onError: () => {
      // The link may have been used or expired while the form was open.
      void queries.invalidateQueries({ queryKey: ['link', token] });
    },
  });
  return (
    <AccessFrame title={t(`${purpose}_title`)} lead={t(`${purpose}_text`)}>
      <Form fault={accept.error} onSubmit={() => accept.mutate()}>
        <EmailField
          autoComplete="username"
          readOnly={given !== null}
          autoFocus={given === null}
          value={email}
          problem={problemOf(accept.error, 'email')}
          onValue={setEmail}
        />
        {isReset ? null : (
          <NameField
            label={t('your_name')}
            autoComplete="name"
            required={false}
            hint={t('name_hint')}
            value={name}
            fault={accept.error}
            onValue={setName}
          />
        )}
        <NewPasswordField
          autoFocus={given !== null}
          value={password}
          onValue={setPassword}
          problem={problemOf(accept.error, 'password')}
        />
        <Problem error={accept.error} fields={['email', 'name', 'password']} />
        <Button kind="primary" type="submit" wide busy={accept.isPending}>
          {t(isReset ? 'set_password' : 'create_account')}
        </Button>
      </Form>
    </AccessFrame>
  );
}
