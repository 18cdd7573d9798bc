import type { UseMutationResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLocale } from '../../locale.tsx';
import { loadProblemText } from '../../problem.ts';
import { useTitle } from '../../shell/page.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Problem } from '../../ui/notice.tsx';
import css from './access.module.css';

interface AccessFrameProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** The frame of pages for people who are not signed in. */
export function AccessFrame({ title, lead, children }: AccessFrameProps) {
  useTitle(title);
  return (
    <div className={css.frame}>
      <header className={css.brand}>
        <Icon name="check-circle" size={22} />
        Cointill
      </header>
      <main className={css.main}>
        <div className={css.card}>
          <div>
            <h1>{title}</h1>
            {lead === undefined ? null : <div className={css.lead}>{lead}</div>}
          </div>
          {children}
        </div>
      </main>
    </div>
  );
}

interface NotLoadedFrameProps {
  readonly query: { readonly error: unknown; readonly isFetching: boolean; readonly refetch: () => unknown };
}

/** Shown if the server could not be asked about a link. */
export function NotLoadedFrame({ query }: NotLoadedFrameProps) {
  const { t } = useLocale();
  return (
    <AccessFrame title={t('fault_title')} lead={loadProblemText(query.error, t)}>
      <Button kind="primary" wide busy={query.isFetching} onClick={() => void query.refetch()}>
        {t('try_again')}
      </Button>
    </AccessFrame>
  );
}

interface MailedLinkProps {
  readonly title: string;
  readonly lead: string;
  readonly confirm: string;
  readonly action: Pick<UseMutationResult<unknown, Error, void>, 'error' | 'isPending' | 'mutate'>;
}

/** The page of a mail's link. Only its button changes anything, because mail programs open links automatically. */
export function MailedLinkFrame({ title, lead, confirm, action }: MailedLinkProps) {
  return (
    <AccessFrame title={title} lead={lead}>
      <Problem error={action.error} />
      <Button kind="primary" wide busy={action.isPending} onClick={() => action.mutate()}>
        {confirm}
      </Button>
    </AccessFrame>
  );
}

/** Says that something has ended, with a link to the page of the account. */
export function AccountFrame({ title, text }: { readonly title: string; readonly text: string }) {
  const { t } = useLocale('access');
  return (
    <AccessFrame title={title} lead={text}>
      <Link className={buttonClass()} to="/account">
        {t('account_settings')}
      </Link>
    </AccessFrame>
  );
}
