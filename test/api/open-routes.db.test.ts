import { afterAll, describe, expect, it } from 'vitest';
import { healthRoutes } from '../../src/http/health.ts';
import { METRICS_TOKEN, httpTest, type Answer } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

describe('health', () => {
  it('is told on both addresses', async () => {
    for (const side of ['live', 'test'] as const) {
      const alive = await http.call({ side, path: '/healthz' });
      expect([alive.status, alive.body]).toEqual([200, { status: 'ok' }]);
      const ready = await http.call({ side, path: '/readyz' });
      expect([ready.status, ready.body]).toEqual([200, { status: 'ready', checks: { database: 'ok' } }]);
    }
  });

  it('readiness is 503 and says which part is missing, while the process is healthy', async () => {
    const checks = { database: 'not reachable', notifications: 'ok' };
    const server = http.build({
      plugins: [healthRoutes(() => Promise.resolve({ ok: false, checks, degraded: false }))],
    });
    const ready = await http.call({ path: '/readyz' }, server);
    expect([ready.status, ready.body]).toEqual([503, { status: 'not_ready', checks }]);
    expect((await http.call({ path: '/healthz' }, server)).status).toBe(200);
  });
});

describe('metrics', () => {
  const read = (headers: Readonly<Record<string, string>>, address = '127.0.0.1', server = http.server('test')) =>
    http.call({ path: '/metrics', headers, address }, server);
  const behindProxy = http.build({ trustProxy: ['10.0.0.1', '127.0.0.1'] });
  const viaProxy = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' };
  const refused = (answer: Answer) =>
    expect([answer.status, answer.body]).toEqual([
      403,
      { error: { type: 'permission_error', message: expect.stringContaining('METRICS_TOKEN') } },
    ]);

  it('are told to this machine, with requests by route, method and status', async () => {
    await http.call({ path: '/v1/orders/ord_1' });
    const { status, text, headers } = await read({});
    expect([status, headers['content-type']]).toMatchObject([200, expect.stringMatching(/^text\/plain/)]);
    expect(text).toMatch(
      /cointill_http_request_seconds_count\{route="\/v1\/orders\/:id",method="GET",status="401"\} 1\n/,
    );
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    // Ids and keys would make a series each.
    expect(text).not.toContain('ord_1');
  });

  it('are told to the token from anywhere, and to nobody else', async () => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    expect((await read({ ...viaProxy, ...bearer(METRICS_TOKEN) }, '10.0.0.1', behindProxy)).status).toBe(200);
    refused(await read(viaProxy, '10.0.0.1', behindProxy));
    refused(await read(viaProxy, '127.0.0.1', behindProxy));
    for (const token of ['', METRICS_TOKEN.slice(1), `${METRICS_TOKEN}x`, METRICS_TOKEN.toUpperCase(), 'é']) {
      refused(await read({ ...viaProxy, ...bearer(token) }, '10.0.0.1', behindProxy));
    }
    refused(await read({ ...viaProxy, ...bearer(await (await http.shop()).key()) }, '10.0.0.1', behindProxy));
  });

  it('count what is not there under one name', async () => {
    for (let index = 0; index < 5; index += 1) await http.call({ path: `/nothing-${index}` });
    const { text } = await read({});
    expect(text).toMatch(/route="unknown",method="GET",status="404"\} 5\n/);
    expect(text).not.toContain('nothing-');
  });
});

describe('the documents', () => {
  it('are the same OpenAPI 3.1 on both addresses, without a key', async () => {
    const [live, test] = [
      await http.call({ side: 'live', path: '/openapi.json' }),
      await http.call({ path: '/openapi.json' }),
    ];
    expect(live.body).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), info: { title: 'Cointill' } });
    expect(live.text).toBe(test.text);
  });

  it('can be browsed at /docs with nothing from elsewhere', async () => {
    const seen = new Set<string>();
    const open = ['/docs'];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const answer = await http.call({ path });
      if (answer.status >= 300 && answer.status < 400) {
        open.push(new URL(answer.headers['location'] ?? '', `http://localhost${path}`).pathname);
        continue;
      }
      expect([path, answer.status]).toEqual([path, 200]);
      if (!(answer.headers['content-type'] ?? '').includes('text/html')) continue;
      expect(answer.headers['content-security-policy']).toMatch(/default-src 'self'/);
      expect(answer.headers['content-security-policy']).not.toContain('upgrade-insecure-requests');
      for (const [, link = ''] of answer.text.matchAll(/(?:src|href)="([^"]*)"/g)) {
        const url = new URL(link, `http://localhost${path}`);
        expect(url.host).toBe('localhost');
        open.push(url.pathname);
      }
    }
    expect(seen.size).toBeGreaterThan(5);
    // What the viewer shows is the whole document, webhooks included.
    const [shown, whole] = [await http.call({ path: '/docs/json' }), await http.call({ path: '/openapi.json' })];
    expect(JSON.parse(shown.text)).toEqual(JSON.parse(whole.text));
  });

  it('hold no file but their own', async () => {
    for (const path of ['/docs/static/../../package.json', '/docs/static/%2e%2e/package.json', '/docs/nothing']) {
      expect([path, (await http.call({ path })).status]).toEqual([path, 404]);
    }
  });
});

it('what is not there is 404 in the shape of its surface; below an API it needs a key first', async () => {
  const shop = await http.shop();
  for (const path of ['/', '/favicon.ico', '/v2/orders', '/v1x', '/.env', '/pay', '/metrics/']) {
    const { status, body } = await http.call({ path });
    expect([path, status, body]).toMatchObject([path, 404, { error: { type: 'not_found_error' } }]);
  }
  expect((await http.call({ path: '/api/nothing' })).body).toEqual({ success: false, message: expect.any(String) });
  for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/orders/', '/v1/orders/a/b', '/v1/refunds/a/b/c']) {
    expect((await http.call({ path })).status).toBe(401);
    const { status, body } = await shop.call({ path });
    expect([path, status, body]).toMatchObject([path, 404, { error: { type: 'not_found_error' } }]);
  }
  for (const path of ['/api/transactions', '/api/transactions/', '/api/transactions/a/b']) {
    expect((await http.call({ path })).body).toMatchObject({ error: { type: 'authentication_error' } });
    const { status, body } = await shop.call({ path });
    expect([path, status, body]).toEqual([path, 404, { success: false, message: expect.any(String) }]);
  }
  // The same path, written with an escape.
  const escaped = await shop.call({ path: '/%61pi/transactions/nonsense' });
  expect([escaped.status, escaped.body]).toEqual([404, { success: false, message: 'There is no such transaction.' }]);
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    const { status, body } = await shop.call({ method, path: '/v1/orders', body: {} });
    expect([status, body]).toMatchObject([404, { error: { type: 'not_found_error' } }]);
  }
  expect((await shop.call({ method: 'POST', path: '/api/transactions/stats', body: {} })).status).toBe(404);
});
