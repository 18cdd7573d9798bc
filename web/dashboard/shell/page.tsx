import type { ReactNode } from 'react';
import { useLocale } from '../locale.tsx';
import css from './page.module.css';
import { useTitle } from './use-title.ts';

interface PageProps {
  /** Its level-1 heading, the tab's title, and what screen readers are told. */
  readonly title: string;
  /** What the heading shows in place of the title. */
  readonly heading?: ReactNode;
  /** Where the page is below another one. */
  readonly crumbs?: ReactNode;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  /** Whether the heading is for screen readers alone. */
  readonly isHidden?: boolean;
  /** Whether it shows times, so that it says of which zone they are. */
  readonly hasTimes?: boolean;
  readonly children: ReactNode;
}

/** One page: its heading, its actions, its content. */
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
