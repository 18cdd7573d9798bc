import { afterAll, expect, it } from 'vitest';
import { completeSandboxPayment } from '../../src/app/payments/payment-actions.ts';
import { IDEMPOTENCY_LIFETIME_MS } from '../../src/app/idempotency.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';
import { httpTest, type Call, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const ORDER = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };
const withKey = (key: string): Pick<Call, 'headers'> => ({ headers: { 'idempotency-key': key } });

async function paidTransaction(shop: Shop): Promise<string> {
  const { body } = await shop.call({ path: '/api/transactions/create', body: { amount: 10 } });
  await completeSandboxPayment(http.app, { id: body.transaction.id });
  return body.transaction.id;
}

const POST_ROUTES: readonly (readonly [string, (shop: Shop) => Promise<Call>])[] = [
  ['POST /v1/orders', async () => ({ path: '/v1/orders', body: ORDER })],
  ['POST /api/transactions/create', async () => ({ path: '/api/transactions/create', body: { amount: 25 } })],
  [
    'POST /v1/orders/:id/cancel',
    async (shop) => {
      const { body } = await shop.call({ path: '/v1/orders', body: ORDER });
      return { method: 'POST', path: `/v1/orders/${body.id}/cancel` };
    },
  ],
  [
    'POST /api/transactions/:id/cancel',
    async (shop) => {
      const { body } = await shop.call({ path: '/api/transactions/create', body: { amount: 25 } });
      return { method: 'POST', path: `/api/transactions/${body.transaction.id}/cancel` };
    },
  ],
  [
    'POST /v1/refunds',
    async (shop) => ({ path: '/v1/refunds', body: { transaction_id: await paidTransaction(shop), amount: 1 } }),
  ],
  [
    'POST /v1/refunds/:id/cancel',
    async (shop) => {
      const refund = await shop.call({
        path: '/v1/refunds',
        body: { transaction_id: await paidTransaction(shop), amount: 1 },
      });
      return { method: 'POST', path: `/v1/refunds/${refund.body.id}/cancel` };
    },
  ],
];

it.each(POST_ROUTES)('%s with the same key and body answers the same, and acts once', async (_name, prepare) => {
  const shop = await http.shop();
  const request = { ...(await prepare(shop)), ...withKey('k-1') };
  const first = await shop.call(request);
  expect(first.status).toBe(200);
  expect(first.headers).not.toHaveProperty('idempotent-replayed');
  const events = await http.app.db.selectFrom('events').select('id').execute();
  const again = await shop.call(request);
  expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([200, first.text, 'true']);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(await http.app.db.selectFrom('events').select('id').execute()).toHaveLength(events.length);
  const other = await shop.call({ ...request, body: { ...Object(request.body), note: 'another body' } });
  expect(other.status).toBe(400);
  expect(other.text).toContain('Idempotency-Key was already used with a different body.');
});

it('bodies are the same byte by byte only', async () => {
  const shop = await http.shop();
  const call = (body: string) => shop.call({ path: '/v1/orders', body, ...withKey('k') });
  expect((await call(JSON.stringify(ORDER))).status).toBe(200);
  expect((await call(JSON.stringify(ORDER, null, 1))).status).toBe(400);
});

it('a key means something per project, mode, method and path', async () => {
  const [shop, other] = [await http.shop(), await http.shop()];
  const create = { path: '/v1/orders', body: ORDER, ...withKey('k') };
  const ids = new Set<string>();
  for (const answer of [
    await shop.call(create),
    await other.call(create),
    await shop.call({ ...create, side: 'live' }),
    await shop.call({ ...create, headers: { 'idempotency-key': 'K' } }),
  ]) {
    expect([answer.status, answer.headers['idempotent-replayed']]).toEqual([200, undefined]);
    ids.add(answer.body.id);
  }
  expect(ids.size).toBe(4);
  const transaction = await shop.call({ ...create, path: '/api/transactions/create', body: { amount: 25 } });
  expect([transaction.status, transaction.headers['idempotent-replayed']]).toEqual([200, undefined]);
  // Another key of the same project and mode, and a query, are the same request.
  const again = await shop.call({ ...create, as: { permission: 'write' }, path: '/v1/orders?x=1' });
  expect(again.headers['idempotent-replayed']).toBe('true');
});

it("a public key neither uses up the server's keys nor gets its answers", async () => {
  const shop = await http.shop();
  const pub = { kind: 'public' as const };
  for (const { path, body } of [
    { path: '/v1/orders', body: ORDER },
    { path: '/api/transactions/create', body: { amount: 25, customer_email: 'alice@example.com' } },
  ]) {
    const server = await shop.call({ path, body, ...withKey('taken') });
    const guessed = await shop.call({ as: pub, path, body, ...withKey('taken') });
    expect([guessed.status, guessed.headers['idempotent-replayed']]).toEqual([200, undefined]);
    expect(guessed.text).not.toBe(server.text);
    expect(guessed.text).not.toContain('alice@example.com');
    const poisoned = await shop.call({ as: pub, path, body: { ...body, amount: 1 }, ...withKey('next') });
    const own = await shop.call({ path, body, ...withKey('next') });
    expect([poisoned.status, own.status, own.headers['idempotent-replayed']]).toEqual([200, 200, undefined]);
    // A visitor's own repetition is one.
    const again = await shop.call({ as: pub, path, body, ...withKey('taken') });
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([guessed.text, 'true']);
  }
});

it('a path means the same however it is escaped', async () => {
  const shop = await http.shop();
  const escaped = (path: string) =>
    path.replace(/[a-z](?=[a-z]*$)/, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  for (const [name, prepare] of POST_ROUTES) {
    const request = { ...(await prepare(shop)), ...withKey(`escaped ${name}`.replaceAll(' ', '-')) };
    const path = escaped(request.path);
    const first = await shop.call(request);
    const again = await shop.call({ ...request, path });
    expect([path, again.status, again.text, again.headers['idempotent-replayed']]).toEqual([
      path,
      200,
      first.text,
      'true',
    ]);
  }
  const { id } = (await shop.call({ path: '/v1/orders', body: ORDER })).body;
  const cancel = (path: string) => shop.call({ method: 'POST', path: `/v1/orders/${path}/cancel`, ...withKey('k') });
  expect((await cancel(id)).status).toBe(200);
  expect((await cancel(id.replace('ord_', '%6frd%5F'))).headers['idempotent-replayed']).toBe('true');
  const { body: other } = await shop.call({ path: '/v1/orders', body: ORDER });
  expect((await cancel(other.id)).headers).not.toHaveProperty('idempotent-replayed');
});

it('errors are not kept: the same key succeeds once the request is right', async () => {
  const shop = await http.shop();
  const bad = await shop.call({ path: '/v1/orders', body: { ...ORDER, amount: -1 }, ...withKey('k') });
  expect(bad.status).toBe(400);
  const refused = await shop.call({ path: '/v1/orders', body: { ...ORDER, crypto_currency: 'DOGE' }, ...withKey('k') });
  expect(refused.status).toBe(400);
  const good = await shop.call({ path: '/v1/orders', body: ORDER, ...withKey('k') });
  expect([good.status, good.headers['idempotent-replayed']]).toEqual([200, undefined]);
  const { id } = (await shop.call({ path: '/v1/orders', body: ORDER })).body;
  const accept = { method: 'POST', path: `/v1/orders/${id}/accept`, ...withKey('k') };
  expect((await shop.call(accept)).status).toBe(400);
  expect((await shop.call(accept)).headers).not.toHaveProperty('idempotent-replayed');
});

it('a replay counts against the rate limit', async () => {
  const shop = await http.shop();
  const server = http.build({ limits: createRateLimits({ test: 2, live: 2, page: 2 }, null) });
  const request = { key: await shop.key(), path: '/v1/orders', body: ORDER, ...withKey('k') };
  const statuses: number[] = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await http.call(request, server)).status);
  expect(statuses).toEqual([200, 200, 429]);
});

it('of many at once one acts, and the others get 409 or its answer', async () => {
  const shop = await http.shop();
  const request = { path: '/v1/orders', body: ORDER, ...withKey('k') };
  const answers = await Promise.all(Array.from({ length: 20 }, () => shop.call(request)));
  const fresh = answers.filter(({ status, headers }) => status === 200 && headers['idempotent-replayed'] === undefined);
  expect(fresh).toHaveLength(1);
  const conflict =
    '{"error":{"type":"conflict_error","message":"The first request with this Idempotency-Key is still running. Try again shortly."}}';
  for (const { status, text } of answers) {
    expect([`200 ${fresh[0]?.text}`, `409 ${conflict}`]).toContain(`${status} ${text}`);
  }
  expect((await shop.call({ path: '/v1/orders' })).body).toMatchObject({ pagination: { total: 1 } });
  const transaction = { path: '/api/transactions/create', body: { amount: 1 }, ...withKey('k') };
  const both = await Promise.all([shop.call(transaction), shop.call(transaction)]);
  expect(both.map(({ status }) => status)).toEqual([200, 409]);
  expect(both[1]?.body).toEqual({ success: false, message: expect.stringContaining('still running') });
});

it('a key is free again after 24 hours, to the millisecond', async () => {
  const shop = await http.shop();
  const request = { path: '/v1/orders', body: ORDER, ...withKey('k') };
  const first = await shop.call(request);
  http.clock.advance(IDEMPOTENCY_LIFETIME_MS - 1);
  expect((await shop.call(request)).text).toBe(first.text);
  http.clock.advance(1);
  const later = await shop.call(request);
  expect([later.status, later.headers['idempotent-replayed']]).toEqual([200, undefined]);
  expect(later.body.id).not.toBe(first.body.id);
});

it.each([
  ['empty', ''],
  ['256 characters long', 'k'.repeat(256)],
  ['not ASCII', 'clé'],
  ['with a space', 'a b'],
])('a key that is %s is refused', async (_name, key) => {
  const shop = await http.shop();
  const { status, body } = await shop.call({ path: '/v1/orders', body: ORDER, ...withKey(key) });
  expect([status, body]).toMatchObject([400, { error: { param: 'Idempotency-Key' } }]);
  const own = await shop.call({ path: '/api/transactions/create', body: { amount: 1 }, ...withKey(key) });
  expect([own.status, own.body]).toEqual([400, { success: false, message: expect.stringContaining('1 to 255') }]);
});

it('a key of 255 characters is taken, and reads ignore it', async () => {
  const shop = await http.shop();
  const key = withKey('~'.repeat(255));
  expect((await shop.call({ path: '/v1/orders', body: ORDER, ...key })).status).toBe(200);
  const read = await shop.call({ path: '/v1/orders', ...key });
  expect([read.status, read.headers['idempotent-replayed']]).toEqual([200, undefined]);
});
