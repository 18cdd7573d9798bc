import { crc32 } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { BodyOf } from '../../src/http/dashboard/contract.ts';
import type { SettingsView } from '../../src/http/dashboard/settings/contract.ts';
import { dashboardTest } from '../dashboard.ts';
import { createEndpoint } from '../../src/app/webhooks/webhook-endpoints.ts';
import { EXPORTED_TABLES } from '../../src/store/projects/project-export.ts';
import { TABLES } from '../../src/store/tables.ts';

const test = await dashboardTest();
const { app } = test.http;
const owner = await test.join('owner');
const admin = await test.join('admin');
let { browser } = owner;
afterAll(() => test.http.close());
// Minutes pass in some tests, and reauthentications grow old.
beforeEach(async () => {
  browser = await test.signIn(owner.email);
});

/** 32 × 16 pixels, as a browser wrote them. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAQCAYAAAB3AH1ZAAAALElEQVR4AezQMQ0AAAgDQcKKRCTgfwYZLNek++eypvfzGc8TQIAAAQIECBwAAAD//9pSEnYAAAAGSURBVAMAges6IS/wS1YAAAAASUVORK5CYII=',
  'base64',
);

/** 16 × 16 pixels. */
const ICON =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4JBFNEmIY1TCqYfhqAACtxzUQmObIOwAAAABJRU5ErkJggg==';

/** The tables of a project that its file omits. */
const NOT_EXPORTED = {
  project_logos: 'a picture, which its page serves',
  project_icons: 'a picture, which its page serves',
  logo_drafts: 'kept for an hour',
  attention_occurrences: 'follows from the payments',
  payment_figures: 'follows from the payments',
  payment_day_counts: 'follows from the payments',
  completion_times: 'follows from the payments',
  transaction_counters: 'follows from the payments',
  invoice_counters: 'follows from the invoices',
  deposit_balances: 'read from the chain again and again',
  deposit_checks: 'read from the chain again and again',
  idempotency_keys: 'kept for a day',
  api_requests: 'kept for 30 days',
  api_request_counts: 'kept for 30 days',
  delivery_retries: 'kept for a week',
  event_heads: 'follows from the positions',
  memberships: 'people are of the service',
  project_notifications: 'people are of the service',
  mail_unsubscribes: 'people are of the service',
  customer_refusals: 'hashes of addresses, of which nobody could learn anything',
  customer_refusal_links: 'lets customers refuse more mails',
} as const satisfies { readonly [Name in keyof typeof TABLES]?: string };

const SETTINGS = 'POST /dashboard/api/projects/:project/settings';
type Fields = BodyOf<typeof SETTINGS>;
const pathOf = (projectId: string, part = '') => `/dashboard/api/projects/${projectId}/settings${part}`;
const EMPTY = {
  name: 'Shop',
  accent: '',
  support_url: '',
  page_text: '',
  terms_url: '',
  imprint_url: '',
  default_expiry_minutes: '',
  default_currency: '',
  default_success_url: '',
};

const read = async (projectId: string): Promise<SettingsView> =>
  (await browser.call<SettingsView>({ path: pathOf(projectId) })).body;
const post = <Body = SettingsView>(projectId: string, part: string, body?: unknown, by = browser) =>
  by.call<Body>({ method: 'POST', path: pathOf(projectId, part), ...(body === undefined ? {} : { body }) });
const save = async (projectId: string, fields: Partial<Fields>) =>
  post(projectId, '', { ...EMPTY, version: (await read(projectId)).version, ...fields });
const preview = (projectId: string, fields: object) => {
  const { default_expiry_minutes: _expiry, default_currency: _currency, default_success_url: _url, ...page } = EMPTY;
  return post<{ html: string; icon: string }>(projectId, '/preview', { ...page, language: 'en', ...fields });
};
const entries = (projectId: string) =>
  app.db
    .selectFrom('audit_log')
    .select(['action', 'before', 'after'])
    .where('project_id', '=', projectId)
    .where('actor_name', '=', owner.email)
    .orderBy('id')
    .execute();

describe('settings', () => {
  it('are saved in one way of writing, audited by what changed, and taken away by an empty text', async () => {
    const { projectId } = await test.http.shop();
    const fields = {
      name: ' Northwind ',
      accent: '#0B6B5B',
      support_url: 'help@shop.example',
      page_text: ' Open Mon–Fri 9–17, <b>متجر\u200f 5</b> ',
      terms_url: 'HTTPS://Shop.example/terms',
      imprint_url: 'https://shop.example/imprint',
      logo: PNG.toString('base64'),
      icon: ICON,
      default_expiry_minutes: '45',
      default_currency: 'EUR',
      default_success_url: 'https://Shop.example/thanks',
    };
    const { body } = await save(projectId, fields);
    expect(body).toMatchObject({
      name: 'Northwind',
      accent: '0b6b5b',
      support_url: 'mailto:help@shop.example',
      page_text: 'Open Mon–Fri 9–17, <b>متجر\u200f 5</b>',
      terms_url: 'https://shop.example/terms',
      imprint_url: 'https://shop.example/imprint',
      logo: { width: 32, height: 16 },
      icon: { width: 16, height: 16 },
      default_expiry_minutes: 45,
      default_currency: 'EUR',
      default_success_url: 'https://shop.example/thanks',
    });
    const [entry] = await entries(projectId);
    expect(entry).toMatchObject({ action: 'project.change', after: { name: 'Northwind', default_currency: 'EUR' } });
    expect(entry).toMatchObject({ after: { terms_url: 'https://shop.example/terms', icon: expect.anything() } });
    // A picture that is left out stays.
    const left = { accent: null, default_currency: null, page_text: null, terms_url: null, imprint_url: null };
    expect((await save(projectId, {})).body).toMatchObject({ ...left, logo: {}, icon: {} });
    expect((await save(projectId, { logo: null })).body).toMatchObject({ logo: null, icon: {} });
    expect((await save(projectId, { icon: null })).body.icon).toBeNull();
  });

  it('that somebody else changed meanwhile, wherever, are not overwritten', async () => {
    const { projectId } = await test.http.shop();
    const { version } = await read(projectId);
    await test.http.changeProject(projectId, { supportUrl: 'https://shop.example/help' });
    const refused = await post(projectId, '', { ...EMPTY, name: 'Mine', version });
    expect(refused).toMatchObject({ status: 409, body: { error: { type: 'conflict_error' } } });
    expect(await read(projectId)).toMatchObject({ name: 'Shop', support_url: 'https://shop.example/help' });
  });

  const LONG = `https://shop.example/${'a'.repeat(2_048)}`;
  it.each([
    ['name', ['', ' ', 'two\r\nSet-Cookie: a=b', 'a'.repeat(101), '\u200b', 'NUL \0']],
    ['accent', ['red', '#fff', '#0b6b5b;}body{display:none', 'url(x)', '#0b6b5bff']],
    [
      'support_url',
      ['javascript:alert(1)', ' java\nscript:alert(1)', 'data:text/html,x', '/help', 'https://a:b@shop.example/', LONG],
    ],
    [
      'default_success_url',
      ['javascript:alert(1)', 'mailto:a@shop.example', 'https://shop.example@evil.example/', 'https://a\\b/', LONG],
    ],
    [
      'page_text',
      ['a'.repeat(201), 'a'.repeat(5_000), 'two\nlines', '\u200b', 'Open \u202eevil', 'a\u2067b', 'ESC \x1b[2J'],
    ],
    ...(['terms_url', 'imprint_url'] as const).map(
      (param) =>
        [
          param,
          [
            'http://shop.example/',
            'mailto:a@shop.example',
            'javascript:alert(1)',
            '/terms',
            'https://a:b@shop.example/',
            LONG,
          ],
        ] as const,
    ),
    ['default_expiry_minutes', ['0', '1441', '-5', '1.5', '30 minutes', '1e2']],
    ['default_currency', ['XXX', 'usd;']],
  ] as const)('refuse every %s that would be unsafe or means nothing, and name the field', async (param, values) => {
    const { projectId } = await test.http.shop();
    for (const value of values) {
      const answer = await save(projectId, { [param]: value });
      expect({ value, status: answer.status, body: answer.body }).toMatchObject({
        value,
        status: 400,
        body: { error: { param, message: expect.not.stringContaining('--') } },
      });
    }
    expect(await read(projectId)).toMatchObject({ name: 'Shop', support_url: null, accent: null, page_text: null });
  });

  it('refuse an icon that is not square, and two of the largest pictures together are not too large', async () => {
    const { projectId } = await test.http.shop();
    const wide = await save(projectId, { icon: PNG.toString('base64') });
    const message = 'The file is 32 × 16 pixels, but an icon must be square. Crop the picture.';
    expect(wide).toMatchObject({ status: 400, body: { error: { param: 'icon', message } } });
    const large = Buffer.alloc(65_537).toString('base64');
    expect(await save(projectId, { logo: large, icon: large })).toMatchObject({
      status: 400,
      body: { error: { param: 'logo', message: expect.stringContaining('larger than 64 KiB') } },
    });
  });

  it('take a logo of the largest size that a logo may have, also in the preview', async () => {
    const { projectId } = await test.http.shop();
    const MAX_BYTES = 65_536;
    // A comment that fills the space behind the header of the picture, between its own length, name and checksum.
    const head = 33;
    const data = Buffer.alloc(MAX_BYTES - PNG.length - 12, 'a');
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    const named = Buffer.concat([Buffer.from('tEXt'), data]);
    checksum.writeUInt32BE(crc32(named));
    const logo = Buffer.concat([PNG.subarray(0, head), length, named, checksum, PNG.subarray(head)]);
    expect(logo).toHaveLength(MAX_BYTES);
    const given = { logo: logo.toString('base64') };
    expect((await preview(projectId, given)).status).toBe(200);
    expect(await save(projectId, given)).toMatchObject({ status: 200, body: { logo: { width: 32, height: 16 } } });
  });

  it('preview the page with what is not saved, escaped, without a script, and with a logo for an hour', async () => {
    const { projectId } = await test.http.shop();
    const name = '"><script>alert(1)</script>';
    const logo = PNG.toString('base64');
    const { body } = await preview(projectId, {
      name,
      accent: '#ffd400',
      support_url: 'https://x.example/?"><b>',
      logo,
    });
    expect(body.html).toContain('&quot;&gt;&lt;script&gt;alert(1)');
    expect(body.html).toContain('/assets/accent.ffd400.css');
    expect(body.html).not.toMatch(/<script|<noscript|"><b>|http-equiv/);
    expect(body.icon).toMatch(/^data:image/);
    const words = {
      page_text: '<i>Open</i> 9–17',
      terms_url: 'https://x.example/t',
      imprint_url: 'https://x.example/i',
    };
    const worded = (await preview(projectId, { ...words, icon: ICON })).body;
    expect(worded.html).toContain('&lt;i&gt;Open&lt;/i&gt; 9&#8211;17');
    expect(worded.html).toContain('href="https://x.example/t" rel="noopener noreferrer"');
    expect((await browser.call({ path: worded.icon })).headers).toMatchObject({ 'content-type': 'image/png' });
    expect((await read(projectId)).logo).toBeNull();
    const [, path = ''] = /<img class="logo" src="([^"]+)"/.exec(body.html) ?? [];
    const picture = await browser.call({ path });
    expect(picture).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
      },
    });
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString('base64');
    expect(await preview(projectId, { logo: svg })).toMatchObject({ status: 400, body: { error: { param: 'logo' } } });
    app.clock.advance(60 * 60_000 + 1);
    browser = await test.signIn(owner.email);
    await preview((await test.http.shop()).projectId, { logo });
    expect((await browser.call({ path })).status).toBe(404);
  });

  it('give payments what their creation leaves out, and nothing where it says otherwise', async () => {
    const shop = await test.http.shop();
    await save(shop.projectId, { default_expiry_minutes: '45', default_success_url: 'https://shop.example/thanks' });
    await test.http.changeProject(shop.projectId, {});
    const order = { amount: 25, currency: 'USD', crypto_currency: 'BTC' };
    const lives = ({ created_at, expires_at }: Readonly<Record<string, unknown>>): number =>
      (Date.parse(String(expires_at)) - Date.parse(String(created_at))) / 60_000;
    const readOrder = async (given: object) => {
      const made = await shop.call({ method: 'POST', path: '/v1/orders', body: { ...order, ...given } });
      return (await shop.call({ path: `/v1/orders/${made.body.id}` })).body;
    };
    const silent = await readOrder({});
    expect([lives(silent), silent['return_url']]).toEqual([45, 'https://shop.example/thanks']);
    const said = await readOrder({ expires_in: 120, success_url: 'https://other.example/' });
    expect([lives(said), said['return_url']]).toEqual([2, 'https://other.example/']);
    const made = await shop.call({ method: 'POST', path: '/api/transactions/create', body: { amount: 5 } });
    expect([lives(made.body.transaction), made.body.transaction['success_url']]).toEqual([
      45,
      'https://shop.example/thanks',
    ]);
    // The currency stays required: the default is only for the form here.
    const refused = await shop.call({ method: 'POST', path: '/v1/orders', body: { ...order, currency: undefined } });
    expect(refused.status).toBe(400);
  });
});

describe('a project that is deactivated', () => {
  it('says before what stops, wants its name typed, refuses its keys, and asks customers for no money', async () => {
    const shop = await test.http.shop();
    const { projectId } = shop;
    const made = await shop.call({ method: 'POST', path: '/api/transactions/create', body: { amount: 5 } });
    const { id } = made.body.transaction;
    const stops = (await browser.call({ path: pathOf(projectId, '/stops') })).body;
    expect(stops).toMatchObject({ test: { open_payments: 1, keys: 1, endpoints: 0 }, live: { open_payments: 0 } });
    const wrong = await post(projectId, '/deactivate', { name: 'shop' });
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'name' } } });
    expect((await post(projectId, '/deactivate', { name: 'Shop' }, admin.browser)).status).toBe(403);
    expect(await post(projectId, '/deactivate', { name: (await read(projectId)).name })).toMatchObject({
      status: 200,
      body: { is_active: false },
    });
    await test.http.changeProject(projectId, {});

    const refused = await shop.call({ method: 'POST', path: '/api/transactions/create', body: { amount: 5 } });
    expect(refused).toMatchObject({ status: 403, body: { message: 'The project is not active.' } });
    const page = await test.http.call({ path: `/pay/${id}` });
    expect(page.text).toContain('This shop is not taking payments');
    const token = await test.http.call({
      method: 'POST',
      path: `/pay/${id}/token`,
      body: 'asset=BTC',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(token.status).toBe(400);
    const byHand = await browser.call({
      method: 'POST',
      path: `/dashboard/api/projects/${projectId}/test/payments`,
      body: { request: 'request-1', amount: '5', currency: 'USD', expires_in_minutes: 30 },
    });
    expect(byHand).toMatchObject({ status: 409, body: { error: { type: 'conflict_error' } } });
    expect((await app.read(id)).status).toBe('created');

    app.clock.advance(1);
    expect((await post(projectId, '/activate')).body.is_active).toBe(true);
    await test.http.changeProject(projectId, {});
    expect((await test.http.call({ path: `/pay/${id}` })).text).not.toContain('This shop is not taking payments');
    expect((await entries(projectId)).map(({ action }) => action)).toEqual(['project.deactivate', 'project.activate']);
  });
});

describe('the file of a project', () => {
  it('has everything of it at one moment, none of its secrets, and nothing of another', async () => {
    const shop = await test.http.shop();
    const { projectId } = shop;
    const policyOf = () => ({ mode: 'test', production: false, allowCidrs: [] }) as const;
    const hook = {
      projectId,
      mode: 'test',
      url: 'https://shop.example/hook?token=hushhush',
      events: 'order.created',
    } as const;
    const made = await createEndpoint(app, [Buffer.alloc(32, 7)], policyOf, hook);
    if (made.kind !== 'done') throw new Error(made.code);
    const key = await shop.key();
    await shop.call({
      method: 'POST',
      path: '/v1/orders',
      body: { amount: 25, currency: 'USD', crypto_currency: 'BTC', description: 'a "b"\n\\c\u2028' },
    });
    await app.pay({ projectId: (await test.http.shop()).projectId, description: 'not mine' });
    await sql`insert into saved_views (id, project_id, person_id, name, query, shared, version, created_at, changed_at)
      select gen_random_uuid(), ${projectId}, ${owner.id}, name, '', shared, 1, now(), now()
      from (values ('of all', true), ('of one person', false)) as v (name, shared)`.execute(app.db);
    const { text } = await post(projectId, '/export', {});
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const counts = Object.fromEntries(
      [...Map.groupBy(lines.slice(0, -1), ({ record }) => String(record))].map(([record, all]) => [record, all.length]),
    );
    expect(lines.at(-1)).toMatchObject({ record: 'end', counts: expect.objectContaining(counts) });
    expect(counts).toMatchObject({ project: 1, key: 1, webhook_endpoint: 1, payment: 1, event: 1, view: 1 });
    expect(text).not.toContain('of one person');
    const payment = lines.find(({ record }) => record === 'payment');
    expect(payment).toMatchObject({ amount_minor: '2500', description: 'a "b"\n\\c\u2028', project_id: projectId });
    expect(text).not.toContain('not mine');
    const secrets = await app.db
      .selectFrom('webhook_endpoints')
      .select('secret')
      .where('project_id', '=', projectId)
      .execute();
    expect(secrets).toHaveLength(1);
    expect(text).not.toContain(made.secret);
    for (const { secret } of secrets) expect(text).not.toContain(secret.toString('hex'));
    expect(text).not.toContain(key.slice(8));
    // Some carry a token there.
    expect(lines.find(({ record }) => record === 'webhook_endpoint')).toMatchObject({
      url: 'https://shop.example/hook?…',
    });
    expect(text).not.toContain('hushhush');
    expect(text).not.toMatch(/"(?:hash|secret|previous_secret|password_hash)":/);
    expect((await entries(projectId)).map(({ action }) => action)).toEqual(['project.export']);
  });

  it('has every table of a project but those that say why not', () => {
    const exported = new Set(EXPORTED_TABLES.map(({ table }) => table));
    const left = Object.entries(TABLES).filter(
      ([name, columns]) => 'project_id' in columns && !exported.has(name as keyof typeof TABLES),
    );
    expect(left.map(([name]) => name).toSorted()).toEqual(Object.keys(NOT_EXPORTED).toSorted());
  });

  it('asks for reauthentication, as everything that cannot be taken back does', async () => {
    const { projectId } = await test.http.shop();
    app.clock.advance(11 * 60_000);
    for (const [part, body] of [
      ['/export', {}],
      ['/deactivate', { name: 'Shop' }],
      ['/customer-data/delete', { email: 'a@b.example', after: null }],
    ] as const) {
      expect(await post(projectId, part, body)).toMatchObject({
        status: 403,
        body: { error: { type: 'reauthentication_required' } },
      });
    }
  });
});
