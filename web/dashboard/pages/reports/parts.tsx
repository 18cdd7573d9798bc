import { type ReactNode, useMemo } from 'react';
import css from './reports.module.css';
import { useLocale } from '../../locale.tsx';
import { startOfDay } from '../../formats.ts';
import { Card } from '../../ui/card.tsx';
import { DayInput, Labelled } from '../../ui/field.tsx';
import { SelectField } from '../../ui/form.tsx';
import { PERIODS } from './search.ts';

interface ReportTableProps {
  readonly title: string;
  /** The heads of the columns; the first one of a statement is for screen readers only. */
  readonly heads: readonly ReactNode[];
  readonly rows: readonly {
    readonly name: string;
    readonly className?: string | undefined;
    readonly cells: readonly ReactNode[];
  }[];
  /** Whether it is about to change. */
  readonly isOld?: boolean;
}

/** A table that scrolls sideways if there is no room, also by keyboard. */
export function ReportTable({ title, heads, rows, isOld = false }: ReportTableProps) {
  return (
    <div className={css.scroll} role="group" aria-label={title} aria-busy={isOld} tabIndex={0}>
      <table className={css.table}>
        <caption>{title}</caption>
        <thead>
          <tr>
            {heads.map((head, at) => (
              <th key={at} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, className, cells }) => (
            <tr key={name} className={className}>
              <th scope="row">{name}</th>
              {cells.map((cell, at) => (
                <td key={at}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface WorthProps {
  /** The known part of the value, in `currency`. */
  readonly amount: string;
  readonly currency: string;
  /** The number of entries, and of those whose value is unknown. */
  readonly count: number;
  readonly unknown: number;
}

/** The known part of a value, and the number of entries without one. */
export function Worth({ amount, currency, count, unknown }: WorthProps) {
  const { t, fiat, number } = useLocale('reports');
  return (
    <>
      {unknown >= count && unknown > 0 ? null : fiat(amount, currency)}
      {unknown === 0 ? null : <span className={css.unknown}>{t('report_unknown', { count: number(unknown) })}</span>}
    </>
  );
}

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
