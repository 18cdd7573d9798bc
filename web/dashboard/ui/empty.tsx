import type { ReactNode } from 'react';
import css from './empty.module.css';
import { Icon, type IconName } from './icons.tsx';

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly text?: ReactNode;
  /** The way out. */
  readonly children?: ReactNode;
}

/** Shown instead of an empty list: why it is empty, and the way out. */
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
