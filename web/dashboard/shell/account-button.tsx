import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useRef, useState } from 'react';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { useSignedIn } from '../session.ts';
import { Icon } from '../ui/icons.tsx';
import css from '../ui/popup.module.css';
import { useWhenIdle } from '../ui/when-idle.ts';
import { useSignOut } from './sign-out.ts';
import { ThemeChoice } from './theme-choice.tsx';

const load = () => import('../ui/popover.tsx');
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
        data-letter={person.email.slice(0, 1)}
        onClick={() => setOpen(!isOpen)}
      />
      <Suspense>
        {isOpen ? (
          <PopoverPopup label={t('account')} anchor={button} onClose={() => setOpen(false)}>
            <p className={css.who}>
              <b>{person.email}</b>
              {role === undefined ? null : <small>{t(`role_${role}`)}</small>}
            </p>
            <div className={css.line} role="separator" />
            <ThemeChoice />
            <div className={css.line} role="separator" />
            <Link className={css.item ?? ''} to="/account" onClick={() => setOpen(false)}>
              <Icon name="user" size={16} />
              <span>{t('account_settings')}</span>
            </Link>
            <button
              type="button"
              className={css.item}
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
