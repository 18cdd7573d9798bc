import { useId, type ReactNode } from 'react';
import css from './card.module.css';
import { classNames } from './class-names.ts';
import rows from './row.module.css';

interface CardProps {
  readonly title?: string;
  readonly actions?: ReactNode;
  /** Whether its content, such as a table, reaches the border. */
  readonly flush?: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** A section of a page with a title. */
export function Card({ title, actions, flush = false, className, children }: CardProps) {
  const id = useId();
  return (
    <section
      className={classNames(css.card, flush && css.flush, className)}
      aria-labelledby={title === undefined ? undefined : id}
    >
      {title === undefined ? null : (
        <div className={css.head}>
          <h2 id={id}>{title}</h2>
          {actions === undefined ? null : <div className={css.actions}>{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

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
    <div className={rows.row}>
      <div>
        <b>{title}</b>
        {badge === null ? null : <span className={rows.badge}>{badge}</span>}
        <small>{text}</small>
      </div>
      {children}
    </div>
  );
}
