import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createPasswordHasher,
  HashesBusyError,
  limitedTurns,
  type HashedFor,
} from '../../src/app/people/password-hash.ts';
import { deactivatePerson, invitePerson, peopleOf, resetPerson, setRole } from '../../src/app/people/people.ts';
import { signIn } from '../../src/app/people/sign-in.ts';
import { projectsOf } from '../../src/app/projects/projects.ts';
import { CONTRACT } from '../../src/http/dashboard/contract/index.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';
import { publicPaymentId } from '../../src/wire/payment.ts';
import { BEHIND_PROXY, dashboardTest, DASHBOARD_URL, PASSWORD, type DashboardTest, type Member } from '../dashboard.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());

/** Behind a proxy, so that requests can come from any address. */
const far = await dashboardTest(BEHIND_PROXY);
afterAll(() => far.http.close());

const WRONG = 'certainly not this one';

describe('guessing passwords', () => {
  it('is refused after ten wrong ones from one client, only for that client', async () => {
    const { email } = await far.join('viewer');
    const attacker = far.browser({ address: '198.51.100.1' });
    for (let guess = 0; guess < 10; guess += 1) {
      expect((await attacker.try('POST /dashboard/api/sign-in', { email, password: WRONG })).status).toBe(401);
    }
    const right = { email, password: PASSWORD };
    expect((await attacker.try('POST /dashboard/api/sign-in', right)).status).toBe(429);
    expect((await far.browser({ address: '198.51.100.2' }).try('POST /dashboard/api/sign-in', right)).status).toBe(200);
  });

  it('counts an IPv6 client by its /64', async () => {
    for (let guess = 0; guess < 10; guess += 1) {
      const address = `2001:db8:1:2::${guess + 1}`;
      const body = { email: `nobody-${guess}@shop.example`, password: WRONG };
      expect((await far.browser({ address }).try('POST /dashboard/api/sign-in', body)).status).toBe(401);
    }
    const same = far.browser({ address: '2001:db8:1:2:ffff::1' });
    const other = far.browser({ address: '2001:db8:1:3::1' });
    const body = { email: 'nobody@shop.example', password: WRONG };
    expect((await same.try('POST /dashboard/api/sign-in', body)).status).toBe(429);
    expect((await other.try('POST /dashboard/api/sign-in', body)).status).toBe(401);
  });

  it('from many clients blocks the account, but not in browsers that signed in before', async () => {
    const { email, browser } = await far.join('viewer');
    await browser.do('POST /dashboard/api/sign-out');
    for (let guess = 0; guess < 100; guess += 1) {
      const attacker = far.browser({ address: `198.51.${Math.floor(guess / 10)}.7` });
      expect((await attacker.try('POST /dashboard/api/sign-in', { email, password: WRONG })).status).toBe(401);
    }
    const right = { email, password: PASSWORD };
    expect((await far.browser({ address: '198.51.200.7' }).try('POST /dashboard/api/sign-in', right)).status).toBe(429);
    expect(await browser.do('POST /dashboard/api/sign-in', right)).toMatchObject({ state: 'signed_in' });
    // Somebody else's known browser does not circumvent it.
    const stranger = await far.join('viewer');
    expect((await stranger.browser.try('POST /dashboard/api/sign-in', right)).status).toBe(429);
  });

  it('does not count right passwords', async () => {
    const { email } = await far.join('viewer');
    for (let round = 0; round < 12; round += 1) {
      const browser = far.browser({ address: '198.51.100.77' });
      const answer = await browser.try('POST /dashboard/api/sign-in', { email, password: PASSWORD });
      expect(answer.status).toBe(200);
    }
  });

  it('gets no more guesses by sending them all at once', async () => {
    const { email } = await far.join('viewer');
    const attacker = far.browser({ address: '198.51.100.99' });
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => attacker.try('POST /dashboard/api/sign-in', { email, password: WRONG })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
  });

  it('computes a hash for unknown e-mails too, and none once guesses are refused', async () => {
    const { email } = await far.join('viewer');
    const verified: (string | null)[] = [];
    const hasher = {
      ...far.people.hasher,
      verify: (password: string, stored: string | null, whom: HashedFor) => {
        verified.push(stored);
        return far.people.hasher.verify(password, stored, whom);
      },
    };
    const client = { bucket: '192.0.2.1', ip: '192.0.2.1', userAgent: null, browserToken: null, sessionToken: null };
    const parts = { ...far.people, hasher };
    for (const each of [email, 'unknown@shop.example']) {
      expect(await signIn(parts, client, { email: each, password: WRONG })).toEqual({ kind: 'wrong' });
    }
    expect(verified).toEqual([expect.stringMatching(/^\$argon2id\$/), null]);
    for (let guess = 0; guess < 8; guess += 1) await signIn(parts, client, { email, password: WRONG });
    expect(verified).toHaveLength(10);
    expect(await signIn(parts, client, { email, password: WRONG })).toMatchObject({ kind: 'too_many' });
    expect(verified).toHaveLength(10);
  });
});

describe('sign-ins of strangers from many addresses at once', () => {
  it('hold up neither a known browser nor a session, and are refused with Retry-After', async () => {
    const own = await dashboardTest(BEHIND_PROXY);
    onTestFinished(() => own.http.close());
    const known = await own.join('owner');
    await known.browser.do('POST /dashboard/api/sign-out');
    const present = await own.join('owner');
    // From here on, a hash costs as much as in production.
    Object.assign(own.people, { hasher: createPasswordHasher(own.http.app.random, { memoryKiB: 32_768, passes: 2 }) });
    const right = { email: known.email, password: PASSWORD };
    const unknown = (index: number) => ({ email: `nobody-${index}@shop.example`, password: WRONG });
    const strangers = Array.from({ length: 60 }, (_, index) => {
      const stranger = own.browser({ address: `2001:db8:${index.toString(16)}::1` });
      return stranger.try('POST /dashboard/api/sign-in', unknown(index));
    });
    const inside = present.browser.try('POST /dashboard/api/prove', { password: PASSWORD });
    const back = known.browser.try('POST /dashboard/api/sign-in', right);
    const answers = await Promise.all(strangers);
    expect([(await inside).status, (await back).status]).toEqual([200, 200]);
    const refused = answers.filter(({ status }) => status === 503);
    expect(answers.filter(({ status }) => status === 401).length + refused.length).toBe(60);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers, body } of refused) {
      expect(headers).toMatchObject({ 'retry-after': '10', 'x-ratelimit-limit': expect.any(String) });
      expect(headers).toHaveProperty('x-ratelimit-remaining');
      expect(headers).toHaveProperty('x-ratelimit-reset');
      expect(body).toMatchObject({
        error: { type: 'service_unavailable', message: expect.stringContaining('Too many people sign in') },
      });
    }
  });

  it('count as guesses only if the password was checked', async () => {
    const { email } = await far.join('viewer');
    const busy = {
      ...far.people,
      hasher: { ...far.people.hasher, verify: () => Promise.reject(new HashesBusyError()) },
    };
    const client = { bucket: '192.0.2.9', ip: '192.0.2.9', userAgent: null, browserToken: null, sessionToken: null };
    const given = { email, password: PASSWORD };
    for (let time = 0; time < 11; time += 1) await expect(signIn(busy, client, given)).rejects.toThrow(HashesBusyError);
    expect(await signIn(far.people, client, given)).toMatchObject({ kind: 'signed_in' });
  });
});

describe('hashing', () => {
  it('gives known people priority over strangers, and otherwise keeps the order of arrival', async () => {
    const inTurn = limitedTurns();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const come = (name: string, whom: HashedFor): Promise<void> =>
      inTurn(whom, () => {
        begun.push(name);
        return new Promise((resolve) => void ends.push(resolve));
      });
    const all = ['a', 'b', 'c', 'd'].map((name) => come(name, 'stranger'));
    all.push(come('known', 'known'), come('too', 'known'));
    expect(begun).toEqual(['a', 'b']);
    for (let ended = 0; ended < all.length; ended += 1) {
      ends[ended]?.();
      await all[['a', 'b', 'c', 'd', 'known', 'too'].indexOf(begun[ended] ?? '')];
    }
    expect(begun).toEqual(['a', 'b', 'known', 'too', 'c', 'd']);
  });

  it('runs two at a time, and is refused if too many are waiting', async () => {
    let begun = 0;
    const hasher = createPasswordHasher(
      (size) => {
        begun += 1;
        return Buffer.alloc(size, begun);
      },
      { memoryKiB: 8_192, passes: 1 },
    );
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => hasher.verify('x', null, 'stranger')));
    const done = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(done).toBe(22);
  });

  it('accepts a password in every Unicode normalization form, and no other password', async () => {
    const { hasher } = test.people;
    const stored = await hasher.hash('Übergröße für alle');
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
    expect(await hasher.verify('Übergröße für alle'.normalize('NFD'), stored, 'stranger')).toBe(true);
    expect(await hasher.verify('Ubergroße für alle', stored, 'stranger')).toBe(false);
    expect(await hasher.verify('Übergröße für alle', null, 'stranger')).toBe(false);
  });

  it('is repeated at the next sign-in if its cost is outdated', async () => {
    const { id, email } = await test.join('viewer');
    const dearer = {
      ...test.people,
      hasher: createPasswordHasher(test.http.app.random, { memoryKiB: 128, passes: 1 }),
    };
    const client = { bucket: '192.0.2.8', ip: '192.0.2.8', userAgent: null, browserToken: null, sessionToken: null };
    expect(await signIn(dearer, client, { email, password: PASSWORD })).toMatchObject({ kind: 'signed_in' });
    const { db } = test.http.app;
    const row = await db.selectFrom('people').select('password_hash').where('id', '=', id).executeTakeFirstOrThrow();
    expect(row.password_hash).toContain('m=128,');
  });
});

describe("a change requested by another site's page", () => {
  it.each([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another site that says it is this one', { origin: 'https://evil.example' }],
    ['a sandboxed frame', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { origin: 'http://localhost:4001', 'sec-fetch-site': 'same-site' }],
    ['the same host by another scheme', { origin: 'https://localhost:4000', 'sec-fetch-site': 'same-site' }],
    ['a subdomain', { origin: 'http://evil.localhost:4000', 'sec-fetch-site': 'same-site' }],
    ['the right origin, which the browser denies', { 'sec-fetch-site': 'cross-site' }],
  ])('is refused: %s', async (_name, headers) => {
    const { email, browser } = await test.join('viewer');
    const answer = await browser.call({ method: 'POST', path: '/dashboard/api/account/sessions/end-all', headers });
    expect(answer).toMatchObject({ status: 403, body: { error: { type: 'permission_error' } } });
    const signIn = { method: 'POST', path: '/dashboard/api/sign-in', body: { email, password: PASSWORD }, headers };
    expect((await test.browser().call(signIn)).status).toBe(403);
    expect(await browser.session()).toMatchObject({ state: 'signed_in' });
  });

  it('is refused if neither header names its origin', async () => {
    const answer = await test.http.call(
      { side: 'live', method: 'POST', path: '/dashboard/api/sign-out', headers: { host: 'localhost:4000' } },
      (await fresh()).server,
    );
    expect(answer.status).toBe(403);
  });
});

/** A second dashboard on the same application. */
async function fresh() {
  const { dashboardRoutes } = await import('../../src/http/dashboard/routes.ts');
  const server = test.http.build({
    side: 'live',
    dashboard: { app: test.http.app, allowed: null, origin: DASHBOARD_URL, behindProxy: false },
    plugins: [dashboardRoutes(test.dashboard, null)],
  });
  await server.ready();
  return { server };
}

describe('bodies', () => {
  it.each([
    ['10 MB of text', JSON.stringify({ email: 'a@b.example', password: 'x'.repeat(10_000_000) }), 'at most 64 KiB'],
    [
      'a password of 60,000 characters',
      JSON.stringify({ email: 'a@b.example', password: 'x'.repeat(60_000) }),
      'at most 1024',
    ],
    ['no e-mail', JSON.stringify({ password: 'x' }), 'email is required'],
    ['a list', '[]', 'must be a JSON object'],
    ['a number for the password', JSON.stringify({ email: 'a@b.example', password: 1 }), 'password must be text'],
    ['NUL in the password', JSON.stringify({ email: 'a@b.example', password: 'a\0b' }), 'without NUL'],
    ['what is no JSON', '{', 'not valid JSON'],
  ])('%s is refused with a clear sentence', async (_name, body, sentence) => {
    const answer = await test.browser().call({ method: 'POST', path: '/dashboard/api/sign-in', body });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', message: expect.stringContaining(sentence) } },
    });
  });
});

describe('a query', () => {
  const READS = Object.keys(CONTRACT).filter((name) => name.startsWith('GET '));

  it.each(READS)('of %s with a parameter that is not there is refused, and named', async (name) => {
    const { browser } = await test.join('owner');
    const id = publicPaymentId(await test.http.app.pay());
    const path = name
      .replace('GET ', '')
      .replace(':project', test.http.app.projectId)
      .replace(':mode', 'test')
      .replace(':payment', id);
    for (const query of ['limt=5', 'limt', '__proto__=1', 'limt=1&limt=2']) {
      const { status, body } = await browser.call({ path: `${path}?${query}` });
      const [param] = query.split('=');
      const message = expect.stringContaining(`There is no parameter ${param} here`);
      expect([query, status, body]).toEqual([query, 400, { error: { type: 'invalid_request_error', param, message } }]);
    }
  });

  it('of a change is refused as well, and nothing is changed', async () => {
    const { browser } = await test.join('owner');
    const path = '/dashboard/api/projects?dry_run=true';
    const { status, body } = await browser.call({ method: 'POST', path, body: { name: 'Not made' } });
    expect([status, body]).toMatchObject([400, { error: { param: 'dry_run' } }]);
    expect((await projectsOf(test.http.app)).map((project) => project.name)).not.toContain('Not made');
  });
});

describe('a body', () => {
  it('with a field that is not there is refused, and nothing is done', async () => {
    const { browser } = await test.join('owner');
    const id = publicPaymentId(await test.http.app.pay());
    const base = `/dashboard/api/projects/${test.http.app.projectId}/test`;
    const refund = { asset: 'BTC', network: 'bitcoin', request: 'a-request', crypto_amout: '0.0001' };
    for (const [path, body, param] of [
      [`${base}/payments/${id}/refunds`, refund, 'crypto_amout'],
      [
        `${base}/payments`,
        { amount: '5', currency: 'USD', request: 'a-request', success_url: 'https://a.example' },
        'success_url',
      ],
      ['/dashboard/api/projects', { name: 'Not made', nmae: 'x' }, 'nmae'],
      [`${base}/payments/export`, { format: 'csv', columns: ['id'], stauts: 'x' }, 'stauts'],
    ] as const) {
      const { status, body: answer } = await browser.call({ method: 'POST', path, body });
      const message = expect.stringContaining(`There is no field ${param} here`);
      expect([path, status, answer]).toEqual([path, 400, { error: { type: 'invalid_request_error', param, message } }]);
    }
    expect((await projectsOf(test.http.app)).map((project) => project.name)).not.toContain('Not made');
  });
});

describe('a body over its limit', () => {
  it('is refused with the limit of its own route', async () => {
    const { browser } = await test.join('owner');
    const base = `/dashboard/api/projects/${test.http.app.projectId}/test`;
    for (const [path, bytes, limit] of [
      [`${base}/signing`, 70_000, '64 KiB'],
      [`${base}/signing/send`, 2_200_000, '2,100,000 bytes'],
    ] as const) {
      const { status, body } = await browser.call({ method: 'POST', path, body: { signed: 'a'.repeat(bytes) } });
      expect([status, body]).toMatchObject([400, { error: { message: `The body must be at most ${limit}.` } }]);
    }
  });
});

describe('cookies', () => {
  it('are HttpOnly and SameSite=Lax; over HTTPS they are Secure and bound to this host by a prefix', async () => {
    const { email } = await test.join('viewer');
    const body = { email, password: PASSWORD };
    const plain = await test.browser().try('POST /dashboard/api/sign-in', body);
    for (const cookie of plain.setCookies) {
      expect(cookie).toMatch(/^cointill_\w+=[^;]*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
    }
    const browser = far.browser();
    const cookies = (
      await browser.try('POST /dashboard/api/sign-in', { ...body, email: (await far.join('viewer')).email })
    ).setCookies;
    expect(cookies.some((cookie) => cookie.startsWith('__Host-cointill_session='))).toBe(true);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__Host-cointill_\w+=[^;]*; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
    }
    // A cookie without the prefix could have been planted by a sibling domain, and is ignored.
    const planted = far.browser();
    const token = browser.cookies.get('__Host-cointill_session') ?? '';
    planted.cookies.set('cointill_session', token);
    expect(await planted.session()).toMatchObject({ state: 'signed_out' });
    planted.cookies.set('__Host-cointill_session', token);
    expect(await planted.session()).toMatchObject({ state: 'signed_in' });
  });
});

describe('the dashboard', () => {
  it('can be reached only from DASHBOARD_ALLOW_CIDRS', async () => {
    const limited = await dashboardTest({ ...BEHIND_PROXY, allowCidrs: ['10.0.0.0/8', '2001:db8::/32'] });
    onTestFinished(() => limited.http.close());
    for (const [address, status] of [
      ['10.1.2.3', 200],
      ['2001:db8::7', 200],
      ['::ffff:10.1.2.3', 200],
      ['203.0.113.1', 403],
      ['2001:db9::7', 403],
      ['not an address', 403],
    ] as const) {
      const answer = await limited.browser({ address }).try('GET /dashboard/api/session');
      const isRefused = answer.text.includes('DASHBOARD_ALLOW_CIDRS');
      expect([address, answer.status, isRefused]).toEqual([address, status, status === 403]);
    }
  });

  it('can be reached only over HTTPS or from this machine', async () => {
    const headers = { 'x-forwarded-proto': 'http' };
    const answer = await far.browser({ headers }).try('GET /dashboard/api/session');
    expect(answer).toMatchObject({ status: 403, body: { error: { type: 'https_required' } } });
  });
});

describe('the rate limit', () => {
  let member: Member;
  let limited: DashboardTest;
  beforeAll(async () => {
    limited = await dashboardTest({
      limits: createRateLimits({ test: 1_000, live: 1_000, page: 5, dashboard: 7 }, null),
    });
    member = await limited.join('viewer');
  });
  afterAll(() => limited.http.close());

  it('counts each session separately, and people who are not signed in by their address', async () => {
    const stranger = limited.browser();
    // Creating the account counted for the same address.
    for (let left = 3; left >= 0; left -= 1) {
      const answer = await stranger.try('GET /dashboard/api/session');
      expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': String(left) });
    }
    expect(await stranger.try('GET /dashboard/api/session')).toMatchObject({
      status: 429,
      body: { error: { type: 'rate_limit_error' } },
    });
    for (let left = 6; left >= 0; left -= 1) {
      const answer = await member.browser.try('GET /dashboard/api/session');
      expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': '7', 'x-ratelimit-remaining': String(left) });
    }
    expect((await member.browser.try('GET /dashboard/api/session')).status).toBe(429);
  });

  it('counts what is at no route of its API like what is: by session, otherwise by address', async () => {
    const { browser } = await test.join('viewer');
    const known = await browser.try('GET /dashboard/api/session');
    const left = Number(known.headers['x-ratelimit-remaining']);
    const nowhere = await browser.call({ path: '/dashboard/api/nowhere' });
    expect([nowhere.status, nowhere.headers]).toMatchObject([
      404,
      { 'x-ratelimit-limit': known.headers['x-ratelimit-limit'], 'x-ratelimit-remaining': String(left - 1) },
    ]);
    const stranger = test.browser();
    const counted = await stranger.try('GET /dashboard/api/session');
    const lost = await stranger.call({ path: '/dashboard/api/nowhere' });
    expect(Number(lost.headers['x-ratelimit-remaining'])).toBe(Number(counted.headers['x-ratelimit-remaining']) - 1);
  });
});

describe('the last owner', () => {
  it('cannot be deactivated or given another role, not even by two owners at once', async () => {
    const own = await dashboardTest();
    onTestFinished(() => own.http.close());
    const [one, two] = [await own.join('owner'), await own.join('owner')];
    const demote = (by: Member, whom: Member) =>
      by.browser.try('POST /dashboard/api/people/role', { id: whom.id, role: 'viewer' });
    const answers = await Promise.all([demote(one, two), demote(two, one)]);
    expect(answers.every(({ status }) => status === 200)).toBe(false);
    const left = answers[0].status === 200 ? one : two;
    for (const [name, body] of [
      ['POST /dashboard/api/people/role', { id: left.id, role: 'admin' }],
      ['POST /dashboard/api/people/deactivate', { id: left.id }],
    ] as const) {
      const answer = await left.browser.call({ method: 'POST', path: name.slice(5), body });
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining('last owner') } },
      });
    }
  });

  it('stays owner when commands would change that, with the same message, and after being invited again', async () => {
    const own = await dashboardTest();
    onTestFinished(() => own.http.close());
    const { app } = own.http;
    const { id, email, browser } = await own.join('owner');
    const answer = await browser.try('POST /dashboard/api/people/deactivate', { id });
    const { message } = (answer.body as { readonly error: { readonly message: string } }).error;
    expect(message).toContain('last owner');
    // What it takes to make another one is on the page; the commands name theirs.
    const refused = { kind: 'rejected', message: expect.stringContaining(message.replace(/\.$/, '')) };
    // An open invitation does not count as another owner, and can be revoked.
    const invited = 'typo@shop.example';
    await invitePerson(app, DASHBOARD_URL, { email: invited, role: 'owner', projectId: null });
    for (const role of [null, 'admin'] as const) {
      expect(await setRole(app, { email }, { role, projectId: null })).toMatchObject(refused);
    }
    expect(await deactivatePerson(app, { email })).toMatchObject(refused);
    expect(await deactivatePerson(app, { email: invited })).toMatchObject({ kind: 'done' });
    // They are still the last owner while they have no password.
    await resetPerson(app, DASHBOARD_URL, { email });
    expect(await deactivatePerson(app, { email })).toMatchObject(refused);
    const again = await invitePerson(app, DASHBOARD_URL, { email, role: 'viewer', projectId: null });
    expect(again).toMatchObject(refused);
    expect((await peopleOf(app)).find((one) => one.id === id)?.memberships).toEqual([
      { projectId: null, role: 'owner' },
    ]);
  });
});
