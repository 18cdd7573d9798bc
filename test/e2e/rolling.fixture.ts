import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import type { LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { client, eventOf, eventually, type Answer } from '../program.ts';

/** The API of one version's process. */
export interface Side {
  readonly url: string;
  readonly call: ReturnType<typeof client>;
}

/** The ids of the records that a walk made. */
export interface Walked {
  readonly order: string;
  readonly transaction: string;
  readonly refund: string;
}

export const ORDER = { amount: 20, currency: 'USD', crypto_currency: 'BTC', order_id: 'SHOP-7' };
export const TRANSACTION = { amount: 30, order_id: 'SHOP-8' };
const BTC_ADDRESS = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';

/**
 * Takes one payment of each API through its life, each step at another version than the step before: `maker` creates
 * it, `taker` answers for it, pays it, refunds it and cancels another.
 */
export async function walk(maker: Side, taker: Side, walkName: string): Promise<Walked> {
  const order = textAt((await twice(maker, taker, '/v1/orders', ORDER, walkName)).body, 'id');
  const created = await twice(maker, taker, '/api/transactions/create', TRANSACTION, walkName);
  const transaction = textAt(created.body['transaction'], 'id');
  await alike(maker, taker, `/v1/orders/${order}`);
  await alike(maker, taker, `/api/transactions/${transaction}`);

  await submit(taker, `/pay/${transaction}/token`, { asset: 'BTC' });
  expect((await maker.call(`/api/transactions/${transaction}`)).body).toMatchObject({
    transaction: { status: 'pending' },
  });
  for (const id of [order, transaction]) {
    const page = await fetch(`${taker.url}/pay/${id}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('BTC');
    await submit(taker, `/pay/${id}/simulate`, { outcome: 'paid' });
  }
  await becomes(maker, `/v1/orders/${order}`, 'completed');
  await becomes(maker, `/api/transactions/${transaction}`, 'completed');
  await alike(maker, taker, `/v1/orders/${order}`);

  const refund = await refunded(maker, taker, order, walkName);
  await cancelled(maker, taker, transaction);
  return { order, transaction, refund };
}

/** Creates with an idempotency key at one side; the other one replays it, and refuses it for another body. */
async function twice(maker: Side, taker: Side, path: string, body: object, key: string): Promise<Answer> {
  const headers = { 'idempotency-key': `${key}${path.replaceAll('/', '-')}` };
  const made = await maker.call(path, body, headers);
  expect({ status: made.status, body: made.body }).toMatchObject({ status: 200 });
  const again = await taker.call(path, body, headers);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.body).toEqual(made.body);
  expect(await taker.call(path, { ...body, amount: 7 }, headers)).toMatchObject({ status: 400 });
  return made;
}

/** Both sides answer alike: a version may add fields, and changes none. */
export async function alike(one: Side, other: Side, path: string): Promise<void> {
  const [a, b] = [await one.call(path), await other.call(path)];
  expect([a.status, b.status]).toEqual([200, 200]);
  const [less, more] = JSON.stringify(a.body).length <= JSON.stringify(b.body).length ? [a, b] : [b, a];
  expect(more.body).toMatchObject(less.body);
}

/** A form of the customer's pages. */
async function submit(side: Side, path: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const body = new URLSearchParams(fields);
  const answer = await fetch(`${side.url}${path}`, { method: 'POST', body, redirect: 'manual' });
  expect({ path, status: answer.status }).toEqual({ path, status: 303 });
}

async function becomes(side: Side, path: string, status: string): Promise<void> {
  await eventually(`${path} is ${status}`, async () => {
    const { body } = await side.call(path);
    return textAt(body['transaction'] ?? body, 'status') === status ? true : null;
  });
}

/** Refunds at one side; the customer claims it at the other, and a worker completes it. */
async function refunded(maker: Side, taker: Side, order: string, key: string): Promise<string> {
  const refund = textAt((await twice(taker, maker, '/v1/refunds', { order_id: order, amount: 9 }, key)).body, 'id');
  expect(await (await fetch(`${maker.url}/refund/${refund}`)).text()).toContain('name="address"');
  await submit(maker, `/refund/${refund}`, { address: BTC_ADDRESS });
  await becomes(taker, `/v1/refunds/${refund}`, 'completed');
  await alike(maker, taker, `/v1/refunds/${refund}`);
  return refund;
}

/** Cancels a refund, an order and a transaction at the other side than they were made at; only once. */
async function cancelled(maker: Side, taker: Side, paid: string): Promise<void> {
  const made = [
    ['/v1/refunds', textAt((await maker.call('/v1/refunds', { transaction_id: paid, amount: 5 })).body, 'id')],
    ['/v1/orders', textAt((await maker.call('/v1/orders', ORDER)).body, 'id')],
    [
      '/api/transactions',
      textAt((await maker.call('/api/transactions/create', TRANSACTION)).body['transaction'], 'id'),
    ],
  ] as const;
  for (const [path, id] of made) {
    expect(await taker.call(`${path}/${id}/cancel`, {})).toMatchObject({ status: 200 });
    expect(await maker.call(`${path}/${id}/cancel`, {})).toMatchObject({ status: 400 });
    await alike(maker, taker, `${path}/${id}`);
  }
}

/** Bad requests get the same status at both sides; sentences may differ. */
export async function refuseAlike(sides: readonly Side[], projectId: string): Promise<void> {
  const wrong = 'sk_test_0123456789abcdefghijklmnop';
  for (const { call, url } of sides) {
    expect(await call('/v1/orders', { ...ORDER, amount: -1 })).toMatchObject({ status: 400 });
    expect(await call('/api/transactions/create', {})).toMatchObject({ status: 400, body: { success: false } });
    expect(await client(url, wrong)('/v1/orders')).toMatchObject({
      status: 401,
      body: { error: { type: 'authentication_error' } },
    });
    expect(await call('/v1/orders/ord_00000000000000000000000000')).toMatchObject({ status: 404 });
    expect(await call(`/api/transactions/${projectId}`)).toMatchObject({ status: 404 });
  }
}

/** Lists, pages and sums are the same at both sides. */
export async function countAlike(one: Side, other: Side, projectId: string): Promise<void> {
  const lists = ['/v1/orders', `/api/transactions/project/${projectId}`, '/v1/refunds'];
  const pages = ['?limit=2', '?limit=2&offset=2', '?limit=100'];
  const sums = '/api/transactions/stats?testing_mode=true';
  for (const path of [...lists.flatMap((list) => pages.map((page) => list + page)), sums])
    await alike(one, other, path);
}

/** Waits until the shop was told of each step of a walk, once, with a valid signature. */
export async function told(shop: LocalReceiver, secret: string, { order, transaction, refund }: Walked): Promise<void> {
  const wanted = [
    ...['created', 'completed'].flatMap((what) => [`order.${what} ${order}`, `order.${what} ${transaction}`]),
    ...['created', 'completed'].map((what) => `refund.${what} ${refund}`),
  ].toSorted();
  const ids = [order, transaction, refund];
  const deliveries = () =>
    shop.requests
      .map((request) => ({ request, event: eventOf(request) }))
      .filter(({ event }) => ids.includes(event.data.id) && !event.type.endsWith('.confirming'));
  await eventually('every event is delivered', () => (deliveries().length >= wanted.length ? true : null));
  expect(
    deliveries()
      .map(({ event }) => `${event.type} ${event.data.id}`)
      .toSorted(),
  ).toEqual(wanted);
  for (const { request } of deliveries()) {
    const signature = createHmac('sha256', secret).update(request.body).digest('hex');
    expect(request.headers['x-service-signature']).toBe(signature);
  }
}
