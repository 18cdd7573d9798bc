import type { ReactNode } from 'react';
import css from './account.module.css';

interface RowProps {
  readonly title: string;
  /** Its state, in a word. */
  readonly badge?: string | null;
  readonly text: ReactNode;
  /** Its buttons. */
  readonly children: ReactNode;
}

/** One line of the account page. */
export function Row({ title, badge = null, text, children }: RowProps) {
  return (
    <div className={css.row}>
      <div>
        <b>{title}</b>
        {badge === null ? null : <span className={css.badge}>{badge}</span>}
        <small>{text}</small>
      </div>
      {children}
    </div>
  );
}
