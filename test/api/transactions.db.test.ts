import { afterAll, describe, expect, it } from 'vitest';
import { completeSandboxPayment, selectToken } from '../../src/app/payments/payment-actions.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { runDue } from '../../src/app/payments/run-due.ts';
import { COMMON_SAMPLES } from '../common-fields.ts';
import { httpTest, type Fields, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const CREATE = '/api/transactions/create';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function created(shop: Shop, fields: object = {}): Promise<Fields['transaction']> {
  const answer = await shop.call({ path: CREATE, body: { amount: 49.99, ...fields } });
  expect(answer.status).toBe(200);
  return answer.body.transaction;
}

it('creating a transaction answers 200 with the envelope and the documented fields', async () => {
  const shop = await http.shop();
  const given = {
    amount: 49.99,
    customer_email: 'anna@example.com',
    customer_name: 'Anna',
    order_id: 'A-1',
    order_description: 'Two mugs',
    success_url: 'https://shop.example/thanks',
    cancel_url: 'https://shop.example/back',
    expires_in_minutes: 45,
    ...COMMON_SAMPLES,
    metadata: { cart: '7' },
  };
  const { status, body } = await shop.call({ path: CREATE, body: given });
  const { id } = body.transaction;
  expect(id).toMatch(UUID);
  const url = `https://sandbox.pay.example/pay/${id}`;
  const year = new Date(http.clock()).getUTCFullYear();
  expect([status, body]).toEqual([
    200,
    {
      success: true,
      payment_url: url,
      transaction: {
        id,
        transaction_number: `TXN-${year}-000001`,
        status: 'created',
        amount_usd: 49.99,
        amount: 49.99,
        currency: 'USD',
        payment_url: url,
        created_at: new Date(http.clock()).toISOString(),
        expires_at: new Date(http.clock() + 45 * 60_000).toISOString(),
        order_id: 'A-1',
        order_description: 'Two mugs',
        customer_email: 'anna@example.com',
        customer_name: 'Anna',
        ...COMMON_SAMPLES,
        metadata: { cart: '7', order_id: 'A-1' },
        success_url: 'https://shop.example/thanks',
        cancel_url: 'https://shop.example/back',
        crypto_currency: null,
        network: null,
        crypto_amount: null,
        address: null,
        amount_received: null,
        exception: 'none',
        failure_reason: null,
      },
    },
  ]);
  const read = await shop.call({ path: `/api/transactions/${id}` });
  expect([read.status, read.body]).toEqual([200, { success: true, transaction: body.transaction }]);
  expect((await shop.call({ path: `/api/transactions/${id.toUpperCase()}` })).body).toEqual(read.body);
});

it('the fields of the reference integration are enough, and the lifetime is then 30 minutes', async () => {
  const shop = await http.shop();
  const made = await created(shop, {
    order_id: '1',
    success_url: 'https://shop.example/s',
    cancel_url: 'https://shop.example/c',
  });
  expect(Date.parse(String(made['expires_at'])) - Date.parse(String(made['created_at']))).toBe(30 * 60_000);
});

it.each([
  [{ return_url: 'https://shop.example/thanks' }],
  [{ return_url: 'https://shop.example/other', success_url: 'https://shop.example/thanks' }],
])('takes the success URL under the name of the Order API too: %j', async (fields) => {
  expect(await created(await http.shop(), fields)).toMatchObject({ success_url: 'https://shop.example/thanks' });
});

it.each<[string, object]>([
  ['the least amount', { amount: 0.01 }],
  ['the greatest amount', { amount: 1_000_000 }],
  ['the shortest lifetime', { expires_in_minutes: 1 }],
  ['the longest lifetime', { expires_in_minutes: 1_440 }],
  ['a name of 255 characters', { customer_name: '名'.repeat(255) }],
  ['unknown fields', { status: 'completed', id: 7 }],
])('takes %s', async (_name, fields) => {
  expect(await created(await http.shop(), fields)).toMatchObject({ currency: 'USD', status: 'created' });
});

it.each<[string, object, object]>([
  ['euro', { currency: 'EUR' }, { amount_usd: 54.99, amount: 49.99, currency: 'EUR' }],
  ['yen', { amount: 5_000, currency: 'JPY' }, { amount_usd: 32.5, amount: 5_000, currency: 'JPY' }],
  ['dollars', { currency: 'USD' }, { amount_usd: 49.99, amount: 49.99, currency: 'USD' }],
  [
    'the most that there is in rupees',
    { amount: 100_000_000, currency: 'INR' },
    { amount_usd: 1_180_000, amount: 100_000_000, currency: 'INR' },
  ],
])('takes an amount in %s, and says what it is in USD at this moment', async (_name, fields, view) => {
  const shop = await http.shop();
  const made = await created(shop, fields);
  expect(made).toMatchObject(view);
  const { id } = made;
  expect((await shop.call({ path: `/api/transactions/${id}` })).body.transaction).toMatchObject(view);
  await selectToken(http.app, { id }, { asset: 'USDT', network: 'ethereum' });
  const page = await shop.call({ path: `/pay/${id}` });
  expect(page.status).toBe(200);
});

it.each<[string, object, string]>([
  ['a currency of a removed list', { currency: 'DEM' }, 'currency must be one of USD, EUR, GBP'],
  ['a currency in lower case', { currency: 'eur' }, 'currency must be written in capital letters: EUR.'],
  ['a currency that every object has', { currency: 'toString' }, 'currency must be one of USD, EUR, GBP'],
  ['an empty currency', { currency: '' }, 'currency must not be empty.'],
  ['a currency of null', { currency: null }, 'currency must be text, not null.'],
  ['a decimal of a yen', { amount: 10.5, currency: 'JPY' }, 'amount must have at most 0 decimals'],
  ['more than a million euro', { amount: 1_000_000.01, currency: 'EUR' }, 'amount must be from 0.01 to 1000000 EUR.'],
  ['no amount', { amount: undefined }, 'amount is required.'],
  ['a text as amount', { amount: '49.99' }, 'amount must be a number, not text.'],
  ['a negative amount', { amount: -1 }, 'amount must be a number from 0.01 to 1000000 USD.'],
  ['zero', { amount: 0 }, 'amount must be a number from 0.01 to 1000000 USD.'],
  ['three decimals', { amount: 1.005 }, 'amount must have at most 2 decimals'],
  ['too much', { amount: 1_000_000.01 }, 'amount must be from 0.01 to 1000000 USD.'],
  ['a bad e-mail', { customer_email: 'anna@' }, 'customer_email must be an e-mail address'],
  ['a long name', { customer_name: 'x'.repeat(256) }, 'customer_name must have at most 255 characters.'],
  ['a long reference', { order_id: 'x'.repeat(256) }, 'order_id must have at most 255 characters.'],
  ['NUL in the name', { customer_name: 'a\0' }, 'customer_name must be text without NUL'],
  ['a long description', { order_description: 'x'.repeat(1_001) }, 'order_description must have at most 1000'],
  ['a data URL', { success_url: 'data:text/html,x' }, 'success_url must be an absolute http or https URL such as'],
  ['a lifetime of zero', { expires_in_minutes: 0 }, 'expires_in_minutes must be a whole number from 1 to 1440.'],
  ['too long a lifetime', { expires_in_minutes: 1_441 }, 'expires_in_minutes must be a whole number from 1 to 1440.'],
  ['half a minute', { expires_in_minutes: 1.5 }, 'expires_in_minutes must be a whole number'],
  ['a list as metadata', { metadata: [] }, 'metadata must be an object, not a list.'],
  ['a number in metadata', { metadata: { a: 1 } }, 'A value of metadata must be text, not a number.'],
])('refuses %s in its own shape; the message names field, rule and kind', async (_name, fields, message) => {
  const shop = await http.shop();
  const { status, body } = await shop.call({ path: CREATE, body: { amount: 49.99, ...fields } });
  expect([status, body]).toEqual([400, { success: false, message: expect.stringContaining(message) }]);
});

describe('transaction_number', () => {
  it('is gapless under concurrent requests, refused ones included, and counts each project and mode apart', async () => {
    const [one, two] = [await http.shop(), await http.shop()];
    const year = new Date(http.clock()).getUTCFullYear();
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 3 === 0 ? two : one).call({
          side: index % 2 === 0 ? 'test' : 'live',
          path: CREATE,
          body: { amount: index % 5 === 0 ? -1 : 1 },
        }),
      ),
    );
    const numbers = answers
      .filter(({ status }) => status === 200)
      .map(({ body }) => String(body.transaction['transaction_number']))
      .toSorted();
    // 48 of 60 are good: 8 and 8 of one shop's modes' … counted by mode and shop below.
    const expected = Map.groupBy(
      Array.from({ length: 60 }, (_, index) => index).filter((index) => index % 5 !== 0),
      (index) => `${index % 3 === 0} ${index % 2 === 0}`,
    );
    const sequences = [...expected.values()].flatMap((group) =>
      group.map((_, index) => `TXN-${year}-${String(index + 1).padStart(6, '0')}`),
    );
    expect(numbers).toEqual(sequences.toSorted());
  });

  it('starts again with the UTC year, and orders have none', async () => {
    const shop = await http.shop();
    const before = http.clock();
    http.clock.set(Date.UTC(2026, 11, 31, 23, 59, 59, 999));
    expect(await created(shop)).toMatchObject({ transaction_number: 'TXN-2026-000001' });
    await shop.call({ path: '/v1/orders', body: { amount: 1, currency: 'USD', crypto_currency: 'USDT' } });
    http.clock.advance(1);
    expect(await created(shop)).toMatchObject({ transaction_number: 'TXN-2027-000001' });
    http.clock.set(before);
    expect(await created(shop)).toMatchObject({ transaction_number: 'TXN-2026-000002' });
  });
});

it('a chosen token is shown with amount, network and address', async () => {
  const shop = await http.shop();
  const { id } = await created(shop);
  await selectToken(http.app, { id }, { asset: 'LTC', network: null });
  const { body } = await shop.call({ path: `/api/transactions/${id}` });
  expect(body.transaction).toMatchObject({
    status: 'pending',
    crypto_currency: 'LTC',
    network: 'litecoin',
    crypto_amount: 0.624875,
    address: expect.stringMatching(/^tltc1/),
    amount_received: 0,
  });
});

it('transaction_hash and completed_at are there once it is completed, and only then', async () => {
  const shop = await http.shop();
  const byTimer = await created(shop);
  const byHand = await created(shop);
  await completeSandboxPayment(http.app, { id: byHand.id });
  const done = await shop.call({ path: `/api/transactions/${byHand.id}` });
  expect(done.body.transaction).toMatchObject({
    status: 'completed',
    transaction_hash: expect.any(String),
    completed_at: new Date(http.clock()).toISOString(),
  });
  expect((await shop.call({ path: `/api/transactions/${byTimer.id}` })).body.transaction).not.toHaveProperty(
    'transaction_hash',
  );
  http.clock.advance(60_000);
  await runDue(http.app, 100);
  expect((await shop.call({ path: `/api/transactions/${byTimer.id}` })).body.transaction).toMatchObject({
    status: 'completed',
    crypto_currency: 'BTC',
    transaction_hash: expect.any(String),
  });
});

it('cancel and accept follow the state machine and answer in this API’s shape', async () => {
  const shop = await http.shop();
  const { id } = await created(shop);
  const cancel = { method: 'POST', path: `/api/transactions/${id}/cancel` };
  const accept = { method: 'POST', path: `/api/transactions/${id}/accept` };
  const first = await shop.call(cancel);
  expect([first.status, first.body]).toMatchObject([200, { success: true, transaction: { id, status: 'cancelled' } }]);
  const again = await shop.call(cancel);
  expect([again.status, again.body]).toEqual([
    400,
    { success: false, message: 'The transaction cannot be cancelled because it is cancelled.' },
  ]);
  expect((await shop.call(accept)).body).toEqual({
    success: false,
    message: 'The transaction cannot be accepted because no confirmed money has been received for it.',
  });
  const late = await created(shop);
  await simulatePayment(http.app, { id: late.id }, 'late');
  expect((await shop.call({ path: `/api/transactions/${late.id}` })).body.transaction).toMatchObject({
    status: 'expired',
    exception: 'paid_late',
  });
  const accepted = await shop.call({ method: 'POST', path: `/api/transactions/${late.id}/accept` });
  expect([accepted.status, accepted.body]).toMatchObject([
    200,
    { transaction: { status: 'completed', exception: 'paid_late' } },
  ]);
});

it('an unknown, malformed or other id is not found, whatever is done with it', async () => {
  const shop = await http.shop();
  const { id } = await created(shop);
  const { body: order } = await shop.call({
    path: '/v1/orders',
    body: { amount: 1, currency: 'USD', crypto_currency: 'USDT' },
  });
  const other = await http.shop();
  for (const bad of ['0', order.id, 'x'.repeat(1_000), '%00', '{id}', id.replaceAll('-', ''), `{${id}}`]) {
    for (const [method, path] of [['GET', ''] as const, ['POST', '/cancel'] as const, ['POST', '/accept'] as const]) {
      const { status, body } = await shop.call({ method, path: `/api/transactions/${bad}${path}` });
      expect([bad, status, body]).toEqual([bad, 404, { success: false, message: 'There is no such transaction.' }]);
    }
  }
  const strangers = await Promise.all([
    other.call({ path: `/api/transactions/${id}` }),
    other.call({ method: 'POST', path: `/api/transactions/${id}/cancel` }),
    shop.call({ side: 'live', path: `/api/transactions/${id}` }),
    shop.call({ path: `/api/transactions/00000000-0000-7000-8000-000000000000` }),
  ]);
  expect(new Set(strangers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
});
