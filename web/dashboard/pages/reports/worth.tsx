import { useLocale } from '../../locale.tsx';
import css from './reports.module.css';

interface WorthProps {
  /** What is known of it, in `currency`. */
  readonly amount: string;
  readonly currency?: string;
  /** Of how many it is, and of how many of them the value is unknown. */
  readonly count: number;
  readonly unknown: number;
}

/** What is known of a value, and of how many it is not. */
export function Worth({ amount, currency = 'USD', count, unknown }: WorthProps) {
  const { t, fiat, number } = useLocale('reports');
  return (
    <>
      {unknown >= count && unknown > 0 ? null : fiat(amount, currency)}
      {unknown === 0 ? null : <span className={css.unknown}>{t('report_unknown', { count: number(unknown) })}</span>}
    </>
  );
}
