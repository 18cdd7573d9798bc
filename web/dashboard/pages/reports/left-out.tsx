import { XERO_MAX_LINES, type BookingFormat } from '../../../../src/domain/bookkeeping.ts';
import type { ReportPreview } from '../../../../src/http/dashboard/reports/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Notice } from '../../ui/notice.tsx';
import css from './reports.module.css';

interface LeftOutProps {
  readonly preview: ReportPreview;
  readonly format: BookingFormat;
}

/** The movements that a file of bookings cannot have, one by one, and whether the file is too long for Xero. */
export function LeftOut({ preview: { totals, left_out: leftOut }, format }: LeftOutProps) {
  const { t, number, fullDay, intl } = useLocale('reports');
  const { count, rows } = leftOut;
  const lines = (totals ?? []).reduce((sum, one) => sum + one.rows, 0) - count;
  // Every digit, because the entry is found by its amount.
  const exact = new Intl.NumberFormat(intl, { maximumFractionDigits: 18 });
  return (
    <>
      {format === 'xero' && lines > XERO_MAX_LINES ? (
        <Notice kind="warning">{t('report_xero_long', { count: number(lines), max: number(XERO_MAX_LINES) })}</Notice>
      ) : null}
      {count === 0 ? null : (
        <Notice kind="warning">
          <p>{t('report_left_out', { count: number(count) })}</p>
          <ul className={css.lines}>
            {rows.map(({ kind, day, id, amount, coin, why }, at) => (
              <li key={at}>
                {t(`report_left_out_${why}`, {
                  kind: t(`report_booked_${kind}`),
                  amount: `${exact.format(amount as `${number}`)} ${coin}`,
                  day: fullDay(day),
                  id,
                })}
              </li>
            ))}
          </ul>
          {count > rows.length ? <p>{t('report_left_out_more', { shown: number(rows.length) })}</p> : null}
        </Notice>
      )}
    </>
  );
}
