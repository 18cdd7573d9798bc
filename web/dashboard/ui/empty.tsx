import type { ReactNode } from 'react';
import css from './empty.module.css';
import { Icon, type IconName } from './icons.tsx';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: ReactNode;
  /** What to do about it. */
  readonly children?: ReactNode;
}

/** What stands where there is nothing to show: why, and what to do about it. */
export function Empty({ icon, title, text, children }: EmptyProps) {
  return (
    <div className={css.empty}>
      <span className={css.picture}>
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {text === undefined ? null : <div className={css.text}>{text}</div>}
      {children === undefined ? null : <div className={css.actions}>{children}</div>}
    </div>
  );
}
