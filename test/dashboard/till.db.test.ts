import { sql } from 'kysely';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { changeProject } from '../../src/app/projects/projects.ts';
import { observeMoney } from '../../src/app/payments/chain-money.ts';
import { inTransaction } from '../../src/app/in-transaction.ts';
import { simulateOutcome } from '../../src/app/sandbox/simulate-outcome.ts';
import type { MempoolDoubt, TillSettings } from '../../src/domain/till.ts';
import type { Simulation } from '../../src/domain/simulation.ts';
import { dayAfter } from '../../src/domain/time-zone.ts';
import { paymentIdOf } from '../../src/domain/payment-kind.ts';
import type { PaymentView } from '../../src/http/dashboard/payments/contract.ts';
import type { TillSettingsView } from '../../src/http/dashboard/settings/contract.ts';
import type { SaleView } from '../../src/http/dashboard/till/contract.ts';
import type { AnswerOf } from '../../src/http/dashboard/contract.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';

const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());
const [ann, ben, owner] = [
  await test.join('cashier', app.projectId),
  await test.join('cashier', app.projectId),
  await test.join('owner'),
];
const base = `/dashboard/api/projects/${app.projectId}/test/till`;
const BITCOIN = { asset: 'BTC', network: 'bitcoin' } as const;
const POLYGON = { asset: 'USDT', network: 'polygon' } as const;

let forms = 0;
const form = (fields: object = {}) => ({
  request: `sale-${(forms += 1)}-x`,
  amount: '12.5',
  currency: 'EUR',
  ...fields,
});
const send = (browser: Browser, path: string, body: object = {}) =>
  browser.call<SaleView>({ method: 'POST', path: `${base}/sales${path}`, body });
async function charge(fields: object = {}, browser = ann.browser): Promise<SaleView> {
  // Sales of the same millisecond are unordered.
  app.clock.advance(1);
  const { status, text, body } = await send(browser, '', form(fields));
  if (status !== 200) throw new Error(text);
  return body;
}
const read = async (id: string, browser = ann.browser) =>
  (await browser.call<SaleView>({ path: `${base}/sales/${id}` })).body;
type Today = AnswerOf<'GET /dashboard/api/projects/:project/:mode/till/sales'>;
const today = async (browser = ann.browser, zone = 'UTC') =>
  (await browser.call<Today>({ path: `${base}/sales?zone=${encodeURIComponent(zone)}` })).body;

const selectorOf = (id: string) => ({
  id: paymentIdOf('invoice', id) ?? '',
  api: 'invoice' as const,
  projectId: app.projectId,
  mode: 'test' as const,
});
async function simulate({ id }: SaleView, outcome: Simulation, stageMs: number | null = null): Promise<SaleView> {
  const { kind } = await simulateOutcome(app, selectorOf(id), outcome, stageMs);
  expect(kind).toBe('changed');
  return read(id);
}
const rule = (till: TillSettings | null) => changeProject(app, app.projectId, { till });
const below = (amount: string, currency: 'EUR' | 'USD' = 'EUR'): TillSettings => ({
  seenBelow: { amount, currency },
  tips: false,
});
const TIPS: TillSettings = { seenBelow: null, tips: true };
afterEach(() => rule(null));

describe('a charge', () => {
  it('is refused with an example that its currency allows', async () => {
    for (const [fields, field] of [
      [{ amount: '12.5' }, 'amount'],
      [{ amount: '12', tip: '0.5' }, 'tip'],
    ] as const) {
      const { status, text } = await send(ann.browser, '', form({ ...fields, currency: 'JPY' }));
      expect([status, text]).toEqual([400, expect.stringContaining('JPY without decimals, such as 12.')]);
      expect(text).toContain(`"param":"${field}"`);
    }
  });

  it('makes an invoice and its quote in one request, with everything the code needs', async () => {
    await rule(TIPS);
    const sale = await charge({ ...BITCOIN, note: ' Table 4 ', tip: '1.25' });
    expect(sale).toMatchObject({
      id: expect.stringMatching(/^inv_/),
      state: 'waiting',
      amount: '13.75',
      tip: '1.25',
      currency: 'EUR',
      note: 'Table 4',
      paid_by: null,
      doubt: null,
      crypto: { ...BITCOIN, owed: expect.any(String), received: '0' },
      pay: { address: expect.any(String), uri: null, qr: { path: expect.stringMatching(/^M/) }, only_address: false },
    });
    expect(sale.crypto?.left).toBe(sale.crypto?.owed);
    const seen = await owner.browser.call<object>({ path: `${base.replace('/till', '/payments')}/${sale.id}` });
    expect(seen.body).toMatchObject({ api: 'invoice', metadata: { tip: '1.25' }, description: 'Table 4' });
    // Its history has the coin, as if the customer had chosen it.
    const { timeline } = seen.body as Pick<PaymentView, 'timeline'>;
    expect(timeline.flatMap((entry) => (entry.kind === 'status' ? [entry.to] : []))).toEqual([
      'created',
      'prepared',
      'pending',
    ]);
  });

  it('without a coin waits for one, which can be changed while no money was seen', async () => {
    const sale = await charge();
    expect(sale).toMatchObject({ state: 'choose', crypto: null, pay: null });
    const first = await send(ann.browser, `/${sale.id}/coin`, BITCOIN);
    expect(first.body).toMatchObject({ state: 'waiting', crypto: BITCOIN });
    const other = await send(ann.browser, `/${sale.id}/coin`, POLYGON);
    expect(other.body).toMatchObject({ state: 'waiting', crypto: POLYGON });
    await simulate(sale, 'paid');
    expect((await send(ann.browser, `/${sale.id}/coin`, BITCOIN)).status).toBe(400);
  });

  it('sent again with its key is the same sale, with the same quote', async () => {
    const body = form(POLYGON);
    const [first, again] = [await send(ann.browser, '', body), await send(ann.browser, '', body)];
    expect(again.body).toEqual(first.body);
    expect((await send(ann.browser, '', { ...body, amount: '13' })).status).toBe(409);
  });

  it('that another process saves at the same moment is that sale, not one that was rolled back', async () => {
    const body = form(BITCOIN);
    const first = await send(ann.browser, '', body);
    const { db } = app;
    const keep = (trx: typeof db, from: string, to: string) =>
      trx.updateTable('idempotency_keys').set({ key: to }).where('key', '=', from).execute();
    await keep(db, body.request, 'elsewhere');
    const [saved, ends] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The other process has saved its sale, and has not committed yet.
    const other = db.transaction().execute(async (trx) => {
      await keep(trx, 'elsewhere', body.request);
      saved.resolve();
      await ends.promise;
    });
    await saved.promise;
    const sent = send(ann.browser, '', body);
    await vi.waitFor(async () => {
      const { rows } = await sql`select from pg_locks where not granted`.execute(db);
      expect(rows.length).toBeGreaterThan(0);
    });
    ends.resolve();
    await other;
    const again = await sent;
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    expect((await read(again.body.id)).pay?.address).toBe(again.body.pay?.address);
  });

  it('that its coin cannot carry is refused, and names what is wrong', async () => {
    const { status, body } = await send(ann.browser, '', form({ ...BITCOIN, amount: '0.01' }));
    expect([status, body]).toMatchObject([
      400,
      { error: { message: expect.stringContaining('BTC'), param: 'amount' } },
    ]);
  });

  it.each([
    [{ amount: '0' }, 'amount'],
    [{ amount: '-1' }, 'amount'],
    [{ amount: '1.234' }, 'amount'],
    [{ amount: '1000000', tip: '0.01' }, 'amount'],
    [{ tip: '-1' }, 'tip'],
    [{ tip: '1.234' }, 'tip'],
    [{ tip: '12.51' }, 'tip'],
    [{ note: 'x'.repeat(201) }, 'note'],
    [{ currency: 'XXX' }, 'currency'],
  ])('%j is refused, and names %s', async (fields, param) => {
    await rule(TIPS);
    const { status, body } = await send(ann.browser, '', form(fields));
    expect([status, body]).toMatchObject([400, { error: { param } }]);
  });

  it('with a tip is refused where the till takes none', async () => {
    const { status, body } = await send(ann.browser, '', form({ tip: '1' }));
    expect([status, body]).toMatchObject([400, { error: { param: 'tip' } }]);
    expect(await charge({ tip: '0' })).toMatchObject({ tip: null });
  });

  it('of an inactive project is refused', async () => {
    await app.db.updateTable('projects').set({ active: false }).execute();
    expect((await send(ann.browser, '', form())).status).toBe(409);
    await app.db.updateTable('projects').set({ active: true }).execute();
  });
});

describe('what counts as paid', () => {
  it('is only confirmed money unless the project chose a limit', async () => {
    const sale = await charge(BITCOIN);
    expect(await simulate(sale, 'confirming')).toMatchObject({ state: 'seen', paid_by: null, doubt: null });
    expect(await simulate(sale, 'paid')).toMatchObject({ state: 'paid', paid_by: 'confirmed' });
  });

  it('is seen money below the limit, which later says that it was confirmed', async () => {
    await rule(below('20'));
    const sale = await charge(BITCOIN);
    expect(await simulate(sale, 'paid', 60_000)).toMatchObject({ state: 'paid', paid_by: 'seen', pay: null });
    expect(await simulate(sale, 'paid')).toMatchObject({ state: 'paid', paid_by: 'confirmed' });
  });

  it.each([
    ['the limit itself', '12.5', 'EUR'],
    // 12.5 EUR are 13.75 USD at the test's rates.
    ['another currency', '13', 'USD'],
  ] as const)('is not seen money from the limit on: %s', async (_what, amount, currency) => {
    await rule(below(amount, currency));
    expect(await simulate(await charge(BITCOIN), 'confirming')).toMatchObject({ state: 'seen', paid_by: null });
  });

  it('is seen money below the limit in another currency', async () => {
    await rule(below('14', 'USD'));
    expect(await simulate(await charge(BITCOIN), 'confirming')).toMatchObject({ paid_by: 'seen' });
  });

  it.each(['replaceable', 'low_fee', 'unknown'] satisfies MempoolDoubt[])(
    'is not seen money with the doubt %s, until it is in a block',
    async (doubt) => {
      await rule(below('20'));
      const sale = await charge(BITCOIN);
      await simulate(sale, 'paid', 60_000);
      const { id } = selectorOf(sale.id);
      await app.db.updateTable('transfers').set({ doubt }).where('payment_id', '=', id).execute();
      expect(await read(sale.id)).toMatchObject({ state: 'seen', paid_by: null, doubt });
      expect(await simulate(sale, 'confirming')).toMatchObject({ state: 'paid', paid_by: 'seen', doubt: null });
    },
  );

  it('is not seen money of which a transaction disappeared, nor confirmed money that was reorganised away', async () => {
    await rule(below('20'));
    const sale = await charge(BITCOIN);
    await simulate(sale, 'paid', 60_000);
    await app.db
      .updateTable('transfers')
      .set({ state: 'dropped' })
      .where('payment_id', '=', selectorOf(sale.id).id)
      .execute();
    expect(await read(sale.id)).toMatchObject({ state: 'seen', doubt: 'replaced' });
    expect(await simulate(await charge(BITCOIN), 'reorged')).toMatchObject({ state: 'seen', doubt: 'reorged' });
  });

  it('is not money that has disappeared: a sale that was shown as paid says so, and needs attention', async () => {
    await rule(below('20'));
    const sale = await charge(BITCOIN);
    expect(await simulate(sale, 'paid', 60_000)).toMatchObject({ state: 'paid', paid_by: 'seen' });
    const { id } = selectorOf(sale.id);
    const needsAttention = async () => {
      const { body } = await owner.browser.call<{
        readonly data: readonly { kind: string; payment: object | null }[];
      }>({
        path: base.replace('/till', '/attention'),
      });
      return body.data.filter(({ kind }) => kind === 'till_money_gone');
    };
    expect(await needsAttention()).toEqual([]);
    await inTransaction(app, async (trx) => {
      await trx.updateTable('transfers').set({ state: 'dropped' }).where('payment_id', '=', id).execute();
      await observeMoney(app, trx, [id], app.clock());
    });
    expect(await read(sale.id)).toMatchObject({
      state: 'gone',
      status: 'pending',
      paid_by: null,
      doubt: 'replaced',
      pay: expect.any(Object),
    });
    expect((await today()).sales[0]).toMatchObject({ state: 'gone' });
    expect(await needsAttention()).toMatchObject([{ payment: { id: sale.id } }]);
  });

  it('is not a part, whose rest the code then asks for', async () => {
    const sale = await simulate(await charge(BITCOIN), 'part');
    expect(sale).toMatchObject({ state: 'part', exception: 'underpaid', paid_by: null, pay: expect.any(Object) });
    expect(Number(sale.crypto?.left)).toBeLessThan(Number(sale.crypto?.owed));
  });
});

describe('a sale', () => {
  it('without money can be cancelled, twice as well as once, and with money cannot', async () => {
    const sale = await charge(BITCOIN);
    for (const _time of [1, 2]) {
      const { status, body } = await send(ann.browser, `/${sale.id}/cancel`);
      expect([status, body]).toMatchObject([200, { state: 'ended', status: 'cancelled', pay: null }]);
    }
    const paid = await simulate(await charge(BITCOIN), 'part');
    expect((await send(ann.browser, `/${paid.id}/cancel`)).status).toBe(400);
  });

  it('of somebody else is none, and neither is a payment that was not made at the till', async () => {
    const sale = await charge(BITCOIN, ben.browser);
    const { body: made } = await owner.browser.call<{ readonly id: string }>({
      method: 'POST',
      path: base.replace('/till', '/payments'),
      body: { ...form(), expires_in_minutes: 10 },
    });
    for (const id of [sale.id, made.id, 'inv_x', 'x']) {
      const calls = [
        ann.browser.call({ path: `${base}/sales/${id}` }),
        send(ann.browser, `/${id}/coin`, POLYGON),
        send(ann.browser, `/${id}/cancel`),
      ];
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    expect(await read(sale.id, ben.browser)).toMatchObject({ state: 'waiting', crypto: BITCOIN });
    // The same in the other mode, where Ann may use the till too.
    const own = await charge();
    const inLive = await ann.browser.call({ path: `${base.replace('/test/', '/live/')}/sales/${own.id}` });
    expect(inLive.status).toBe(404);
  });
});

describe('the settings of the till', () => {
  const path = `/dashboard/api/projects/${app.projectId}/settings/till`;
  const save = (body: object) => owner.browser.call({ method: 'POST', path, body });

  it('are what the till shows, and a limit keeps the currency in which it was typed', async () => {
    expect((await owner.browser.call({ path })).body).toMatchObject({ seen_below: '', currency: 'USD', tips: false });
    await changeProject(app, app.projectId, { defaultCurrency: 'EUR' });
    const typed = { seen_below: ' 25 ', currency: 'EUR', tips: false };
    expect((await save(typed)).body).toMatchObject({ seen_below: '25', currency: 'EUR' });
    await changeProject(app, app.projectId, { defaultCurrency: 'JPY' });
    const shown = (await owner.browser.call<TillSettingsView>({ path })).body;
    expect(shown).toMatchObject({ currency: 'EUR', project_currency: 'JPY' });
    const again = { seen_below: shown.seen_below, currency: shown.currency, tips: true };
    expect((await save(again)).body).toMatchObject({ seen_below: '25', currency: 'EUR' });
    const till = await ann.browser.call({ path: base });
    expect(till.body).toMatchObject({
      currency: 'JPY',
      tips: [5, 10, 15],
      seen_below: { amount: '25', currency: 'EUR' },
      coins: expect.arrayContaining([expect.objectContaining(BITCOIN)]),
    });
    await changeProject(app, app.projectId, { defaultCurrency: null });
  });

  it.each(['0', '-1', '1.234', 'much', '1000001'])('refuse the limit %s', async (limit) => {
    const { status, body } = await save({ seen_below: limit, currency: 'USD', tips: false });
    expect([status, body]).toMatchObject([400, { error: { param: 'seen_below' } }]);
  });
});

describe('the list of today', () => {
  it('has a person’s own sales of that day, and the sums of those that are paid', async () => {
    await rule(TIPS);
    const cleo = await test.join('cashier', app.projectId);
    expect(await today(cleo.browser)).toMatchObject({ sales: [], sums: [], has_more: false });
    const [one, two] = [
      await charge({ ...BITCOIN, tip: '0.5' }, cleo.browser),
      await charge({ currency: 'USD', amount: '3' }, cleo.browser),
    ];
    await simulateOutcome(app, selectorOf(one.id), 'paid');
    const list = await today(cleo.browser);
    expect(list.sales.map(({ id, state }) => [id, state])).toEqual([
      [two.id, 'choose'],
      [one.id, 'paid'],
    ]);
    expect(list.sums).toEqual([{ currency: 'EUR', count: 1, total: '13', tips: '0.5' }]);
    await simulateOutcome(app, selectorOf(two.id), 'confirming');
    expect((await today(cleo.browser)).sums).toHaveLength(1);
    await rule(below('20'));
    expect((await today(cleo.browser)).sums).toContainEqual({ currency: 'USD', count: 1, total: '3', tips: '0' });
  });

  it('begins at midnight in the zone of the device', async () => {
    const [day, hour] = [86_400_000, 3_600_000];
    // 23:00 UTC: in Kiritimati, 14 hours ahead, it is the next day; in Honolulu, 10 hours behind, the same one.
    app.clock.advance(day + 23 * hour - (app.clock() % day));
    const dan = await test.join('cashier', app.projectId);
    await charge({}, dan.browser);
    const dates = await Promise.all(
      ['UTC', 'Pacific/Kiritimati', 'Pacific/Honolulu'].map(async (zone) => (await today(dan.browser, zone)).day),
    );
    expect([dates[1], dates[2]]).toEqual([dayAfter(dates[0] ?? ''), dates[0]]);
    app.clock.advance(hour);
    expect(await today(dan.browser, 'UTC')).toMatchObject({ day: dates[1], sales: [] });
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Honolulu']) {
      expect((await today(dan.browser, zone)).sales).toHaveLength(1);
    }
    const wrong = await dan.browser.call({ path: `${base}/sales?zone=Mars` });
    expect([wrong.status, wrong.body]).toMatchObject([400, { error: { param: 'zone' } }]);
  });
});
