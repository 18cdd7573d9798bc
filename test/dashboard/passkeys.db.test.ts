import { sql } from 'kysely';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { listPasskeys } from '../../src/store/people/factors.ts';
import { lockPerson } from '../../src/store/people/people.ts';
import { deleteSessions } from '../../src/store/people/sessions.ts';
import { createAuthenticator, type Authenticator, type Lies } from '../authenticator.ts';
import { dashboardTest, DASHBOARD_URL, PASSWORD, signedIn, type Browser, type Member } from '../dashboard.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());
const { clock } = test.http;

interface Holder extends Member {
  readonly passkey: Authenticator;
}

async function holder(): Promise<Holder> {
  const member = await test.join('viewer');
  const passkey = createAuthenticator(DASHBOARD_URL);
  const { options } = await member.browser.do('POST /dashboard/api/account/passkeys/options');
  expect(options).toMatchObject({ rp: { id: 'localhost' }, user: { name: member.email } });
  const body = { name: ' My laptop ', response: passkey.register(options) };
  const added = await member.browser.do('POST /dashboard/api/account/passkeys/add', body);
  expect(added).toMatchObject({ passkey: { name: 'My laptop' }, recovery_codes: expect.any(Array) });
  return { ...member, passkey };
}

/** Tries to sign in without a password. */
async function signInAlone(browser: Browser, passkey: Authenticator, lies?: Lies): Promise<number> {
  const { options } = await browser.do('POST /dashboard/api/sign-in/passkey/options');
  const response = passkey.answer(options, lies);
  return (await browser.try('POST /dashboard/api/sign-in/passkey', { response })).status;
}

describe('a passkey', () => {
  it('signs in without a password, and is listed with its last use', async () => {
    const { passkey, browser, email } = await holder();
    const other = test.browser();
    expect(await signInAlone(other, passkey)).toBe(200);
    expect(signedIn(await other.session()).person.email).toBe(email);
    const { data } = await browser.do('GET /dashboard/api/account/passkeys');
    expect(data).toEqual([expect.objectContaining({ name: 'My laptop', last_used_at: expect.any(String) })]);
  });

  it('completes a sign-in by password, only for its own person', async () => {
    const [one, two] = [await holder(), await holder()];
    const browser = test.browser();
    const first = await browser.do('POST /dashboard/api/sign-in', { email: one.email, password: PASSWORD });
    expect(first).toMatchObject({ state: 'second_factor', factors: ['passkey', 'recovery_code'] });
    const foreign = await browser.do('POST /dashboard/api/sign-in/passkey/options');
    expect(foreign.options['allowCredentials']).toEqual([expect.objectContaining({ id: one.passkey.id })]);
    const wrong = { response: two.passkey.answer(foreign.options) };
    expect((await browser.try('POST /dashboard/api/sign-in/passkey', wrong)).status).toBe(401);
    const { options } = await browser.do('POST /dashboard/api/sign-in/passkey/options');
    // A key without a PIN proves possession, which is enough beside the password.
    const response = one.passkey.answer(options, { isVerified: false });
    expect(await browser.do('POST /dashboard/api/sign-in/passkey', { response })).toMatchObject({ state: 'signed_in' });
  });

  it.each<[string, Lies]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['another port', { origin: 'http://localhost:4001' }],
    ['another host', { host: 'evil.example' }],
    ['another challenge', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
    ['another key', { otherKey: true }],
    ['nobody who proved to be its holder', { isVerified: false }],
  ])('does not sign in alone for %s', async (_name, lies) => {
    const { passkey } = await holder();
    expect(await signInAlone(test.browser(), passkey, lies)).toBe(401);
  });

  it('is refused if its counter shows that it was copied', async () => {
    const { passkey } = await holder();
    expect(await signInAlone(test.browser(), passkey, { counter: 10 })).toBe(200);
    expect(await signInAlone(test.browser(), passkey, { counter: 10 })).toBe(401);
  });

  it('can answer a challenge once, in the same browser, for five minutes', async () => {
    const { passkey } = await holder();
    const browser = test.browser();
    const { options } = await browser.do('POST /dashboard/api/sign-in/passkey/options');
    const response = passkey.answer(options);
    expect((await test.browser().try('POST /dashboard/api/sign-in/passkey', { response })).status).toBe(401);
    const copy = test.browser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    expect((await browser.try('POST /dashboard/api/sign-in/passkey', { response })).status).toBe(200);
    expect((await copy.try('POST /dashboard/api/sign-in/passkey', { response })).status).toBe(401);
  });

  it('is accepted as reauthentication, but not with a challenge for another purpose', async () => {
    const { passkey, browser } = await holder();
    clock.advance(10 * 60_000);
    const { options } = await browser.do('POST /dashboard/api/reauthenticate/passkey');
    await browser.do('POST /dashboard/api/reauthenticate', { passkey: passkey.answer(options) });
    const adding = await browser.do('POST /dashboard/api/account/passkeys/options');
    const answer = { passkey: passkey.answer(adding.options) };
    expect((await browser.try('POST /dashboard/api/reauthenticate', answer)).status).toBe(400);
  });

  it.each(['   ', '\u202E\u200B', ''])('needs a name that can be seen, which %j is not', async (name) => {
    const member = await test.join('viewer');
    const { options } = await member.browser.do('POST /dashboard/api/account/passkeys/options');
    const body = { name, response: createAuthenticator(DASHBOARD_URL).register(options) };
    const answer = await member.browser.try('POST /dashboard/api/account/passkeys/add', body);
    expect([answer.status, answer.body]).toMatchObject([400, { error: { param: 'name' } }]);
    // The passkey itself is good: with a name it is taken.
    const named = { ...body, name: 'My laptop' };
    expect((await member.browser.try('POST /dashboard/api/account/passkeys/add', named)).status).toBe(200);
  });

  it('cannot sign in after it is removed, and its session elsewhere ends', async () => {
    const { passkey, browser, email } = await holder();
    const elsewhere = test.browser();
    expect(await signInAlone(elsewhere, passkey)).toBe(200);
    const { data } = await browser.do('GET /dashboard/api/account/passkeys');
    const stranger = await test.join('owner');
    const id = data[0]?.id ?? '';
    expect((await stranger.browser.try('POST /dashboard/api/account/passkeys/remove', { id })).status).toBe(404);
    await browser.do('POST /dashboard/api/account/passkeys/remove', { id });
    expect(await elsewhere.session()).toMatchObject({ state: 'signed_out' });
    expect(await browser.session()).toMatchObject({ state: 'signed_in' });
    expect(await signInAlone(test.browser(), passkey)).toBe(401);
    const alone = await test.browser().do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
    expect(alone).toMatchObject({ state: 'signed_in' });
  });

  it('cannot sign in after its person is deactivated', async () => {
    const { passkey, id } = await holder();
    const owner = await test.join('owner');
    await owner.browser.do('POST /dashboard/api/people/deactivate', { id });
    expect(await signInAlone(test.browser(), passkey)).toBe(401);
  });

  it('can be added only for this origin and challenge, and once, which ends all other sessions', async () => {
    const { browser, email } = await test.join('viewer');
    const elsewhere = await test.signIn(email);
    const passkey = createAuthenticator(DASHBOARD_URL);
    const add = async (lies?: Lies): Promise<number> => {
      const { options } = await browser.do('POST /dashboard/api/account/passkeys/options');
      const body = { name: 'Key', response: passkey.register(options, lies) };
      return (await browser.try('POST /dashboard/api/account/passkeys/add', body)).status;
    };
    expect(await add({ origin: 'https://evil.example' })).toBe(400);
    expect(await add({ challenge: 'AAAA' })).toBe(400);
    expect(await elsewhere.session()).toMatchObject({ state: 'signed_in' });
    expect(await add()).toBe(200);
    expect(await elsewhere.session()).toMatchObject({ state: 'signed_out' });
    expect(await add()).toBe(400);
  });

  it('is not added by a session that ends at the same moment', async () => {
    const { browser, id } = await test.join('viewer');
    const { options } = await browser.do('POST /dashboard/api/account/passkeys/options');
    const response = createAuthenticator(DASHBOARD_URL).register(options);
    const { db } = test.http.app;
    const added = await db.transaction().execute(async (trx) => {
      await lockPerson(trx, id);
      const adding = browser.try('POST /dashboard/api/account/passkeys/add', { name: 'Key', response });
      const waits = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waits.execute(db)).rows.length, { timeout: 10_000 }).toBe(1);
      await deleteSessions(trx, id);
      return { adding };
    });
    expect(await added.adding).toMatchObject({ status: 400, text: expect.stringContaining('session') });
    expect(await listPasskeys(db, id)).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1:4000', 'ip_address'],
    ['https://[2001:db8::1]', 'ip_address'],
    ['http://pay.shop.example', 'not_https'],
  ])('is not offered at %s', async (url, reason) => {
    const own = await dashboardTest({ url, trustProxy: ['127.0.0.1'] });
    onTestFinished(() => own.http.close());
    const { browser } = await own.join('owner');
    expect(await browser.session()).toMatchObject({ passkeys: { offered: false, reason, dashboard_url: url } });
    for (const path of ['sign-in/passkey/options', 'account/passkeys/options', 'reauthenticate/passkey'] as const) {
      const answer = await browser.try(`POST /dashboard/api/${path}`);
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { message: expect.stringContaining('DASHBOARD_URL') } },
      });
    }
  });
});

describe('an invalid passkey response', () => {
  it.each([{}, { id: 1 }, { id: 'x' }, { id: 'x', response: null }, { id: 'x', response: { clientDataJSON: '%' } }])(
    'is refused: %j',
    async (response) => {
      const browser = test.browser();
      await browser.do('POST /dashboard/api/sign-in/passkey/options');
      expect((await browser.try('POST /dashboard/api/sign-in/passkey', { response })).status).toBe(401);
    },
  );
});
