import { afterAll, expect, it } from 'vitest';
import { createKey } from '../../src/app/projects/keys.ts';
import { cancelPayment, completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { keepRates } from '../../src/app/dashboard/keep-currency-rates.ts';
import { RIGHT_CLOCK } from '../../src/app/service-clock.ts';
import { createServiceHealth } from '../../src/app/dashboard/health.ts';
import type { Fiat } from '../../src/domain/money.ts';
import type { Payment } from '../../src/domain/payment.ts';
import type { HomeView } from '../../src/http/dashboard/home/contract.ts';
import { saveBackup } from '../../src/store/backups/backups.ts';
import { closeEndpoint } from '../../src/store/webhooks/webhook-endpoints.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';
import { anEndpoint } from './acts.fixture.ts';

const DAY_MS = 86_400_000;
const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());
const { email } = await test.join('owner');
/** Sessions expire, because days pass in these tests. */
const owner = (): Promise<Browser> => test.signIn(email);

async function home(
  { browser, projectId }: { readonly browser: Browser; readonly projectId: string },
  period = '7d',
  mode = 'test',
): Promise<HomeView> {
  const path = `/dashboard/api/projects/${projectId}/${mode}/home?period=${period}`;
  const answer = await browser.call<HomeView>({ path });
  if (answer.status !== 200) throw new Error(`${path} → ${answer.status} ${answer.text}`);
  return answer.body;
}

it('the figures equal those of the payments, by day and status, for the period and the one before', async () => {
  const { projectId } = await test.http.shop();
  const payments: Payment[] = [];
  const outcomes = ['complete', 'complete', 'cancel', 'leave'] as const;
  for (let day = 0; day < 14; day += 1) {
    for (let n = 0; n <= day % 3; n += 1) {
      const api = n % 2 === 0 ? 'order' : 'transaction';
      const { id } = await app.pay({ projectId, api, amountMinor: BigInt(1_000 + day * 100 + n) });
      const outcome = outcomes[(day + n) % outcomes.length];
      if (outcome === 'complete') await completeSandboxPayment(app, { id });
      if (outcome === 'cancel') await cancelPayment(app, { id });
      payments.push(await app.read(id));
    }
    if (day < 13) app.clock.advance(DAY_MS);
  }
  const until = (Math.floor(app.clock() / DAY_MS) + 1) * DAY_MS;
  const [from, before] = [until - 7 * DAY_MS, until - 14 * DAY_MS];
  const within = (start: number, end: number): readonly Payment[] =>
    payments.filter(({ createdAt }) => createdAt >= start && createdAt < end);
  const completed = (some: readonly Payment[]) => some.filter(({ status }) => status === 'completed');
  const usd = (some: readonly Payment[]): string =>
    String(completed(some).reduce((sum, { amountUsdCents }) => sum + Number(amountUsdCents), 0) / 100);
  const over = (some: readonly Payment[]): number => some.filter(({ status }) => status !== 'pending').length;
  const share = (some: readonly Payment[]): string =>
    String(Math.round((completed(some).length / over(some)) * 10_000) / 10_000);
  const [now, then] = [within(from, until), within(before, from)];
  const view = await home({ browser: await owner(), projectId });
  expect(view).toMatchObject({
    from: new Date(from).toISOString(),
    until: new Date(until).toISOString(),
    currency: 'USD',
    volume: { value: usd(now), before: usd(then) },
    created: { value: String(now.length), before: String(then.length) },
    completed: { value: String(completed(now).length), before: String(completed(then).length) },
    conversion: { value: share(now), before: share(then) },
  });
  expect(view.points).toEqual(
    Array.from({ length: 7 }, (_, index) => {
      const start = from + index * DAY_MS;
      const own = within(start, start + DAY_MS);
      const volumeBefore = usd(within(start - 7 * DAY_MS, start - 6 * DAY_MS));
      const counts = { created: own.length, completed: completed(own).length };
      return { from: new Date(start).toISOString(), volume: usd(own), volume_before: volumeBefore, ...counts };
    }),
  );
  expect(view.statuses.find(({ status }) => status === 'cancelled')).toMatchObject({
    payments: now.filter(({ status }) => status === 'cancelled').length,
    before: then.filter(({ status }) => status === 'cancelled').length,
  });
  expect(view.latest.map(({ id }) => id).toSorted()).toEqual(
    payments.slice(-view.latest.length).map(publicPaymentId).toSorted(),
  );
});

it('a project without payments has zeros, and null for the conversion', async () => {
  const { projectId } = await test.http.shop();
  const view = await home({ browser: await owner(), projectId }, '90d', 'live');
  expect(view).toMatchObject({
    volume: { value: '0', before: '0' },
    conversion: { value: null, before: null },
    latest: [],
    health: { webhooks: { state: 'none', count: 0 } },
  });
  expect(view.points).toHaveLength(90);
  expect(view).toMatchObject({ tokens: [], currencies: [], median_seconds: { value: null, before: null } });
});

it('each first step is ticked off when it is done', async () => {
  const { projectId } = await test.http.shop();
  const steps = async (): Promise<readonly string[]> =>
    Object.entries((await home({ browser: await owner(), projectId })).first_steps).flatMap(([name, done]) =>
      done ? [name] : [],
    );
  expect(await steps()).toEqual([]);
  const endpoint = await anEndpoint(app, projectId);
  expect(await steps()).toEqual(['webhook']);
  const { id } = await app.pay({ projectId });
  await completeSandboxPayment(app, { id });
  expect(await steps()).toEqual(['test_payment', 'webhook']);
  await app.db.updateTable('deliveries').set({ state: 'delivered' }).where('endpoint_id', '=', endpoint).execute();
  expect(await steps()).toEqual(['test_payment', 'webhook', 'webhook_answered']);
  await createKey(app, { projectId, name: 'Live', mode: 'live', kind: 'secret', permission: 'full' });
  expect(await steps()).toEqual(['test_payment', 'webhook', 'webhook_answered', 'live_key']);
  await app.db
    .updateTable('projects')
    .set({ support_url: 'mailto:help@shop.example' })
    .where('id', '=', projectId)
    .execute();
  expect(await steps()).toContain('support');
});

it('the health of webhooks names the failing endpoint only to people who may see webhooks', async () => {
  const { projectId } = await test.http.shop();
  const endpoint = await anEndpoint(app, projectId);
  const support = await test.join('support', projectId);
  const both = async () => [
    (await home({ browser: await owner(), projectId })).health.webhooks,
    (await home({ browser: support.browser, projectId })).health.webhooks,
  ];
  const well = { state: 'ok', count: 1, affected: 0, faults: [] };
  expect(await both()).toEqual([well, well]);
  const { id } = await app.pay({ projectId });
  await completeSandboxPayment(app, { id });
  await app.db.updateTable('deliveries').set({ attempts: 1 }).where('endpoint_id', '=', endpoint).execute();
  const failing = { state: 'warning', count: 1, affected: 1 };
  expect(await both()).toEqual([
    {
      ...failing,
      faults: [
        expect.objectContaining({ kind: 'endpoint_failing', subject: expect.stringContaining('hooks.example') }),
      ],
    },
    { ...failing, faults: [] },
  ]);
  const gone = { kind: 'disabled', reason: 'it answered 410' } as const;
  await app.db.transaction().execute((trx) => closeEndpoint(trx, endpoint, gone, app.clock()));
  expect((await both())[0]).toMatchObject({
    state: 'problem',
    faults: [{ kind: 'endpoint_disabled', said: gone.reason }],
  });
});

it('the health of the clock is a warning, and a problem once no payment is made', async () => {
  const health = () => createServiceHealth(app, [], 0)().then(({ clock }) => clock);
  expect(await health()).toEqual({ state: 'ok', count: 1, affected: 0, faults: [] });
  const off = { ...RIGHT_CLOCK, aheadMs: -31_000, problem: 'the clock is 31 s behind' };
  app.judgeClock(off);
  expect(await health()).toEqual({
    state: 'warning',
    count: 1,
    affected: 1,
    faults: [expect.objectContaining({ kind: 'clock', count: 31 })],
  });
  app.judgeClock({ ...off, refusal: 'no payment is made' });
  expect(await health()).toMatchObject({ state: 'problem' });
  app.judgeClock(RIGHT_CLOCK);
});

it('the health of backups and networks is their last known state, without asking any chain', async () => {
  const health = (networks: Parameters<typeof createServiceHealth>[1] = []) => createServiceHealth(app, networks)();
  expect(await health()).toMatchObject({ networks: { state: 'none' }, backups: { state: 'none' } });
  const [network] = (await app.railFor('test').tokens(app.projectId)).map((token) => token.network);
  expect(await health(network === undefined ? [] : [network])).toMatchObject({
    networks: { state: 'problem', count: 1, affected: 1, faults: [{ kind: 'not_followed', subject: network }] },
  });
  const at = app.clock();
  const backup = { startedAt: at, finishedAt: at, file: '/backups/one', bytes: 1, problem: null };
  await saveBackup(app.db, backup);
  expect(await health()).toMatchObject({ backups: { state: 'ok' } });
  app.clock.advance(8 * DAY_MS);
  expect(await health()).toMatchObject({ backups: { state: 'warning' } });
  const failed = { ...backup, startedAt: app.clock(), finishedAt: app.clock(), file: '/backups', problem: 'full' };
  await saveBackup(app.db, failed);
  expect(await health()).toMatchObject({ backups: { state: 'problem', faults: [{ kind: 'backup_failed', at }] } });
});

it('the figures are of days in the person’s zone, by token, in each currency and with the median of the times', async () => {
  const { projectId } = await test.http.shop();
  const amounts = [
    { amountMinor: 1_000n, currency: 'EUR' },
    { amountMinor: 2_001n, currency: 'EUR' },
    { amountMinor: 900n, currency: 'USD' },
  ] as const;
  for (const [index, amount] of amounts.entries()) {
    const { id } = await app.pay({ projectId, token: { asset: 'LTC', network: null }, ...amount });
    app.clock.advance((index + 1) * 1_000);
    await completeSandboxPayment(app, { id });
  }
  const zone = 'Pacific/Kiritimati';
  const browser = await owner();
  const path = `/dashboard/api/projects/${projectId}/test/home?period=1d&zone=${zone}`;
  const { body } = await browser.call<HomeView>({ path });
  const day = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(app.clock());
  expect(body).toMatchObject({
    from_day: day,
    to_day: day,
    zone,
    unit: 'hour',
    median_seconds: { value: 2.5, before: null },
    tokens: [{ asset: 'LTC', network: 'litecoin', payments: 3, median_seconds: 2.5 }],
    currencies: [
      { currency: 'EUR', payments: 2, amount: '30.01', before: '0' },
      { currency: 'USD', payments: 1, amount: '9', before: '0' },
    ],
  });
  expect(body.points).toHaveLength(24);
  expect(body.points.reduce((sum, { created }) => sum + created, 0)).toBe(3);
});

it('a project counts in its currency, at the rate of each payment’s hour, and says which payments have none', async () => {
  const { projectId } = await test.http.shop();
  const browser = await owner();
  const paid = async (amountMinor: bigint, currency: Fiat): Promise<void> => {
    const { id } = await app.pay({ projectId, amountMinor, currency, token: { asset: 'USDT', network: 'polygon' } });
    await completeSandboxPayment(app, { id });
  };
  app.clock.set(Math.ceil(app.clock() / DAY_MS) * DAY_MS);
  await paid(4_999n, 'EUR');
  await paid(1_000n, 'USD');
  await app.db.updateTable('projects').set({ default_currency: 'EUR' }).where('id', '=', projectId).execute();
  const before = await home({ browser, projectId }, '1d');
  expect(before).toMatchObject({ currency: 'EUR', unvalued: 1, volume: { value: '49.99' }, completed: { value: '2' } });

  await keepRates(app);
  // 10 USD at 1.10 and 1,000 JPY at 0.0065.
  await paid(1_000n, 'JPY');
  const after = await home({ browser, projectId }, '1d');
  expect(after).toMatchObject({ currency: 'EUR', unvalued: 0, volume: { value: '64.99' } });
  expect(after.points[0]).toMatchObject({ volume: '64.99' });
  expect(after.tokens).toMatchObject([{ asset: 'USDT', payments: 3, volume: '64.99' }]);

  await app.db.updateTable('projects').set({ default_currency: 'JPY' }).where('id', '=', projectId).execute();
  // 49.99 EUR are 54.99 USD or 8,460 JPY, and 10 USD are 1,538.46 JPY.
  expect(await home({ browser, projectId }, '1d')).toMatchObject({ currency: 'JPY', volume: { value: '10998' } });
});

it('a calendar month has its days in the zone, this one those until today', async () => {
  // The first day of March there.
  app.clock.set(Math.max(app.clock(), Date.parse('2031-02-28T12:00:00Z')));
  const browser = await owner();
  const rangeOf = async (period: string) => {
    const path = `/dashboard/api/projects/${app.projectId}/test/home?period=${period}&zone=Pacific/Kiritimati`;
    const { body } = await browser.call<HomeView>({ path });
    return [body.from_day, body.to_day];
  };
  expect(await rangeOf('this_month')).toEqual(['2031-03-01', '2031-03-01']);
  expect(await rangeOf('last_month')).toEqual(['2031-02-01', '2031-02-28']);
});

it('a range that is none is refused with the parameter and its rule', async () => {
  const browser = await owner();
  const asked = async (query: string) => {
    const path = `/dashboard/api/projects/${app.projectId}/test/home?${query}`;
    const { status, body } = await browser.call<{ error?: { param: string; message: string } }>({ path });
    return [status, body.error?.param, body.error?.message];
  };
  const refused = (param: string, rule: string) => [400, param, expect.stringContaining(rule)];
  expect(await asked('zone=Europe/Nowhere')).toEqual(refused('zone', 'the name of a time zone'));
  expect(await asked('period=8d')).toEqual(refused('period', 'period must be'));
  expect(await asked('from=2026-02-30&to=2026-03-01')).toEqual(refused('from', 'a day such as'));
  expect(await asked('from=1900-01-01&to=2100-01-01')).toEqual(refused('from', 'between 1971-01-01 and 9990-12-31'));
  expect(await asked('from=2026-02-28')).toEqual(refused('to', 'given together'));
  expect(await asked('from=2026-02-28&to=2026-02-27')).toEqual(refused('to', 'must not be before the first day'));
  expect(await asked('from=2020-02-28&to=2026-02-27')).toEqual(refused('from', 'at most 731 days'));
  expect(await asked('from=2026-02-01&to=2026-02-27&period=7d')).toEqual(refused('period', 'but not both'));
  expect(await asked('from=2025-03-01&to=2027-03-01&zone=Africa/Cairo')).toEqual([200, undefined, undefined]);
});
