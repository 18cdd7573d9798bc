import { daysOf, type Compared, type DayRange, type HomeFigures } from '../../../app/dashboard/home-figures.ts';
import { fiatDecimals, formatDecimal, isFiat } from '../../../domain/money.ts';
import { isoTime } from '../../../wire/time.ts';
import type { HomeView } from './contract.ts';

type FiguresView = Omit<HomeView, 'latest' | 'first_steps' | 'health'>;

/** Home's figures as the browser reads them. */
export function figuresView(figures: HomeFigures, range: DayRange): FiguresView {
  const { currency } = figures;
  const written = (minor: bigint): string => formatDecimal(minor, fiatDecimals(currency));
  return {
    from: isoTime(figures.from),
    until: isoTime(figures.until),
    from_day: range.from,
    to_day: range.to,
    days: daysOf(range),
    zone: range.zone,
    currency,
    unvalued: figures.unvalued,
    volume: figureOf(figures.value, written),
    created: figureOf(figures.created, String),
    completed: figureOf(figures.completed, String),
    conversion: figureOf(figures.conversion, (share) => formatDecimal(BigInt(share), 4)),
    median_seconds: { value: inSeconds(figures.medianMs.value), before: inSeconds(figures.medianMs.before) },
    statuses: figures.statuses.map(({ status, payments, value }) => ({
      status,
      payments: payments.value,
      before: payments.before,
      volume: written(value.value),
    })),
    tokens: figures.tokens
      .filter(({ payments }) => payments.value > 0)
      .map(({ asset, network, payments, value, medianMs }) => ({
        asset,
        network,
        payments: payments.value,
        volume: written(value.value),
        volume_before: written(value.before),
        median_seconds: inSeconds(medianMs),
      })),
    currencies: figures.currencies.map(({ currency, payments, amountMinor }) => ({
      currency,
      payments,
      amount: inCurrency(amountMinor.value, currency),
      before: inCurrency(amountMinor.before, currency),
    })),
    unit: figures.unit,
    points: figures.points.map(({ from, value, created, completed }) => ({
      from: isoTime(from),
      volume: written(value.value),
      volume_before: written(value.before),
      created: created.value,
      completed: completed.value,
    })),
  };
}

const inSeconds = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

function inCurrency(minor: bigint, currency: string): string {
  return formatDecimal(minor, isFiat(currency) ? fiatDecimals(currency) : 2);
}

function figureOf<Value>({ value, before }: Compared<Value | null>, written: (value: Value) => string) {
  const or = (one: Value | null): string | null => (one === null ? null : written(one));
  return { value: or(value), before: or(before) };
}
