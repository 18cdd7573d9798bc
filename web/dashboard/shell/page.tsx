import { type ReactNode, useEffect } from 'react';
import { useLocale } from '../locale.tsx';
import css from './page.module.css';
import { useDashboard } from '../dashboard.ts';

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
