import { createPortal } from 'react-dom';
import { Outlet, useBlocker } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useDashboard, useStore } from '../dashboard.ts';
import { chosenLanguage, useLocale } from '../locale.tsx';
import { loadTexts } from '../texts/load-texts.ts';
import { Button } from '../ui/button.tsx';
import { Toasts } from '../ui/notice.tsx';
import { useWhenIdle } from '../lazy-page.tsx';
import css from './root.module.css';

const loadDialogs = () => import('./questions.tsx');
const loadSignInTexts = () => loadTexts(chosenLanguage(), 'access');
/**
 * Loaded in advance: when they are needed, the server may have been upgraded or be down, while a form has unsaved text.
 */
const loadQuestions = () => Promise.all([loadDialogs(), loadSignInTexts()]);
const ReauthenticationDialog = lazy(async () => ({ default: (await loadDialogs()).ReauthenticationDialog }));
const LeaveDialog = lazy(async () => ({ default: (await loadDialogs()).LeaveDialog }));
const SignedOutDialog = lazy(async () => ({ default: (await loadQuestions())[0].SignedOutDialog }));

/** Around every page: announcements, notices and the dialogs that requests can open. */
export function Root() {
  const { reauthentication, isSignedOut } = useDashboard();
  const asksToReauthenticate = useStore(reauthentication) !== null;
  const signedOut = useStore(isSignedOut);
  const leaving = useLeaveGuard();
  useWhenIdle(loadQuestions);
  return (
    <>
      <Outdated />
      <Outlet />
      <Suspense>
        {asksToReauthenticate && !signedOut ? <ReauthenticationDialog /> : null}
        {signedOut ? <SignedOutDialog /> : null}
        {leaving === null ? null : <LeaveDialog onLeave={leaving.leave} onStay={leaving.stay} />}
      </Suspense>
      {/* Above the dialogs, which are at the end of the page too. */}
      {createPortal(<Toasts />, document.body)}
      <Announcer />
    </>
  );
}

/** Announces pages and changes to screen readers. */
function Announcer() {
  const text = useStore(useDashboard().announcement);
  return (
    <p className="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}

/** Says that the server was upgraded while this page was open, which keeps working until it is reloaded. */
function Outdated() {
  const { t } = useLocale();
  const isOutdated = useStore(useDashboard().isOutdated);
  if (!isOutdated) return null;
  return (
    <div className={css.bar} role="status">
      <span>{t('new_version')}</span>
      <Button small onClick={() => location.reload()}>
        {t('reload')}
      </Button>
    </div>
  );
}

/** Asks before unsaved input is lost: by a dialog on navigation, by the browser when the tab is closed. */
function useLeaveGuard(): { readonly leave: () => void; readonly stay: () => void } | null {
  const { unsaved } = useDashboard();
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      unsaved.get() > 0 && (current.pathname !== next.pathname || panelOf(current) !== panelOf(next)),
    enableBeforeUnload: () => unsaved.get() > 0,
    withResolver: true,
  });
  return blocker.status === 'blocked' ? { leave: blocker.proceed, stay: blocker.reset } : null;
}

/** The record in the panel beside a list. */
function panelOf({ search }: { readonly search: object }): unknown {
  return (search as { readonly show?: unknown }).show;
}
