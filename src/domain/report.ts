import { dayAfter, dayAt, startOfDay } from './time-zone.ts';

/** The reports: created payments, received money, refunds, and money swept from deposit contracts. */
export const REPORTS = ['payments', 'transfers', 'refunds', 'sweeps'] as const;
export type Report = (typeof REPORTS)[number];

/** Named periods of days in a time zone. */
export const PERIODS = ['this_month', 'last_month', 'this_quarter', 'last_quarter', 'this_year', 'last_year'] as const;
export type Period = (typeof PERIODS)[number];

/** Whole days in a time zone, both inclusive, such as `2026-01-31`. */
export interface ReportDays {
  readonly from: string;
  readonly to: string;
  readonly zone: string;
}

/** In epoch milliseconds; the end is exclusive. */
export interface ReportSpan {
  readonly startAt: number;
  readonly endAt: number;
}

/** Every time zone has midnight for these and the days between them. */
const [FIRST_DAY, LAST_DAY] = ['1971-01-01', '9990-12-31'];

/** The rule that a text breaks as a day; null if none. */
export function dayProblem(text: string): string | null {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  // JavaScript reads February 30th as March 2nd.
  const isDay = Number.isFinite(at) && new Date(at).toISOString().startsWith(text);
  if (!isDay) return 'must be a day such as 2026-01-31.';
  return text < FIRST_DAY || text > LAST_DAY ? `must be a day between ${FIRST_DAY} and ${LAST_DAY}.` : null;
}

/** The begin and end of the days in their zone: a day on which clocks change has 23 or 25 hours. */
export function spanOf({ from, to, zone }: ReportDays): ReportSpan {
  return { startAt: startOfDay(zone, from), endAt: startOfDay(zone, dayAfter(to)) };
}

/** The days of a named period at a time. */
export function daysOfPeriod(period: Period, zone: string, now: number): ReportDays {
  const today = dayAt(zone, now);
  const months = Number(today.slice(0, 4)) * 12 + Number(today.slice(5, 7)) - 1;
  const [which, unit] = period.split('_');
  const length = unit === 'month' ? 1 : unit === 'quarter' ? 3 : 12;
  const first = months - (months % length) - (which === 'last' ? length : 0);
  return { from: firstOfMonth(first), to: dayAfter(firstOfMonth(first + length), -1), zone };
}

/** The first day of a month, counted from January of the year 0. */
function firstOfMonth(months: number): string {
  return `${String(Math.floor(months / 12)).padStart(4, '0')}-${String((months % 12) + 1).padStart(2, '0')}-01`;
}
