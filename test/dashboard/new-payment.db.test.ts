import { afterAll, describe, expect, it } from 'vitest';
import { RIGHT_CLOCK } from '../../src/app/service-clock.ts';
import type { AuditEntryView } from '../../src/http/dashboard/audit/contract.ts';
import { dashboardTest } from '../dashboard.ts';
import { actsIn } from './acts.fixture.ts';

const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());
const acts = actsIn(test);

const owner = await test.join('owner');

interface Made {
  readonly id: string;
  readonly payment_url: string;
}

let forms = 0;
const form = (fields: object = {}) => ({
  request: `form-${(forms += 1)}-x`,
  amount: '49.99',
  currency: 'USD',
  expires_in_minutes: 60,
  ...fields,
});
const make = (fields: object = {}, headers: Readonly<Record<string, string>> = {}) => {
  // Actions of the same millisecond are unordered.
  app.clock.advance(1);
  return owner.browser.call<Made>({ method: 'POST', path: acts.base, body: form(fields), headers });
};

describe('a payment made by hand', () => {
  it('whose customer chooses the coin is an invoice, and in the log with who made it', async () => {
    const made = await make({ order_id: ' A-17 ', description: 'Tea <b>', customer_email: 'ann@example.com' });
    const view = await acts.read(owner.browser, made.body.id);
    expect(view).toMatchObject({
      api: 'invoice',
      status: 'created',
      transaction_number: null,
      amount: '49.99',
      order_id: 'A-17',
      description: 'Tea <b>',
      customer_email: 'ann@example.com',
      payment_url: made.body.payment_url,
      idempotency_key: null,
      timeline: [
        { kind: 'status', to: 'created' },
        { kind: 'action', action: 'payment.create', by: owner.email },
        { kind: 'event', type: 'invoice.created' },
      ],
    });
    const expires = Date.parse(view.expires_at) - Date.parse(view.created_at);
    expect(expires).toBe(60 * 60_000);
    const { body } = await owner.browser.call<{ readonly data: readonly AuditEntryView[] }>({
      path: `/dashboard/api/projects/${app.projectId}/audit?limit=1`,
    });
    expect(body.data).toMatchObject([
      {
        action: 'payment.create',
        actor: { kind: 'person', name: owner.email },
        subject: { kind: 'payment', id: made.body.id },
        after: { mode: 'test', status: 'created' },
        ip: '127.0.0.1',
      },
    ]);
  });

  it('in a coin is an order with its address and price, in any currency', async () => {
    const made = await make({ asset: 'USDT', network: 'polygon', amount: '12', currency: 'EUR' });
    expect(await acts.read(owner.browser, made.body.id)).toMatchObject({
      api: 'order',
      status: 'pending',
      currency: 'EUR',
      crypto: { asset: 'USDT', network: 'polygon' },
      address: expect.any(String),
    });
  });

  it('whose coin the customer chooses is in any currency too', async () => {
    const made = await make({ amount: '12.5', currency: 'EUR' });
    const view = await acts.read(owner.browser, made.body.id);
    expect(view).toMatchObject({ api: 'invoice', status: 'created', amount: '12.5', currency: 'EUR' });
  });

  it('whose form is sent twice is made once', async () => {
    const body = form();
    const send = () => owner.browser.call<Made>({ method: 'POST', path: acts.base, body });
    const before = await countOf();
    const answers = [...(await Promise.all([send(), send()])), await send()];
    const made = new Set(answers.flatMap(({ status, body: { id } }) => (status === 200 ? [id] : [])));
    expect(made.size).toBe(1);
    expect(await countOf()).toBe(before + 1);
    const other = await owner.browser.call({ method: 'POST', path: acts.base, body: { ...body, amount: '50' } });
    expect(other.status).toBe(409);
    // Another person's form of the same name is another form.
    const admin = await test.join('admin');
    expect((await admin.browser.call<Made>({ method: 'POST', path: acts.base, body })).status).toBe(200);
  });

  it('that is refused leaves neither a payment nor an entry in the log', async () => {
    const before = await countOf();
    const entries = () => app.db.selectFrom('audit_log').select('id').where('action', '=', 'payment.create').execute();
    const there = await entries();
    const answer = await make({ asset: 'BTC', network: 'polygon' });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('BTC can be paid on bitcoin')]);
    expect([await countOf(), await entries()]).toEqual([before, there]);
  });

  it.each([
    ['amount', { amount: '0' }],
    ['amount', { amount: '1000000.01' }],
    ['amount', { amount: '150000001', currency: 'JPY', asset: 'BTC' }],
    ['amount', { amount: '12.345' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: '12,50' }],
    ['amount', { amount: '100.5', currency: 'JPY', asset: 'BTC' }],
    ['currency', { currency: 'XXX' }],
    ['asset', { asset: 'XXX' }],
    ['network', { network: 'bitcoin' }],
    ['customer_email', { customer_email: 'nobody' }],
    ['expires_in_minutes', { expires_in_minutes: 0 }],
    ['expires_in_minutes', { expires_in_minutes: 1_441 }],
    ['description', { description: 'x'.repeat(1_001) }],
    ['order_id', { order_id: 'a\0b' }],
  ])('is refused with a sentence that names %s: %j', async (param, fields) => {
    const answer = await make(fields);
    expect(answer).toMatchObject({ status: 400, body: { error: { param, message: expect.stringContaining(param) } } });
  });

  it('that is too small for its coin is refused in the language of the page', async () => {
    const answer = await make({ asset: 'BTC', network: 'bitcoin', amount: '0.01' }, { 'accept-language': 'de' });
    expect(answer).toMatchObject({ status: 400, body: { error: { param: 'amount' } } });
    expect(answer.text).toContain('Der Betrag ist zu klein, um in BTC bezahlt zu werden.');
  });

  it('is offered the coins that the project can be paid in', async () => {
    const path = `/dashboard/api/projects/${app.projectId}/test/tokens`;
    const { body } = await owner.browser.call<{ readonly data: readonly object[] }>({ path });
    expect(body.data).toContainEqual({ asset: 'BTC', network: 'bitcoin' });
  });
});

async function countOf(): Promise<number> {
  return (await app.db.selectFrom('payments').select('id').where('project_id', '=', app.projectId).execute()).length;
}

it('a clock that is off by more than ten minutes lets no API and no page make a payment, and says why', async () => {
  const shop = await test.http.shop();
  const refusal = 'The clock of this service is 2 h behind. No payment is made.';
  const order = { amount: 10, currency: 'USD', crypto_currency: 'BTC' };
  const first = { 'idempotency-key': 'before-the-clock' };
  const before = await shop.call({ method: 'POST', path: '/v1/orders', body: order, headers: first });
  app.judgeClock({ ...RIGHT_CLOCK, refusal });
  const payments = () => app.db.selectFrom('payments').select('id').execute();
  const count = (await payments()).length;
  for (const as of [{ mode: 'test' }, { mode: 'live' }] as const) {
    const refused = await shop.call({ as, method: 'POST', path: '/v1/orders', body: order });
    expect(refused).toMatchObject({
      status: 503,
      body: { error: { type: 'service_unavailable', message: refusal } },
    });
    const transaction = await shop.call({ as, method: 'POST', path: '/api/transactions/create', body: { amount: 10 } });
    expect(transaction).toMatchObject({ status: 503, body: { success: false, message: refusal } });
  }
  expect(await make()).toMatchObject({ status: 503, body: { error: { message: refusal } } });
  expect((await payments()).length).toBe(count);
  // An answer that was given is given again.
  const again = await shop.call({ method: 'POST', path: '/v1/orders', body: order, headers: first });
  expect([again.status, again.body.id]).toEqual([200, before.body.id]);
  app.judgeClock(RIGHT_CLOCK);
  expect((await make()).status).toBe(200);
});

it('a refusal is in the language that the page asks for, and in English in any other', async () => {
  const refusal = async (language: string, fields: object) => {
    const headers = { 'accept-language': language };
    const answer = await owner.browser.call<{ error: { message: string; param: string } }>({
      method: 'POST',
      path: acts.base,
      headers,
      body: form(fields),
    });
    return `${answer.status} ${answer.body.error.param}: ${answer.body.error.message}`;
  };
  const rule = 'eine Zahl von 0,01 bis 1.000.000 USD sein, mit höchstens 2 Nachkommastellen, etwa 12,5.';
  expect(await refusal('de', { amount: '0' })).toBe(`400 amount: Der Betrag muss ${rule}`);
  expect(await refusal('ja', { amount: '0' })).toContain('The amount must be a number from 0.01');
  expect(await refusal('de', { customer_email: 'ann@' })).toBe(
    '400 customer_email: Die E-Mail-Adresse muss vollständig sein, etwa kunde@example.com.',
  );
  const long = { description: 'x'.repeat(10_000) };
  expect(await refusal('de', long)).toMatch(
    /^400 description: Die Beschreibung darf höchstens 1\.000 Zeichen haben\.$/,
  );
});
