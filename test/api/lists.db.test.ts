import { afterAll, describe, expect, it } from 'vitest';
import { cancelPayment } from '../../src/app/payments/payment-actions.ts';
import { simulatePayment } from '../../src/app/payments/simulate-payment.ts';
import { decodeId } from '../../src/domain/id.ts';
import { httpTest, type Fields, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

interface Page {
  readonly data: readonly Fields[];
  readonly transactions: readonly Fields[];
  readonly pagination: {
    readonly limit: number;
    readonly offset: number;
    readonly total: number;
    readonly has_more: boolean;
  };
}

async function order(shop: Shop): Promise<string> {
  const { body } = await shop.call({
    path: '/v1/orders',
    body: { amount: 1, currency: 'USD', crypto_currency: 'USDT' },
  });
  return body.id;
}

async function transaction(shop: Shop): Promise<string> {
  return (await shop.call({ path: '/api/transactions/create', body: { amount: 1 } })).body.transaction.id;
}

async function orders(shop: Shop, query = ''): Promise<Page> {
  const { status, body } = await shop.call<Page>({ path: `/v1/orders${query}` });
  expect(status).toBe(200);
  return body;
}

async function transactions(shop: Shop, query = ''): Promise<Page> {
  const { status, body } = await shop.call<Page>({ path: `/api/transactions/project/${shop.projectId}${query}` });
  expect(status).toBe(200);
  return body;
}

const iso = (at: number): string => encodeURIComponent(new Date(at).toISOString());
const idsOf = (fields: readonly Fields[]): readonly string[] => fields.map(({ id }) => id);
const uuidOf = (orderId: string): string => decodeId('order', orderId) ?? '';

/** The ids of three that are made so far apart, the newest first. */
async function threeInTurn(make: () => Promise<string>, apartMs: number): Promise<readonly string[]> {
  const made: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    http.clock.advance(apartMs);
    made.unshift(await make());
  }
  return made;
}

describe('transactions', () => {
  it('are listed whole, newest first, as reading each shows them', async () => {
    const shop = await http.shop();
    const made = await threeInTurn(() => transaction(shop), 1_000);
    await order(shop);
    await shop.call({ side: 'live', path: '/api/transactions/create', body: { amount: 1 } });
    const { transactions: listed, pagination, ...rest } = await transactions(shop);
    expect(rest).toEqual({ success: true });
    expect(idsOf(listed)).toEqual(made);
    expect(pagination).toEqual({ limit: 50, offset: 0, total: 3, has_more: false });
    const read = await shop.call({ path: `/api/transactions/${made[0]}` });
    expect(listed[0]).toEqual(read.body.transaction);
  });

  it('are filtered by their own status words', async () => {
    const shop = await http.shop();
    const open = await transaction(shop);
    const gone = await transaction(shop);
    await cancelPayment(http.app, { id: gone });
    expect(idsOf((await transactions(shop, '?status=created')).transactions)).toEqual([open]);
    const cancelled = await transactions(shop, '?status=cancelled&limit=1');
    expect(idsOf(cancelled.transactions)).toEqual([gone]);
    expect(cancelled.pagination).toEqual({ limit: 1, offset: 0, total: 1, has_more: false });
    expect((await transactions(shop, '?status=confirming')).pagination.total).toBe(0);
  });

  it('pages cover everything once, with the total and whether there is more', async () => {
    const shop = await http.shop();
    const made = new Set<string>();
    // All in the same millisecond: ids decide the order.
    for (let index = 0; index < 7; index += 1) made.add(await transaction(shop));
    const pages: (readonly string[])[] = [];
    const more: boolean[] = [];
    for (const offset of [0, 3, 6, 9]) {
      const page = await transactions(shop, `?limit=3&offset=${offset}`);
      expect(page.pagination).toMatchObject({ limit: 3, offset, total: 7 });
      pages.push(idsOf(page.transactions));
      more.push(page.pagination.has_more);
    }
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1, 0]);
    expect(more).toEqual([true, true, false, false]);
    expect(new Set(pages.flat())).toEqual(made);
    expect((await transactions(shop, '?limit=7')).pagination.has_more).toBe(false);
  });

  it('belong to the key’s own project; another’s is refused alike, whether or not it exists', async () => {
    const [shop, other] = [await http.shop(), await http.shop()];
    const list = (id: string) => shop.call({ path: `/api/transactions/project/${id}` });
    const existing = await list(other.projectId);
    const unknown = await list('00000000-0000-7000-8000-000000000000');
    expect([existing.status, existing.body]).toMatchObject([403, { error: { type: 'permission_error' } }]);
    expect(existing.text).toBe(unknown.text);
    const malformed = await list('shop');
    expect([malformed.status, malformed.body]).toEqual([400, { success: false, message: 'projectId must be a UUID.' }]);
    expect((await list(shop.projectId.toUpperCase())).status).toBe(200);
  });
});

describe('orders', () => {
  it('are listed whole, newest first, without transactions', async () => {
    const shop = await http.shop();
    const made = await threeInTurn(() => order(shop), 1);
    await transaction(shop);
    const { data, pagination, ...rest } = await orders(shop);
    expect(rest).toEqual({});
    expect(idsOf(data)).toEqual(made);
    expect(pagination).toEqual({ limit: 50, offset: 0, total: 3, has_more: false });
    expect(data[0]).toEqual((await shop.call({ path: `/v1/orders/${made[0]}` })).body);
  });

  it('are filtered by the Order API’s words, in one order across the statuses behind a word', async () => {
    const shop = await http.shop();
    const made: string[] = [];
    for (let index = 0; index < 6; index += 1) made.push(await order(shop));
    await simulatePayment(http.app, { id: uuidOf(made[1] ?? '') }, 'paid');
    await cancelPayment(http.app, { id: uuidOf(made[3] ?? '') });
    const pending = await orders(shop, '?status=pending&limit=3');
    expect(pending.pagination).toEqual({ limit: 3, offset: 0, total: 4, has_more: true });
    const rest = await orders(shop, '?status=pending&limit=3&offset=3');
    const left = made.filter((_, index) => index !== 1 && index !== 3);
    expect([...idsOf(pending.data), ...idsOf(rest.data)]).toEqual(left.toSorted().toReversed());
    expect(idsOf((await orders(shop, '?status=completed')).data)).toEqual([made[1]]);
    expect((await orders(shop, '?status=failed')).pagination.total).toBe(0);
  });

  it('created_after and created_before leave out their own moment; a bare date stands for the whole day', async () => {
    const shop = await http.shop();
    const day = Date.UTC(2026, 7, 20);
    const made: string[] = [];
    const before = http.clock();
    for (const at of [day - 1, day, day + 1, day + 86_399_999, day + 86_400_000]) {
      http.clock.set(at);
      made.push(await order(shop));
    }
    http.clock.set(before);
    const between = async (query: string) => idsOf((await orders(shop, query)).data).toReversed();
    expect(await between(`?created_after=${iso(day)}`)).toEqual(made.slice(2));
    expect(await between(`?created_before=${iso(day)}`)).toEqual(made.slice(0, 1));
    expect(await between(`?created_after=${iso(day - 1)}&created_before=${iso(day + 1)}`)).toEqual(made.slice(1, 2));
    expect(await between('?created_after=2026-08-20')).toEqual(made.slice(4));
    expect(await between('?created_before=2026-08-20')).toEqual(made.slice(0, 1));
    expect(await between('?created_after=2026-08-19&created_before=2026-08-21')).toEqual(made.slice(1, 4));
    const reversed = await shop.call({ path: '/v1/orders?created_after=2026-08-21&created_before=2026-08-20' });
    expect([reversed.status, JSON.stringify(reversed.body)]).toEqual([
      400,
      expect.stringContaining('created_after must not be later than created_before.'),
    ]);
    expect(await between('?created_after=9999-12-31')).toEqual([]);
    expect(await between('?created_before=0000-01-01')).toEqual([]);
    expect(await between('?created_after=0000-01-01&created_before=9999-12-31T23:59:59.999-12:00')).toEqual(made);
  });

  it('with created_before fixed, pages stay what they were while orders arrive', async () => {
    const shop = await http.shop();
    const made: string[] = [];
    for (let index = 0; index < 9; index += 1) {
      if (index % 3 === 0) http.clock.advance(1);
      made.push(await order(shop));
    }
    http.clock.advance(1);
    const until = iso(http.clock());
    const seen: string[] = [];
    for (let offset = 0; offset < 9; offset += 2) {
      const page = await orders(shop, `?created_before=${until}&limit=2&offset=${offset}`);
      expect(page.pagination.total).toBe(9);
      seen.push(...idsOf(page.data));
      await order(shop);
      http.clock.advance(1);
    }
    expect(new Set(seen)).toEqual(new Set(made));
    expect(seen).toHaveLength(9);
  });
});

describe('bad parameters', () => {
  const bad: readonly (readonly [string, string])[] = [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=010', 'limit'],
    ['limit=%2010', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit', 'limit'],
    ['limit=10&limit=20', 'limit'],
    ['limit=99999999999999999999', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=2147483648', 'offset'],
    ['offset=1;drop', 'offset'],
    ['status=open', 'status'],
    ['status=COMPLETED', 'status'],
    ['status=', 'status'],
    ['status=pending&status=failed', 'status'],
    ['status=toString', 'status'],
  ];
  it.each(bad)('refuses ?%s on every list, names the parameter and never clamps', async (query, name) => {
    const shop = await http.shop();
    const own = await shop.call({ path: `/api/transactions/project/${shop.projectId}?${query}` });
    expect([own.status, own.body]).toEqual([
      400,
      { success: false, message: expect.stringMatching(new RegExp(`^${name} must be`)) },
    ]);
    for (const path of ['/v1/orders', '/v1/refunds']) {
      const { status, body } = await shop.call({ path: `${path}?${query}` });
      expect([status, body]).toEqual([
        400,
        {
          error: {
            type: 'invalid_request_error',
            message: expect.stringMatching(new RegExp(`^${name} must be`)),
            param: name,
          },
        },
      ]);
    }
  });

  it('a status word of the other API is refused', async () => {
    const shop = await http.shop();
    expect((await shop.call({ path: '/v1/orders?status=processing' })).status).toBe(400);
    expect((await shop.call({ path: '/v1/refunds?status=expired' })).status).toBe(400);
    expect((await transactions(shop, '?status=processing')).pagination.total).toBe(0);
  });

  it.each(['created_after', 'created_before'])('%s must be a date or a time with its zone', async (name) => {
    const shop = await http.shop();
    for (const value of ['', 'now', '2026-02-29', '2026-01-01T00:00:00', '2026-01-01 00:00:00Z', '1700000000']) {
      const { status, body } = await shop.call({ path: `/v1/orders?${name}=${encodeURIComponent(value)}` });
      expect([status, body]).toMatchObject([400, { error: { param: name } }]);
    }
  });

  it('the ends of the range are taken, unknown parameters are ignored', async () => {
    const shop = await http.shop();
    await order(shop);
    expect((await orders(shop, '?limit=1')).pagination).toMatchObject({ limit: 1, total: 1 });
    expect((await orders(shop, '?limit=100&offset=0')).pagination).toMatchObject({ limit: 100 });
    expect((await orders(shop, '?offset=2147483647')).pagination).toMatchObject({ has_more: false, total: 1 });
    expect((await orders(shop, '?page=x&constructor=1&__proto__=2&toString=3&=&&')).pagination.total).toBe(1);
  });
});
