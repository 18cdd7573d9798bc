import { afterAll, describe, expect, it } from 'vitest';
import { COMMON_SAMPLES } from '../common-fields.ts';
import { httpTest, type Fields } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

type Shown = Record<string, unknown> & { readonly id: string };

describe.each([
  {
    api: 'an order',
    create: '/v1/orders',
    body: { amount: 25, currency: 'USD', crypto_currency: 'BTC', order_id: 'A-1' },
    read: (id: string) => `/v1/orders/${id}`,
    inAnswer: (body: Fields): Shown => body,
  },
  {
    api: 'a transaction',
    create: '/api/transactions/create',
    body: { amount: 25, order_id: 'A-1' },
    read: (id: string) => `/api/transactions/${id}`,
    inAnswer: (body: Fields): Shown => body.transaction,
  },
])('$api', ({ create, body, read, inAnswer }) => {
  it('shows the merchant every common field as it was sent, and customers none', async () => {
    const shop = await http.shop();
    const created = await shop.call({ path: create, body: { ...body, ...COMMON_SAMPLES } });
    expect(created.headers['x-ignored-fields']).toBeUndefined();
    const path = read(inAnswer(created.body).id);
    const shown = inAnswer((await shop.call({ path })).body);
    expect(shown).toMatchObject(COMMON_SAMPLES);
    const toCustomers = inAnswer((await shop.call({ path, as: { kind: 'public' } })).body);
    for (const name of Object.keys(COMMON_SAMPLES)) expect(toCustomers).not.toHaveProperty(name);
  });

  it('is made without them as well', async () => {
    const shop = await http.shop();
    const created = await shop.call({ path: create, body });
    expect((await shop.call({ path: read(inAnswer(created.body).id) })).status).toBe(200);
  });
});
