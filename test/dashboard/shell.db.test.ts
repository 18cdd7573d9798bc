import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { loadShellAssets } from '../../src/http/dashboard/shell.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';
import { BEHIND_PROXY, dashboardTest, openGuard } from '../dashboard.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());

const DOCUMENT = '<!doctype html><title>Dashboard</title>';

/** The dashboard with a page of its own. */
async function withPage() {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-shell-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, 'assets'));
  const files = {
    'index.html': DOCUMENT,
    'till.html': DOCUMENT,
    'connect.html': DOCUMENT,
    'assets/main.abc.js': 'go()',
    'assets/main.abc.css': 'a{}',
  };
  for (const [name, text] of Object.entries(files)) {
    for (const ending of ['', '.br', '.gz']) await writeFile(path.join(folder, name + ending), text + ending);
  }
  const assets = await loadShellAssets(folder);
  const server = test.http.build({
    side: 'live',
    limits: createRateLimits({ test: 100, live: 100, page: 3 }, null),
    dashboard: openGuard(test.http.app),
    plugins: [dashboardRoutes(test.dashboard, assets)],
  });
  await server.ready();
  return (url: string, headers: Readonly<Record<string, string>> = {}) =>
    test.http.call({ path: url, headers: { host: 'localhost:4000', ...headers } }, server);
}

it('once DASHBOARD_URL is set, the dashboard is at its host alone, and takes changes from its origin alone', async () => {
  const own = await dashboardTest({ ...BEHIND_PROXY, isBound: true });
  onTestFinished(() => own.http.close());
  const { browser } = await own.join('owner');
  const path = '/dashboard/api/projects';
  const statusOf = async (method: string, at: string, headers: Readonly<Record<string, string>>) =>
    (await browser.call({ method, path: at, headers, ...(method === 'POST' ? { body: { name: '' } } : {}) })).status;
  expect(await statusOf('POST', path, {})).toBe(400);
  const other = 'evil.example';
  for (const headers of [{ host: other }, { 'x-forwarded-host': other }]) {
    const changed = { ...headers, origin: `https://${other}` };
    expect([headers, await statusOf('POST', path, changed)]).toEqual([headers, 404]);
    for (const at of ['/dashboard', '/dashboard/api/session', '/dashboard/nothing']) {
      expect([at, await statusOf('GET', at, headers)]).toEqual([at, 404]);
    }
  }
  expect(await statusOf('POST', path, { origin: `https://${other}` })).toBe(403);
  expect(await statusOf('POST', path, { origin: 'http://pay.shop.example' })).toBe(403);
  // A proxy may leave out its port.
  expect(await statusOf('GET', '/dashboard/api/session', { host: 'pay.shop.example:443' })).toBe(200);
});

it('in development the dashboard is at this machine too, whatever DASHBOARD_URL says', async () => {
  const own = await dashboardTest({ isBound: true, url: 'http://localhost:4000' });
  onTestFinished(() => own.http.close());
  const headers = { host: '127.0.0.1:4000', origin: 'http://127.0.0.1:4000' };
  const call = { method: 'POST', path: '/dashboard/api/sign-out', headers };
  expect((await own.browser().call(call)).status).toBe(200);
  const elsewhere = { ...call, headers: { ...headers, origin: 'http://localhost:4001' } };
  expect((await own.browser().call(elsewhere)).status).toBe(403);
});

it('the page is at /dashboard and below, with a policy that allows only what this host serves', async () => {
  const get = await withPage();
  const answer = await get('/dashboard/setup/some-token');
  expect(answer).toMatchObject({
    status: 200,
    text: DOCUMENT,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'$/),
      'permissions-policy': expect.stringContaining('camera=()'),
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache',
    },
  });
  const policy = answer.headers['content-security-policy'];
  expect(policy).not.toMatch(/unsafe|\*|https?:/);
  // Wallets give their icons as text; nothing but a picture may come that way.
  expect(policy).toContain("; img-src 'self' data:;");
  expect(policy?.match(/data:/g)).toHaveLength(1);
  expect((await get('/dashboard')).text).toBe(DOCUMENT);
});

it('assets are cached forever and do not count toward the rate limit; the page does', async () => {
  const get = await withPage();
  for (let times = 0; times < 5; times += 1) {
    expect(await get('/dashboard/assets/main.abc.js')).toMatchObject({
      status: 200,
      text: 'go()',
      headers: {
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': 'text/javascript; charset=utf-8',
      },
    });
  }
  expect(await get('/dashboard/assets/main.abc.css', { 'accept-encoding': 'br' })).toMatchObject({
    headers: { 'content-encoding': 'br' },
  });
  const statuses = [];
  for (let times = 0; times < 4; times += 1) statuses.push((await get('/dashboard/payments')).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
});

it.each([
  '/dashboard/api',
  '/dashboard/api/',
  '/dashboard/api/nothing',
  '/dashboard/assets/',
  '/dashboard/assets/x.js',
])('what is not there is no page: %s', async (url) => {
  const get = await withPage();
  expect(await get(url)).toMatchObject({ status: 404, body: { error: { type: 'not_found_error' } } });
});

it.each([
  '/dashboard/assets/..%2findex.html',
  '/dashboard/assets/%2e%2e/%2e%2e/package.json',
  '/dashboard/assets/main.abc.js.br',
])('nothing else of the disk is served: %s', async (url) => {
  const get = await withPage();
  const answer = await get(url);
  expect([answer.status, answer.text.includes('"version"')]).toEqual([404, false]);
});
