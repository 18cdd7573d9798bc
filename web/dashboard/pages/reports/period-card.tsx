import { useMemo } from 'react';
import { startOfDay } from '../../formats.ts';
import { useLocale } from '../../locale.tsx';
import { Card } from '../../ui/card.tsx';
import { DayInput, Labelled } from '../../ui/field.tsx';
import { SelectField } from '../../ui/form.tsx';
import css from './reports.module.css';
import { PERIODS } from './search.ts';

/** The days and their time zone. */
export interface Days {
  readonly period: (typeof PERIODS)[number] | 'days';
  readonly from: string;
  readonly to: string;
  readonly zone: string;
}

/** The days in the server's terms; null while they are being typed, which passes through the year 2. */
export function askedDays({ period, from, to, zone }: Days) {
  if (period !== 'days') return { period, zone };
  const isTyped = [from, to].every((day) => startOfDay(day) !== null);
  return isTyped && from <= to ? { from, to, zone } : null;
}

interface PeriodCardProps {
  readonly days: Days;
  readonly onDays: (days: Days) => void;
}

/** Chooses the days of reports and statements. */
export function PeriodCard({ days, onDays }: PeriodCardProps) {
  const { t, zone: own } = useLocale('reports');
  const zones = useMemo(
    () => [...new Set([days.zone, own, 'UTC', ...Intl.supportedValuesOf('timeZone')])],
    [days.zone, own],
  );
  return (
    <Card title={t('report_period')} className={css.setup}>
      <div className={css.fields}>
        <SelectField
          label={t('report_period')}
          value={days.period}
          options={[...PERIODS.map((one) => [one, t(`report_${one}`)] as const), ['days', t('report_days')]]}
          onValue={(value) => onDays({ ...days, period: PERIODS.find((one) => one === value) ?? 'days' })}
        />
        {days.period === 'days' ? (
          <>
            <Labelled id="report-from" label={t('report_from')}>
              <span className={css.day}>
                <DayInput
                  id="report-from"
                  value={days.from}
                  max={days.to}
                  onDay={(from) => onDays({ ...days, from })}
                />
              </span>
            </Labelled>
            <Labelled id="report-to" label={t('report_to')}>
              <span className={css.day}>
                <DayInput id="report-to" value={days.to} min={days.from} onDay={(to) => onDays({ ...days, to })} />
              </span>
            </Labelled>
          </>
        ) : null}
        <SelectField
          label={t('report_zone')}
          value={days.zone}
          options={zones.map((one) => [one, one.replaceAll('_', ' ')])}
          onValue={(zone) => onDays({ ...days, zone })}
        />
      </div>
    </Card>
  );
}
