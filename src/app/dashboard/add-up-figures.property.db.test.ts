import * as fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../test/database.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { durationClass, medianMs } from '../../domain/duration-class.ts';
import type { Payment } from '../../domain/payment.ts';
import { isFinal, PAYMENT_STATUSES } from '../../domain/status.ts';
import { dayAfter, dayAt, startOfDay } from '../../domain/time-zone.ts';
import { cancelPayment, completeSandboxPayment } from '../payments/payment-actions.ts';
import { runDue } from '../payments/run-due.ts';
import { addUpFigures } from './add-up-figures.ts';
import { homeFigures, type DayRange, type HomeFigures } from './home-figures.ts';

const MINUTE_MS = 60_000;
const TOKENS = [
  { asset: 'BTC', network: null },
  { asset: 'LTC', network: null },
  { asset: 'USDT', network: 'polygon' },
] as const;
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'] as const;

type Step =
  | { readonly kind: 'pay'; readonly token: number; readonly cents: number; readonly isOrder: boolean }
  | { readonly kind: 'complete' | 'cancel'; readonly which: number }
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'due' | 'add_up' }
  | { readonly kind: 'read'; readonly zone: number; readonly back: number; readonly days: number };

const which = fc.nat({ max: 30 });
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      token: fc.nat({ max: TOKENS.length - 1 }),
      cents: fc.integer({ min: 100, max: 100_000 }),
      isOrder: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('complete' as const, 'cancel' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 900 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('due' as const, 'add_up' as const, 'add_up' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      zone: fc.nat({ max: ZONES.length - 1 }),
      back: fc.nat({ max: 3 }),
      days: fc.constantFrom(1, 2, 5, 100),
    }),
  },
);

it('the figures equal those of the payments themselves, whatever is added up already and changes later', async () => {
  const database = await testDatabase();
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 20, maxLength: 60 }), async (steps) => {
      await sql`truncate payments, payment_arrows, payment_figures, completion_times cascade`.execute(database.db);
      await sql`update figures_progress set closed_until = null, taken_in = null, newest = null, ended_before = null`.execute(
        database.db,
      );
      const app = await testApp({ database });
      const ids: string[] = [];
      for (const step of [...steps, ...ZONES.map((_, zone): Step => ({ kind: 'read', zone, back: 0, days: 5 }))]) {
        const { figures, expected } = await take(app, step, ids);
        expect(figures).toMatchObject(expected);
      }
    }),
    { numRuns: 40 },
  );
}, 240_000);

interface Taken {
  readonly figures: Partial<HomeFigures>;
  readonly expected: Partial<HomeFigures>;
}

const NOTHING_READ: Taken = { figures: {}, expected: {} };

/** Takes a step; where it reads, what it read and what the payments say. */
async function take(app: TestApp, step: Step, ids: string[]): Promise<Taken> {
  switch (step.kind) {
    case 'pay': {
      const token = TOKENS[step.token] ?? TOKENS[0];
      const api = step.isOrder ? 'order' : 'transaction';
      const payment = await app.pay({
        api,
        token,
        amountMinor: BigInt(step.cents),
        lifetimeMs: 24 * 60 * MINUTE_MS,
      });
      ids.push(payment.id);
      return NOTHING_READ;
    }
    case 'complete':
    case 'cancel': {
      const id = ids[step.which % Math.max(1, ids.length)];
      if (id === undefined) return NOTHING_READ;
      await (step.kind === 'complete' ? completeSandboxPayment(app, { id }) : cancelPayment(app, { id }));
      return NOTHING_READ;
    }
    case 'wait':
      app.clock.advance(step.minutes * MINUTE_MS);
      return NOTHING_READ;
    case 'due':
      await runDue(app, 3);
      return NOTHING_READ;
    case 'add_up':
      await addUpFigures(app);
      return NOTHING_READ;
    case 'read': {
      const zone = ZONES[step.zone] ?? 'UTC';
      const to = dayAfter(dayAt(zone, app.clock()), -step.back);
      const range = { from: dayAfter(to, 1 - step.days), to, zone };
      const scope = { projectId: app.projectId, mode: 'test' } as const;
      const payments = await Promise.all(ids.map((id) => app.read(id)));
      return { figures: await homeFigures(app, scope, range), expected: plainly(payments, range) };
    }
  }
}

/** The same from the payments one by one. */
function plainly(payments: readonly Payment[], { from, to, zone }: DayRange): Partial<HomeFigures> {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
  const [start, middle, end] = [dayAfter(from, -days), from, dayAfter(to)].map((day) => startOfDay(zone, day));
  const within = (a = 0, b = 0): readonly Payment[] =>
    payments.filter(({ createdAt }) => createdAt >= a && createdAt < b);
  const completed = (some: readonly Payment[]) => some.filter(({ status }) => status === 'completed');
  const usd = (some: readonly Payment[]): bigint => some.reduce((sum, one) => sum + one.amountUsdCents, 0n);
  const compared = <Value>(of: (some: readonly Payment[]) => Value) => ({
    value: of(within(middle, end)),
    before: of(within(start, middle)),
  });
  const median = (some: readonly Payment[]): number | null =>
    medianMs(
      new Map(
        [...Map.groupBy(completed(some), (one) => durationClass((one.completedAt ?? 0) - one.createdAt))].map(
          ([of, own]) => [of, own.length],
        ),
      ),
    );
  return {
    usdCents: compared((some) => usd(completed(some))),
    created: compared((some) => some.length),
    completed: compared((some) => completed(some).length),
    conversion: compared((some) => {
      const over = some.filter(({ status }) => isFinal(status)).length;
      return over === 0 ? null : Math.round((completed(some).length * 10_000) / over);
    }),
    medianMs: compared(median),
    statuses: PAYMENT_STATUSES.map((status) => {
      const own = (some: readonly Payment[]) => some.filter((one) => one.status === status);
      return { status, payments: compared((some) => own(some).length), usdCents: compared((some) => usd(own(some))) };
    }),
    ...(days > 1 && days < 92 ? { points: pointsOf(from, days, zone) } : {}),
  };

  function pointsOf(first: string, count: number, of: string): HomeFigures['points'] {
    return Array.from({ length: count }, (_, index) => {
      const at = (offset: number): number => startOfDay(of, dayAfter(first, index + offset));
      const [now, then] = [within(at(0), at(1)), within(at(-count), at(1 - count))];
      return {
        from: at(0),
        usdCents: { value: usd(completed(now)), before: usd(completed(then)) },
        created: { value: now.length, before: then.length },
        completed: { value: completed(now).length, before: completed(then).length },
      };
    });
  }
}
