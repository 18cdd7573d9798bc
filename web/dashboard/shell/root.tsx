import { Outlet, useBlocker } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { useStore } from '../store.ts';
import { Button } from '../ui/button.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { useWhenIdle } from '../ui/when-idle.ts';
import css from './root.module.css';

const loadProof = () => import('./proof-dialog.tsx');
const loadSignedOut = () => import('./signed-out-dialog.tsx');
const loadLeave = () => import('./leave-dialog.tsx');
const ProofDialog = lazy(async () => ({ default: (await loadProof()).ProofDialog }));
const SignedOutDialog = lazy(async () => ({ default: (await loadSignedOut()).SignedOutDialog }));
const LeaveDialog = lazy(async () => ({ default: (await loadLeave()).LeaveDialog }));
/** Needed when it is too late to load them: the server was upgraded or is away, and a form holds what was typed. */
const loadQuestions = () => Promise.all([loadProof(), loadSignedOut(), loadLeave()]);

/** What is around every page: what it is told, and the questions that any request may lead to. */
export function Root() {
  const { proof, isSignedOut } = useDashboard();
  const asksForProof = useStore(proof) !== null;
  const signedOut = useStore(isSignedOut);
  const leaving = useLeaveGuard();
  useWhenIdle(loadQuestions);
  return (
    <>
      <Outdated />
      <Outlet />
      <Suspense>
        {asksForProof && !signedOut ? <ProofDialog /> : null}
        {signedOut ? <SignedOutDialog /> : null}
        {leaving === null ? null : <LeaveDialog onLeave={leaving.leave} onStay={leaving.stay} />}
      </Suspense>
      <Toasts />
      <Announcer />
    </>
  );
}

/** Tells screen readers which page was opened, and what changed on it. */
function Announcer() {
  const text = useStore(useDashboard().announcement);
  return (
    <p className="unseen" role="status" aria-live="polite">
      {text}
    </p>
  );
}

/** The server was upgraded while this page was open. The page goes on; nothing is loaded anew unless asked. */
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

/** Asks before what was typed is lost: ourselves on the way to another page, the browser where the tab is closed. */
function useLeaveGuard(): { readonly leave: () => void; readonly stay: () => void } | null {
  const { unsaved } = useDashboard();
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => unsaved.get() > 0 && current.pathname !== next.pathname,
    enableBeforeUnload: () => unsaved.get() > 0,
    withResolver: true,
  });
  return blocker.status === 'blocked' ? { leave: blocker.proceed, stay: blocker.reset } : null;
}
