import { afterAll, describe, expect, it } from 'vitest';
import { thisInstance } from '../../src/config/instance.ts';
import { readConfig } from '../../src/config/config.ts';
import { homeRoute } from '../../src/http/docs/home.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { loadAssets } from '../../src/http/pages/assets.ts';
import { BASE_URLS, httpTest } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());
const assets = await loadAssets();
const dashboardUrl = `${BASE_URLS.live}/dashboard`;
const home = (side: 'live' | 'test', url: string | null = dashboardUrl) =>
  http.build({ side, plugins: [homeRoute({ side, baseUrls: BASE_URLS, dashboardUrl: url, assets })] });
const linksOf = (page: string): readonly string[] =>
  [...page.matchAll(/<a href="([^"]*)"/g)].map(([, href = '']) => href);

describe('GET /', () => {
  it('says what runs there, and leads to everything else', async () => {
    const [live, test] = [await http.call({ path: '/' }, home('live')), await http.call({ path: '/' }, home('test'))];
    expect([live.status, test.status]).toEqual([200, 200]);
    expect(live.text).toContain('real payments');
    expect(test.text).toContain('no money moves');
    const here = ['/openapi.json', '/healthz', '/readyz'];
    expect(linksOf(live.text)).toEqual(['/docs', dashboardUrl, `${BASE_URLS.test}/`, ...here]);
    expect(linksOf(test.text)).toEqual(['/docs', dashboardUrl, `${BASE_URLS.live}/`, ...here]);
    expect(linksOf((await http.call({ path: '/' }, home('live', null))).text)).not.toContain(dashboardUrl);
  });

  it('is a page that loads its own style alone, and answers again without being sent', async () => {
    const server = home('live');
    const { headers } = await http.call({ path: '/' }, server);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const again = await http.call({ path: '/', headers: { 'if-none-match': headers['etag'] ?? '' } }, server);
    expect([again.status, again.text]).toEqual([304, '']);
    const head = await http.call({ method: 'HEAD', path: '/' }, server);
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('is there for no other method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE'] as const) {
      expect((await http.call({ method, path: '/' }, home('test'))).status).toBe(404);
    }
  });
});

describe('which process answers', () => {
  const instance = thisInstance(readConfig({ DATABASE_URL: 'postgres://till:s3cr3t@db.example/cointill' }, '/'));
  const server = http.build({
    plugins: [healthRoutes(() => Promise.resolve({ ok: true, checks: {}, degraded: false }), undefined, instance)],
  });

  it('is said to this machine alone', async () => {
    const local = await http.call({ path: '/healthz' }, server);
    expect(local.body).toEqual({ status: 'ok', pid: process.pid, data: expect.stringMatching(/^[0-9a-f]{16}$/) });
    for (const other of [{ address: '203.0.113.9' }, { headers: { 'x-forwarded-for': '203.0.113.9' } }]) {
      expect((await http.call({ path: '/healthz', ...other }, server)).body).toEqual({ status: 'ok' });
    }
  });

  it('is the same data by whatever password, and another in another database or by another role, whose schema may differ', () => {
    const dataOf = (url: string): string => thisInstance(readConfig({ DATABASE_URL: url }, '/')).data;
    expect(dataOf('postgres://till:word@db.example/cointill')).toBe(instance.data);
    expect(dataOf('postgres://till:s3cr3t@db.example/other')).not.toBe(instance.data);
    expect(dataOf('postgres://other:s3cr3t@db.example/cointill')).not.toBe(instance.data);
  });
});
