import { afterAll, expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { runDue } from '../../src/app/payments/run-due.ts';
import { decodeId } from '../../src/domain/id.ts';
import { COMMON_SAMPLES } from '../common-fields.ts';
import { httpTest, type Fields, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const ORDER = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };

function uuidOf(orderId: string): string {
  const id = decodeId('order', orderId);
  if (id === null) throw new Error(`${orderId} is no order id`);
  return id;
}

async function created(shop: Shop, fields: object = {}): Promise<Fields> {
  const answer = await shop.call({ path: '/v1/orders', body: { ...ORDER, ...fields } });
  expect(answer.status).toBe(200);
  return answer.body;
}

it('creating an order answers 200 with exactly the documented fields', async () => {
  const shop = await http.shop();
  const order = await created(shop);
  expect(order).toEqual({
    id: expect.stringMatching(/^ord_[0-9a-hjkmnp-tv-z]{26}$/),
    status: 'pending',
    amount: 25,
    currency: 'USD',
    crypto_currency: 'BTC',
    crypto_amount: 0.00041667,
    payment_url: `https://sandbox.pay.example/pay/${order.id}`,
    expires_at: new Date(http.clock() + 30 * 60_000).toISOString(),
    created_at: new Date(http.clock()).toISOString(),
  });
});

it('reading an order answers what creation said, and all that was given and became of it', async () => {
  const shop = await http.shop();
  const given = {
    order_id: 'A-1',
    description: 'Two mugs ☕',
    customer_email: 'anna@example.com',
    return_url: 'https://shop.example/thanks?x=1',
    cancel_url: 'http://shop.example/back',
    ...COMMON_SAMPLES,
    metadata: { cart: '7', 'a b': '' },
    network: 'arbitrum',
    crypto_currency: 'ETH',
    expires_in: 600,
  };
  const order = await created(shop, given);
  const { body } = await shop.call({ path: `/v1/orders/${order.id}` });
  expect(body).toEqual({
    ...order,
    expires_at: new Date(http.clock() + 600_000).toISOString(),
    crypto_currency: 'ETH',
    network: 'arbitrum',
    address: expect.stringMatching(/^0x[0-9a-fA-F]{40}$/),
    amount_received: 0,
    transaction_hash: null,
    completed_at: null,
    exception: 'none',
    failure_reason: null,
    order_id: 'A-1',
    description: 'Two mugs ☕',
    customer_email: 'anna@example.com',
    ...COMMON_SAMPLES,
    metadata: { cart: '7', 'a b': '', order_id: 'A-1' },
    return_url: 'https://shop.example/thanks?x=1',
    cancel_url: 'http://shop.example/back',
  });
});

it('success_url is a synonym of return_url, which wins', async () => {
  const shop = await http.shop();
  const alone = await created(shop, { success_url: 'https://shop.example/a' });
  const both = await created(shop, { success_url: 'https://shop.example/a', return_url: 'https://shop.example/b' });
  expect((await shop.call({ path: `/v1/orders/${alone.id}` })).body['return_url']).toBe('https://shop.example/a');
  expect((await shop.call({ path: `/v1/orders/${both.id}` })).body['return_url']).toBe('https://shop.example/b');
});

it('without an order_id, metadata.order_id is the id of the order', async () => {
  const shop = await http.shop();
  const order = await created(shop, { metadata: { cart: '7' } });
  const { body } = await shop.call({ path: `/v1/orders/${order.id}` });
  expect(body['metadata']).toEqual({ cart: '7', order_id: order.id });
});

it('crypto_amount is rounded up and is written without an exponent, however small', async () => {
  const shop = await http.shop();
  const small = await shop.call({
    path: '/v1/orders',
    body: { ...ORDER, amount: 0.01, crypto_currency: 'ETH' },
  });
  expect(small.text).toContain('"crypto_amount":0.00000334,');
  const least = await shop.call({ path: '/v1/orders', body: { ...ORDER, amount: 0.32 } });
  expect(least.status).toBe(400);
  expect(least.body).toMatchObject({ error: { type: 'invalid_request_error', param: 'amount' } });
  const yen = await created(shop, { amount: 1_000, currency: 'JPY', crypto_currency: 'USDT' });
  expect(yen).toMatchObject({ amount: 1_000, currency: 'JPY', crypto_amount: 6.5 });
});

const EMAIL_254 = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(58)}.ef`;
const URL_2048 = `https://shop.example/${'a'.repeat(2048 - 'https://shop.example/'.length)}`;
const FIFTY = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key ${index}`, 'x'.repeat(500)]));

it.each<[string, object]>([
  ['the least amount', { amount: 0.01, crypto_currency: 'USDT' }],
  ['the greatest amount', { amount: 1_000_000 }],
  ['an amount with an exponent', { amount: 1e5 }],
  ['another currency', { amount: 10.99, currency: 'EUR' }],
  ['the shortest lifetime', { expires_in: 60 }],
  ['the longest lifetime', { expires_in: 86_400 }],
  ['an order_id of 255 characters', { order_id: '𝔸'.repeat(255) }],
  ['an empty description', { description: '' }],
  ['a description of 1,000 characters', { description: 'ä'.repeat(1_000) }],
  ['an e-mail of 254 characters', { customer_email: EMAIL_254 }],
  ['a URL of 2,048 characters', { return_url: URL_2048, cancel_url: URL_2048 }],
  ['50 keys of metadata with 500 characters', { metadata: FIFTY }],
  ['no keys of metadata', { metadata: {} }],
  ['metadata named as what every object has', { metadata: { constructor: 'a', toString: 'b', order: '' } }],
  ['unknown fields', { surprise: { a: [1] }, amount_usd: 'x', id: 7, status: 'completed' }],
])('takes %s', async (_name, fields) => {
  expect(await created(await http.shop(), fields)).toMatchObject({ status: 'pending' });
});

it.each<[string, object, string]>([
  ['no amount', { amount: undefined }, 'amount'],
  ['an amount of null', { amount: null }, 'amount'],
  ['a text as amount', { amount: '25' }, 'amount'],
  ['true as amount', { amount: true }, 'amount'],
  ['a list as amount', { amount: [25] }, 'amount'],
  ['an amount of zero', { amount: 0 }, 'amount'],
  ['a negative amount', { amount: -0.01 }, 'amount'],
  ['three decimals', { amount: 10.001 }, 'amount'],
  ['less than a cent', { amount: 0.001 }, 'amount'],
  ['more than a million', { amount: 1_000_000.01 }, 'amount'],
  ['far more than a million', { amount: 1e300 }, 'amount'],
  ['decimals of a yen', { amount: 10.5, currency: 'JPY' }, 'amount'],
  ['no currency', { currency: undefined }, 'currency'],
  ['an unknown currency', { currency: 'XXX' }, 'currency'],
  ['a currency in lower case', { currency: 'usd' }, 'currency'],
  ['a currency that every object has', { currency: 'toString' }, 'currency'],
  ['no crypto_currency', { crypto_currency: undefined }, 'crypto_currency'],
  ['an unknown asset', { crypto_currency: 'DOGE' }, 'crypto_currency'],
  ['an asset that every object has', { crypto_currency: 'valueOf' }, 'crypto_currency'],
  ['an empty asset', { crypto_currency: '' }, 'crypto_currency'],
  ['a network of another asset', { network: 'litecoin' }, 'network'],
  ['an unknown network', { network: 'mars' }, 'network'],
  ['a lifetime below a minute', { expires_in: 59 }, 'expires_in'],
  ['a lifetime above a day', { expires_in: 86_401 }, 'expires_in'],
  ['a broken lifetime', { expires_in: 60.5 }, 'expires_in'],
  ['a text as lifetime', { expires_in: '60' }, 'expires_in'],
  ['an order_id of 256 characters', { order_id: 'x'.repeat(256) }, 'order_id'],
  ['an order_id with NUL', { order_id: 'a\0b' }, 'order_id'],
  ['an order_id with a lone surrogate', { order_id: 'a\ud800' }, 'order_id'],
  ['a number as order_id', { order_id: 7 }, 'order_id'],
  ['an order_id of null', { order_id: null }, 'order_id'],
  ['a description of 1,001 characters', { description: 'x'.repeat(1_001) }, 'description'],
  ['a bad e-mail', { customer_email: 'anna' }, 'customer_email'],
  ['an e-mail with a line break', { customer_email: 'anna@example.com\r\nBcc: x@example.com' }, 'customer_email'],
  ['an e-mail of 255 characters', { customer_email: `a${EMAIL_254}` }, 'customer_email'],
  ['a script as URL', { return_url: 'javascript:alert(1)' }, 'return_url'],
  ['a relative URL', { cancel_url: '/back' }, 'cancel_url'],
  ['a URL without a host', { cancel_url: 'https://' }, 'cancel_url'],
  ['a URL with a line break', { return_url: 'https://shop.example/\r\nX: y' }, 'return_url'],
  ['a URL of 2,049 characters', { return_url: `${URL_2048}a` }, 'return_url'],
  ['51 keys of metadata', { metadata: { ...FIFTY, more: '' } }, 'metadata'],
  ['metadata of 501 characters', { metadata: { a: 'x'.repeat(501) } }, 'metadata'],
  ['metadata with a number', { metadata: { a: 1 } }, 'metadata'],
  ['nested metadata', { metadata: { a: { b: 'c' } } }, 'metadata'],
  ['a list as metadata', { metadata: ['a'] }, 'metadata'],
  ['metadata with NUL in a value', { metadata: { a: '\0' } }, 'metadata'],
  ['metadata with NUL in a key', { metadata: { 'a\0': '' } }, 'metadata'],
  ['metadata with a lone surrogate in a key', { metadata: { 'a\udfff': '' } }, 'metadata'],
])('refuses %s and names the field', async (_name, fields, param) => {
  const shop = await http.shop();
  const { status, body } = await shop.call({ path: '/v1/orders', body: { ...ORDER, ...fields } });
  expect(status).toBe(400);
  expect(body).toEqual({ error: { type: 'invalid_request_error', message: expect.any(String), param } });
  expect((await shop.call({ path: '/v1/orders' })).body).toMatchObject({ pagination: { total: 0 } });
});

it.each<[string, string, string]>([
  ['an overflowing amount', '{"amount":1e400,"currency":"USD","crypto_currency":"BTC"}', 'amount'],
  [
    'more digits than a number holds',
    '{"amount":25.0000000000000001,"currency":"USD","crypto_currency":"BTC"}',
    'amount',
  ],
  ['a huge lifetime', '{"amount":25,"currency":"USD","crypto_currency":"BTC","expires_in":1e999}', 'expires_in'],
])('refuses %s instead of reading another number', async (_name, text, param) => {
  const { status, body } = await (await http.shop()).call({ path: '/v1/orders', body: text });
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { type: 'invalid_request_error', param } });
});

it.each(['[]', '"text"', '7', 'null', 'true'])('a body that is %s is refused as no object', async (text) => {
  const { status, body } = await (await http.shop()).call({ path: '/v1/orders', body: text });
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: { type: 'invalid_request_error', message: expect.stringContaining('object') } });
});

it('an order of 60 seconds expires, a longer one completes by itself after 60 seconds', async () => {
  const shop = await http.shop();
  const short = await created(shop, { expires_in: 60 });
  const long = await created(shop, { expires_in: 61 });
  http.clock.advance(59_999);
  await runDue(http.app, 100);
  expect((await shop.call({ path: `/v1/orders/${long.id}` })).body.status).toBe('pending');
  http.clock.advance(1);
  await runDue(http.app, 100);
  expect((await shop.call({ path: `/v1/orders/${short.id}` })).body).toMatchObject({
    status: 'expired',
    transaction_hash: null,
    completed_at: null,
  });
  expect((await shop.call({ path: `/v1/orders/${long.id}` })).body).toMatchObject({
    status: 'completed',
    transaction_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    completed_at: new Date(http.clock()).toISOString(),
    amount_received: long['crypto_amount'],
  });
});

it('a paid order shows its six words of status on the way', async () => {
  const shop = await http.shop();
  const order = await created(shop);
  await simulatePayment(http.app, { id: uuidOf(order.id) }, 'part');
  const half = await shop.call({ path: `/v1/orders/${order.id}` });
  expect(half.body).toMatchObject({ status: 'pending', amount_received: 0.00020833 });
  await simulatePayment(http.app, { id: uuidOf(order.id) }, 'paid');
  const whole = await shop.call({ path: `/v1/orders/${order.id}` });
  expect(whole.body).toMatchObject({ status: 'completed', exception: 'none', amount_received: 0.00041667 });
});

it('an open order is cancelled once; afterwards it says what it is', async () => {
  const shop = await http.shop();
  const order = await created(shop);
  const cancel = { method: 'POST', path: `/v1/orders/${order.id}/cancel` };
  const first = await shop.call(cancel);
  expect([first.status, first.body.status]).toEqual([200, 'cancelled']);
  expect(first.body).toEqual((await shop.call({ path: `/v1/orders/${order.id}` })).body);
  const second = await shop.call(cancel);
  expect(second.status).toBe(400);
  expect(second.body).toEqual({
    error: { type: 'invalid_request_error', message: 'The order cannot be cancelled because it is cancelled.' },
  });
});

it('an order on which money was seen cannot be cancelled', async () => {
  const shop = await http.shop();
  const order = await created(shop);
  await simulatePayment(http.app, { id: uuidOf(order.id) }, 'part');
  const { status, body } = await shop.call({ method: 'POST', path: `/v1/orders/${order.id}/cancel` });
  expect([status, body]).toMatchObject([400, { error: { message: expect.stringContaining('already been detected') } }]);
});

it('accepting needs confirmed money, and completes an underpaid order', async () => {
  const shop = await http.shop();
  const order = await created(shop);
  const accept = { method: 'POST', path: `/v1/orders/${order.id}/accept` };
  expect((await shop.call(accept)).body).toMatchObject({
    error: { type: 'invalid_request_error', message: expect.stringContaining('it is pending') },
  });
  await simulatePayment(http.app, { id: uuidOf(order.id) }, 'part');
  const accepted = await shop.call(accept);
  expect([accepted.status, accepted.body]).toMatchObject([200, { status: 'completed', exception: 'underpaid' }]);
  expect((await shop.call(accept)).body).toMatchObject({
    error: { message: expect.stringContaining('already completed') },
  });
});

it('completing an order by hand completes it at once', async () => {
  const shop = await http.shop();
  const order = await created(shop);
  await completeSandboxPayment(http.app, { id: uuidOf(order.id) });
  expect((await shop.call({ path: `/v1/orders/${order.id}` })).body.status).toBe('completed');
});

it('an unknown, malformed or other id is not found, whatever is done with it', async () => {
  const shop = await http.shop();
  const transaction = await shop.call({ path: '/api/transactions/create', body: { amount: 1 } });
  const order = await created(shop);
  const other = await http.shop();
  const ids = [
    'ord_00000000000000000000000000',
    'ord_zzzzzzzzzzzzzzzzzzzzzzzzzz',
    'ord_',
    'x'.repeat(400),
    'x'.repeat(2_000),
    '%00',
    '%F0%9F%8D%95',
    "'; drop table payments; --".replaceAll(' ', '%20'),
    transaction.body.transaction.id,
    uuidOf(order.id),
    order.id.toUpperCase(),
  ];
  for (const id of ids) {
    for (const [method, path] of [['GET', ''] as const, ['POST', '/cancel'] as const, ['POST', '/accept'] as const]) {
      const { status, body } = await shop.call({ method, path: `/v1/orders/${id}${path}` });
      expect([id, status, body]).toEqual([
        id,
        404,
        { error: { type: 'not_found_error', message: expect.any(String) } },
      ]);
    }
  }
  const strangers = await Promise.all([
    other.call({ path: `/v1/orders/${order.id}` }),
    other.call({ method: 'POST', path: `/v1/orders/${order.id}/cancel` }),
    shop.call({ side: 'live', path: `/v1/orders/${order.id}` }),
    shop.call({ side: 'live', method: 'POST', path: `/v1/orders/${order.id}/accept` }),
    shop.call({ path: '/v1/orders/ord_00000000000000000000000000' }),
  ]);
  expect(new Set(strangers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});
