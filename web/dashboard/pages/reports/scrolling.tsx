import type { ReactNode } from 'react';
import css from './reports.module.css';

interface ScrollingProps {
  readonly label: string;
  /** Whether what is in it is about to change. */
  readonly isOld?: boolean;
  readonly children: ReactNode;
}

/** A table that scrolls sideways where it has no room, with the keyboard too. */
export function Scrolling({ label, isOld = false, children }: ScrollingProps) {
  return (
    <div className={css.scroll} role="group" aria-label={label} aria-busy={isOld} tabIndex={0}>
      {children}
    </div>
  );
}
