import { useLocation } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useDashboard, useStore } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { IconButton } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Icon } from '../ui/icons.tsx';
import { AccountButton } from './account-button.tsx';
import css from './layout.module.css';
import type { Overlay } from './overlays.tsx';
import { useModeSwitch } from './mode-switch.ts';
import { Rail } from './rail.tsx';
import type { Scope } from '../scope.ts';

interface TopBarProps {
  readonly scope: Scope | null;
  readonly open: (overlay: Overlay) => void;
}

/** The bar above every page: search, the state of the connection, the mode and the account. */
export function TopBar({ scope, open }: TopBarProps) {
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
