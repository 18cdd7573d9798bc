import { afterAll, expect, it } from 'vitest';
import { COMMON_SAMPLES } from '../common-fields.ts';
import { httpTest, type Fields, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const INVOICE = { amount: 49.9, currency: 'EUR' };

async function created(shop: Shop, fields: object = {}): Promise<Fields> {
  const { status, body } = await shop.call({ path: '/v1/invoices', body: { ...INVOICE, ...fields } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

it('creating an invoice answers with the fields of the Order API; no coin is chosen, and nothing is numbered', async () => {
  const shop = await http.shop();
  const invoice = await created(shop);
  const expiresAt = new Date(http.clock() + 30 * 60_000).toISOString();
  expect(invoice).toMatchObject({
    ...INVOICE,
    id: expect.stringMatching(/^inv_[0-9a-hjkmnp-tv-z]{26}$/),
    status: 'pending',
    crypto_currency: null,
    payment_url: `https://sandbox.pay.example/pay/${invoice.id}`,
    expires_at: expiresAt,
    metadata: { order_id: invoice.id },
    coins: null,
  });
  expect(invoice).not.toHaveProperty('transaction_number');
  expect((await shop.call({ path: `/v1/invoices/${invoice.id}` })).body).toEqual(invoice);
});

it('an invoice keeps what it was given, and hides the customer from public keys', async () => {
  const shop = await http.shop();
  const given = {
    order_id: 'A-1',
    description: 'Two mugs ☕',
    customer_email: 'anna@example.com',
    customer_name: 'Anna',
    coins: ['BTC', 'USDC/polygon'],
    success_url: 'https://shop.example/thanks?x=1',
    cancel_url: 'https://shop.example/back',
    ...COMMON_SAMPLES,
  };
  const invoice = await created(shop, { ...given, expires_in: 600 });
  const expiresAt = new Date(http.clock() + 600_000).toISOString();
  expect(invoice).toMatchObject({
    ...given,

    expires_at: expiresAt,
  });
  for (const call of [
    { path: `/v1/invoices/${invoice.id}` },
    { path: '/v1/invoices', body: { ...INVOICE, ...given } },
  ]) {
    const { status, body } = await shop.call({ ...call, as: { kind: 'public' } });
    expect(status).toBe(200);
    for (const hidden of ['customer_email', 'customer_name', 'metadata']) expect(body).not.toHaveProperty(hidden);
  }
});

it('its customer chooses among its coins alone, and then its amount is quoted', async () => {
  const shop = await http.shop();
  const invoice = await created(shop, { coins: ['BTC', 'USDC/polygon'] });
  const page = `/pay/${invoice.id}`;
  const offered = [
    ...(await http.call({ path: page })).text.matchAll(/name="asset" value="(\w+)".*?name="network" value="(\w+)"/gs),
  ];
  expect(offered.map(([, asset, network]) => `${asset}/${network}`).toSorted()).toEqual([
    'BTC/bitcoin',
    'USDC/polygon',
  ]);
  const choose = (token: string) => {
    const [asset = '', network = ''] = token.split('/');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return http.call({ path: `${page}/token`, body: new URLSearchParams({ asset, network }).toString(), headers });
  };
  await choose('ETH/ethereum');
  expect((await shop.call({ path: `/v1/invoices/${invoice.id}` })).body).toMatchObject({ crypto_currency: null });
  await choose('USDC/polygon');
  expect((await shop.call({ path: `/v1/invoices/${invoice.id}` })).body).toMatchObject({
    crypto_currency: 'USDC',
    network: 'polygon',
    amount_received: 0,
    status: 'pending',
  });
});

it.each([
  [{ coins: ['BTC', 'DOGE'] }, 'coins', /"DOGE" is neither/],
  [{ coins: ['btc'] }, 'coins', /must name assets/],
  [{ coins: [] }, 'coins', /at least 1/],
  [{ coins: 'BTC' }, 'coins', /a list, not text/],
  [{ amount: 0 }, 'amount', /from 0\.01/],
  [{ amount: -1 }, 'amount', /from 0\.01/],
  [{ amount: null }, 'amount', /number/],
  [{ currency: 'XXX' }, 'currency', /must be one of/],
  [{ expires_in: 59 }, 'expires_in', /60/],
  [{ success_url: 'javascript:1' }, 'success_url', /http/],
])('an invoice with %j is refused by name', async (fields, param, rule) => {
  const shop = await http.shop();
  const { status, body } = await shop.call({ path: '/v1/invoices', body: { ...INVOICE, ...fields } });
  expect([status, body]).toMatchObject([
    400,
    { error: { type: 'invalid_request_error', param, message: expect.stringMatching(rule) } },
  ]);
  expect((await shop.call({ path: '/v1/invoices' })).body).toMatchObject({ data: [] });
});

it('a test invoice is completed, refunded by its id, and tells so by events of its own', async () => {
  const shop = await http.shop();
  const invoice = await created(shop, { order_id: 'A-1' });
  const done = await shop.call({ method: 'POST', path: `/v1/invoices/${invoice.id}/complete` });
  expect([done.status, done.body]).toMatchObject([200, { id: invoice.id, status: 'completed', exception: 'none' }]);
  const again = await shop.call({ method: 'POST', path: `/v1/invoices/${invoice.id}/complete` });
  expect([again.status, again.text]).toMatchObject([400, expect.stringContaining('already completed')]);
  const refund = await shop.call({ path: '/v1/refunds', body: { invoice_id: invoice.id, amount: 10 } });
  expect([refund.status, refund.body]).toMatchObject([200, { payment: invoice.id, amount: 10, currency: 'EUR' }]);
  expect((await shop.call({ path: `/v1/refunds?invoice_id=${invoice.id}` })).body).toMatchObject({
    data: [{ payment: invoice.id }],
  });
  const rows = await http.app.db
    .selectFrom('events')
    .select(['type', 'body'])
    .where('project_id', '=', shop.projectId)
    .execute();
  expect(new Set(rows.map(({ type }) => type))).toEqual(
    new Set(['invoice.created', 'invoice.completed', 'refund.created']),
  );
  const completed = rows.find(({ type }) => type === 'invoice.completed');
  expect(JSON.parse(completed?.body ?? '')).toMatchObject({
    data: { object: 'invoice', id: invoice.id, status: 'completed', metadata: { order_id: 'A-1' } },
  });
});

it('an unpaid invoice is cancelled once, and only test invoices can be completed by hand', async () => {
  const shop = await http.shop();
  const invoice = await created(shop);
  const path = `/v1/invoices/${invoice.id}`;
  expect((await shop.call({ method: 'POST', path: `${path}/cancel` })).body).toMatchObject({ status: 'cancelled' });
  expect((await shop.call({ method: 'POST', path: `${path}/cancel` })).status).toBe(400);
  expect((await shop.call({ method: 'POST', path: `${path}/complete` })).status).toBe(400);
  expect((await shop.call({ side: 'live', method: 'POST', path: `${path}/complete` })).status).toBe(403);
});

it('invoices are listed apart from orders and transactions, by status, newest first, and of their project alone', async () => {
  const shop = await http.shop();
  const one = await created(shop);
  http.clock.advance(1);
  const two = await created(shop);
  await shop.call({ path: '/v1/orders', body: { ...INVOICE, crypto_currency: 'BTC' } });
  await shop.call({ path: '/api/transactions/create', body: { amount: 5 } });
  await shop.call({ method: 'POST', path: `/v1/invoices/${two.id}/complete` });
  const ids = async (query: string) => {
    const { body } = await shop.call<{ readonly data: readonly Fields[] }>({ path: `/v1/invoices${query}` });
    return body.data.map(({ id }) => id);
  };
  expect(await ids('')).toEqual([two.id, one.id]);
  expect(await ids('?status=completed')).toEqual([two.id]);
  const other = await http.shop();
  for (const [who, path] of [
    [other, `/v1/invoices/${one.id}`],
    [shop, `/v1/orders/${one.id}`],
    [shop, `/v1/orders/${one.id.replace('inv_', 'ord_')}`],
    [shop, `/v1/invoices/${one.id.replace('inv_', 'ord_')}`],
    [shop, '/v1/invoices/nonsense'],
  ] as const) {
    expect((await who.call({ path })).status).toBe(404);
  }
});
