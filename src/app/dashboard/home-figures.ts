import { isOpen, isCounting, PAYMENT_STATUSES, type PaymentStatus } from '../../domain/status.ts';
import type { Mode } from '../../domain/permission.ts';
import { dayCounts, type DayCount } from '../../store/home.ts';
import type { App } from '../context.ts';

const DAY_MS = 86_400_000;

/** A value and the same of as many days before; null where there is nothing to say it of. */
export interface Compared<Value> {
  readonly value: Value;
  readonly before: Value;
}

/** What became of a project's payments, by UTC day of their creation; worths in US cents. */
export interface HomeFigures {
  /** Start of the first day and end of the last one, epoch milliseconds. */
  readonly from: number;
  readonly until: number;
  readonly usdCents: Compared<bigint>;
  readonly created: Compared<number>;
  readonly completed: Compared<number>;
  /** Completed of those that are over, in ten thousandths. */
  readonly conversion: Compared<number | null>;
  readonly statuses: readonly {
    readonly status: PaymentStatus;
    readonly payments: Compared<number>;
    readonly usdCents: bigint;
  }[];
  /** Without a gap, the oldest first. */
  readonly days: readonly {
    readonly day: string;
    readonly usdCents: bigint;
    readonly created: number;
    readonly completed: number;
  }[];
}

/**
 * The figures of so many days up to today, and of as many before, from the counters alone: exact, and no payment is
 * read.
 */
export async function homeFigures(
  app: App,
  scope: { readonly projectId: string; readonly mode: Mode },
  days: number,
): Promise<HomeFigures> {
  const until = (Math.floor(app.clock() / DAY_MS) + 1) * DAY_MS;
  const from = until - days * DAY_MS;
  const counts = await dayCounts(app.db, scope, dayText(from - days * DAY_MS), dayText(until));
  const firstDay = dayText(from);
  const [now, then] = [counts.filter(({ day }) => day >= firstDay), counts.filter(({ day }) => day < firstDay)];
  const compared = <Value>(of: (some: readonly DayCount[]) => Value): Compared<Value> => ({
    value: of(now),
    before: of(then),
  });
  const byDay = Map.groupBy(now, ({ day }) => day);
  return {
    from,
    until,
    usdCents: compared((some) => worthOf(withStatus(some, 'completed'))),
    created: compared(numberOf),
    completed: compared((some) => numberOf(withStatus(some, 'completed'))),
    conversion: compared(conversionOf),
    statuses: PAYMENT_STATUSES.map((status) => ({
      status,
      payments: compared((some) => numberOf(withStatus(some, status))),
      usdCents: worthOf(withStatus(now, status)),
    })),
    days: Array.from({ length: days }, (_, index) => {
      const day = dayText(from + index * DAY_MS);
      const own = byDay.get(day) ?? [];
      const completed = withStatus(own, 'completed');
      return { day, usdCents: worthOf(completed), created: numberOf(own), completed: numberOf(completed) };
    }),
  };
}

function withStatus(counts: readonly DayCount[], status: PaymentStatus): readonly DayCount[] {
  return counts.filter((count) => count.status === status);
}

function numberOf(counts: readonly DayCount[]): number {
  return counts.reduce((sum, { payments }) => sum + payments, 0);
}

function worthOf(counts: readonly DayCount[]): bigint {
  return counts.reduce((sum, { usdCents }) => sum + usdCents, 0n);
}

function conversionOf(counts: readonly DayCount[]): number | null {
  const over = numberOf(counts.filter(({ status }) => !isOpen(status) && !isCounting(status)));
  return over === 0 ? null : Math.round((numberOf(withStatus(counts, 'completed')) * 10_000) / over);
}

function dayText(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
