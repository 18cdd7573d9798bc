import { useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';
import { ExportCard } from './export-card.tsx';
import { PeriodCard, type Days } from './period-card.tsx';
import css from './reports.module.css';
import { StatementCard } from './statement-card.tsx';

/** Reports and statements of any period, on the screen, as files and on paper. */
export function ReportsPage() {
  const { t, zone, localDay } = useLocale('reports');
  const today = localDay(new Date().toISOString());
  const [days, setDays] = useState<Days>({ period: 'last_month', from: `${today.slice(0, 8)}01`, to: today, zone });
  return (
    <Page title={t('reports')}>
      <div className={css.stack}>
        <p className={css.note}>{t('reports_intro')}</p>
        <PeriodCard days={days} onDays={setDays} />
        <ExportCard days={days} />
        <StatementCard days={days} />
      </div>
    </Page>
  );
}
