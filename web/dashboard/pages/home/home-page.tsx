import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { HomeView } from '../../../../src/http/dashboard/contract/home.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Page } from '../../shell/page.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { LineChart } from '../../ui/chart/line-chart.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Empty } from '../../ui/empty.tsx';
import { Select } from '../../ui/field.tsx';
import { Skeleton, SkeletonRows } from '../../ui/skeleton.tsx';
import { PaymentTable } from '../payments/payment-table.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Health } from './health.tsx';
import css from './home-page.module.css';
import { HOME_PERIODS, homeQuery, type HomePeriod } from './queries.ts';
import { Statuses } from './statuses.tsx';
import { Tiles } from './tiles.tsx';

/** Home: the figures of a project. */
export function HomePage() {
  const { t } = useLocale();
  const { api } = useDashboard();
  const scope = useScope();
  const [period, setPeriod] = useState<HomePeriod>('30d');
  const home = useQuery(homeQuery(api, scope, period));
  return (
    <Page
      title={t('home')}
      hasTimes
      actions={
        <Select
          label={t('period')}
          value={period}
          options={HOME_PERIODS.map((one) => [one, t(`period_${one}`)])}
          onValue={(value) => setPeriod(HOME_PERIODS.find((one) => one === value) ?? '30d')}
        />
      }
    >
      {home.data !== undefined ? (
        <div className={classNames(home.isPlaceholderData && css.old)}>
          <Figures home={home.data} period={period} />
        </div>
      ) : home.isError ? (
        <Empty icon="warning" title={t('fault_title')} text={problemText(home.error, t)}>
          <Button onClick={() => void home.refetch()}>{t('try_again')}</Button>
        </Empty>
      ) : (
        <Waiting />
      )}
    </Page>
  );
}

function Figures({ home, period }: { readonly home: HomeView; readonly period: HomePeriod }) {
  const { t, fiat, shortFiat, day } = useLocale();
  const scope = useScope();
  const { currency, days, latest, statuses, health, first_steps: steps } = home;
  return (
    <>
      <Tiles home={home} period={period} />
      <div className={css.stack}>
        <FirstSteps steps={steps} />
        <div className={css.split}>
          <LineChart
            title={t('volume_a_day')}
            note={t('days_utc')}
            columns={[t('day'), t('volume'), t('completed')]}
            points={days.map((one) => ({
              key: one.day,
              label: day(one.day),
              value: Number(one.volume),
              text: fiat(one.volume, currency),
              more: [String(one.completed)],
            }))}
            format={(value) => shortFiat(value, currency)}
          />
          <div className={css.stack}>
            <Statuses statuses={statuses} period={period} />
            <Health health={health} />
          </div>
        </div>
        <Card
          flush
          title={t('latest_payments')}
          actions={
            <Link
              className={buttonClass({ kind: 'quiet', small: true })}
              to="/projects/$project/$mode/payments"
              params={scope}
            >
              {t('all_payments')}
            </Link>
          }
        >
          {latest.length > 0 ? (
            <PaymentTable label={t('latest_payments')} payments={latest} />
          ) : (
            <Empty
              icon="payments"
              title={t('no_payments_title')}
              text={t(scope.mode === 'test' ? 'no_test_payments_text' : 'no_live_payments_text')}
            />
          )}
        </Card>
      </div>
    </>
  );
}

/** The page's outline, so that nothing moves when the figures arrive. */
function Waiting() {
  const { t } = useLocale();
  return (
    <>
      <div className={css.tiles} role="status" aria-label={t('loading')}>
        {[0, 1, 2, 3].map((tile) => (
          <div className={css.tile} key={tile}>
            <Skeleton width={2} />
            <Skeleton kind="tall" width={1} />
            <Skeleton width={3} />
          </div>
        ))}
      </div>
      <div className={css.stack}>
        <Card>
          <Skeleton kind="block" />
        </Card>
        <Card flush>
          <SkeletonRows count={6} />
        </Card>
      </div>
    </>
  );
}
