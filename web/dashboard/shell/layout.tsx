import { Outlet, useLocation, useMatches } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState, useRef } from 'react';
import { accessText, useSignedIn, type SessionProject, type SignedIn } from '../session.ts';
import { useDashboard, type Access, useStore, sessionQuery } from '../dashboard.ts';
import { useLive } from '../live.ts';
import { chosenLanguage, useLocale } from '../locale.tsx';
import { classNames } from '../ui/class-names.ts';
import { IconButton } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { loadTexts } from '../texts/load-texts.ts';
import { useCommands } from './commands.ts';
import { useKeys, Overlays, type Overlay } from './overlays.tsx';
import css from './layout.module.css';
import { mayOpen } from './pages.ts';
import { Rail } from './rail.tsx';
import { TopBar } from './top-bar.tsx';
import { useQuery } from '@tanstack/react-query';
import { attentionCountQuery } from '../pages/attention/queries.ts';
import type { News } from './attention-news.tsx';
import { ForbiddenPage, NoAccessPage, NotFoundPage } from './page.tsx';
import { homeScope, rememberScope, useScopeInAddress, type Scope } from '../scope.ts';

const AttentionNews = lazy(async () => {
  try {
    const [module] = await Promise.all([import('./attention-news.tsx'), loadTexts(chosenLanguage(), 'attention')]);
    return { default: module.AttentionNews };
  } catch {
    // Loading fails after an upgrade or offline: the number beside the page's name shows the same.
    return { default: () => null };
  }
});

const FactorQuestion = lazy(async () => {
  try {
    const [module] = await Promise.all([
      import('../pages/access/factor-choices.tsx'),
      loadTexts(chosenLanguage(), 'access'),
    ]);
    return { default: module.FactorQuestion };
  } catch {
    // After an upgrade or offline: the server's refusals say the same, and a reload asks.
    return { default: () => null };
  }
});

/** The frame of all pages for signed-in people. */
export function Layout() {
  const session = useSignedIn();
  const inAddress = useScopeInAddress();
  const scope = inAddress ?? homeScope(session);
  const [overlay, setOverlay] = useState<Overlay | null>(null);
  const project = session.projects.find(({ id }) => id === inAddress?.project);
  // A project whose payments the person may not see is none here, as for cashiers.
  const isKnown = inAddress === null || project?.actions.includes('read_payments') === true;
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' });
  const isOpen = project === undefined || mayOpen(route, project, session);
  const { t } = useLocale();
  useEffect(() => {
    if (inAddress !== null && isKnown) rememberScope(inAddress);
  }, [inAddress?.project, inAddress?.mode, isKnown]);
  const commands = useCommands(isKnown ? scope : null, (Dialog) => setOverlay({ Dialog }));
  useKeys(commands, { open: setOverlay, isOpen: overlay !== null });
  const { access, accept } = useAccess(session, inAddress?.project, project);
  const isHeld = useHeld(isKnown && isOpen);
  useRecheck(!isKnown || session.projects.length === 0);
  useLive(isKnown ? scope : null);
  const [news, endNews] = useAttentionNews(isKnown ? scope : null);
  const factor = useFactorQuestion(session);
  const isTest = scope?.mode === 'test' && isKnown;
  return (
    <div className={classNames(css.app, isTest && css.isTest)}>
      <a className={css.skip} href="#main">
        {t('skip')}
      </a>
      {isTest ? <Band /> : null}
      <Rail className={css.rail} scope={scope} onHelp={() => setOverlay('help')} />
      <div className={css.column}>
        <TopBar scope={isKnown ? scope : null} open={setOverlay} />
        <main id="main" className={css.main} tabIndex={-1}>
          {isKnown || isHeld ? <RoleChanged access={access} onClose={accept} /> : null}
          {isHeld || (isKnown && isOpen) ? (
            <Outlet />
          ) : isKnown || project !== undefined ? (
            <ForbiddenPage />
          ) : access === null ? (
            <NotFoundPage />
          ) : (
            <NoAccessPage />
          )}
        </main>
      </div>
      <Suspense>{news === null ? null : <AttentionNews {...news} onShown={endNews} />}</Suspense>
      <Suspense>{factor === null ? null : <FactorQuestion {...factor} />}</Suspense>
      <Overlays {...{ commands, scope, overlay }} onClose={() => setOverlay(null)} open={setOverlay} />
    </div>
  );
}

/** The question for a second factor, if the role requires one since the page was opened. */
function useFactorQuestion({ must_add_factor: isRequired }: SignedIn) {
  const { queries } = useDashboard();
  // The recovery codes are shown once, and stay when the session is read again meanwhile.
  const [isAdding, setAdding] = useState(false);
  if (!isRequired && !isAdding) return null;
  return { onAdding: setAdding, onDone: () => void queries.invalidateQueries() };
}

/** Whether a page that is no longer permitted stays for its unsaved input, until that is given up. */
function useHeld(isPermitted: boolean): boolean {
  const { pathname } = useLocation();
  const hasUnsaved = useStore(useDashboard().unsaved) > 0;
  const [permitted, setPermitted] = useState('');
  if (isPermitted && permitted !== pathname) setPermitted(pathname);
  return !isPermitted && hasUnsaved && permitted === pathname;
}

/** Says that the role was changed since the project was opened. */
function RoleChanged({ access, onClose }: { readonly access: Access | null; readonly onClose: () => void }) {
  const { t } = useLocale();
  const text = accessText(access, t);
  return (
    <div role="status">
      {text === null ? null : (
        <div className={css.changed}>
          <Notice kind="warning">{text}</Notice>
          {access?.role === null ? null : <IconButton icon="close" label={t('close')} onClick={onClose} />}
        </div>
      )}
    </div>
  );
}

/** Conspicuous, so that nobody mistakes test payments for real ones. */
function Band() {
  const { t } = useLocale();
  return (
    <aside className={css.band} aria-label={t('test_mode')}>
      <strong>{t('test_mode')}</strong>
      <span>{t('test_band')}</span>
    </aside>
  );
}

/**
 * Keeps `dashboard.access` up to date with the person's permissions in the project of the address, and returns the
 * difference to those when they opened it.
 *
 * @param id the project in the address; undefined on pages without one
 * @param project the same project, if the person has a role in it
 */
function useAccess(
  { person }: SignedIn,
  id: string | undefined,
  project: SessionProject | undefined,
): { readonly access: Access | null; readonly accept: () => void } {
  const { access: store } = useDashboard();
  const [opened, setOpened] = useState<SessionProject | null>(null);
  // Nothing is known of a project in which they never had a role.
  if (project !== undefined && opened?.id !== project.id) setOpened(project);
  const isOpened = opened !== null && opened.id === id;
  const role = project?.role ?? null;
  const actions = project === undefined ? [] : [...project.actions, ...person.actions];
  const access = isOpened ? { role, was: opened.role, actions } : null;
  useEffect(() => store.set(access), [store, isOpened, opened, project, person]);
  return { access, accept: () => project !== undefined && setOpened(project) };
}

/** How often a page without access checks for access: no stream reports it. */
const EVERY_MS = 10_000;

/** Requests the session at intervals, and when the person comes back to the tab. */
function useRecheck(isNeeded: boolean): void {
  const { refreshSession, queries } = useDashboard();
  useEffect(() => {
    if (!isNeeded) return undefined;
    const check = (): void => {
      if (document.visibilityState === 'visible') refreshSession();
    };
    const timer = setInterval(check, EVERY_MS);
    addEventListener('focus', check);
    document.addEventListener('visibilitychange', check);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', check);
      document.removeEventListener('visibilitychange', check);
      // Earlier answers belong to the former role, and no stream reported changes meanwhile.
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    };
  }, [isNeeded, refreshSession, queries]);
}

/**
 * Announces new attention items in an open page, once, including those that came while the connection was lost. Items
 * that existed when the page opened are not announced.
 */
function useAttentionNews(scope: Scope | null): readonly [News | null, () => void] {
  const [news, setNews] = useState<News | null>(null);
  const said = useRef(new Map<string, Omit<News, 'scope'>>());
  const { data } = useQuery({
    ...attentionCountQuery(scope ?? { project: '', mode: 'test' }),
    enabled: scope !== null,
  });
  useEffect(() => {
    if (scope === null || data === undefined) return;
    const key = `${scope.project} ${scope.mode}`;
    const before = said.current.get(key);
    if (before === undefined) said.current.set(key, { after: data.newest, known: data.unnoticed });
    else if (data.newest > before.after) {
      said.current.set(key, { ...before, after: data.newest });
      setNews((waiting) => waiting ?? { scope, ...before });
    }
  }, [scope?.project, scope?.mode, data]);
  return [news, () => setNews(null)];
}
