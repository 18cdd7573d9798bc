import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLocale } from '../locale.tsx';
import type { Scope } from '../scope.ts';
import { classNames } from '../ui/class-names.ts';
import { NotLoaded } from '../ui/placeholder.tsx';
import { todayQuery } from './queries.ts';
import css from './till.module.css';

interface TodayProps {
  readonly scope: Scope;
  readonly onSale: (id: string) => void;
  readonly children: ReactNode;
}

/** The person's sales of today and their sums, in the device's time zone. */
export function Today({ scope, onSale, children }: TodayProps) {
  const { t, fiat, fullDay, shortTime, zone } = useLocale('till');
  const query = useQuery(todayQuery(scope, zone));
  const { data } = query;
  return (
    <div className={css.today}>
      {data === undefined ? (
        <NotLoaded query={query} rows={6} />
      ) : (
        <>
          <h2>{fullDay(data.day)}</h2>
          <ul className={css.sums}>
            {data.sums.map(({ currency, count, total, tips }) => (
              <li key={currency}>
                <strong>{fiat(total, currency)}</strong>
                <span>
                  {t('till_paid_sales', { count })}
                  {Number(tips) === 0 ? null : `, ${t('till_of_it_tips', { amount: fiat(tips, currency) })}`}
                </span>
              </li>
            ))}
          </ul>
          {data.sales.length === 0 ? <p>{t('till_today_none')}</p> : null}
          {data.has_more ? <p>{t('till_today_more')}</p> : null}
          <ul className={css.sales}>
            {data.sales.map((sale) => (
              <li key={sale.id}>
                <button type="button" onClick={() => onSale(sale.id)}>
                  <span>{shortTime(sale.created_at, Date.now())}</span>
                  <span>{sale.note}</span>
                  <b>{fiat(sale.amount, sale.currency)}</b>
                  <span className={classNames(css.state, css[sale.state])}>
                    {t(`till_state_${sale.state}`)}
                    {sale.paid_by === null ? null : ` (${t(`till_by_${sale.paid_by}`)})`}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {children}
    </div>
  );
}
