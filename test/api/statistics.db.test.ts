import * as fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { completeSandboxPayment, cancelPayment } from '../../src/app/payments/payment-actions.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { PAYMENT_STATUSES } from '../../src/domain/status.ts';
import type { Mode } from '../../src/domain/permission.ts';
import { httpTest, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

interface Stats {
  readonly stats: {
    readonly total_transactions: number;
    readonly total_volume_usd: number;
    readonly completed_transactions: number;
    readonly conversion_rate: number;
    readonly by_status: Readonly<Record<string, number>>;
  };
}

async function made(shop: Shop, at: number, amount: number, mode: Mode = 'test'): Promise<string> {
  http.clock.set(at);
  const { body } = await shop.call({ side: mode, path: '/api/transactions/create', body: { amount } });
  return body.transaction.id;
}

async function paid(shop: Shop, at: number, amount: number, mode: Mode = 'test'): Promise<void> {
  const id = await made(shop, at, amount, mode);
  const outcome = await completeSandboxPayment(http.app, { id });
  expect(outcome.kind).toBe('changed');
}

async function stats(shop: Shop, query = '', mode: Mode = 'test') {
  const { status, body } = await shop.call<Stats>({ side: mode, path: `/api/transactions/stats${query}` });
  expect(status).toBe(200);
  return body.stats;
}

const NONE = Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, 0]));
const DAY = Date.UTC(2026, 2, 10);
const HOUR = 60 * 60_000;

it('an empty project has a conversion rate of 0 and lists all nine statuses', async () => {
  expect(await stats(await http.shop())).toEqual({
    total_transactions: 0,
    total_volume_usd: 0,
    completed_transactions: 0,
    conversion_rate: 0,
    by_status: NONE,
  });
});

it('counts by status, sums completed ones to the cent and rounds the rate to two decimals', async () => {
  const shop = await http.shop();
  await paid(shop, DAY, 0.1);
  await paid(shop, DAY, 0.2);
  await cancelPayment(http.app, { id: await made(shop, DAY, 5) });
  await simulatePayment(http.app, { id: await made(shop, DAY, 6) }, 'expired');
  await simulatePayment(http.app, { id: await made(shop, DAY, 700) }, 'part');
  await made(shop, DAY, 8);
  await shop.call({ path: '/v1/orders', body: { amount: 1_000, currency: 'USD', crypto_currency: 'BTC' } });
  expect(await stats(shop)).toEqual({
    total_transactions: 6,
    total_volume_usd: 0.3,
    completed_transactions: 2,
    conversion_rate: 33.33,
    by_status: { ...NONE, completed: 2, cancelled: 1, expired: 1, pending: 1, created: 1 },
  });
});

it('the rate is rounded to the nearest hundredth: 2 of 3 is 66.67, 1 of 8 is 12.5', async () => {
  const shop = await http.shop();
  await paid(shop, DAY, 1);
  await paid(shop, DAY, 1);
  await made(shop, DAY, 1);
  expect((await stats(shop)).conversion_rate).toBe(66.67);
  const other = await http.shop();
  await paid(other, DAY, 1);
  for (let index = 0; index < 7; index += 1) await made(other, DAY, 1);
  const answer = await other.call({ path: '/api/transactions/stats' });
  expect(answer.text).toContain('"conversion_rate":12.5,');
});

it('a million dollars many times over stays exact', async () => {
  const shop = await http.shop();
  for (let index = 0; index < 11; index += 1) await paid(shop, DAY, 999_999.99);
  expect((await stats(shop)).total_volume_usd).toBe(10_999_999.89);
});

it('both dates are inclusive: a bare one is the whole UTC day, a time one millisecond', async () => {
  const shop = await http.shop();
  for (const at of [DAY - 1, DAY, DAY + 12 * HOUR, DAY + 24 * HOUR - 1, DAY + 24 * HOUR]) await paid(shop, at, 1);
  const total = async (query: string): Promise<number> => (await stats(shop, query)).total_transactions;
  expect(await total('?start_date=2026-03-10&end_date=2026-03-10')).toBe(3);
  expect(await total('?start_date=2026-03-10')).toBe(4);
  expect(await total('?end_date=2026-03-10')).toBe(4);
  expect(await total('?end_date=2026-03-09')).toBe(1);
  expect(await total('?start_date=2026-03-10T12:00:00Z&end_date=2026-03-10T12:00:00Z')).toBe(1);
  expect(await total('?start_date=2026-03-10T12:00:00.001Z&end_date=2026-03-10')).toBe(1);
  expect(await total('?end_date=2026-03-10T11:59:59.999Z')).toBe(2);
  expect(await total('?end_date=2026-03-10T12:00Z')).toBe(3);
  // The same moment in another zone; a plus sign in a query is a space unless it is encoded.
  expect(await total('?end_date=2026-03-10T13:00:00%2B01:00')).toBe(3);
});

it.each([
  '?start_date=2026-03-11&end_date=2026-03-10',
  '?start_date=2026-03-10T18:00:00Z&end_date=2026-03-10T06:00:00Z',
])('dates the wrong way round are refused, and both are named: %s', async (query) => {
  const shop = await http.shop();
  const { status, body } = await shop.call({ path: `/api/transactions/stats${query}` });
  expect([status, JSON.stringify(body)]).toEqual([
    400,
    expect.stringContaining('start_date must not be later than end_date.'),
  ]);
});

it.each([
  '?start_date=0001-01-01&end_date=9999-12-31',
  '?start_date=0000-01-01T00:00:00%2B23:59',
  '?end_date=9999-12-31T23:59:59.999-23:59',
  '?start_date=1969-12-31&end_date=9999-12-30T23:59:59.999Z',
])('dates at the ends of the calendar are taken: %s', async (query) => {
  const shop = await http.shop();
  await paid(shop, DAY, 1);
  expect((await stats(shop, query)).total_transactions).toBe(1);
  expect((await stats(shop, '?start_date=9999-12-31')).total_transactions).toBe(0);
  expect((await stats(shop, '?end_date=0000-01-01')).total_transactions).toBe(0);
});

it('a live key sees live records, and the test ones with testing_mode=true; a test key sees its own', async () => {
  const shop = await http.shop();
  await paid(shop, DAY, 1, 'test');
  await paid(shop, DAY, 10, 'live');
  await made(shop, DAY, 10, 'live');
  expect(await stats(shop, '', 'live')).toMatchObject({ total_transactions: 2, total_volume_usd: 10 });
  expect(await stats(shop, '?testing_mode=false', 'live')).toMatchObject({ total_transactions: 2 });
  expect(await stats(shop, '?testing_mode=true', 'live')).toMatchObject({
    total_transactions: 3,
    total_volume_usd: 11,
    conversion_rate: 66.67,
  });
  for (const query of ['', '?testing_mode=true', '?testing_mode=false']) {
    expect(await stats(shop, query, 'test')).toMatchObject({ total_transactions: 1, total_volume_usd: 1 });
  }
});

it.each([
  ['start_date=yesterday', 'start_date'],
  ['start_date=2026-02-30', 'start_date'],
  ['start_date=2026-13-01', 'start_date'],
  ['start_date=2026-1-1', 'start_date'],
  ['start_date=', 'start_date'],
  ['start_date=20260101', 'start_date'],
  ['start_date=2026-01-01T00:00:00', 'start_date'],
  ['start_date=2026-01-01T25:00:00Z', 'start_date'],
  ['start_date=2026-01-01T00:61:00Z', 'start_date'],
  ['start_date=2026-01-01T00:00:00%2B99:99', 'start_date'],
  ['start_date=2026-01-01%00', 'start_date'],
  ['start_date=-000001-01-01', 'start_date'],
  ['start_date=%2B010000-01-01', 'start_date'],
  ['end_date=1700000000', 'end_date'],
  ['end_date=2026-01-01&end_date=2026-01-02', 'end_date'],
  ['testing_mode=1', 'testing_mode'],
  ['testing_mode=TRUE', 'testing_mode'],
  ['testing_mode=', 'testing_mode'],
])('refuses ?%s and names the parameter', async (query, name) => {
  const { status, body } = await (await http.shop()).call({ path: `/api/transactions/stats?${query}` });
  expect([status, body]).toEqual([
    400,
    { success: false, message: expect.stringMatching(new RegExp(`^${name} must`)) },
  ]);
});

it('whatever the range, the answer is what adding up one by one gives', async () => {
  const shop = await http.shop();
  const records: { readonly at: number; readonly cents: number; readonly isPaid: boolean }[] = [];
  for (let index = 0; index < 40; index += 1) {
    const at = DAY + ((index * 7_919) % 97) * HOUR + index;
    const record = { at, cents: 1 + ((index * 104_729) % 99_999), isPaid: index % 3 !== 0 };
    if (record.isPaid) await paid(shop, at, record.cents / 100);
    else await made(shop, at, record.cents / 100);
    records.push(record);
  }
  const moment = fc.oneof(
    fc.constantFrom(...records.map(({ at }) => at)),
    fc.integer({ min: -2, max: 6 }).map((days) => DAY + days * 24 * HOUR),
    fc.integer({ min: DAY - 24 * HOUR, max: DAY + 5 * 24 * HOUR }),
  );
  await fc.assert(
    fc.asyncProperty(moment, moment, async (one, other) => {
      const [start, end] = [Math.min(one, other), Math.max(one, other)];
      const iso = (at: number): string => encodeURIComponent(new Date(at).toISOString());
      const found = await stats(shop, `?start_date=${iso(start)}&end_date=${iso(end)}`);
      const inside = records.filter(({ at }) => at >= start && at <= end);
      const done = inside.filter(({ isPaid }) => isPaid);
      const cents = done.reduce((sum, record) => sum + record.cents, 0);
      expect(found.total_transactions).toBe(inside.length);
      expect(found.completed_transactions).toBe(done.length);
      expect(Math.round(found.total_volume_usd * 100)).toBe(cents);
      const rate = inside.length === 0 ? 0 : Math.round((done.length * 10_000) / inside.length) / 100;
      expect(found.conversion_rate).toBe(rate);
    }),
    { numRuns: 60 },
  );
});
