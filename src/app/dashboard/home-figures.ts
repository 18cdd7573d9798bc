import { medianMs } from '../../domain/duration-class.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Mode } from '../../domain/permission.ts';
import { isCounting, isOpen, PAYMENT_STATUSES, type PaymentStatus } from '../../domain/status.ts';
import { daysOfPeriod } from '../../domain/report.ts';
import { dayAfter, dayAt, nextDay, startOfDay } from '../../domain/time-zone.ts';
import { roundedValue } from '../../store/figures/currency-rates.ts';
import { readPaymentFigures, type DurationRow, type FigureRow } from '../../store/payments/payment-figures.ts';
import type { App } from '../context.ts';

/** A value, and the same value for the preceding range of as many days; null if it cannot be computed. */
export interface Compared<Value> {
  readonly value: Value;
  readonly before: Value;
}

/** Days in a time zone, `from` and `to` inclusive, as `2026-01-31`. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
  readonly zone: string;
}

/** Payments of one kind, and their value at the rate of their creation, in the currency's smallest unit. */
export interface Share {
  readonly payments: Compared<number>;
  readonly value: Compared<bigint>;
}

/** A part of the range, with the part at the same place of the preceding range. */
export interface Point {
  /** Epoch milliseconds. */
  readonly from: number;
  readonly value: Compared<bigint>;
  readonly created: Compared<number>;
  readonly completed: Compared<number>;
}

/** Figures of the payments that were created in a range of days. */
export interface HomeFigures {
  /** Start of the first day and end of the last one, epoch milliseconds. */
  readonly from: number;
  readonly until: number;
  readonly unit: 'hour' | 'day' | 'week';
  readonly currency: Fiat;
  readonly value: Compared<bigint>;
  /** The completed payments of the range that are in no value, because no rate of their hour is known. */
  readonly unvalued: number;
  readonly created: Compared<number>;
  readonly completed: Compared<number>;
  /** Completed payments as a share of the final ones, in ten-thousandths. */
  readonly conversion: Compared<number | null>;
  /** Median time from creation to completion, as exact as the classes of `durationClass`. */
  readonly medianMs: Compared<number | null>;
  readonly statuses: readonly ({ readonly status: PaymentStatus } & Share)[];
  /** Tokens of completed payments, largest first. */
  readonly tokens: readonly ({
    readonly asset: string;
    readonly network: string;
    readonly medianMs: number | null;
  } & Share)[];
  /** The completed payments' own amounts in their currencies' smallest units, most frequent first. */
  readonly currencies: readonly {
    readonly currency: string;
    readonly payments: number;
    readonly amountMinor: Compared<bigint>;
  }[];
  /** Points without gaps, oldest first. */
  readonly points: readonly Point[];
}

/** Longer ranges are refused. */
export const MAX_RANGE_DAYS = 731;
/** Ranges up to this length have a point per day; longer ranges have one per week. */
const MAX_DAY_POINTS = 92;
const HOUR_MS = 3_600_000;
const WEEK = 7;

/** The number of days of a range; not positive if it ends before it begins. */
export function daysOf({ from, to }: Pick<DayRange, 'from' | 'to'>): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / (24 * HOUR_MS)) + 1;
}

/** The range of this many days that ends today in the zone. */
export function lastDays(app: Pick<App, 'clock'>, zone: string, days: number): DayRange {
  const to = dayAt(zone, app.clock());
  return { from: dayAfter(to, 1 - days), to, zone };
}

/** The days of a calendar month in the zone that are not in the future. */
export function monthSoFar(app: Pick<App, 'clock'>, zone: string, month: 'this_month' | 'last_month'): DayRange {
  const today = dayAt(zone, app.clock());
  const days = daysOfPeriod(month, zone, app.clock());
  return { ...days, to: days.to < today ? days.to : today };
}

/**
 * The figures of a range of days and of the preceding range of as many days, exact to the currency's smallest unit,
 * from the present state of the payments. The range has at most {@link MAX_RANGE_DAYS}.
 */
export async function homeFigures(
  app: App,
  scope: { readonly projectId: string; readonly mode: Mode },
  range: DayRange,
  currency: Fiat,
): Promise<HomeFigures> {
  const { unit, edges, middle } = partsOf(range);
  const [start = 0, from = 0, until = 0] = [edges[0], edges[middle], edges.at(-1)];
  const read = await readPaymentFigures(app.db, scope, { currency, edges, periods: [start, from, until] });
  const { figures, durations } = read;
  const isNow = ({ part }: FigureRow): boolean => part >= middle;
  const [now, then] = [figures.filter(isNow), figures.filter((row) => !isNow(row))];
  const compared = <Value>(of: (some: readonly FigureRow[]) => Value): Compared<Value> => ({
    value: of(now),
    before: of(then),
  });
  const shareOf = (keep: (row: FigureRow) => boolean): Share => ({
    payments: compared((some) => paymentsOf(some.filter(keep))),
    value: compared((some) => valueOf(some.filter(keep))),
  });
  const median = (period: number, keep: (row: DurationRow) => boolean = () => true): number | null =>
    medianOf(durations.filter((row) => row.period === period && keep(row)));
  const completed = figures.filter(isCompleted);
  return {
    from,
    until,
    unit,
    currency,
    unvalued: now.filter(isCompleted).reduce((sum, { unvalued }) => sum + unvalued, 0),
    value: compared((some) => valueOf(some.filter(isCompleted))),
    created: compared(paymentsOf),
    completed: compared((some) => paymentsOf(some.filter(isCompleted))),
    conversion: compared(conversionOf),
    medianMs: { value: median(1), before: median(0) },
    statuses: PAYMENT_STATUSES.map((status) => ({ status, ...shareOf((row) => row.status === status) })),
    tokens: [...Map.groupBy(completed, ({ asset, network }) => `${asset} ${network}`).values()]
      .flatMap(([first]) => (first === undefined ? [] : [first]))
      .map(({ asset, network }) => {
        const isOwn = (row: { readonly asset: string; readonly network: string }): boolean =>
          row.asset === asset && row.network === network;
        return { asset, network, medianMs: median(1, isOwn), ...shareOf((row) => isCompleted(row) && isOwn(row)) };
      })
      .toSorted((a, b) => Number(b.value.value - a.value.value) || (a.asset < b.asset ? -1 : 1)),
    currencies: [...Map.groupBy(completed, ({ currency }) => currency)]
      .map(([currency, own]) => ({
        currency,
        payments: paymentsOf(own.filter(isNow)),
        amountMinor: {
          value: minorOf(own.filter(isNow)),
          before: minorOf(own.filter((row) => !isNow(row))),
        },
      }))
      .toSorted((a, b) => b.payments - a.payments || (a.currency < b.currency ? -1 : 1)),
    points: pointsOf(figures, edges, middle),
  };
}

/** The edges of all points of both ranges; the later range begins with edge number `middle`. */
function partsOf(range: DayRange): Pick<HomeFigures, 'unit'> & {
  readonly edges: readonly number[];
  readonly middle: number;
} {
  const days = daysOf(range);
  const starts = [startOfDay(range.zone, dayAfter(range.from, -days))];
  while (starts.length <= 2 * days) starts.push(nextDay(range.zone, starts.at(-1) ?? 0));
  const [before, own] = [starts.slice(0, days + 1), starts.slice(days)];
  if (days === 1) {
    const edges = [hoursOf(before), hoursOf(own)].map((hours) => hours.slice(0, -1));
    return { unit: 'hour', edges: [...edges.flat(), own.at(-1) ?? 0], middle: edges[0]?.length ?? 0 };
  }
  const step = days <= MAX_DAY_POINTS ? 1 : WEEK;
  const [first, second] = [before, own].map((all) => all.slice(0, -1).filter((_, index) => index % step === 0));
  return {
    unit: step === 1 ? 'day' : 'week',
    edges: [...(first ?? []), ...(second ?? []), own.at(-1) ?? 0],
    middle: first?.length ?? 0,
  };
}

/** The hours from the start of a day to its end. */
function hoursOf([start = 0, end = 0]: readonly number[]): readonly number[] {
  const hours = Array.from({ length: Math.ceil((end - start) / HOUR_MS) }, (_, index) => start + index * HOUR_MS);
  return [...hours, end];
}

function pointsOf(figures: readonly FigureRow[], edges: readonly number[], middle: number): readonly Point[] {
  const parts = Map.groupBy(figures, ({ part }) => part);
  const rows = (part: number): readonly FigureRow[] => parts.get(part) ?? [];
  return edges.slice(middle, -1).map((from, index) => {
    // A day on which clocks change has an hour more or less than its counterpart: the extra hour is compared with
    // nothing.
    const then = index < middle ? rows(index) : [];
    const now = rows(middle + index);
    const compared = <Value>(of: (some: readonly FigureRow[]) => Value): Compared<Value> => ({
      value: of(now),
      before: of(then),
    });
    return {
      from,
      value: compared((some) => valueOf(some.filter(isCompleted))),
      created: compared(paymentsOf),
      completed: compared((some) => paymentsOf(some.filter(isCompleted))),
    };
  });
}

function isCompleted({ status }: FigureRow): boolean {
  return status === 'completed';
}

function paymentsOf(rows: readonly FigureRow[]): number {
  return rows.reduce((sum, { payments }) => sum + payments, 0);
}

function valueOf(rows: readonly FigureRow[]): bigint {
  return roundedValue(rows.reduce((sum, { value }) => sum + value, 0n));
}

function minorOf(rows: readonly FigureRow[]): bigint {
  return rows.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}

function conversionOf(rows: readonly FigureRow[]): number | null {
  const over = paymentsOf(rows.filter(({ status }) => !isOpen(status) && !isCounting(status)));
  return over === 0 ? null : Math.round((paymentsOf(rows.filter(isCompleted)) * 10_000) / over);
}

function medianOf(rows: readonly DurationRow[]): number | null {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(row.class, (counts.get(row.class) ?? 0) + row.payments);
  return medianMs(counts);
}
