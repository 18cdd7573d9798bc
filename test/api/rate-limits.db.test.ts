import type { FastifyInstance } from 'fastify';
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { formatKey } from '../../src/domain/api-key.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';
import { httpTest, type Answer, type Call } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const LIMITS = { test: 3, live: 5, page: 2 };

/** A server with small limits of its own. */
function limited(side: 'test' | 'live' = 'test'): FastifyInstance {
  return http.build({ side, limits: createRateLimits(LIMITS, null) });
}

function left({ headers }: Answer): string {
  return `${headers['x-ratelimit-remaining']} of ${headers['x-ratelimit-limit']}`;
}

/** A server behind a proxy that forwards its clients' addresses. */
function proxied(side: 'test' | 'live' = 'test'): FastifyInstance {
  return http.build({ side, trustProxy: ['127.0.0.1'], limits: createRateLimits(LIMITS, null) });
}

function from(client: string, call: Call): Call {
  return { ...call, headers: { 'x-forwarded-for': client, 'x-forwarded-proto': 'https' } };
}

async function leftAfter(server: FastifyInstance, calls: readonly Call[]): Promise<readonly string[]> {
  const seen: string[] = [];
  for (const call of calls) seen.push(left(await http.call(call, server)));
  return seen;
}

it('test keys have the test limit, live keys the live one, each key a window of its own', async () => {
  const shop = await http.shop();
  const server = limited('live');
  const [test, live] = [await shop.key({ mode: 'test' }), await shop.key({ mode: 'live' })];
  const read = await shop.key({ mode: 'live', permission: 'read' });
  const path = '/api/transactions/stats';
  expect(
    await leftAfter(server, [
      { key: test, path },
      { key: live, path },
      { key: live, path },
      { key: read, path },
      { key: test, path },
    ]),
  ).toEqual(['2 of 3', '4 of 5', '3 of 5', '4 of 5', '1 of 3']);
});

it('beyond the limit each API answers 429 in its shape, with Retry-After and the end of the window', async () => {
  const shop = await http.shop();
  const server = limited();
  const key = await shop.key();
  const create: Call = { key, path: '/v1/orders', body: { amount: 1, currency: 'USD', crypto_currency: 'USDT' } };
  const startedAt = Date.now() / 1000;
  for (let index = 0; index < 3; index += 1) expect((await http.call(create, server)).status).toBe(200);
  const order = await http.call(create, server);
  const transaction = await http.call({ key, path: '/api/transactions/create', body: { amount: 1 } }, server);
  expect([order.status, order.body]).toEqual([
    429,
    {
      error: { type: 'rate_limit_error', message: expect.stringMatching(/^Too many requests\. The limit is 3 per/) },
    },
  ]);
  expect([transaction.status, transaction.body]).toEqual([
    429,
    { success: false, message: expect.stringMatching(/^Too many requests\. The limit is 3 per/) },
  ]);
  for (const { headers } of [order, transaction]) {
    const wait = Number(headers['retry-after']);
    const reset = Number(headers['x-ratelimit-reset']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60);
    expect(reset).toBeGreaterThanOrEqual(Math.floor(startedAt) + 60);
    expect(reset).toBeLessThanOrEqual(startedAt + 62);
    expect(headers['x-ratelimit-remaining']).toBe('0');
  }
  expect((await shop.call({ path: '/v1/orders' })).body).toMatchObject({ pagination: { total: 3 } });
});

it('errors and unknown addresses below both APIs count like successes', async () => {
  const shop = await http.shop();
  const key = await shop.key({ permission: 'write' });
  const calls: Call[] = [
    { key, path: '/v1/orders', body: { amount: -1 } },
    { key, path: '/v1/nothing' },
    { key, path: '/v1/orders' },
  ];
  expect(await leftAfter(limited(), calls)).toEqual(['2 of 3', '1 of 3', '0 of 3']);
});

it('requests without a valid key count per client address, at the test limit, on the live address too', async () => {
  const server = limited('live');
  const bad: Call = { key: 'sk_live_wrong', path: '/v1/orders' };
  const shop = await http.shop();
  const known: Call = { key: await shop.key({ mode: 'live' }), path: '/v1/orders' };
  expect((await http.call(known, server)).status).toBe(200);
  expect(
    await leftAfter(server, [
      bad,
      { path: '/api/transactions/stats' },
      // A key of the other address is no valid key here.
      { key: await shop.key({ mode: 'test' }), path: '/v1/orders' },
    ]),
  ).toEqual(['2 of 3', '1 of 3', '0 of 3']);
  const fourth = await http.call(bad, server);
  expect([fourth.status, fourth.body]).toMatchObject([429, { error: { type: 'rate_limit_error' } }]);
  expect((await http.call({ path: '/api/transactions/x' }, server)).body).toEqual({
    success: false,
    message: expect.any(String),
  });
  // Strangers at the same address, and other addresses, do not hold up a client with a key.
  expect((await http.call(known, server)).status).toBe(200);
});

it('clients that have used up their requests without a key get no more keys looked up', async () => {
  const server = proxied('live');
  const shop = await http.shop();
  const lookUps = vi.spyOn(http.app.db, 'selectFrom');
  const path = '/v1/orders';
  const stranger = (): Call => from('203.0.113.4', { key: formatKey('secret', 'live', randomBytes(64)), path });
  for (let index = 0; index < 3; index += 1) expect((await http.call(stranger(), server)).status).toBe(401);
  const before = lookUps.mock.calls.length;
  expect(before).toBeGreaterThanOrEqual(3);
  for (let index = 0; index < 5; index += 1) expect((await http.call(stranger(), server)).status).toBe(429);
  expect(lookUps.mock.calls.length).toBe(before);
  // From elsewhere a new key is taken as ever.
  const fresh = { key: await shop.key({ mode: 'live', permission: 'read' }), path };
  expect((await http.call(from('203.0.113.5', fresh), server)).status).toBe(200);
  lookUps.mockRestore();
});

it('clients behind a trusted proxy are counted one by one, IPv6 ones by their /64', async () => {
  const server = proxied();
  const clients = ['203.0.113.1', '203.0.113.2', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '::ffff:203.0.113.1'];
  expect(
    await leftAfter(
      server,
      clients.map((client) => from(client, { path: '/v1/orders' })),
    ),
  ).toEqual(['2 of 3', '2 of 3', '2 of 3', '1 of 3', '2 of 3', '1 of 3']);
});

it('health, metrics, assets and preflights carry the headers and are not counted', async () => {
  const page = await http.call({ path: '/pay/x' });
  const stylesheet = /href="(\/[^"]+\.css)"/.exec(page.text)?.[1];
  expect(stylesheet).toBeDefined();
  const server = limited();
  const free: Call[] = [
    { path: '/healthz' },
    { path: '/readyz' },
    { path: '/metrics' },
    { path: stylesheet ?? '' },
    {
      method: 'OPTIONS',
      path: '/v1/orders',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    },
    { method: 'OPTIONS', path: '/nothing' },
    { path: '/v1/orders', headers: { host: 'shop.example' } },
  ];
  expect(new Set(await leftAfter(server, free))).toEqual(new Set(['3 of 3']));
  expect(await leftAfter(server, [{ path: '/nothing' }, { path: '/metrics' }])).toEqual(['2 of 3', '2 of 3']);
});

it('the documentation has its own limit per address, which takes nothing from the payment page', async () => {
  const server = proxied();
  const call = (path: string): Call => from('203.0.113.1', { path });
  const page = call('/pay/ord_00000000000000000000000000');
  expect(await leftAfter(server, [call('/docs'), call('/openapi.json'), page])).toEqual(['1 of 2', '0 of 2', '1 of 2']);
  const own = ['/docs/api', '/docs/webhooks', '/docs/webhooks.md', '/docs/search?q=a', '/docs/nothing', '/llms.txt'];
  for (const path of ['/docs', '/docs/', '/docs/json', '/docs/yaml', '/openapi.json', ...own]) {
    const { status, body } = await http.call(call(path), server);
    expect([path, status, body]).toMatchObject([path, 429, { error: { type: 'rate_limit_error' } }]);
  }
  expect((await http.call(from('203.0.113.2', { path: '/docs' }), server)).status).toBe(200);
});

describe('a public key', () => {
  const create: Call = { path: '/v1/orders', body: { amount: 1, currency: 'USD', crypto_currency: 'USDT' } };

  it('counts each client apart, so that no visitor locks the others out', async () => {
    const key = await (await http.shop()).key({ kind: 'public' });
    const server = proxied();
    const by = (client: string): Call => from(client, { ...create, key });
    const one = by('203.0.113.1');
    expect(await leftAfter(server, [one, one, one])).toEqual(['2 of 3', '1 of 3', '0 of 3']);
    expect((await http.call(one, server)).status).toBe(429);
    expect(await leftAfter(server, [by('203.0.113.2'), by('2001:db8::1'), by('2001:db8::2')])).toEqual([
      '2 of 3',
      '2 of 3',
      '1 of 3',
    ]);
  });

  it('has ten times the limit of its mode over all its clients, of which a refused one takes nothing', async () => {
    const key = await (await http.shop()).key({ kind: 'public' });
    const other = await (await http.shop()).key({ kind: 'public' });
    const server = proxied();
    const by = (client: string): Call => from(client, { ...create, key });
    for (let index = 0; index < 20; index += 1) await http.call(by('203.0.113.1'), server);
    for (let client = 2; client <= 10; client += 1) {
      for (let index = 0; index < 3; index += 1) {
        expect((await http.call(by(`203.0.113.${client}`), server)).status).toBe(200);
      }
    }
    const beyond = await http.call(by('203.0.113.99'), server);
    expect([beyond.status, left(beyond), beyond.body]).toEqual([
      429,
      '0 of 30',
      { error: { type: 'rate_limit_error', message: expect.stringMatching(/The limit is 30 per minute/) } },
    ]);
    expect((await http.call({ ...by('203.0.113.99'), key: other }, server)).status).toBe(200);
  });
});

it('a forwarded value that is no address counts as the proxy itself', async () => {
  const server = proxied();
  const told = ['nonsense', 'x-1', '999.1.1.1', '203.0.113.1'].map((text) => from(text, { path: '/v1/orders' }));
  expect(await leftAfter(server, told)).toEqual(['2 of 3', '1 of 3', '0 of 3', '2 of 3']);
  expect((await http.call(from('x-2', { path: '/v1/orders' }), server)).status).toBe(429);
});

it('the payment page has its own limit per address, and answers 429 as a page', async () => {
  const server = limited();
  const path = '/pay/ord_00000000000000000000000000';
  expect(await leftAfter(server, [{ path }, { method: 'POST', path: `${path}/cancel` }])).toEqual(['1 of 2', '0 of 2']);
  const third = await http.call({ path: '/refund/re_00000000000000000000000000' }, server);
  expect([third.status, third.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8']);
  expect(Number(third.headers['retry-after'])).toBeGreaterThan(0);
  expect(third.text).toContain('Too many requests');
  expect((await http.call({ path }, server)).text).toContain(`href="${path}"`);
  // Only the visitor's choices are kept.
  const chosen = `${path}/cancel?lang=de&refresh=off&other=1`;
  expect((await http.call({ method: 'POST', path: chosen }, server)).text).toContain(
    `href="${path}?lang=de&amp;refresh=off"`,
  );
  // The page's limit is not the API's.
  const shop = await http.shop();
  expect((await http.call({ key: await shop.key(), path: '/v1/orders' }, server)).status).toBe(200);
});
