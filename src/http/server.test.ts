import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import type { FastifyInstance } from 'fastify';
import { accessOf, KEYS, overSocket, project, tryServer } from './frame.fixture.ts';
import type { ServerOptions } from './server.ts';
import { noteProblems } from '../../test/problems.ts';

const open: FastifyInstance[] = [];
const server = (...given: Parameters<typeof tryServer>): FastifyInstance => {
  const app = tryServer(...given);
  open.push(app);
  return app;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
});

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const LINES = 'Host: localhost\r\nAuthorization: Bearer sk_test\r\nConnection: close\r\n';
const roomy = { test: 1000, live: 1000, page: 1000 };

describe('every response carries the rate-limit headers', () => {
  it.each([
    ['an answer', `GET /v1/orders HTTP/1.1\r\n${LINES}\r\n`, 200],
    ['health', 'GET /healthz HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n', 200],
    ['not ready', 'GET /readyz HTTP/1.1\r\nHost: anything\r\nConnection: close\r\n\r\n', 503],
    ['metrics', `GET /metrics HTTP/1.1\r\n${LINES}\r\n`, 200],
    ['a page', `GET /pay/x HTTP/1.1\r\n${LINES}\r\n`, 200],
    ['an unknown path', `GET /nothing HTTP/1.1\r\n${LINES}\r\n`, 404],
    ['a wrong method', `DELETE /v1/orders HTTP/1.1\r\n${LINES}\r\n`, 404],
    ['a method with rules of its own', `QUERY /v1/orders HTTP/1.1\r\n${LINES}\r\n`, 404],
    ['a method of WebDAV', `PROPFIND /v1/orders HTTP/1.1\r\n${LINES}\r\n`, 404],
    ['a missing key', 'GET /v1/orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 401],
    ['plain HTTP', 'GET /v1/orders HTTP/1.1\r\nHost: forged.example\r\nConnection: close\r\n\r\n', 403],
    ['a missing Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two Hosts', `GET /v1/orders HTTP/1.1\r\nHost: localhost\r\n${LINES}\r\n`, 400],
    ['two keys', `GET /v1/orders HTTP/1.1\r\n${LINES}Authorization: Bearer sk_read\r\n\r\n`, 401],
    ['two lengths', `POST /v1/orders HTTP/1.1\r\n${LINES}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`, 400],
    ['a path that is no URL', `GET /v1/orders/%zz HTTP/1.1\r\n${LINES}\r\n`, 400],
    ['headers beyond bounds', `GET /v1/orders HTTP/1.1\r\n${LINES}X: ${'a'.repeat(20_000)}\r\n\r\n`, 400],
    ['what is not HTTP', 'hello\r\n\r\n', 400],
    ['a fault of ours', `GET /v1/fault HTTP/1.1\r\n${LINES}\r\n`, 500],
    ['a database that is away', `GET /v1/orders HTTP/1.1\r\n${LINES.replace('sk_test', 'broken')}\r\n`, 503],
    ['an unknown expectation', `GET /v1/orders HTTP/1.1\r\n${LINES}Expect: miracles\r\n\r\n`, 200],
    ['OPTIONS', `OPTIONS /v1/orders HTTP/1.1\r\n${LINES}\r\n`, 404],
  ])('%s', async (_name, bytes, status) => {
    const send = await overSocket(server({}, roomy));
    const answer = await send(bytes);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': '1000',
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  });
});

describe('the checks come in one order', () => {
  it('refuses an unknown path below an API without a key, and names the API in the shape', async () => {
    const app = server({}, roomy);
    expect((await app.inject('/api/transactions/a/b')).statusCode).toBe(401);
    const order = await app.inject({ url: '/v1/nothing', headers: bearer('sk_test') });
    expect(order.json()).toMatchObject({ error: { type: 'not_found_error' } });
    const transaction = await app.inject({ url: '/api/transactions/a/b', headers: bearer('sk_test') });
    expect([transaction.statusCode, transaction.json()]).toMatchObject([404, { success: false }]);
  });

  it.each([
    ['GET http://localhost/api/transactions/zzz/y', 'transaction'],
    ['GET HTTPS://api.example/api/transactions/zzz/y?z', 'transaction'],
    ['GET http://localhost/v1/nothing?x=/api/', 'order'],
  ])('takes a whole URL as the target for its path: %s', async (line, api) => {
    const send = await overSocket(server({}, roomy));
    const { status, body } = await send(`${line} HTTP/1.1\r\n${LINES}\r\n`);
    const path = /\/(?:api|v1)\/[^? ]*/.exec(line)?.[0] ?? '';
    const message = `There is nothing at GET ${path}.`;
    expect([status, JSON.parse(body)]).toEqual([
      404,
      api === 'transaction' ? { success: false, message } : { error: { type: 'not_found_error', message } },
    ]);
    const keyless = await overSocket(server({}, roomy));
    const refused = await keyless(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect(refused.status).toBe(401);
  });

  it('answers 404 for an unknown path before it reads the body', async () => {
    const app = server();
    const headers = { ...bearer('sk_test'), 'content-type': 'application/json' };
    expect((await app.inject({ method: 'POST', url: '/v1/nothing', headers, payload: '{bad' })).statusCode).toBe(404);
  });

  it('refuses a path that is no URL for plain HTTP and a missing key first', async () => {
    const app = server();
    expect((await app.inject({ url: '/v1/orders/%zz', headers: { host: 'forged.example' } })).statusCode).toBe(403);
    expect((await app.inject('/v1/orders/%zz')).statusCode).toBe(401);
    expect((await app.inject({ url: '/v1/orders/%zz', headers: bearer('sk_test') })).statusCode).toBe(400);
  });

  it('names the address for a key of the other mode; the Transaction API accepts both at the live address', async () => {
    const sandbox = server();
    const refused = await sandbox.inject({ url: '/v1/orders', headers: bearer('sk_live') });
    expect([refused.statusCode, refused.body]).toEqual([401, expect.stringContaining('https://api.example')]);
    const live = server({ side: 'live' });
    expect((await live.inject({ url: '/v1/orders', headers: bearer('sk_test') })).body).toContain(
      'https://sandbox.example',
    );
    expect((await live.inject({ url: '/api/transactions/x', headers: bearer('sk_test') })).statusCode).toBe(200);
    expect((await sandbox.inject({ url: '/api/transactions/x', headers: bearer('sk_live') })).statusCode).toBe(401);
  });

  it('holds secret keys to the allow-list, by IPv4, IPv6 and mapped addresses', async () => {
    const app = server({ trustProxy: ['127.0.0.1'] }, roomy);
    const from = async (address: string, key = 'sk_home') => {
      const headers = { ...bearer(key), 'x-forwarded-proto': 'https', 'x-forwarded-for': address };
      return (await app.inject({ url: '/v1/orders', headers })).statusCode;
    };
    expect(await Promise.all(['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7'].map((address) => from(address)))).toEqual([
      200, 200, 200,
    ]);
    expect(await Promise.all(['11.1.2.3', '2001:db9::7', 'garbage'].map((address) => from(address)))).toEqual([
      403, 403, 403,
    ]);
  });

  it.each([
    ['::/0', ['2001:db8::7', '::1'], ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203', '0:0:0:0:0:FFFF:10.1.2.3']],
    ['::/1', ['2001:db8::7'], ['10.1.2.3', '::ffff:10.1.2.3']],
    ['0.0.0.0/0', ['10.1.2.3', '::ffff:10.1.2.3', '::ffff:a01:203', '0:0:0:0:0:FFFF:10.1.2.3'], ['2001:db8::7', '::1']],
    ['::ffff:10.0.0.0/104', ['10.1.2.3', '::ffff:10.1.2.3'], ['11.1.2.3', '2001:db8::7', '::a01:203']],
    ['10.1.2.3', ['10.1.2.3:555', '[::ffff:10.1.2.3]:555'], ['10.1.2.4:555', '10.1.2.4']],
    ['2001:db8::7', ['[2001:db8::7]:555', '[2001:db8::7]'], ['[2001:db8::8]:555', '2001:db8::7:555']],
  ])('an allow-list of %s admits %j, and none of %j', async (range, admitted, refused) => {
    const key = { ...KEYS.sk_home, project: { ...project, allowIps: [range] } };
    const app = server({ trustProxy: ['127.0.0.1'], access: accessOf({ key }) }, roomy);
    const statuses = (addresses: readonly string[]) =>
      Promise.all(
        addresses.map(async (address) => {
          const headers = { ...bearer('key'), 'x-forwarded-proto': 'https', 'x-forwarded-for': address };
          return [address, (await app.inject({ url: '/v1/orders', headers })).statusCode];
        }),
      );
    expect(await statuses(admitted)).toEqual(admitted.map((address) => [address, 200]));
    expect(await statuses(refused)).toEqual(refused.map((address) => [address, 403]));
  });

  it('says that a project is not active in the shape of the API', async () => {
    const app = server();
    const transaction = await app.inject({ url: '/api/transactions/x', headers: bearer('sk_off') });
    expect([transaction.statusCode, transaction.json()]).toMatchObject([403, { success: false }]);
    const order = await app.inject({ url: '/v1/orders', headers: bearer('sk_off') });
    expect([order.statusCode, order.json()]).toMatchObject([403, { error: { type: 'permission_error' } }]);
  });

  it('lets keys do only what their permission says', async () => {
    const app = server({}, roomy);
    const status = async (key: string, method: 'GET' | 'POST', url: string) =>
      (await app.inject({ method, url, headers: bearer(key) })).statusCode;
    expect(await status('sk_read', 'GET', '/v1/orders')).toBe(200);
    expect(await status('sk_read', 'POST', '/v1/orders/x/cancel')).toBe(403);
    expect(await status('sk_write', 'GET', '/v1/orders')).toBe(403);
    expect(await status('sk_write', 'POST', '/v1/orders/x/cancel')).toBe(200);
    expect(await status('pk_test', 'GET', '/v1/orders/x')).toBe(200);
    expect(await status('pk_test', 'GET', '/v1/orders')).toBe(403);
    expect(await status('pk_test', 'POST', '/v1/orders/x/cancel')).toBe(403);
  });

  it('does not start with an API route that has no guard', async () => {
    const forgotten: ServerOptions['plugins'] = [(app) => void app.get('/v1/forgotten', () => 'open')];
    await expect(server({ plugins: forgotten }).ready()).rejects.toThrow('GET /v1/forgotten has no guard');
  });
});

describe('rate limits', () => {
  it('counts each key for itself and refuses with 429, Retry-After and the API’s body', async () => {
    const app = server({}, { test: 2, live: 9, page: 7 });
    const call = (key: string) => app.inject({ url: '/api/transactions/x', headers: bearer(key) });
    expect((await call('sk_test')).headers['x-ratelimit-remaining']).toBe('1');
    await call('sk_test');
    const refused = await call('sk_test');
    expect([refused.statusCode, refused.json()]).toMatchObject([429, { success: false }]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await call('sk_read')).statusCode).toBe(200);
  });

  it('counts requests without a valid key by address, at the test limit', async () => {
    const app = server({ side: 'live' }, { test: 2, live: 9, page: 7 });
    const call = (key: string, url = '/v1/orders') => app.inject({ url, headers: bearer(key) });
    expect((await call('wrong')).statusCode).toBe(401);
    expect((await call('other', '/nothing')).statusCode).toBe(404);
    expect((await call('wrong')).statusCode).toBe(429);
    expect((await call('sk_live')).statusCode).toBe(200);
  });

  it('does not count health, metrics, OPTIONS and what came by plain HTTP', async () => {
    const app = server({}, { test: 1, live: 9, page: 7 });
    for (const url of ['/healthz', '/readyz', '/metrics']) await app.inject(url);
    await app.inject({ method: 'OPTIONS', url: '/v1/orders' });
    await app.inject({ url: '/v1/orders', headers: { host: 'forged.example' } });
    expect((await app.inject('/v1/orders')).statusCode).toBe(401);
  });
});

describe('CORS', () => {
  const preflight = (origin: string) =>
    ({ method: 'OPTIONS', url: '/v1/orders', headers: { origin, 'access-control-request-method': 'POST' } }) as const;

  it('answers preflights of origins that a project allows, and no others', async () => {
    const app = server();
    const allowed = await app.inject(preflight('https://shop.example'));
    expect([allowed.statusCode, allowed.headers['access-control-allow-origin']]).toEqual([204, 'https://shop.example']);
    const other = await app.inject(preflight('https://evil.example'));
    expect([other.statusCode, other.headers['access-control-allow-origin']]).toEqual([204, undefined]);
  });

  it('opens answers to public keys only, and only to their own project’s origins', async () => {
    const app = server();
    const opened = async (key: string, origin: string) =>
      (await app.inject({ url: '/v1/orders/x', headers: { ...bearer(key), origin } })).headers[
        'access-control-allow-origin'
      ];
    expect(await opened('pk_test', 'https://shop.example')).toBe('https://shop.example');
    expect(await opened('pk_test', 'https://evil.example')).toBeUndefined();
    expect(await opened('sk_test', 'https://shop.example')).toBeUndefined();
  });
});

describe('faults', () => {
  it('hides the details of an internal error, and reports it with the request id that the client got', async () => {
    const problems = noteProblems();
    const app = server({ problems });
    const answer = await app.inject({ url: '/v1/fault?secret=s3cr3t', headers: bearer('sk_test') });
    expect(answer.body).not.toMatch(/select|vault|\bat /);
    expect(problems.noted).toEqual([
      {
        subject: 'GET /v1/fault answered 500',
        problem: expect.any(Error),
        request: answer.headers['x-request-id'],
        path: '/v1/fault',
      },
    ]);
  });

  it('logs no fault when a client hangs up amid its body', async () => {
    const lines: string[] = [];
    const app = server({ log: pino({ level: 'warn' }, { write: (line) => lines.push(line) }) });
    await app.listen({ port: 0, host: '127.0.0.1' });
    const closed = new Promise((resolve) => {
      app.server.once('connection', (socket) => socket.once('close', resolve));
    });
    const arrived = once(app.server, 'request');
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(
      `POST /v1/orders HTTP/1.1\r\n${LINES}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"am`,
    );
    await arrived;
    socket.resetAndDestroy();
    await closed;
    await new Promise(setImmediate);
    expect(lines).toEqual([]);
  });

  it('lets go of a client that sent no HTTP and never closes its side', async () => {
    const app = server();
    await app.listen({ port: 0, host: '127.0.0.1' });
    const closed = new Promise((resolve) => {
      app.server.once('connection', (socket) => socket.once('close', resolve));
    });
    const socket = connect({
      port: (app.server.address() as AddressInfo).port,
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    socket.write('hello\r\n\r\n');
    await expect(closed).resolves.toBe(false);
    socket.destroy();
  });
});

it('counts a client without a key as one, whatever port its proxy adds', async () => {
  const app = server({ trustProxy: ['127.0.0.1'] }, roomy);
  const left = async (address: string) => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': address };
    return Number((await app.inject({ url: '/v1/orders', headers })).headers['x-ratelimit-remaining']);
  };
  expect(await left('203.0.113.7:1024')).toBe(999);
  expect(await left('203.0.113.7:1025')).toBe(998);
  expect(await left('203.0.113.7')).toBe(997);
  expect(await left('[2001:db8::1]:1024')).toBe(999);
  expect(await left('[2001:db8::1]:1025')).toBe(998);
  expect(await left('2001:db8::2')).toBe(997);
});

it('shows metrics to this machine and to the token, not to what came through a proxy', async () => {
  const app = server({ trustProxy: ['127.0.0.1'] }, roomy);
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '127.0.0.1' };
  expect((await app.inject({ url: '/metrics', headers })).statusCode).toBe(403);
  expect((await app.inject({ url: '/metrics', headers: { ...headers, ...bearer('scrape-me') } })).statusCode).toBe(200);
  const direct = server();
  expect((await direct.inject('/metrics')).statusCode).toBe(200);
});
