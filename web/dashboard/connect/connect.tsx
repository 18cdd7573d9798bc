import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import type { Mode } from '../../../src/domain/permission.ts';
import type { AnswerOf } from '../../../src/http/dashboard/contract.ts';
import { ApiFault, reads } from '../api.ts';
import { useChange } from '../change.ts';
import { isTransient, useDashboard, useStore } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { AccessFrame, NotLoadedFrame } from '../pages/access/access-frame.tsx';
import { problemText } from '../problem.ts';
import { useSignedIn } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Labelled, Select } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Icon } from '../ui/icons.tsx';
import { Notice, Problem } from '../ui/notice.tsx';
import { Skeleton } from '../ui/placeholder.tsx';
import css from './connect.module.css';

const loadQuestions = () => import('../shell/questions.tsx');
const ReauthenticationDialog = lazy(async () => ({ default: (await loadQuestions()).ReauthenticationDialog }));
const SignedOutDialog = lazy(async () => ({ default: (await loadQuestions()).SignedOutDialog }));

export interface ConnectProps {
  readonly mode: Mode;
  /** The query of the page's address. The server reads what is shown and what is done from it. */
  readonly asked: string;
}

/** The page where a person agrees to a key for a shop, or refuses. */
export function Connect(props: ConnectProps) {
  const { reauthentication, isSignedOut } = useDashboard();
  const asksToReauthenticate = useStore(reauthentication) !== null;
  const signedOut = useStore(isSignedOut);
  return (
    <>
      <Question {...props} />
      <Suspense>
        {asksToReauthenticate && !signedOut ? <ReauthenticationDialog /> : null}
        {signedOut ? <SignedOutDialog /> : null}
      </Suspense>
    </>
  );
}

function Question({ mode, asked }: ConnectProps) {
  const { t } = useLocale('connect', 'access');
  const question = useQuery({
    ...reads(['connect'], 'GET /dashboard/api/connect', { query: { mode, asked } }),
    staleTime: Infinity,
  });
  const [ended, end] = useState<'refused' | 'sent' | null>(null);
  if (question.isError && !(question.error instanceof ApiFault && !isTransient(question.error))) {
    return <NotLoadedFrame query={question} />;
  }
  if (question.isError) {
    return <AccessFrame title={t('connect_impossible')} lead={problemText(question.error, t)} />;
  }
  if (question.data === undefined) {
    return (
      <AccessFrame title={t('loading')}>
        <Skeleton width={3} />
      </AccessFrame>
    );
  }
  const { host } = question.data;
  if (ended !== null) {
    return <AccessFrame title={t(`connect_${ended}`)} lead={t(`connect_${ended}_text`, { host })} />;
  }
  return <Asked mode={mode} asked={asked} question={question.data} onEnd={end} />;
}

interface AskedProps extends ConnectProps {
  readonly question: AnswerOf<'GET /dashboard/api/connect'>;
  readonly onEnd: (end: 'refused' | 'sent') => void;
}

function Asked({ mode, asked, question: { host, application, scopes, projects }, onEnd }: AskedProps) {
  const { t } = useLocale('connect', 'access');
  const { queries } = useDashboard();
  const { person } = useSignedIn();
  const [project, setProject] = useState(projects.length === 1 ? (projects[0]?.id ?? '') : '');
  const [request] = useState(() => crypto.randomUUID());
  const consent = useChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/:mode/connect', {
        params: { project, mode },
        body: { asked, request },
      }),
    onDone: (answer) => {
      onEnd('sent');
      // The way back leads to a page that asks nothing: another key needs another question of the shop.
      history.replaceState(null, '', location.pathname);
      post(answer);
    },
  });
  return (
    <AccessFrame title={t('connect_title')}>
      <div>
        <p className={css.host}>{host}</p>
        <p className={css.asks}>{t('connect_asks')}</p>
        {application === null ? null : (
          <p className={css.application}>{t('connect_application', { name: application })}</p>
        )}
      </div>
      <Notice kind={mode === 'live' ? 'warning' : 'info'}>{t(`connect_${mode}`)}</Notice>
      <div>
        <h2>{t('connect_may')}</h2>
        <ul className={css.rights}>
          <Right>{t('connect_may_store')}</Right>
          {scopes.map((scope) => (
            <Right key={scope}>{t(RIGHTS[scope])}</Right>
          ))}
        </ul>
      </div>
      {/* The second click of a double click comes before the button is drawn as busy. */}
      <Form onSubmit={() => queries.isMutating() === 0 && consent.mutate()}>
        <Labelled id="project" label={t('connect_project')}>
          <Select
            id="project"
            label={t('connect_project')}
            required
            value={project}
            options={[
              ...(projects.length === 1 ? [] : [['', t('connect_choose')] as const]),
              ...projects.map(({ id, name }) => [id, name] as const),
            ]}
            onValue={setProject}
          />
        </Labelled>
        <Problem error={consent.error} />
        <div className={css.buttons}>
          <Button kind="primary" type="submit" wide busy={consent.isPending}>
            {t('connect_consent')}
          </Button>
          <Button kind="quiet" wide onClick={() => onEnd('refused')}>
            {t('connect_refuse')}
          </Button>
        </div>
      </Form>
      <p className={css.person}>{t('connect_as', { email: person.email })}</p>
    </AccessFrame>
  );
}

function Right({ children }: { readonly children: ReactNode }) {
  return (
    <li>
      <Icon name="check" size={16} />
      <span>{children}</span>
    </li>
  );
}

const RIGHTS = {
  'payments:create': 'connect_may_payments_create',
  'payments:read': 'connect_may_payments_read',
  'payments:change': 'connect_may_payments_change',
  refunds: 'connect_may_refunds',
  webhooks: 'connect_may_webhooks',
  events: 'connect_may_events',
} as const;

/** Posts the key to the shop, as a form of this page. */
function post({ redirect, fields }: AnswerOf<'POST /dashboard/api/projects/:project/:mode/connect'>): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = redirect;
  for (const { name, value } of fields) {
    const input = document.createElement('input');
    input.type = 'hidden';
    input.name = name;
    input.value = value;
    form.append(input);
  }
  document.body.append(form);
  form.submit();
}
