import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createProject } from '../../src/app/projects/projects.ts';
import { MODES, type Mode } from '../../src/domain/permission.ts';
import { authorizeRoute, type AuthorizeOptions } from '../../src/http/dashboard/connect/pages.ts';
import type { AnswerOf } from '../../src/http/dashboard/contract.ts';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { loadShellAssets } from '../../src/http/dashboard/shell.ts';
import { listAuditEntries, WHOLE_LOG } from '../../src/store/people/audit.ts';
import { listKeys } from '../../src/store/projects/api-keys.ts';
import { dashboardTest, DASHBOARD_URL, openGuard, type Browser } from '../dashboard.ts';

const test = await dashboardTest();
const { app, clock } = test.http;
const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-connect-'));
afterAll(async () => {
  await test.http.close();
  await rm(folder, { recursive: true });
});

const owner = await test.join('owner');
let session: Browser;
beforeEach(async () => {
  session = await test.signIn(owner.email);
});

const MINUTE_MS = 60_000;
const FOUR = ['canviewinvoices', 'cancreateinvoice', 'canviewstoresettings', 'canmodifyinvoices'].map(
  (name) => `btcpay.store.${name}`,
);
const WEBHOOKS = 'btcpay.store.webhooks.canmodifywebhooks';
const REDIRECT = 'https://shop.example/?wc-api=btcpaygf_wizard&secret=a%2Bb&x[]=1';
type Given = Readonly<Record<string, string | readonly string[]>>;

/** The query as a plugin writes it. */
function question(fields: Given = {}): string {
  const all = {
    permissions: [...FOUR, WEBHOOKS],
    applicationName: 'WooCommerce',
    strict: 'true',
    selectiveStores: 'true',
    redirect: REDIRECT,
    applicationIdentifier: 'woocommerce',
    ...fields,
  };
  const pairs = Object.entries(all).flatMap(([name, values]) =>
    [values].flat().map((one): [string, string] => [name, one]),
  );
  return new URLSearchParams(pairs).toString();
}

type Question = AnswerOf<'GET /dashboard/api/connect'>;
type Consent = AnswerOf<'POST /dashboard/api/projects/:project/:mode/connect'>;
interface Refused {
  readonly error: { readonly type: string; readonly message: string };
}

const ask = (asked: string, mode: Mode = 'test', browser = session) =>
  browser.call<Question & Refused>({
    path: `/dashboard/api/connect?${new URLSearchParams({ mode, asked }).toString()}`,
  });
let pages = 0;
const newPage = () => `page-${(pages += 1)}-of-the-test`;
const consent = (projectId: string, asked: string, mode: Mode = 'test', browser = session, request = newPage()) =>
  browser.call<Consent & Refused>({
    method: 'POST',
    path: `/dashboard/api/projects/${projectId}/${mode}/connect`,
    body: { asked, request },
  });
const keysOf = (projectId: string) => listKeys(app.db, projectId);
const fieldsOf = ({ fields }: Consent, name: string) =>
  fields.filter((one) => one.name === name).map(({ value }) => value);

describe('a consent', () => {
  it.each(MODES)('makes one %s key, with no more than was asked for, named after the application', async (mode) => {
    const { projectId } = await test.http.shop();
    const asked = question();
    expect((await ask(asked, mode)).body).toMatchObject({
      host: 'shop.example',
      application: 'WooCommerce',
      scopes: ['payments:read', 'payments:create', 'payments:change', 'webhooks'],
      projects: expect.arrayContaining([expect.objectContaining({ id: projectId })]),
    });
    const { body } = await consent(projectId, asked, mode);
    const [key = ''] = fieldsOf(body, 'apiKey');
    // WooCommerce's plugin removes all other characters.
    expect(key).toMatch(new RegExp(`^sk_${mode}_[A-Za-z0-9_-]+$`));
    expect(body.redirect).toBe(REDIRECT);
    expect(fieldsOf(body, 'permissions[]')).toEqual([...FOUR, WEBHOOKS].map((one) => `${one}:${projectId}`));
    expect(fieldsOf(body, 'userId')).toEqual([owner.id]);
    expect(await keysOf(projectId)).toMatchObject([
      {
        mode,
        kind: 'secret',
        permission: null,
        scopes: ['payments:read', 'payments:create', 'payments:change', 'webhooks'],
        name: 'WooCommerce (shop.example)',
      },
    ]);
    const log = await listAuditEntries(app.db, { ...WHOLE_LOG, projectId }, { after: null, limit: 10 });
    expect(log.find(({ action }) => action === 'key.create')).toMatchObject({
      actor: { kind: 'person', id: owner.id },
      after: { mode, name: 'WooCommerce (shop.example)' },
    });
    expect((await test.http.call({ side: mode, path: '/v1/invoices', key })).status).toBe(200);
    const refund = { side: mode, method: 'POST', path: '/v1/refunds', key, body: {} };
    expect((await test.http.call(refund)).status).toBe(403);
  });

  it('counts once: sent twice, at once or later, the second makes no key and gets none', async () => {
    const { projectId } = await test.http.shop();
    const request = newPage();
    const both = await Promise.all([1, 2].map(() => consent(projectId, question(), 'test', session, request)));
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
    const again = await consent(projectId, question(), 'test', session, request);
    expect([again.status, again.body.error.message]).toEqual([
      409,
      expect.stringContaining('This page has already created a key.'),
    ]);
    const other = await consent(projectId, question({ redirect: 'https://evil.example/' }), 'test', session, request);
    expect([other.status, other.body.error.type]).toEqual([409, 'conflict_error']);
    expect(await keysOf(projectId)).toHaveLength(1);
    // A page that is opened anew is a new question.
    expect((await consent(projectId, question())).status).toBe(200);
    expect(await keysOf(projectId)).toHaveLength(2);
  });

  it('to a live key needs a fresh proof, as every live key does', async () => {
    const { projectId } = await test.http.shop();
    clock.advance(11 * MINUTE_MS);
    const late = await consent(projectId, question(), 'live');
    expect([late.status, late.body.error.type]).toEqual([403, 'reauthentication_required']);
    expect(await keysOf(projectId)).toEqual([]);
    await session.do('POST /dashboard/api/reauthenticate', { password: 'grumpy otter parade' });
    expect((await consent(projectId, question(), 'live')).status).toBe(200);
  });

  it('stands for the project that the shop named, if it named one', async () => {
    const [own, other] = [await test.http.shop(), await test.http.shop()];
    const asked = question({ permissions: FOUR.map((one) => `${one}:${own.projectId}`) });
    expect((await ask(asked)).body.projects).toMatchObject([{ id: own.projectId }]);
    expect((await consent(other.projectId, asked)).status).toBe(404);
    const { body } = await consent(own.projectId, asked);
    expect(fieldsOf(body, 'permissions[]')).toEqual(FOUR.map((one) => `${one}:${own.projectId}`));
    expect(await keysOf(other.projectId)).toEqual([]);
  });

  it('names the key after the host where the application gives no name that can be shown', async () => {
    const { projectId } = await test.http.shop();
    for (const applicationName of ['', '\u202E\u200B', 'a\u202Eb\nc', '<b>'.repeat(100)]) {
      const asked = question({ applicationName });
      expect((await consent(projectId, asked)).status).toBe(200);
    }
    expect((await keysOf(projectId)).map(({ name }) => name).toSorted()).toEqual(
      [
        'shop.example',
        'shop.example',
        'a b c (shop.example)',
        expect.stringMatching(/^(?:<b>){26}<b… \(shop\.example\)$/),
      ].toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
    );
  });
});

describe('a bad question', () => {
  it.each<[why: string, asked: string, message: RegExp]>([
    ['without a redirect', question({ redirect: '' }), /does not know which shop/],
    ['that is empty', '', /does not know which shop/],
    ['with two redirects', question({ redirect: [REDIRECT, 'https://evil.example/'] }), /which is not allowed/],
    ['without permissions', question({ permissions: [] }), /did not say what its key is for/],
    ['for a permission that is not known', question({ permissions: ['unrestricted'] }), /“unrestricted”, which/],
    ['for another one', question({ permissions: [...FOUR, 'btcpay.user.candeleteuser'] }), /candeleteuser/],
    ...[
      'javascript:alert(1)',
      'JavaScript:alert(1)//https://shop.example',
      'data:text/html,<script>alert(1)</script>',
      'blob:https://shop.example/1',
      'ftp://shop.example/',
      'http://shop.example/',
      '//shop.example/',
      '/dashboard',
      'https:shop.example',
      'https://',
      'https://user:password@shop.example/',
      'https://shop.example@evil.example/',
      'https://shop.example\\@evil.example/',
      'https://evil.example\\.shop.example/',
      'https://shop.example%2eevil.example/',
      'https://*.example/',
      "https://a;script-src 'unsafe-inline'/",
      'https://a,b.example/',
      'https://[2001:db8::1]/',
      'https://shop.example./',
      'https://-shop.example/',
      'https://ｓhop.example/',
      ' https://shop.example/',
      'https://shop.example/\n',
      'https://127.1/',
      'http://[::1]/',
      'http://localhost.evil.example/',
    ].map((redirect): [string, string, RegExp] => [
      `to ${JSON.stringify(redirect)}`,
      question({ redirect }),
      /which is not allowed/,
    ]),
  ])('%s says what is wrong and makes nothing', async (_why, asked, message) => {
    const { projectId } = await test.http.shop();
    for (const answer of [await ask(asked), await consent(projectId, asked)]) {
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringMatching(message)]);
    }
    expect(await keysOf(projectId)).toEqual([]);
  });

  it('may go to this machine over HTTP in development, and in production only over HTTPS', async () => {
    const { projectId } = await test.http.shop();
    for (const redirect of ['http://localhost:8080/wizard', 'http://127.0.0.1/']) {
      expect((await consent(projectId, question({ redirect }))).body.redirect).toBe(redirect);
    }
    const production = await dashboardTest({ production: true, trustProxy: ['127.0.0.1'], url: 'https://pay.example' });
    try {
      const { browser } = await production.join('owner');
      const found = await ask(question({ redirect: 'http://localhost:8080/' }), 'test', browser);
      expect([found.status, found.body.error.message]).toEqual([400, expect.stringContaining('must begin with https')]);
    } finally {
      await production.http.close();
    }
  });
});

describe('a person', () => {
  it.each(['viewer', 'support', 'cashier'] as const)('with the role %s is refused in plain words', async (role) => {
    const { projectId } = await test.http.shop();
    const { browser } = await test.join(role, projectId);
    for (const mode of MODES) {
      const message = `With the role ${role}, you may not create or revoke ${mode} keys. You need the role owner, admin or developer. An owner can change your role.`;
      for (const answer of [await ask(question(), mode, browser), await consent(projectId, question(), mode, browser)])
        expect([answer.status, answer.body.error.message]).toEqual([403, message]);
    }
    expect(await keysOf(projectId)).toEqual([]);
  });

  it('who develops gets test keys, and no live key that could do more than they may', async () => {
    const { projectId } = await test.http.shop();
    const { browser } = await test.join('developer', projectId);
    for (const answer of [
      await ask(question(), 'live', browser),
      await consent(projectId, question(), 'live', browser),
    ]) {
      expect([answer.status, answer.body.error.message]).toEqual([
        403,
        expect.stringContaining('With the role developer, you may not create this live key'),
      ]);
    }
    expect((await consent(projectId, question(), 'test', browser)).status).toBe(200);
  });

  it('chooses among the active projects where they may make the key', async () => {
    const created = async (name: string) => {
      const made = await createProject(app, name);
      if (made.kind !== 'done') throw new Error(made.code);
      return made.project.id;
    };
    const [own, seen, inactive] = [await created('Own'), await created('Seen'), await created('Inactive')];
    const { id, email } = await test.join('admin', own);
    for (const [projectId, role] of [
      [seen, 'viewer'],
      [inactive, 'admin'],
    ] as const) {
      await session.do('POST /dashboard/api/people/role', { id, project: projectId, role });
    }
    await test.http.changeProject(inactive, { active: false });
    const browser = await test.signIn(email);
    expect((await ask(question(), 'live', browser)).body.projects).toEqual([{ id: own, name: 'Own' }]);
  });

  it('who is not signed in learns nothing', async () => {
    expect((await ask(question(), 'live', test.browser())).status).toBe(401);
  });
});

describe('the pages', () => {
  /** A server with the documents of the dashboard, at one address. */
  async function server(side: Mode, dashboard: AuthorizeOptions['dashboard']) {
    await mkdir(path.join(folder, 'assets'), { recursive: true });
    for (const name of ['index.html', 'till.html', 'connect.html'])
      for (const ending of ['', '.br', '.gz']) await writeFile(path.join(folder, name + ending), name);
    const assets = await loadShellAssets(folder);
    const built = test.http.build({
      side,
      dashboard: side === 'live' ? openGuard(app) : null,
      plugins: [
        ...(side === 'live' ? [dashboardRoutes(test.dashboard, assets)] : []),
        authorizeRoute({ side, dashboard }),
      ],
    });
    await built.ready();
    return (url: string, address?: string) =>
      test.http.call<Refused>(
        { path: url, headers: { host: 'localhost:4000' }, ...(address === undefined ? {} : { address }) },
        built,
      );
  }
  const OPEN = { url: DASHBOARD_URL, allowCidrs: null };

  it.each(MODES)('of the %s address lead to the page of its mode, the question unchanged', async (side) => {
    const get = await server(side, OPEN);
    const asked = `permissions=a&permissions=b&redirect=${encodeURIComponent(REDIRECT)}&x=%zz+?&y`;
    // Shopware's plugin ends the path with a slash.
    for (const place of ['/api-keys/authorize', '/api-keys/authorize/'])
      expect(await get(`${place}?${asked}`)).toMatchObject({
        status: 302,
        headers: { location: `${DASHBOARD_URL}/dashboard/connect/${side}?${asked}` },
      });
  });

  it('say so where there is no dashboard, and tell nobody its address who cannot reach it', async () => {
    const none = await server('test', null);
    expect(await none(`/api-keys/authorize?${question()}`)).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining('This service has no dashboard') } },
    });
    const limited = await server('live', { url: DASHBOARD_URL, allowCidrs: ['203.0.113.0/24'] });
    const answer = await limited(`/api-keys/authorize?${question()}`);
    expect([answer.status, answer.headers['location']]).toEqual([403, undefined]);
  });

  it('may post to the origin of their own redirect alone, and in no frame', async () => {
    const get = await server('live', OPEN);
    const policyOf = async (asked: string) => {
      const { status, text, headers } = await get(`/dashboard/connect/live?${asked}`);
      expect([status, text, headers['x-frame-options'], headers['cache-control']]).toEqual([
        200,
        'connect.html',
        'DENY',
        'no-store',
      ]);
      expect(headers['content-security-policy']).toMatch(/frame-ancestors 'none'$/);
      return /form-action ([^;]*);/.exec(headers['content-security-policy'] ?? '')?.[1];
    };
    expect(await policyOf(question())).toBe('https://shop.example');
    expect(await policyOf(question({ redirect: 'http://localhost:8080/x' }))).toBe('http://localhost:8080');
    for (const redirect of ['', 'javascript:alert(1)', "https://a;script-src 'unsafe-inline'/", 'https://*.example/'])
      expect(await policyOf(question({ redirect }))).toBe("'none'");
    expect(await policyOf(question({ permissions: ['unrestricted'] }))).toBe("'none'");
    expect((await get(`/dashboard/connect/both?${question()}`)).status).toBe(404);
  });
});
