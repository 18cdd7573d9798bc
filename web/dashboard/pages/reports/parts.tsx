import type { ReactNode } from 'react';
import css from './reports.module.css';
import { useLocale } from '../../locale.tsx';

interface ScrollingProps {
  readonly label: string;
  /** Whether the content is about to change. */
  readonly isOld?: boolean;
  readonly children: ReactNode;
}

/** A table that scrolls sideways if there is no room, also by keyboard. */
export function Scrolling({ label, isOld = false, children }: ScrollingProps) {
  return (
    <div className={css.scroll} role="group" aria-label={label} aria-busy={isOld} tabIndex={0}>
      {children}
    </div>
  );
}

interface WorthProps {
  /** The known part of the value, in `currency`. */
  readonly amount: string;
  readonly currency?: string;
  /** The number of entries, and of those whose value is unknown. */
  readonly count: number;
  readonly unknown: number;
}

/** The known part of a value, and the number of entries without one. */
export function Worth({ amount, currency = 'USD', count, unknown }: WorthProps) {
  const { t, fiat, number } = useLocale('reports');
  return (
    <>
      {unknown >= count && unknown > 0 ? null : fiat(amount, currency)}
      {unknown === 0 ? null : <span className={css.unknown}>{t('report_unknown', { count: number(unknown) })}</span>}
    </>
  );
}
