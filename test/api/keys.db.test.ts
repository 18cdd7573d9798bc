import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { KEY_KINDS, MODES, PERMISSIONS, PUBLIC_SCOPES, SCOPES, type Mode } from '../../src/domain/permission.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';
import { BASE_URLS, httpTest, type Answer, type Fields, type Shop } from '../http.ts';
import { API_ROUTES } from './routes.ts';

const http = await httpTest();
afterAll(() => http.close());

const ORDER = { amount: 25, currency: 'USD', crypto_currency: 'BTC', customer_email: 'anna@example.com' };
const TRANSACTION = { amount: 25, customer_email: 'anna@example.com', customer_name: 'Anna' };

/** A path that any of the route's ids fits syntactically, and nothing that exists. */
function pathOf(path: string, shop: Shop): string {
  const id = path.startsWith('/v1/orders')
    ? 'ord_00000000000000000000000000'
    : path.startsWith('/v1/refunds')
      ? 're_00000000000000000000000000'
      : '00000000-0000-7000-8000-000000000000';
  return path.replace(':id', id).replace(':projectId', shop.projectId);
}

function keyError(type: string) {
  return { error: { type, message: expect.any(String) } };
}

it('the table of routes is all of them, as the OpenAPI document lists them', async () => {
  const { body } = await http.call<{ paths: Record<string, Record<string, unknown>> }>({ path: '/openapi.json' });
  const documented = Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  expect(documented.toSorted()).toEqual(API_ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted());
});

describe('a key', () => {
  it.each<[string, string | undefined]>([
    ['is missing', undefined],
    ['is empty', ''],
    ['has no scheme', 'sk_test_00000000000000000000000000000000000000'],
    ['has another scheme', 'Basic c2s6'],
    ['is followed by another', 'Bearer a b'],
    ['is not one of ours', 'Bearer hello'],
    ['has a typo', 'Bearer sk_test_00000000000000000000000000000000000000'],
    ['has NUL in it', 'Bearer sk_test_\u0001'],
    ['is a megabyte long, nearly', `Bearer ${'x'.repeat(10_000)}`],
    ['is an SQL injection', "Bearer ' or 1=1 --"],
  ])('that %s is answered 401 alike on every route of both APIs', async (_name, authorization) => {
    const shop = await http.shop();
    for (const { method, path } of API_ROUTES) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const { status, body } = await http.call({ method, path: pathOf(path, shop), headers });
      expect([status, body]).toEqual([401, keyError('authentication_error')]);
    }
  });

  it('is read whatever the case of the scheme, and with spaces around', async () => {
    const shop = await http.shop();
    const key = await shop.key();
    for (const authorization of [`bearer ${key}`, `BEARER   ${key}`, `Bearer ${key} `]) {
      expect((await http.call({ path: '/v1/orders', headers: { authorization } })).status).toBe(200);
    }
  });

  it('stops working when it is revoked, and another one does not', async () => {
    const shop = await http.shop();
    const [key, other] = [await shop.key(), await shop.key({ permission: 'read' })];
    expect((await http.call({ path: '/v1/orders', key })).status).toBe(200);
    await http.revokeKey(key);
    const { status, body } = await http.call({ path: '/v1/orders', key });
    expect([status, body]).toEqual([401, { error: { type: 'authentication_error', message: 'Invalid API key.' } }]);
    expect((await http.call({ path: '/v1/orders', key: other })).status).toBe(200);
  });

  it('at the wrong address of the Order API is refused with the right one', async () => {
    const shop = await http.shop();
    for (const side of MODES) {
      const mode = side === 'test' ? 'live' : 'test';
      const key = await shop.key({ mode });
      for (const { method, path } of API_ROUTES.filter(({ api }) => api === 'v1')) {
        const answer = await http.call<ErrorBody>({ side, key, method, path: pathOf(path, shop) });
        expect([answer.status, answer.body]).toEqual([401, keyError('authentication_error')]);
        expect(answer.body.error.message).toContain(BASE_URLS[mode]);
      }
    }
  });

  it('of test mode works with the Transaction API at both addresses, one of live mode at the live one alone', async () => {
    const shop = await http.shop();
    const [test, live] = [await shop.key({ mode: 'test' }), await shop.key({ mode: 'live' })];
    const path = '/api/transactions/create';
    const made = await http.call<Fields>({ side: 'live', key: test, path, body: TRANSACTION });
    expect(made.status).toBe(200);
    // The key decides the mode of what is created, not the address.
    expect(made.body['payment_url']).toMatch(/^https:\/\/sandbox\.pay\.example\//);
    const id = made.body.transaction.id;
    expect((await http.call({ side: 'test', key: test, path: `/api/transactions/${id}` })).status).toBe(200);
    expect((await http.call({ side: 'live', key: live, path: `/api/transactions/${id}` })).status).toBe(404);
    const refused = await http.call<ErrorBody>({ side: 'test', key: live, path, body: TRANSACTION });
    expect([refused.status, refused.body]).toEqual([401, keyError('authentication_error')]);
    expect(refused.body.error.message).toContain(BASE_URLS.live);
  });
});

interface ErrorBody {
  readonly error: { readonly message: string };
}

describe('permissions', () => {
  const matrix = MODES.flatMap((mode) =>
    KEY_KINDS.flatMap((kind) => PERMISSIONS.map((permission) => ({ mode, kind, permission }))),
  );
  it.each(matrix)('of a $permission $kind $mode key are the same on every route of its address', async (spec) => {
    const shop = await http.shop();
    for (const { method, path, operation, api } of API_ROUTES) {
      const reads = operation.startsWith('read_');
      const forPages = operation === 'create_payment' || operation === 'read_payment';
      const allowed = (spec.kind === 'secret' || forPages) && spec.permission !== (reads ? 'write' : 'read');
      const { status, body } = await shop.call({ side: spec.mode, as: spec, method, path: pathOf(path, shop) });
      const passed = passedStatus(method, path, spec.mode);
      const own = passed === 200 ? {} : api === 'v1' || passed === 403 ? { error: {} } : { success: false };
      expect([method, path, status, body]).toMatchObject(
        allowed ? [method, path, passed, own] : [method, path, 403, keyError('permission_error')],
      );
    }
  });
});

describe('scopes', () => {
  const keys = KEY_KINDS.flatMap((kind) =>
    (kind === 'public' ? PUBLIC_SCOPES : SCOPES).map((scope) => ({ kind, scope, permission: null, scopes: [scope] })),
  );
  it.each(keys)('a $kind key of $scope is let in to exactly the routes of that scope', async ({ scope, ...as }) => {
    const shop = await http.shop();
    for (const { method, path, operation, scope: needed } of API_ROUTES) {
      const forPages = operation === 'create_payment' || operation === 'read_payment';
      const isAllowed = needed === scope && (as.kind === 'secret' || forPages);
      const { status, body } = await shop.call<ErrorBody>({ as, method, path: pathOf(path, shop) });
      const passed = passedStatus(method, path, 'test');
      expect([method, path, status]).toEqual([method, path, isAllowed ? passed : 403]);
      if (isAllowed || as.kind === 'public') continue;
      const message = `This API key has the scopes ${scope}. This call needs ${needed}.`;
      expect(body).toEqual({ error: { type: 'permission_error', message } });
    }
  });

  it('are added up', async () => {
    const shop = await http.shop();
    const as = { permission: null, scopes: ['payments:create', 'refunds'] } as const;
    const order = await shop.call({ as, path: '/v1/orders', body: ORDER });
    expect([order.status, (await shop.call({ as, path: '/v1/refunds' })).status]).toEqual([200, 200]);
    expect((await shop.call({ as, path: '/v1/orders' })).status).toBe(403);
  });

  it('of a call are named in its documentation', async () => {
    const { body } = await http.call<{ paths: Record<string, Record<string, { description: string }>> }>({
      path: '/openapi.json',
    });
    for (const { method, path, scope } of API_ROUTES) {
      const documented = body.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      expect([path, documented?.description]).toEqual([path, expect.stringContaining(`the ${scope} scope`)]);
    }
  });

  it('are unknown to a process of a former version, which finds no such key', async () => {
    const shop = await http.shop();
    const key = await shop.key({ permission: null, scopes: ['payments:read'] });
    const hash = createHash('sha256').update(key).digest();
    const found = await http.app.db.selectFrom('api_keys').select('id').where('hash', '=', hash).execute();
    expect(found).toEqual([]);
    expect((await shop.call({ as: { permission: null, scopes: ['payments:read'] }, path: '/v1/orders' })).status).toBe(
      200,
    );
  });
});

describe('a public key', () => {
  it('creates and reads one payment, and sees nothing of the customer', async () => {
    const shop = await http.shop();
    const as = { kind: 'public' as const };
    const order = await shop.call({ as, path: '/v1/orders', body: { ...ORDER, metadata: { secret: 'x' } } });
    const transaction = await shop.call({ as, path: '/api/transactions/create', body: TRANSACTION });
    const answers = [
      order,
      transaction,
      await shop.call({ as, path: `/v1/orders/${order.body.id}` }),
      await shop.call({ as, path: `/api/transactions/${transaction.body.transaction.id}` }),
    ];
    for (const { status, text } of answers) {
      expect(status).toBe(200);
      expect(text).not.toMatch(/anna|customer|metadata|secret/i);
    }
    const merchant = await shop.call({ path: `/v1/orders/${order.body.id}` });
    expect(merchant.body).toMatchObject({ customer_email: 'anna@example.com', metadata: { secret: 'x' } });
  });
});

describe('an inactive project', () => {
  it('is refused in the shape of each API, reads and writes alike, until it is active again', async () => {
    const shop = await http.shop();
    await shop.call({ path: '/v1/orders' });
    await http.changeProject(shop.projectId, { active: false });
    for (const { method, path, api } of API_ROUTES) {
      const { status, body } = await shop.call({ method, path: pathOf(path, shop) });
      const message = 'The project is not active.';
      expect([status, body]).toEqual([
        403,
        api === 'transactions' ? { success: false, message } : { error: { type: 'permission_error', message } },
      ]);
    }
    await http.changeProject(shop.projectId, { active: true });
    expect((await shop.call({ path: '/v1/orders' })).status).toBe(200);
  });
});

describe('the IP allow-list', () => {
  // The test's server is behind a proxy at 10.0.0.1, so that clients of any address can come by HTTPS.
  const server = http.build({ trustProxy: ['10.0.0.0/24'] });
  const from = async (shop: Shop, client: string, key?: string): Promise<Answer> =>
    http.call(
      {
        key: key ?? (await shop.key()),
        path: '/v1/orders',
        address: '10.0.0.1',
        headers: { 'x-forwarded-for': client, 'x-forwarded-proto': 'https' },
      },
      server,
    );

  it('lets nobody else in; empty it lets everybody in', async () => {
    const shop = await http.shop();
    expect((await from(shop, '203.0.113.9')).status).toBe(200);
    await http.changeProject(shop.projectId, { allowIps: ['198.51.100.0/24', '203.0.113.7', '2001:db8:1::/48'] });
    for (const client of ['198.51.100.1', '203.0.113.7', '2001:db8:1:ffff::1', '::ffff:198.51.100.9']) {
      expect([client, (await from(shop, client)).status]).toEqual([client, 200]);
    }
    for (const client of ['198.51.101.1', '203.0.113.8', '2001:db8:2::1', '::1', '::ffff:203.0.113.8', '10.0.0.1']) {
      const { status, body } = await from(shop, client);
      expect([client, status, body]).toEqual([client, 403, keyError('permission_error')]);
    }
    await http.changeProject(shop.projectId, { allowIps: [] });
    expect((await from(shop, '203.0.113.9')).status).toBe(200);
  });

  it('takes a range that was written in IPv4-mapped form', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowIps: ['::ffff:203.0.113.0/120'] });
    const clients = ['203.0.113.200', '::ffff:203.0.113.1', '203.0.114.1'];
    const answers = await Promise.all(clients.map((client) => from(shop, client)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403]);
  });

  it('reads the client through trusted proxies only, the nearest first', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowIps: ['203.0.113.7'] });
    expect((await from(shop, '203.0.113.7, 10.0.0.2')).status).toBe(200);
    // The client's own claim comes before the address that the proxy saw.
    expect((await from(shop, '203.0.113.7, 198.51.100.1')).status).toBe(403);
    const stranger = await http.call(
      {
        key: await shop.key(),
        path: '/v1/orders',
        address: '192.0.2.1',
        headers: { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' },
      },
      server,
    );
    expect([stranger.status, stranger.body]).toEqual([403, keyError('https_required')]);
  });

  it('reads the client’s address without the port that some proxies add', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowIps: ['203.0.113.7', '2001:db8:1::/48'] });
    for (const client of ['203.0.113.7:443', '[2001:db8:1::7]:443', '[::ffff:203.0.113.7]:443']) {
      expect([client, (await from(shop, client)).status]).toEqual([client, 200]);
    }
    for (const client of ['203.0.113.8:443', '[2001:db8:2::7]:443', '203.0.113.7:443, 198.51.100.1:443']) {
      expect([client, (await from(shop, client)).status]).toEqual([client, 403]);
    }
  });

  it.each([
    'unknown',
    '_hidden',
    '',
    '203.0.113.7:https',
    '[203.0.113.7]:443',
    'fe80::1%eth0',
    '999.1.1.1:443',
    "'; --",
    ',',
  ])('a forwarded address that is none (%s) is refused, never a fault', async (client) => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowIps: ['203.0.113.0/24'] });
    expect((await from(shop, client)).status).toBe(403);
  });

  it('does not bind public keys, whose callers are customers', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowIps: ['198.51.100.0/24'] });
    const key = await shop.key({ kind: 'public' });
    const { status } = await http.call({ key, path: '/v1/orders/ord_00000000000000000000000000' });
    expect(status).toBe(404);
  });

  it('without TRUST_PROXY no forwarded address is believed', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowIps: ['203.0.113.7'] });
    expect((await shop.call({ path: '/v1/orders' })).body).toEqual(keyError('permission_error'));
    await http.changeProject(shop.projectId, { allowIps: ['127.0.0.0/8'] });
    expect((await shop.call({ path: '/v1/orders' })).status).toBe(200);
  });
});

it('the checks come in one order: HTTPS, key, rate limit, allow-list, active, permission, body', async () => {
  const shop = await http.shop();
  await http.changeProject(shop.projectId, { active: false, allowIps: ['203.0.113.7'] });
  const limits = createRateLimits({ test: 3, live: 3, page: 3 }, null);
  const server = http.build({ limits });
  const used = await shop.key({ permission: 'read' });
  const post = (key: string | undefined, host: string) =>
    http.call({ path: '/v1/orders', key, headers: { host }, body: '{' }, server);
  const allowance = ({ headers }: Answer) => headers['x-ratelimit-remaining'];

  const plain = await post(undefined, 'shop.example');
  expect([plain.status, plain.body]).toEqual([403, keyError('https_required')]);
  const keyless = await post(undefined, 'localhost');
  expect([keyless.status, keyless.body]).toEqual([401, keyError('authentication_error')]);
  expect(allowance(keyless)).toBe('2');

  const kept = [await post(used, 'localhost'), await post(used, 'localhost'), await post(used, 'localhost')];
  expect(kept.map(allowance)).toEqual(['2', '1', '0']);
  expect(kept.map(({ body }) => body)).toEqual(
    Array.from({ length: 3 }, () => ({ error: { type: 'permission_error', message: expect.stringContaining('IP') } })),
  );
  const limited = await post(used, 'localhost');
  expect([limited.status, limited.body]).toEqual([429, keyError('rate_limit_error')]);

  const reader = await http.shop();
  const readOnly = await reader.key({ permission: 'read' });
  await http.changeProject(reader.projectId, { active: false });
  const inactive = await post(readOnly, 'localhost');
  expect(inactive.body).toMatchObject({ error: { message: 'The project is not active.' } });
  await http.changeProject(reader.projectId, { active: true });
  const forbidden = await post(readOnly, 'localhost');
  expect(forbidden.body).toMatchObject({
    error: { type: 'permission_error', message: expect.stringContaining('Read Only') },
  });
  const invalid = await post(await reader.key(), 'localhost');
  expect([invalid.status, invalid.body]).toEqual([
    400,
    { error: { type: 'invalid_request_error', message: 'The body is not valid JSON.' } },
  ]);
});

describe('a key that was copied from where keys are shortened', () => {
  it.each(['sk_test_…', 'sk_live_QRXmt8ZJ…', 'pk_test_QRXmt8ZJ...', 'sk_test_Q..'])(
    'is refused as such: %s',
    async (key) => {
      // A client sends text beyond Latin-1 as its bytes in UTF-8.
      const header = Buffer.from(`Bearer ${key}`).toString('latin1');
      const { status, body } = await http.call({ path: '/v1/orders', headers: { authorization: header } });
      expect([status, body]).toEqual([
        401,
        {
          error: {
            type: 'authentication_error',
            message: expect.stringMatching(/^Invalid API key\. It ends in dots .* Send the whole key/),
          },
        },
      ]);
    },
  );
});

describe('commands in a message', () => {
  it('are named as the program is called on the server', async () => {
    const shop = await http.shop();
    await http.changeProject(shop.projectId, { allowOrigins: ['https://other.example'] });
    const body = { amount: 5, currency: 'USD', crypto_currency: 'BTC', return_url: 'https://shop.example/' };
    const call = { method: 'POST', path: '/v1/orders', body, key: await shop.key({ kind: 'public' }) } as const;
    const answer = await http.call(call, http.build({ program: './bin/cointill' }));
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Allow its origin with: ./bin/cointill project set ');
  });
});

/** The answer to an allowed request: it continues to its body or id, which does not exist here. */
function passedStatus(method: string, path: string, mode: Mode): number {
  if (/\/(?:advance|complete)$/.test(path) && mode === 'live') return 403;
  if (/\/(?:simulate|advance)$/.test(path)) return 400;
  if (path.includes(':id')) return 404;
  return method === 'POST' ? 400 : 200;
}
