import { parse as parseYaml } from 'yaml';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { healthRoutes } from '../../src/http/health.ts';
import { createMetrics, createScrape, metricsRoute } from '../../src/http/metrics.ts';
import { buildMonitor } from '../../src/http/monitor.ts';
import { METRICS_TOKEN, httpTest, type Answer } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

describe('health', () => {
  it('is shown on both addresses', async () => {
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

describe('why the service is not ready', () => {
  // A node's own words, its host and port among them.
  const reason = 'no node answers: http://10.0.0.7:8332: \u202Econnect ECONNREFUSED';
  const readiness = { ok: true, degraded: true, checks: { database: 'ok', bitcoin: reason } };
  const server = http.build({ plugins: [healthRoutes(() => Promise.resolve(readiness))] });
  const hidden = { status: 'degraded', checks: { database: 'ok', bitcoin: 'degraded' } };

  it('is shown only to this machine', async () => {
    const local = await http.call({ path: '/readyz' }, server);
    expect(local.body).toEqual({
      status: 'degraded',
      checks: { database: 'ok', bitcoin: reason.replace('\u202E', '\uFFFD') },
    });
    const others = [
      { address: '203.0.113.9' },
      { headers: { 'x-forwarded-for': '203.0.113.9' } },
      { headers: { host: 'shop.example' } },
    ];
    for (const other of others) {
      const { status, body, text } = await http.call({ path: '/readyz', ...other }, server);
      expect([status, body]).toEqual([200, hidden]);
      expect(text).not.toMatch(/10\.0\.0\.7|ECONNREFUSED|\\u202/);
    }
  });

  it('is shown only on the port for monitoring if there is one, and metrics require the token elsewhere', async () => {
    const proxied = http.build({
      plugins: [
        healthRoutes(
          () => Promise.resolve(readiness),
          () => false,
        ),
        metricsRoute(http.scrape, METRICS_TOKEN, () => false),
      ],
    });
    expect((await http.call({ path: '/readyz' }, proxied)).body).toEqual(hidden);
    expect((await http.call({ path: '/metrics' }, proxied)).status).toBe(403);
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    expect((await http.call({ path: '/metrics', headers }, proxied)).status).toBe(200);
  });
});

describe('the port for monitoring', () => {
  const monitor = buildMonitor([
    healthRoutes(() => Promise.resolve({ ok: false, degraded: false, checks: { database: 'not reachable' } })),
    metricsRoute(
      createScrape(createMetrics().registry, () => Promise.reject(new Error('the database is away'))),
      null,
    ),
  ]);
  afterAll(() => monitor.close());
  const ask = (url: string, more: object = {}) => monitor.inject({ url, headers: { host: '127.0.0.1:4002' }, ...more });

  it('shows everything to this machine, also while the database is away', async () => {
    expect((await ask('/healthz')).statusCode).toBe(200);
    const ready = await ask('/readyz');
    expect([ready.statusCode, ready.json()]).toEqual([
      503,
      { status: 'not_ready', checks: { database: 'not reachable' } },
    ]);
    const { statusCode, body } = await ask('/metrics');
    expect(statusCode).toBe(200);
    expect(body).toContain('nodejs_eventloop_lag_seconds');
  });

  it('answers every request with its id: the client’s own, or one of ours', async () => {
    for (const [url, host] of [
      ['/healthz', '127.0.0.1:4002'],
      ['/metrics', '127.0.0.1:4002'],
      ['/nothing', '127.0.0.1:4002'],
      ['/readyz', 'evil.example'],
    ] as const) {
      const own = await ask(url, { headers: { host, 'x-request-id': 'probe-7' } });
      expect(own.headers['x-request-id']).toBe('probe-7');
      const [first, second] = [await ask(url, { headers: { host } }), await ask(url, { headers: { host } })];
      expect(first.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-\w+$/);
      expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    }
  });

  it('has nothing else, and nothing for a page that came by another name or through a proxy', async () => {
    expect((await ask('/v1/orders')).statusCode).toBe(404);
    for (const headers of [{ host: 'evil.example' }, { host: '127.0.0.1', 'x-forwarded-for': '203.0.113.9' }]) {
      for (const url of ['/healthz', '/readyz', '/metrics']) {
        const answer = await ask(url, { headers });
        expect([answer.statusCode, answer.json()]).toMatchObject([403, { error: { type: 'permission_error' } }]);
      }
    }
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

  it('are shown to this machine, with requests by route, method and status', async () => {
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

  it('are shown from anywhere with the token, and to nobody else', async () => {
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    expect((await read({ ...viaProxy, ...bearer(METRICS_TOKEN) }, '10.0.0.1', behindProxy)).status).toBe(200);
    refused(await read(viaProxy, '10.0.0.1', behindProxy));
    refused(await read(viaProxy, '127.0.0.1', behindProxy));
    for (const token of ['', METRICS_TOKEN.slice(1), `${METRICS_TOKEN}x`, METRICS_TOKEN.toUpperCase(), 'é']) {
      refused(await read({ ...viaProxy, ...bearer(token) }, '10.0.0.1', behindProxy));
    }
    refused(await read({ ...viaProxy, ...bearer(await (await http.shop()).key()) }, '10.0.0.1', behindProxy));
  });

  it('are made once for all who ask at the same time, on the API’s addresses and on the monitoring port', async () => {
    const { registry } = createMetrics();
    let asked = 0;
    const networks = (): Promise<readonly []> => Promise.resolve((asked += 1)).then(() => []);
    const route = metricsRoute(createScrape(registry, networks), null);
    const sent = new Set<unknown>();
    const monitor = buildMonitor([route]);
    onTestFinished(() => monitor.close());
    const servers = [http.build({ plugins: [route] }), http.build({ side: 'live', plugins: [route] }), monitor];
    for (const server of servers) {
      server.addHook('onSend', (_request, _reply, payload, done) => {
        sent.add(payload);
        done();
      });
      await server.ready();
    }
    const burst = await Promise.all(
      servers.flatMap((server) => Array.from({ length: 20 }, () => server.inject({ url: '/metrics' }))),
    );
    expect(new Set(burst.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
    expect([asked, sent.size]).toEqual([1, 1]);
  });

  it('are cached for as long as they say, and then made again', async () => {
    let [now, asked] = [0, 0];
    const networks = (): Promise<readonly []> => Promise.resolve((asked += 1)).then(() => []);
    const scrape = createScrape(createMetrics().registry, networks, { keepMs: 500, now: () => now });
    await scrape();
    now = 499;
    await scrape();
    expect(asked).toBe(1);
    now = 500;
    await scrape();
    expect(asked).toBe(2);
  });

  it('count what is not there under one name', async () => {
    for (let index = 0; index < 5; index += 1) await http.call({ path: `/nothing-${index}` });
    const { text } = await read({});
    expect(text).toMatch(/route="unknown",method="GET",status="404"\} 5\n/);
    expect(text).not.toContain('nothing-');
  });
});

describe('the documents', async () => {
  const { body: document } = await http.call<{
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  }>({ path: '/openapi.json' });

  it('are the same OpenAPI 3.1 on both addresses, without a key', async () => {
    const [live, test] = [
      await http.call({ side: 'live', path: '/openapi.json' }),
      await http.call({ path: '/openapi.json' }),
    ];
    expect(live.body).toMatchObject({ openapi: expect.stringMatching(/^3\.1\./), info: { title: 'Cointill' } });
    expect(live.text).toBe(test.text);
  });

  it('are also at their other addresses, as JSON and as YAML', async () => {
    const json = await http.call({ path: '/openapi.json' });
    expect((await http.call({ path: '/docs/json' })).text).toBe(json.text);
    const yaml = await http.call({ path: '/docs/yaml' });
    expect(yaml.headers['content-type']).toBe('application/yaml; charset=utf-8');
    expect(parseYaml(yaml.text)).toEqual(json.body);
  });

  it('are shown at /docs/api, where nothing is loaded from elsewhere and no script or style stands in the page', async () => {
    const page = await http.call({ path: '/docs/api' });
    const policy = page.headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers).toMatchObject({ 'x-frame-options': 'DENY', 'cross-origin-opener-policy': 'same-origin' });
    expect(/<style|<script(?![^>]* src=)|style="|\son[a-z]+="/.test(page.text)).toBe(false);
    const links = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
    const ids = new Set([...page.text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => `#${id}`));
    expect(links.filter((link) => link.startsWith('#') && !ids.has(link))).toEqual([]);
    for (const link of links.filter((one) => !/^(?:#|data:)/.test(one))) {
      expect([link, (await http.call({ path: link.replace(/#.*/, '') })).status]).toEqual([link, 200]);
    }
    for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
      expect(ids).toContain(`#${operation.operationId}`);
    }
  });

  it.each(['/docs', '/docs/api', '/docs/webhooks', '/docs/webhooks.md', '/docs/yaml', '/llms.txt', '/openapi.json'])(
    'are made once, and %s is not sent again to whoever has it',
    async (path) => {
      const headers = { 'accept-encoding': 'br' };
      const first = await http.call({ path, headers });
      expect(first.headers).toMatchObject({ 'content-encoding': 'br', 'cache-control': 'no-cache' });
      const etag = first.headers['etag'] ?? '';
      const again = await http.call({ path, side: 'live', headers: { ...headers, 'if-none-match': etag } });
      expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
    },
  );

  it('are the same bytes for every reader', async () => {
    const server = http.build({});
    const sent = new Set<unknown>();
    server.addHook('onSend', (_request, _reply, payload, done) => {
      sent.add(payload);
      done();
    });
    for (let index = 0; index < 5; index += 1) await http.call({ path: '/docs' }, server);
    expect(sent.size).toBe(1);
  });

  it('hold no file but their own', async () => {
    for (const path of ['/docs/static/../../package.json', '/docs/%2e%2e/package.json']) {
      const { status, body } = await http.call({ path });
      expect([path, status, body]).toMatchObject([path, 404, { error: { type: 'not_found_error' } }]);
    }
    const { status, text } = await http.call({ path: '/docs/..%2f..%2fpackage.json' });
    expect([status, text]).toEqual([404, expect.stringContaining('This page does not exist')]);
  });
});

it('what is not there is 404 in the shape of its API; below an API it needs a key first', async () => {
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
