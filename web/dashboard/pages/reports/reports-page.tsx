import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';
import { ExportCard } from './export-card.tsx';
import css from './reports.module.css';
import { usePageSearch, type SearchChange } from '../../search.ts';
import { useScope } from '../../scope.ts';
import { reportsSearch, type ReportsSearch } from './search.ts';
import { StatementCard } from './statement-card.tsx';
import { askedDays, PeriodCard, type Days } from './parts.tsx';

/** Reports and statements of any period, on the screen, as files and on paper. */
export function ReportsPage() {
  const { t } = useLocale('reports');
  const { search, onChange } = usePageSearch(reportsSearch);
  const { days, onDays } = useDays(search, onChange);
  return (
    <Page title={t('reports')}>
      <div className={css.stack}>
        <p className={css.note}>
          {t('reports_intro')}{' '}
          <Link to="/projects/$project/$mode" params={useScope()}>
            {t('reports_home')}
          </Link>
        </p>
        <PeriodCard days={days} onDays={onDays} />
        {/* A link means the same days for everybody who opens it, in any time zone. */}
        <ExportCard days={days} search={search} onChange={(change) => onChange({ zone: days.zone, ...change })} />
        <StatementCard days={days} />
      </div>
    </Page>
  );
}

/** The days in the URL; while they are being typed, they are only kept here. */
function useDays(search: ReportsSearch, onChange: (change: SearchChange) => void) {
  const { zone: own, localDay } = useLocale();
  const [typed, type] = useState<{ readonly days: Days; readonly instead: string } | null>(null);
  const today = localDay(new Date().toISOString());
  const { period = 'last_month', from, to, zone = own } = search;
  const chosen: Days =
    from === undefined || to === undefined
      ? { period, from: `${today.slice(0, 8)}01`, to: today, zone }
      : { period: 'days', from, to, zone };
  const address = JSON.stringify(search);
  return {
    days: typed?.instead === address ? typed.days : chosen,
    onDays: (days: Days): void => {
      const asked = askedDays(days);
      type(asked === null ? { days, instead: address } : null);
      if (asked !== null) onChange({ period: undefined, from: undefined, to: undefined, ...asked });
    },
  };
}
