import * as fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../test/database.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { durationClass, medianMs } from '../../domain/duration-class.ts';
import { divHalfUp, fiatDecimals, pow10, type Fiat } from '../../domain/money.ts';
import type { Payment } from '../../domain/payment.ts';
import { isFinal, PAYMENT_STATUSES } from '../../domain/status.ts';
import { dayAfter, dayAt, startOfDay } from '../../domain/time-zone.ts';
import { keepCurrencyRates } from '../../store/figures/currency-rates.ts';
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
/** A currency with other decimals than USD is among them. */
const CURRENCIES = ['USD', 'EUR', 'JPY', 'CHF'] as const;
const HOUR_MS = 60 * MINUTE_MS;
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'] as const;

type Step =
  | {
      readonly kind: 'pay';
      readonly token: number;
      readonly currency: number;
      readonly minor: number;
      readonly isOrder: boolean;
    }
  | { readonly kind: 'price'; readonly prices: readonly number[] }
  | { readonly kind: 'complete' | 'cancel'; readonly which: number }
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'due' | 'add_up' }
  | {
      readonly kind: 'read';
      readonly zone: number;
      readonly back: number;
      readonly days: number;
      readonly currency: number;
    };

const which = fc.nat({ max: 30 });
const currency = fc.nat({ max: CURRENCIES.length - 1 });
/** Odd, so that no sum lies exactly between two of the smallest units. */
const price = fc.integer({ min: 300_000, max: 80_000_000 }).map((half) => 2 * half + 1);
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('pay' as const),
      token: fc.nat({ max: TOKENS.length - 1 }),
      currency,
      minor: fc.integer({ min: 100, max: 100_000 }),
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
      kind: fc.constant('price' as const),
      prices: fc.array(price, { minLength: 0, maxLength: CURRENCIES.length - 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      zone: fc.nat({ max: ZONES.length - 1 }),
      back: fc.nat({ max: 3 }),
      days: fc.constantFrom(1, 2, 5, 100),
      currency,
    }),
  },
);

it('the figures equal those of the payments themselves in any currency, whatever is added up already and changes later', async () => {
  const database = await testDatabase();
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 20, maxLength: 60 }), async (steps) => {
      await sql`truncate payments, payment_arrows, payment_figures, completion_times, currency_rates cascade`.execute(
        database.db,
      );
      await sql`update figures_progress set closed_until = null, taken_in = null, newest = null, ended_before = null`.execute(
        database.db,
      );
      const app = await testApp({ database });
      const known: Known = { ids: [], rates: new Map() };
      const last = ZONES.map((_, zone): Step => ({ kind: 'read', zone, back: 0, days: 5, currency: zone }));
      for (const step of [...steps, ...last]) {
        const { figures, expected } = await take(app, step, known);
        expect(figures).toMatchObject(expected);
      }
    }),
    { numRuns: 40 },
  );
}, 240_000);

/** The payments that were made, and the prices that each hour has. */
interface Known {
  readonly ids: string[];
  readonly rates: Map<number, Map<string, bigint>>;
}

interface Taken {
  readonly figures: Partial<HomeFigures>;
  readonly expected: Partial<HomeFigures>;
}

const NOTHING_READ: Taken = { figures: {}, expected: {} };

/** Takes a step; where it reads, what it read and what the payments say. */
async function take(app: TestApp, step: Step, { ids, rates }: Known): Promise<Taken> {
  switch (step.kind) {
    case 'pay': {
      const token = TOKENS[step.token] ?? TOKENS[0];
      const api = step.isOrder ? 'order' : 'transaction';
      const payment = await app.pay({
        api,
        token,
        amountMinor: BigInt(step.minor),
        currency: CURRENCIES[step.currency] ?? 'USD',
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
    case 'price': {
      const prices = new Map(step.prices.map((one, index) => [CURRENCIES[index + 1] ?? 'EUR', BigInt(one)] as const));
      const hour = Math.floor(app.clock() / HOUR_MS) * HOUR_MS;
      await keepCurrencyRates(app.db, 'test', app.clock(), prices);
      // The first price of an hour stays; the next hour takes the last one before it.
      rates.set(hour, new Map([...prices, ...(rates.get(hour) ?? [])]));
      rates.set(hour + HOUR_MS, new Map([...(rates.get(hour + HOUR_MS) ?? []), ...prices]));
      return NOTHING_READ;
    }
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
      const currency = CURRENCIES[step.currency] ?? 'USD';
      const valuing = { currency, rates };
      return { figures: await homeFigures(app, scope, range, currency), expected: plainly(payments, range, valuing) };
    }
  }
}

interface Valuing extends Pick<Known, 'rates'> {
  readonly currency: Fiat;
}

/** The value of payments as an exact fraction, rounded once. */
function valueOf(payments: readonly Payment[], { currency, rates }: Valuing) {
  let [top, bottom, unvalued] = [0n, 1n, 0];
  for (const { currency: own, amountMinor, amountUsdCents, createdAt } of payments) {
    const rate = rates.get(Math.floor(createdAt / HOUR_MS) * HOUR_MS)?.get(currency);
    const part =
      own === currency
        ? [amountMinor, 1n]
        : currency === 'USD'
          ? [amountUsdCents, 1n]
          : [amountUsdCents * pow10(fiatDecimals(currency) + 6), rate ?? 0n];
    const [over = 0n, under = 0n] = part;
    if (under === 0n) unvalued += 1;
    else [top, bottom] = [top * under + over * bottom, bottom * under];
  }
  return { minor: divHalfUp(top, bottom), unvalued };
}

/** The same from the payments one by one. */
function plainly(payments: readonly Payment[], { from, to, zone }: DayRange, valuing: Valuing): Partial<HomeFigures> {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000) + 1;
  const [start, middle, end] = [dayAfter(from, -days), from, dayAfter(to)].map((day) => startOfDay(zone, day));
  const within = (a = 0, b = 0): readonly Payment[] =>
    payments.filter(({ createdAt }) => createdAt >= a && createdAt < b);
  const completed = (some: readonly Payment[]) => some.filter(({ status }) => status === 'completed');
  const value = (some: readonly Payment[]): bigint => valueOf(some, valuing).minor;
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
    value: compared((some) => value(completed(some))),
    unvalued: valueOf(completed(within(middle, end)), valuing).unvalued,
    created: compared((some) => some.length),
    completed: compared((some) => completed(some).length),
    conversion: compared((some) => {
      const over = some.filter(({ status }) => isFinal(status)).length;
      return over === 0 ? null : Math.round((completed(some).length * 10_000) / over);
    }),
    medianMs: compared(median),
    statuses: PAYMENT_STATUSES.map((status) => {
      const own = (some: readonly Payment[]) => some.filter((one) => one.status === status);
      return { status, payments: compared((some) => own(some).length), value: compared((some) => value(own(some))) };
    }),
    ...(days > 1 && days < 92 ? { points: pointsOf(from, days, zone) } : {}),
  };

  function pointsOf(first: string, count: number, of: string): HomeFigures['points'] {
    return Array.from({ length: count }, (_, index) => {
      const at = (offset: number): number => startOfDay(of, dayAfter(first, index + offset));
      const [now, then] = [within(at(0), at(1)), within(at(-count), at(1 - count))];
      return {
        from: at(0),
        value: { value: value(completed(now)), before: value(completed(then)) },
        created: { value: now.length, before: then.length },
        completed: { value: completed(now).length, before: completed(then).length },
      };
    });
  }
}
