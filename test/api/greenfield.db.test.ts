import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { createdInvoice, greenfield, type Invoice } from '../greenfield/store.ts';
import { httpTest, type KeySpec, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const call = greenfield(http);
const created = (shop: Shop, fields: object = {}): Promise<Invoice> => createdInvoice(call, shop, fields);

const read = async (shop: Shop, { id }: Invoice): Promise<Invoice> =>
  (await call(shop, { path: `/invoices/${id}` })).body;

const simulate = (shop: Shop, { id }: Invoice, outcome: string) =>
  shop.call({ path: `/v1/invoices/${id}/simulate`, body: { outcome } });

describe('the store', () => {
  it('is the project, and says what plugins look for', async () => {
    const shop = await http.shop();
    const terms = { speedPolicy: 'MediumSpeed', invoiceExpiration: 1_800, monitoringExpiration: 604_800 };
    const store = { id: shop.projectId, name: 'Shop', website: '', defaultCurrency: 'USD', ...terms };
    expect((await call(shop, { path: '' })).body).toEqual(store);
    const headers = { authorization: `token ${await shop.key()}` };
    expect((await http.call({ path: '/api/v1/stores', headers })).body).toEqual([store]);
    expect((await http.call({ path: '/api/v1/health' })).body).toEqual({ synchronized: true });
    const info = await http.call({ path: '/api/v1/server/info', headers });
    expect(info.body).toMatchObject({ version: '2.0.0', fullySynched: true, syncStatus: [] });
    const { body: methods } = await call<object[]>(shop, { path: '/payment-methods' });
    expect(methods).toContainEqual({ enabled: true, paymentMethodId: 'BTC-CHAIN' });
    const { body: onChain } = await call<object[]>(shop, { path: '/payment-methods/onchain' });
    expect(onChain).toContainEqual({ enabled: true, cryptoCode: 'BTC' });
    expect((await call(shop, { path: '/payment-methods/LightningNetwork' })).body).toEqual([]);
  });

  it.each<[Partial<KeySpec>, readonly string[]]>([
    [
      { permission: 'full' },
      [
        'canviewinvoices',
        'cancreateinvoice',
        'canviewstoresettings',
        'canmodifyinvoices',
        'webhooks.canmodifywebhooks',
        'cancreatenonapprovedpullpayments',
      ],
    ],
    [{ permission: 'read' }, ['canviewinvoices', 'canviewstoresettings']],
    [{ permission: null, scopes: ['payments:create'] }, ['cancreateinvoice', 'canviewstoresettings']],
  ])('a key (%o) names its permissions with the store', async (as, names) => {
    const shop = await http.shop();
    const key = await shop.key(as);
    const { body } = await http.call({ path: '/api/v1/api-keys/current', headers: { authorization: `token ${key}` } });
    const permissions = names.map((name) => `btcpay.store.${name}:${shop.projectId}`);
    expect(body).toMatchObject({ apiKey: key, permissions });
  });
});

describe('an invoice', () => {
  const metadata = {
    orderId: 'WC-77',
    buyerEmail: 'anna@example.com',
    buyerName: 'Anna',
    itemDesc: 'Two mugs',
    posData: { key: 'a1', nested: [1, true, null] },
    physical: true,
  };

  it('is created with 200 and is the invoice of /v1/invoices, through another door', async () => {
    const shop = await http.shop();
    const checkout = {
      redirectURL: 'https://shop.example/thanks?invoice={InvoiceId}&order=%7BOrderId%7D&again={InvoiceId}',
      expirationMinutes: 20,
      paymentMethods: ['BTC_CHAIN', 'USDT'],
      speedPolicy: 'HighSpeed',
    };
    const invoice = await created(shop, { metadata, checkout });
    const now = Math.floor(http.clock() / 1_000);
    expect(invoice).toMatchObject({
      id: expect.stringMatching(/^inv_[0-9a-hjkmnp-tv-z]{26}$/),
      storeId: shop.projectId,
      amount: '49.99',
      paidAmount: '0',
      currency: 'EUR',
      type: 'Standard',
      checkoutLink: `https://sandbox.pay.example/pay/${invoice.id}`,
      createdTime: now,
      expirationTime: now + 20 * 60,
      monitoringExpiration: now + 20 * 60 + 7 * 24 * 60 * 60,
      status: 'New',
      additionalStatus: 'None',
      availableStatusesForManualMarking: ['Settled', 'Invalid'],
      archived: false,
      metadata,
      checkout,
    });
    expect(await read(shop, invoice)).toEqual(invoice);
    const { body: own } = await shop.call({ path: `/v1/invoices/${invoice.id}` });
    expect(own).toMatchObject({
      order_id: 'WC-77',
      customer_email: 'anna@example.com',
      customer_name: 'Anna',
      description: 'Two mugs',
      coins: ['BTC/bitcoin', 'USDT'],
      success_url: `https://shop.example/thanks?invoice=${invoice.id}&order=WC-77&again=${invoice.id}`,
    });
  });

  it('gives back the shop’s JSON byte for byte, numbers of any length included', async () => {
    const shop = await http.shop();
    const sent = '{"z":1.50,"orderId":7,"big":12345678901234567890,"tiny":0.10000000000000001,"list":[{"a":null}]}';
    const answer = await call(shop, {
      path: '/invoices',
      body: `{"currency":"EUR","amount":49.9,"metadata":${sent}}`,
    });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining(`"metadata":${sent}`)]);
    const again = await call(shop, { path: `/invoices/${answer.body.id}` });
    expect(again.text).toContain(`"metadata":${sent}`);
    expect((await shop.call({ path: `/v1/invoices/${answer.body.id}` })).body).toMatchObject({ order_id: '7' });
  });

  it.each([
    ['"49.99"', 'EUR', '49.99'],
    ['"166.0000"', 'EUR', '166'],
    ['49.990000000000002', 'EUR', '49.99'],
    ['0.30000000000000004', 'EUR', '0.3'],
    ['"1000.00"', 'JPY', '1000'],
    ['12', 'usd', '12'],
  ])('costs %s %s, as plugins write amounts', async (amount, currency, shown) => {
    const shop = await http.shop();
    const { body } = await call(shop, { path: '/invoices', body: `{"amount":${amount},"currency":"${currency}"}` });
    expect(body).toMatchObject({ amount: shown, currency: currency.toUpperCase() });
  });

  it('without a currency is in that of the project', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { defaultCurrency: 'CHF' });
    const { body } = await call(shop, { path: '/invoices', body: { amount: 5 } });
    expect(body).toMatchObject({ amount: '5', currency: 'CHF' });
  });

  it('takes new metadata, and with it the number of the order', async () => {
    const shop = await http.shop();
    const invoice = await created(shop, { metadata });
    const changed = { orderId: 'WC-78', magentoOrderId: 5 };
    const answer = await call(shop, {
      method: 'PUT',
      path: `/invoices/${invoice.id}`,
      body: { metadata: changed },
    });
    expect(answer.body.metadata).toEqual(changed);
    expect((await read(shop, invoice)).metadata).toEqual(changed);
    expect((await call<Invoice[]>(shop, { path: '/invoices?orderId=WC-78' })).body).toHaveLength(1);
    expect((await call<Invoice[]>(shop, { path: '/invoices?orderId=WC-77' })).body).toEqual([]);
    for (const body of [{ metadata: null }, {}]) {
      const same = await call(shop, { method: 'PUT', path: `/invoices/${invoice.id}`, body });
      expect([same.status, same.body.metadata]).toEqual([200, changed]);
    }
  });

  it('tells of its money: first part, rest, and each transfer', async () => {
    const shop = await http.shop();
    const invoice = await created(shop);
    const methods = `/invoices/${invoice.id}/payment-methods`;
    expect((await call(shop, { path: methods })).body).toEqual([]);
    await simulate(shop, invoice, 'part');
    const [due] = (await call<Record<string, unknown>[]>(shop, { path: methods })).body;
    expect(due?.['paymentLink']).toMatch(new RegExp(`^bitcoin:.+amount=${String(due?.['due'])}$`));
    expect(await read(shop, invoice)).toMatchObject({
      status: 'New',
      additionalStatus: 'PaidPartial',
      availableStatusesForManualMarking: ['Settled'],
    });
    await simulate(shop, invoice, 'paid');
    expect(await read(shop, invoice)).toMatchObject({
      status: 'Settled',
      additionalStatus: 'None',
      paidAmount: '49.99',
    });
    const { body } = await call<Record<string, unknown>[]>(shop, { path: methods });
    expect(body).toHaveLength(1);
    const texts = ['rate', 'paymentMethodPaid', 'totalPaid', 'due', 'amount', 'paymentMethodFee'];
    expect(body[0]).toMatchObject({
      paymentMethodId: 'BTC-CHAIN',
      currency: 'BTC',
      due: '0',
      activated: true,
      // Nothing is due any more, so no wallet is asked to send it.
      paymentLink: null,
      ...Object.fromEntries(texts.map((name) => [name, expect.stringMatching(/^\d+(\.\d+)?$/)])),
    });
    const payments = body[0]?.['payments'];
    expect(payments).toHaveLength(2);
    expect(payments).toContainEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}-\d+$/),
      receivedDate: Math.floor(http.clock() / 1_000),
      value: expect.any(String),
      fee: '0',
      status: 'Settled',
      destination: body[0]?.['destination'],
    });
  });

  it('is found by order, status, time and text, newest first, a page at a time', async () => {
    const shop = await http.shop();
    const first = await created(shop, { metadata: { orderId: 'A-1', itemDesc: 'green tea' } });
    http.clock.advance(10_000);
    const second = await created(shop, { metadata: { orderId: 'A-2' } });
    http.clock.advance(10_000);
    const third = await created(shop, { metadata: { orderId: 'A-1' } });
    await simulate(shop, second, 'expired');
    await call(shop, { path: `/invoices/${third.id}/status`, body: { status: 'Invalid' } });
    const found = async (query: string) =>
      (await call<Invoice[]>(shop, { path: `/invoices?${query}` })).body.map(({ id }) => id);
    expect(await found('')).toEqual([third.id, second.id, first.id]);
    expect(await found('orderId=A-1')).toEqual([third.id, first.id]);
    expect(await found('orderId=A-1&orderId=A-2&take=2')).toEqual([third.id, second.id]);
    expect(await found('take=1&skip=1')).toEqual([second.id]);
    expect(await found('status=New')).toEqual([first.id]);
    expect(await found('status=Expired&status=Invalid')).toEqual([third.id, second.id]);
    expect(await found('textSearch=green+tea')).toEqual([first.id]);
    expect(await found('textSearch=A-1&status=New&take=1')).toEqual([first.id]);
    const at = Number(second['createdTime']);
    expect(await found(`startDate=${at}`)).toEqual([third.id, second.id]);
    expect(await found(`endDate=${at}`)).toEqual([second.id, first.id]);
    for (const query of ['status=Paid', 'take=251', 'skip=-1', 'startDate=x', 'orderId=%00']) {
      const answer = await call(shop, { path: `/invoices?${query}` });
      expect([query, answer.status, answer.body]).toEqual([query, 422, [refusalOf(query.split('=')[0])]]);
    }
  });
});

const refusalOf = (path: string | undefined) => ({ path, message: expect.stringContaining(path ?? '') });

describe('marking an invoice by hand', () => {
  const mark = (shop: Shop, { id }: Invoice, status: unknown, as: Partial<KeySpec> = {}) =>
    call(shop, { path: `/invoices/${id}/status`, body: { status }, as });

  it('ends one without money, once and for all', async () => {
    const shop = await http.shop();
    const invoice = await created(shop);
    const invalid = { status: 'Invalid', additionalStatus: 'Marked', availableStatusesForManualMarking: [] };
    expect((await mark(shop, invoice, 'Invalid')).body).toMatchObject(invalid);
    expect((await mark(shop, invoice, 'Invalid')).status).toBe(200);
    expect((await mark(shop, invoice, 'Settled')).status).toBe(422);
    expect(await read(shop, invoice)).toMatchObject(invalid);
  });

  it('leaves an expired one as it is, and settles one with a part of its money', async () => {
    const shop = await http.shop();
    const expired = await created(shop);
    await simulate(shop, expired, 'expired');
    expect((await mark(shop, expired, 'Invalid')).body).toMatchObject({ status: 'Expired', additionalStatus: 'None' });
    const part = await created(shop);
    await simulate(shop, part, 'part');
    expect((await mark(shop, part, 'Invalid')).body).toEqual([
      { path: 'status', message: expect.stringContaining('money has already been detected') },
    ]);
    expect((await mark(shop, part, 'Settled')).body).toMatchObject({ status: 'Settled', additionalStatus: 'Marked' });
  });

  it('settles one without money in test mode, and never in live mode', async () => {
    const shop = await http.shop();
    const test = await created(shop);
    expect((await mark(shop, test, 'Settled')).body).toMatchObject({ status: 'Settled', additionalStatus: 'Marked' });
    const { body: live } = await call(shop, {
      as: { mode: 'live' },
      path: '/invoices',
      body: { amount: 1, currency: 'EUR' },
    });
    const refused = await mark(shop, live, 'Settled', { mode: 'live' });
    expect([refused.status, refused.body]).toEqual([422, [{ path: 'status', message: expect.any(String) }]]);
    expect((await call(shop, { as: { mode: 'live' }, path: `/invoices/${live.id}` })).body.status).toBe('New');
  });

  it.each(['Expired', null, 7, undefined])('knows no status %s', async (status) => {
    const shop = await http.shop();
    const refused = await mark(shop, await created(shop), status);
    expect([refused.status, refused.body]).toEqual([422, [refusalOf('status')]]);
  });
});

describe('bad input', () => {
  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  it.each<[string, string]>([
    ['amount', '{"currency":"EUR"}'],
    ['amount', '{"amount":null,"currency":"EUR"}'],
    ['amount', '{"amount":0,"currency":"EUR"}'],
    ['amount', '{"amount":"-1","currency":"EUR"}'],
    ['amount', '{"amount":1e3,"currency":"EUR"}'],
    ['amount', '{"amount":"1e3","currency":"EUR"}'],
    ['amount', '{"amount":"1.001","currency":"EUR"}'],
    ['amount', '{"amount":"1.5","currency":"JPY"}'],
    ['amount', '{"amount":9007199254740993,"currency":"EUR"}'],
    ['amount', '{"amount":"1,50","currency":"EUR"}'],
    ['amount', '{"amount":{},"currency":"EUR"}'],
    ['currency', '{"amount":1,"currency":"BTC"}'],
    ['currency', '{"amount":1,"currency":"SATS"}'],
    ['currency', '{"amount":1,"currency":"XYZ"}'],
    ['currency', '{"amount":1,"currency":5}'],
    ['metadata', `{"amount":1,"currency":"EUR","metadata":{"a":"${'x'.repeat(33 * 1024)}"}}`],
    ['metadata', `{"amount":1,"currency":"EUR","metadata":${deep(60)}}`],
    ['metadata', '{"amount":1,"currency":"EUR","metadata":{"a":"\\u0000"}}'],
    ['metadata', '{"amount":1,"currency":"EUR","metadata":{"\\ud800":1}}'],
    ['metadata', '{"amount":1,"currency":"EUR","metadata":{"a":1e999}}'],
    ['metadata', '{"amount":1,"currency":"EUR","metadata":["a"]}'],
    ['metadata', '{"amount":1,"currency":"EUR","metadata":7}'],
    ['metadata.orderId', `{"amount":1,"currency":"EUR","metadata":{"orderId":"${'x'.repeat(256)}"}}`],
    ['metadata.orderId', '{"amount":1,"currency":"EUR","metadata":{"orderId":{"of":"Anna"}}}'],
    ['checkout', '{"amount":1,"currency":"EUR","checkout":"x"}'],
    ['checkout.redirectURL', '{"amount":1,"currency":"EUR","checkout":{"redirectURL":"javascript:alert(1)"}}'],
    [
      'checkout.redirectURL',
      '{"amount":1,"currency":"EUR","checkout":{"redirectURL":"https://a@evil.example/{OrderId}"}}',
    ],
    ['checkout.expirationMinutes', '{"amount":1,"currency":"EUR","checkout":{"expirationMinutes":0}}'],
    ['checkout.expirationMinutes', '{"amount":1,"currency":"EUR","checkout":{"expirationMinutes":1.5}}'],
    ['checkout.paymentMethods', '{"amount":1,"currency":"EUR","checkout":{"paymentMethods":"BTC"}}'],
    ['checkout.paymentMethods[1]', '{"amount":1,"currency":"EUR","checkout":{"paymentMethods":["BTC","BTC-LN"]}}'],
    ['', '{"amount":1,"currency":"EUR","metadata":{"__proto__":{"a":1}}}'],
    ['', '{"amount":1,'],
    ['', `{"amount":1,"currency":"EUR","metadata":${deep(6_000)}}`],
  ])('in %s is a 422 that names it', async (path, body) => {
    const shop = await http.shop();
    const answer = await call<object[]>(shop, { path: '/invoices', body });
    expect([answer.status, answer.body]).toEqual([422, [{ path, message: expect.stringMatching(/.{20}/) }]]);
    expect((await call<Invoice[]>(shop, { path: '/invoices' })).body).toEqual([]);
  });

  it('of no body at all is a 422 as well', async () => {
    const shop = await http.shop();
    const headers = { authorization: `token ${await shop.key()}`, 'content-type': 'application/json' };
    for (const path of ['/invoices', '/webhooks', '/pull-payments']) {
      const answer = await http.call({ method: 'POST', path: `/api/v1/stores/${shop.projectId}${path}`, headers });
      expect([path, answer.status]).toEqual([path, 422]);
    }
  });

  it('bitcoin as a currency says what to switch off', async () => {
    const shop = await http.shop();
    const { text } = await call(shop, { path: '/invoices', body: { amount: 1, currency: 'SATS' } });
    expect(text).toContain('sats mode');
  });

  it('a method that no wallet takes is refused in live mode, and nothing is made', async () => {
    const shop = await http.shop();
    const answer = await call(shop, {
      as: { mode: 'live' },
      path: '/invoices',
      body: { amount: 1, currency: 'EUR', checkout: { paymentMethods: ['XMR-CHAIN'] } },
    });
    expect(answer.body).toEqual([{ path: 'checkout.paymentMethods[0]', message: expect.stringContaining('Invalid') }]);
    expect((await call<Invoice[]>(shop, { as: { mode: 'live' }, path: '/invoices' })).body).toEqual([]);
  });
});

describe('who is let in', () => {
  const withKey = (key: string, path: string, scheme = 'token', side: 'live' | 'test' = 'test') =>
    http.call<{ code: string; message: string }>({ side, path, headers: { authorization: `${scheme} ${key}` } });

  it('a key is sent as token or Bearer; without one the answer is 401', async () => {
    const shop = await http.shop();
    const path = `/api/v1/stores/${shop.projectId}`;
    for (const scheme of ['token', 'Token', 'Bearer']) {
      expect((await withKey(await shop.key(), path, scheme)).status).toBe(200);
    }
    for (const answer of [await http.call({ path }), await withKey('sk_test_unknown', path), await withKey('', path)]) {
      expect([answer.status, answer.body]).toEqual([401, { code: 'unauthenticated', message: expect.any(String) }]);
    }
    const elsewhere = await withKey(await shop.key(), path, 'token', 'live');
    expect([elsewhere.status, elsewhere.body.message]).toEqual([401, expect.stringContaining('sandbox')]);
  });

  it('public keys and keys without the permission are refused with 403', async () => {
    const shop = await http.shop();
    const refused = [
      await call(shop, { as: { kind: 'public' }, path: '' }),
      await call(shop, { as: { kind: 'public' }, path: '/invoices', body: { amount: 1, currency: 'EUR' } }),
      await call(shop, { as: { permission: 'read' }, path: '/invoices', body: { amount: 1, currency: 'EUR' } }),
      await call(shop, { as: { permission: null, scopes: ['payments:create'] }, path: '/invoices' }),
    ];
    for (const { status, body } of refused) {
      expect([status, body]).toEqual([403, { code: 'missing-permission', message: expect.any(String) }]);
    }
  });

  it('another store, invoice or call is a 404 that says which', async () => {
    const [shop, other] = [await http.shop(), await http.shop()];
    const key = await shop.key();
    const ours = `/api/v1/stores/${shop.projectId}`;
    const { body: order } = await shop.call({
      path: '/v1/orders',
      body: { amount: 1, currency: 'EUR', crypto_currency: 'BTC' },
    });
    const invoice = await created(shop);
    const elsewhere = await created(other);
    for (const [path, code] of [
      [`/api/v1/stores/${other.projectId}`, 'store-not-found'],
      [`/api/v1/stores/${randomUUID()}/invoices`, 'store-not-found'],
      ['/api/v1/stores/x/invoices', 'store-not-found'],
      [`${ours}/invoices/${order.id}`, 'invoice-not-found'],
      [`${ours}/invoices/${elsewhere.id}`, 'invoice-not-found'],
      [`${ours}/invoices/x/payment-methods`, 'invoice-not-found'],
      [`${ours}/lightning`, 'not-found'],
      ['/api/v1/users/me', 'not-found'],
    ] as const) {
      const { status, body } = await withKey(key, path);
      expect([path, status, body]).toEqual([path, 404, { code, message: expect.any(String) }]);
    }
    expect((await withKey(key, '/api/v1/users/me')).body.message).toContain('GET /api/v1/users/me');
    expect((await withKey(key, `/api/v1/stores/${shop.projectId.toUpperCase()}/invoices/${invoice.id}`)).status).toBe(
      200,
    );
    expect((await shop.call({ path: `/v1/orders/${invoice.id}` })).status).toBe(404);
  });
});
