import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useRef, useState } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { useSignedIn } from '../session.ts';
import { Icon } from '../ui/icons.tsx';
import menu from '../ui/popup.module.css';
import { useWhenIdle } from '../lazy-page.tsx';
import { chooseTheme, chosenTheme, THEMES } from '../theme.ts';
import css from './account-button.module.css';
import { ApiFault } from '../api.ts';
import { problemText } from '../problem.ts';

const load = () => import('../ui/popup.tsx');
const PopoverPopup = lazy(async () => ({ default: (await load()).PopoverPopup }));

/** The menu of the signed-in person. */
export function AccountButton({ className }: { readonly className?: string | undefined }) {
  const { t } = useLocale();
  const { person, projects } = useSignedIn();
  const { unsaved } = useDashboard();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const signOut = useSignOut();
  useWhenIdle(load);
  const role = person.role ?? projects[0]?.role;
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={t('account')}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        title={person.email}
        data-letter={(person.name ?? person.email).slice(0, 1)}
        onClick={() => setOpen(!isOpen)}
      />
      <Suspense>
        {isOpen ? (
          <PopoverPopup label={t('account')} anchor={button} onClose={() => setOpen(false)}>
            <p className={menu.who}>
              <b>{person.name ?? person.email}</b>
              {person.name === null ? null : <small>{person.email}</small>}
              {role === undefined ? null : <small>{t(`role_${role}`)}</small>}
            </p>
            <div className={menu.line} role="separator" />
            <ThemeChoice />
            <div className={menu.line} role="separator" />
            <Link className={menu.item ?? ''} to="/account" onClick={() => setOpen(false)}>
              <Icon name="user" size={16} />
              <span>{t('account_settings')}</span>
            </Link>
            <button
              type="button"
              className={menu.item}
              onClick={() => {
                if (unsaved.get() > 0 && !confirm(t('leave_question'))) return;
                void signOut();
              }}
            >
              <Icon name="sign-out" size={16} />
              <span>{t('sign_out')}</span>
            </button>
          </PopoverPopup>
        ) : null}
      </Suspense>
    </>
  );
}

/** Light, dark, or the system's theme; shown at once. */
function ThemeChoice() {
  const { t } = useLocale();
  const [chosen, set] = useState(chosenTheme);
  return (
    <fieldset className={css.choice}>
      <legend>{t('theme')}</legend>
      <div className={css.options}>
        {THEMES.map((theme) => (
          <label key={theme} className={css.option}>
            <input
              type="radio"
              name="theme"
              checked={theme === chosen}
              onChange={() => {
                set(theme);
                chooseTheme(theme);
              }}
            />
            <span>{t(`theme_${theme}`)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** Ends the session and reloads, so that none of the person's data stays in the tab. */
export function useSignOut(): () => Promise<void> {
  const { api, isLeaving, toast, unsaved } = useDashboard();
  const { t } = useLocale();
  return async () => {
    isLeaving.set(true);
    try {
      await api('POST /dashboard/api/sign-out');
    } catch (error) {
      // The session has ended already.
      if (!(error instanceof ApiFault && error.status === 401)) {
        isLeaving.set(false);
        return toast(problemText(error, t), 'problem');
      }
    }
    unsaved.set(0);
    location.assign('/dashboard/sign-in');
  };
}
