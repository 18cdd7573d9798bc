import { isOpen, isCounting, PAYMENT_STATUSES, type PaymentStatus } from '../../domain/status.ts';
import type { Mode } from '../../domain/permission.ts';
import { dayCounts, type DayCount } from '../../store/home.ts';
import type { App } from '../context.ts';

const DAY_MS = 86_400_000;

/** A value of the period, and of the equally long period before it. */
export interface Compared<Value> {
  readonly value: Value;
  readonly before: Value;
}

/** Figures of a project's payments, by UTC day of their creation. */
export interface HomeFigures {
  /** Start of the first day and end of the last one, epoch milliseconds. */
  readonly from: number;
  readonly until: number;
  readonly usdCents: Compared<bigint>;
  readonly created: Compared<number>;
  readonly completed: Compared<number>;
  /** The share of completed payments among those that have ended, in basis points; null if none has. */
  readonly conversion: Compared<number | null>;
  readonly statuses: readonly {
    readonly status: PaymentStatus;
    readonly payments: Compared<number>;
    readonly usdCents: bigint;
  }[];
  /** Every day of the period, oldest first. */
  readonly days: readonly {
    readonly day: string;
    readonly usdCents: bigint;
    readonly created: number;
    readonly completed: number;
  }[];
}

/** Figures of the last `days` days, today included, and of as many days before. Read from the exact daily counters. */
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
