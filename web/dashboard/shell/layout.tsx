import { Outlet, useLocation, useMatches, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { accessText } from '../access.ts';
import { useDashboard, type Access } from '../dashboard.ts';
import { useLive } from '../live.ts';
import { chosenLanguage, useLocale } from '../locale.tsx';
import { homeScope, rememberScope, useScopeInAddress, type Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { useStore } from '../store.ts';
import { classNames } from '../ui/class-names.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { Notice } from '../ui/notice.tsx';
import { loadTexts } from '../texts/load-texts.ts';
import { AccountButton } from './account-button.tsx';
import { ForbiddenPage, NoAccessPage } from './forbidden-page.tsx';
import { useAccess, useRecheck } from './use-access.ts';
import { useAttentionNews } from './use-attention-news.ts';
import { useKeys } from './keys.ts';
import css from './layout.module.css';
import { NotFoundPage } from './not-found-page.tsx';
import { Overlays, type Overlay } from './overlays.tsx';
import { mayOpen } from './pages.ts';
import { Rail } from './rail.tsx';

const AttentionNews = lazy(async () => {
  try {
    const [module] = await Promise.all([import('./attention-news.tsx'), loadTexts(chosenLanguage(), 'attention')]);
    return { default: module.AttentionNews };
  } catch {
    // After an upgrade or offline: the number beside the page's name says it too.
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
  const isKnown = inAddress === null || project !== undefined;
  const route = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' });
  const isOpen = project === undefined || mayOpen(route, project, session);
  const { t } = useLocale();
  useEffect(() => {
    if (inAddress !== null && isKnown) rememberScope(inAddress);
  }, [inAddress?.project, inAddress?.mode, isKnown]);
  useKeys(scope, { open: setOverlay, isOpen: overlay !== null });
  const { access, accept } = useAccess(session, inAddress?.project, project);
  const isHeld = useHeld(isKnown && isOpen);
  useRecheck(!isKnown || session.projects.length === 0);
  useLive(isKnown ? scope : null);
  const [news, endNews] = useAttentionNews(isKnown ? scope : null);
  const isTest = scope?.mode === 'test' && isKnown;
  return (
    <div className={classNames(css.app, isTest && css.isTest)}>
      <a className={css.skip} href="#main">
        {t('skip')}
      </a>
      {isTest && scope !== null ? <Band scope={scope} /> : null}
      <Rail className={css.rail} scope={scope} onHelp={() => setOverlay('help')} />
      <div className={css.column}>
        <TopBar scope={isKnown ? scope : null} open={setOverlay} />
        <main id="main" className={css.main} tabIndex={-1}>
          {isKnown || isHeld ? <RoleChanged access={access} onClose={accept} /> : null}
          {isHeld || (isKnown && isOpen) ? (
            <Outlet />
          ) : isKnown ? (
            <ForbiddenPage />
          ) : access === null ? (
            <NotFoundPage />
          ) : (
            <NoAccessPage />
          )}
        </main>
      </div>
      <Suspense>{news === null ? null : <AttentionNews {...news} onShown={endNews} />}</Suspense>
      <Overlays scope={scope} overlay={overlay} onClose={() => setOverlay(null)} open={setOverlay} />
    </div>
  );
}

/** Whether a page that is no longer permitted stays for what was typed in it, until that is given up. */
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
function Band({ scope }: { readonly scope: Scope }) {
  const { t } = useLocale();
  const switchMode = useModeSwitch(scope);
  return (
    <aside className={css.band} aria-label={t('test_mode')}>
      <strong>{t('test_mode')}</strong>
      <span>{t('test_band')}</span>
      <button type="button" onClick={switchMode}>
        {t('switch_to_live')}
      </button>
    </aside>
  );
}

interface TopBarProps {
  readonly scope: Scope | null;
  readonly open: (overlay: Overlay) => void;
}

function TopBar({ scope, open }: TopBarProps) {
  const { t } = useLocale();
  const drawer = useRef<HTMLDialogElement>(null);
  const isMac = navigator.platform.startsWith('Mac');
  const { pathname } = useLocation();
  useEffect(() => drawer.current?.close(), [pathname]);
  return (
    <header className={css.top}>
      <IconButton className={css.phone} icon="menu" label={t('menu')} onClick={() => drawer.current?.showModal()} />
      <button
        type="button"
        className={css.search}
        aria-label={t('search_everything')}
        aria-keyshortcuts="/ Control+K"
        onClick={() => open('palette')}
      >
        <Icon name="search" />
        <span>{t('search_everything')}</span>
        <kbd data-keys={isMac ? '⌘K' : 'Ctrl K'} aria-hidden="true" />
      </button>
      <div className={css.gap} />
      <Connection />
      {scope === null ? null : <TestSwitch scope={scope} />}
      <AccountButton className={css.account} />
      <dialog
        ref={drawer}
        className={css.drawer}
        aria-label={t('menu')}
        onClick={(event) => {
          // A click on the backdrop.
          if (event.target === drawer.current) drawer.current.close();
        }}
      >
        <Rail className={css.rail} scope={scope} onHelp={() => open('help')} onClose={() => drawer.current?.close()} />
      </dialog>
    </header>
  );
}

/** Whether the page is updated live. */
function Connection() {
  const { t } = useLocale();
  const connection = useStore(useDashboard().connection);
  const isOnline = useOnline();
  if (!isOnline) return <ConnectionState isLost text={t('offline')} />;
  if (connection === 'lost') return <ConnectionState isLost text={t('reconnecting')} />;
  return connection === 'open' ? <ConnectionState text={t('up_to_date')} /> : null;
}

function ConnectionState({ text, isLost = false }: { readonly text: string; readonly isLost?: boolean }) {
  return (
    <span className={classNames(css.connection, isLost && css.lost)} title={text}>
      <span>{text}</span>
    </span>
  );
}

function useOnline(): boolean {
  const [isOnline, set] = useState(navigator.onLine);
  useEffect(() => {
    const update = (): void => set(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  return isOnline;
}

function TestSwitch({ scope }: { readonly scope: Scope }) {
  const { t } = useLocale();
  const switchMode = useModeSwitch(scope);
  return (
    <button
      type="button"
      role="switch"
      aria-checked={scope.mode === 'test'}
      className={css.switch}
      onClick={switchMode}
    >
      {t('test_mode')}
      <span className={css.track} aria-hidden="true" />
    </button>
  );
}

/** Switches to the other mode's Home, because the current page's content does not exist there. */
function useModeSwitch({ project, mode }: Scope): () => void {
  const navigate = useNavigate();
  return () => {
    void navigate({ to: '/projects/$project/$mode', params: { project, mode: mode === 'test' ? 'live' : 'test' } });
  };
}
