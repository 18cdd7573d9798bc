import { useSuspenseQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useDashboard, sessionQuery } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { leaveFor } from '../../leave-for.ts';
import { passkeysHere } from '../../passkeys.ts';
import type { SessionAnswer } from '../../session.ts';
import { Notice } from '../../ui/notice.tsx';
import css from './access.module.css';
import { AccessFrame } from './access-frame.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** The sign-in page, which continues to the page that was requested. */
export function SignInPage() {
  const { t } = useLocale('access');
  const { queries } = useDashboard();
  const { to } = useSearch({ from: '/sign-in' });
  const { data: session } = useSuspenseQuery(sessionQuery);
  if (session.state === 'signed_in') return <Onward to={to} />;
  const finish = (answer: SessionAnswer): void => void queries.setQueryData(sessionQuery.queryKey, answer);
  if (session.state === 'signed_out' && !session.has_people) {
    return (
      <AccessFrame title={t('no_people_title')} lead={t('no_people_where')}>
        <Notice>
          <p>{t('no_people_text')}</p>
          <code className={css.command}>cointill user invite --email you@example.com --role owner</code>
        </Notice>
      </AccessFrame>
    );
  }
  return (
    <AccessFrame title={t('sign_in')}>
      <SignInForm
        passkeys={passkeysHere(session.passkeys).offered}
        {...(session.state === 'second_factor' && { factors: session.factors })}
        onDone={finish}
      />
    </AccessFrame>
  );
}

/** Goes to the page that was requested before the sign-in. */
function Onward({ to }: { readonly to: string | undefined }) {
  const router = useRouter();
  useEffect(() => {
    // The till sent its person here; its path is none of the dashboard's.
    if (to !== undefined && /^\/till(?:\?|$)/.test(to)) return void leaveFor(to);
    // This page is a document of its own, too, with a policy of its own.
    if (to !== undefined && /^\/connect\/(?:live|test)(?:\?|$)/.test(to)) return void leaveFor(`/dashboard${to}`);
    // Only paths within the dashboard, because a link could contain any URL.
    router.history.replace(to !== undefined && /^\/(?![/\\])/.test(to) ? `/dashboard${to}` : '/dashboard');
  }, [router, to]);
  return null;
}
