import { useQuery, keepPreviousData } from '@tanstack/react-query';
import { Link, useSearch, Navigate, useNavigate } from '@tanstack/react-router';
import type { HomeView } from '../../../../src/http/dashboard/home/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { Page } from '../../shell/page.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { LineChart } from '../../ui/chart/line-chart.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Empty, NotLoaded, Skeleton, SkeletonRows } from '../../ui/placeholder.tsx';
import { PaymentTable } from '../payments/payment-table.tsx';
import css from './home-page.module.css';
import { homeSearch, type HomeSearch, HOME_PERIODS } from './search.ts';
import { Currencies, Health, Statuses, Tiles, Tokens } from './figures.tsx';
import { projectKey } from '../payments/queries.ts';
import { useSignedIn } from '../../session.ts';
import { lazy, Suspense, useEffect, useState } from 'react';
import { DayInput, Select } from '../../ui/field.tsx';
import { useScope, type Scope, homeScope } from '../../scope.ts';

const HOME = '/signed-in/projects/$project/$mode';
const VOLUMES = { hour: 'volume_a_hour', day: 'volume_a_day', week: 'volume_a_week' } as const;

// Shops that sell need neither.
const FirstSteps = lazy(async () => ({ default: (await import('./first-steps.tsx')).FirstSteps }));
const NoPaymentsYet = lazy(async () => ({ default: (await import('../payments/new-payment.tsx')).NoPaymentsYet }));

/** Home: the figures of a project. */
export function HomePage() {
  const { t, zone } = useLocale();
  const scope = useScope();
  // The route also passes unknown parameters.
  const search = homeSearch(useSearch({ from: HOME }));
  const home = useQuery({ ...homeQuery(scope, search, zone), placeholderData: keepPreviousData });
  const shown = home.data === undefined ? undefined : { from: home.data.from_day, to: home.data.to_day };
  return (
    <Page title={t('home')} hasTimes actions={<Range search={search} shown={shown} />}>
      {home.data !== undefined ? (
        <div className={classNames(home.isPlaceholderData && css.old)}>
          <Figures home={home.data} />
        </div>
      ) : home.isError ? (
        <NotLoaded query={home} rows={6} />
      ) : (
        <Waiting />
      )}
    </Page>
  );
}

function Figures({ home }: { readonly home: HomeView }) {
  const { t, fiat, shortFiat, day, dateTime, localDay } = useLocale();
  const scope = useScope();
  const { currency, points, unit, latest, statuses, health, first_steps: steps } = home;
  return (
    <>
      {steps.live_payment ? null : (
        <Suspense>
          <FirstSteps steps={steps} />
        </Suspense>
      )}
      <p className={css.note}>
        {home.days === 1
          ? t('shown_day', { day: day(home.from_day) })
          : t('shown_range', { from: day(home.from_day), to: day(home.to_day), days: home.days })}
      </p>
      <Tiles home={home} />
      <div className={css.stack}>
        <div className={css.split}>
          <div className={css.figures}>
            <LineChart
              title={t(VOLUMES[unit])}
              note={t('compared_before')}
              columns={[t('day'), t('volume'), t('volume_before'), t('created_payments'), t('completed')]}
              points={points.map((one) => ({
                key: one.from,
                label: unit === 'hour' ? dateTime(one.from) : day(localDay(one.from)),
                value: Number(one.volume),
                before: Number(one.volume_before),
                text: fiat(one.volume, currency),
                more: [fiat(one.volume_before, currency), String(one.created), String(one.completed)],
              }))}
              format={(value) => shortFiat(value, currency)}
            />
            <Tokens tokens={home.tokens} currency={currency} />
          </div>
          <div className={css.stack}>
            <Statuses statuses={statuses} />
            <Currencies currencies={home.currencies} currency={currency} unvalued={home.unvalued} />
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
            <Suspense>
              <NoPaymentsYet />
            </Suspense>
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
        {[0, 1, 2, 3, 4].map((tile) => (
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

/** The figures of a range of days in a time zone. */
function homeQuery(scope: Scope, search: HomeSearch, zone: string) {
  const key = [...projectKey(scope), 'home'];
  return reads(key, 'GET /dashboard/api/projects/:project/:mode/home', { params: scope, query: { ...search, zone } });
}

/** For people without a role in any project. */
export function NoProjectPage() {
  const { t } = useLocale();
  const scope = homeScope(useSignedIn());
  // They were given a role while the page was open.
  if (scope !== null) return <Navigate to="/projects/$project/$mode" params={scope} replace />;
  return (
    <Page title={t('home')}>
      <Empty icon="home" title={t('no_project')} text={t('no_project_text')} />
    </Page>
  );
}

interface RangeProps {
  readonly search: HomeSearch;
  /** The shown days. */
  readonly shown: { readonly from: string; readonly to: string } | undefined;
}

/** Chooses the days, which the URL then contains. */
export function Range({ search, shown }: RangeProps) {
  const { t } = useLocale();
  const scope = useScope();
  const navigate = useNavigate();
  const go = (next: HomeSearch): void => {
    void navigate({ to: '/projects/$project/$mode', params: scope, search: next, replace: true });
  };
  const isCustom = search.from !== undefined;
  return (
    <>
      {isCustom ? <Days key={`${search.from} ${search.to}`} from={search.from} to={search.to} onDays={go} /> : null}
      <Select
        label={t('period')}
        value={isCustom ? 'custom' : (search.period ?? '30d')}
        options={[...HOME_PERIODS.map((one) => [one, t(`range_${one}`)] as const), ['custom', t('range_custom')]]}
        onValue={(value) => {
          const period = HOME_PERIODS.find((one) => one === value);
          if (period !== undefined) go({ period });
          else if (shown !== undefined) go(shown);
        }}
      />
    </>
  );
}

interface DaysProps {
  readonly from: string;
  readonly to: string;
  readonly onDays: (days: { readonly from: string; readonly to: string }) => void;
}

/** Typing a date passes through other dates, so it is used only after a pause. */
const TYPED_MS = 600;

function Days({ from, to, onDays }: DaysProps) {
  const { t } = useLocale();
  const [days, setDays] = useState({ from, to });
  useEffect(() => {
    const isDone = days.from !== '' && days.to !== '' && days.from <= days.to;
    if (!isDone || (days.from === from && days.to === to)) return undefined;
    const timer = setTimeout(() => onDays(days), TYPED_MS);
    return () => clearTimeout(timer);
  }, [days, from, to, onDays]);
  return (
    <span className={css.days}>
      <DayInput
        label={t('first_day')}
        value={days.from}
        max={days.to}
        onDay={(day) => setDays({ ...days, from: day })}
      />
      –
      <DayInput label={t('last_day')} value={days.to} min={days.from} onDay={(day) => setDays({ ...days, to: day })} />
    </span>
  );
}
