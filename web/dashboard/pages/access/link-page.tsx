import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { LinkAnswer } from '../../../../src/http/dashboard/contract/account.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf, problemOfForm, problemText } from '../../problem.ts';
import { sessionQuery } from '../../session.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmailField, NewPasswordField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { AccessFrame } from './access-frame.tsx';
import css from './access.module.css';

type OpenLink = Extract<LinkAnswer, { readonly state: 'open' }>;

/** The page of a link for set-up, an invitation or a reset: its form, or why the link is not valid. */
export function LinkPage() {
  const { t } = useLocale('access');
  const { api } = useDashboard();
  const { token } = useParams({ strict: false });
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: ({ signal }) => api('POST /dashboard/api/links/state', { body: { token: token ?? '' } }, signal),
    staleTime: Infinity,
  });
  if (link.isError) {
    return (
      <AccessFrame title={t('fault_title')} lead={problemText(link.error, t)}>
        <Button kind="primary" onClick={() => void link.refetch()}>
          {t('try_again')}
        </Button>
      </AccessFrame>
    );
  }
  if (link.data === undefined) {
    return (
      <AccessFrame title={t('loading')}>
        <Skeleton width={1} />
        <Skeleton width={3} />
      </AccessFrame>
    );
  }
  if (link.data.state !== 'open') return <ClosedLink state={link.data.state} />;
  return <AcceptLink link={link.data} token={token ?? ''} />;
}

/** A link that is not valid any more. */
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

function AcceptLink({ link, token }: { readonly link: OpenLink; readonly token: string }) {
  const { t } = useLocale('access');
  const { api, queries } = useDashboard();
  const navigate = useNavigate();
  const [email, setEmail] = useState(link.email ?? '');
  const [password, setPassword] = useState('');
  const isReset = link.purpose === 'reset';
  const accept = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/links/accept', {
        body: { token, password, ...(link.email === null && { email: email.trim() }) },
      }),
    onSuccess: async (session) => {
      queries.setQueryData(sessionQuery(api).queryKey, session);
      await navigate({ to: session.state === 'signed_in' ? '/protect' : '/sign-in', replace: true });
    },
    onError: () => {
      // The link may have been used or expired while the form was open.
      void queries.invalidateQueries({ queryKey: ['link', token] });
    },
  });
  return (
    <AccessFrame title={t(`${link.purpose}_title`)} lead={t(`${link.purpose}_text`)}>
      <Form fault={accept.error} onSubmit={() => accept.mutate()}>
        <EmailField
          autoComplete="username"
          readOnly={link.email !== null}
          autoFocus={link.email === null}
          value={email}
          problem={problemOf(accept.error, 'email')}
          onValue={setEmail}
        />
        <NewPasswordField
          autoFocus={link.email !== null}
          value={password}
          onValue={setPassword}
          problem={problemOf(accept.error, 'password')}
        />
        <FormProblem error={accept.error} />
        <Button kind="primary" type="submit" wide busy={accept.isPending}>
          {t(isReset ? 'set_password' : 'create_account')}
        </Button>
      </Form>
    </AccessFrame>
  );
}

function FormProblem({ error }: { readonly error: unknown }) {
  const { t } = useLocale('access');
  const problem = problemOfForm(error, ['email', 'password'], t);
  return problem === null ? null : <Notice kind="problem">{problem}</Notice>;
}
