import { type ReactNode, useEffect, useRef } from 'react';
import { useLocale } from '../locale.tsx';
import css from './page.module.css';
import { useDashboard, sessionQuery, useStore } from '../dashboard.ts';
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { buttonClass, Button } from '../ui/button.tsx';
import { Empty } from '../ui/placeholder.tsx';
import type { IconName } from '../ui/icons.tsx';
import { useQueryClient } from '@tanstack/react-query';
import { ApiFault } from '../api.ts';
import { isMissingScript, loadProblemText } from '../problem.ts';
import { SignedOut } from '../session.ts';

interface PageProps {
  /** The level-1 heading, the tab's title and the announcement for screen readers. */
  readonly title: string;
  /** Replaces the title in the heading. */
  readonly heading?: ReactNode;
  /** The link to the parent page. */
  readonly crumbs?: ReactNode;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  /** Whether the heading is only for screen readers. */
  readonly isHidden?: boolean;
  /** Whether the page shows times and so names their time zone. */
  readonly hasTimes?: boolean;
  readonly children: ReactNode;
}

/** The heading, actions and content of a page. */
export function Page(props: PageProps) {
  const { title, heading = title, crumbs, beside, actions, isHidden = false, hasTimes = false, children } = props;
  const { t, zone } = useLocale();
  useTitle(title);
  return (
    <>
      {crumbs === undefined ? null : <div className={css.crumbs}>{crumbs}</div>}
      {isHidden ? (
        <h1 className="unseen">{heading}</h1>
      ) : (
        <div className={css.head}>
          <div className={css.title}>
            <h1>{heading}</h1>
            {beside}
          </div>
          {actions === undefined ? null : <div className={css.actions}>{actions}</div>}
        </div>
      )}
      {children}
      {hasTimes ? <p className={css.zone}>{t('times_zone', { zone: zone.replaceAll('_', ' ') })}</p> : null}
    </>
  );
}

/** Sets the tab's title and announces the page to screen readers. */
export function useTitle(title: string): void {
  const { announcement } = useDashboard();
  useEffect(() => {
    document.title = `${title} · Cointill`;
    announcement.set(title);
  }, [title, announcement]);
}

interface InsteadOfPageProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
}

/** A notice if there is no page to show, with the way to Home. */
function InsteadOfPage({ icon, title, text }: InsteadOfPageProps) {
  const { t } = useLocale();
  return (
    <Page title={title} isHidden>
      <Empty icon={icon} title={title} text={text}>
        <Link className={buttonClass({ kind: 'primary' })} to="/">
          {t('to_home')}
        </Link>
      </Empty>
    </Page>
  );
}

/** The fault page without the frame of pages. */
export function FaultInMain(props: ErrorComponentProps) {
  return (
    <main>
      <FaultPage {...props} />
    </main>
  );
}

/** Shown instead of a page that failed. */
export function FaultPage(props: ErrorComponentProps) {
  const { error } = props;
  if (error instanceof ApiFault && error.status === 404) return <NotFoundPage />;
  // The sign-in dialog is open.
  return error instanceof SignedOut ? null : <Fault {...props} />;
}

function Fault({ error, reset }: ErrorComponentProps) {
  const { t } = useLocale();
  const router = useRouter();
  const queries = useQueryClient();
  const { unsaved, connection, isOutdated: isUpgraded } = useDashboard();
  useStore(connection);
  const isAway = (): boolean => !navigator.onLine || (connection.get() === 'lost' && !isUpgraded.get());
  const isMissing = isMissingScript(error);
  const isOffline = error instanceof ApiFault ? error.type === 'offline' : isMissing && isAway();
  const isOutdated = isMissing && !isOffline;
  const tryAgain = (): void => {
    if (isMissing) {
      // Without a connection the browser would replace this page by its own error page.
      if (!isAway()) location.reload();
      return;
    }
    void queries.resetQueries({ predicate: ({ state }) => state.status === 'error' });
    reset();
    void router.invalidate();
  };
  // Loading the tab again would drop what is typed in a dialog over the page.
  useWhenBack(isOffline, () => (isMissing && unsaved.get() > 0 ? undefined : tryAgain()));
  return (
    <Page title={t('fault_title')} isHidden>
      <Empty
        icon={isOffline ? 'offline' : 'warning'}
        title={t(isOutdated ? 'new_version_title' : isOffline ? 'fault_offline_title' : 'fault_title')}
        text={isOutdated ? t('new_version') : isOffline ? t('not_loaded_offline') : loadProblemText(error, t)}
      >
        <Button kind="primary" onClick={tryAgain}>
          {t(isOutdated ? 'reload' : 'try_again')}
        </Button>
      </Empty>
    </Page>
  );
}

/** Calls once the connection is back, that of the browser or that of the tab's stream. */
function useWhenBack(isOffline: boolean, onBack: () => void): void {
  const { connection } = useDashboard();
  const latest = useRef(onBack);
  latest.current = onBack;
  useEffect(() => {
    if (!isOffline) return undefined;
    let isLost = connection.get() === 'lost';
    const back = (): void => latest.current();
    const unsubscribe = connection.subscribe(() => {
      const state = connection.get();
      if (state === 'open' && isLost) back();
      isLost ||= state === 'lost';
    });
    addEventListener('online', back);
    return () => {
      unsubscribe();
      removeEventListener('online', back);
    };
  }, [isOffline, connection]);
}

/**
 * Replaces a page that the person's role does not permit, also if the role was changed while the page was open: its
 * contents are no longer requested, and earlier answers are removed.
 */
export function ForbiddenPage() {
  const { t } = useLocale();
  useForgetting();
  return <InsteadOfPage icon="warning" title={t('forbidden_title')} text={t('forbidden_text')} />;
}

/** Replaces a page of a project in which the person had a role when they opened it. */
export function NoAccessPage() {
  const { t } = useLocale();
  useForgetting();
  return <InsteadOfPage icon="warning" title={t('access_lost')} text={t('access_lost_text')} />;
}

function useForgetting(): void {
  const queries = useQueryClient();
  useEffect(() => {
    // Queries still on the screen, such as the number beside Needs attention, are in use.
    queries.removeQueries({ type: 'inactive', predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
  }, [queries]);
}

/** The fault page without the frame of pages. */
export function NotFoundInMain() {
  return (
    <main>
      <NotFoundPage />
    </main>
  );
}

/** For URLs that do not exist or that this person may not see. */
export function NotFoundPage() {
  const { t } = useLocale();
  return <InsteadOfPage icon="search" title={t('not_found_title')} text={t('not_found_text')} />;
}
