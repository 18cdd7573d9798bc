import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { REAUTHENTICATION_MS } from '../../src/domain/role.ts';
import { browserHash, dashboardTest, knownBrowsers, PASSWORD, signedIn, tokenOf } from '../dashboard.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());

const HOUR_MS = 60 * 60_000;

describe('the set-up link', () => {
  it('creates the first account, the owner of all projects, and works only once', async () => {
    const link = await test.setupLink();
    const other = await test.setupLink();
    const browser = test.browser();
    expect(link.url).toMatch(/^http:\/\/localhost:4000\/dashboard\/setup\/[\w-]{43}$/);
    expect(await browser.session()).toMatchObject({ state: 'signed_out', has_people: false });
    const state = await browser.do('POST /dashboard/api/links/state', { token: tokenOf(link) });
    expect(state).toMatchObject({ state: 'open', purpose: 'setup', email: null });
    const body = { token: tokenOf(link), email: 'owner@shop.example', password: PASSWORD };
    const answer = signedIn(await browser.do('POST /dashboard/api/links/accept', body));
    expect(answer.person).toMatchObject({ email: 'owner@shop.example', role: 'owner' });
    expect(answer.projects).toEqual([
      expect.objectContaining({ name: 'Shop', role: 'owner', has_live_payments: false }),
    ]);
    for (const each of [link, other]) {
      expect(await browser.do('POST /dashboard/api/links/state', { token: tokenOf(each) })).toEqual({ state: 'used' });
      expect(
        await test.browser().try('POST /dashboard/api/links/accept', { ...body, token: tokenOf(each) }),
      ).toMatchObject({
        status: 404,
        body: { error: { message: expect.stringContaining('cointill user invite') } },
      });
    }
    await expect(test.setupLink()).rejects.toThrow('Somebody has an account');
    expect(await test.browser().session()).toMatchObject({ state: 'signed_out', has_people: true });
  });
});

describe('an invitation', () => {
  it('is valid for one e-mail, for seven days, and once', async () => {
    const owner = await test.join('owner');
    const invited = await owner.browser.do('POST /dashboard/api/people/invite', {
      email: 'Ann@Shop.example',
      role: 'support',
      project: test.http.app.projectId,
    });
    const token = tokenOf({ url: invited.link, expiresAt: 0 });
    expect(invited.person).toMatchObject({ state: 'invited', memberships: [{ role: 'support' }] });
    const browser = test.browser();
    expect(await browser.do('POST /dashboard/api/links/state', { token })).toMatchObject({
      state: 'open',
      purpose: 'invitation',
      email: 'Ann@Shop.example',
    });
    // Any other e-mail in the request is ignored.
    const answer = await browser.do('POST /dashboard/api/links/accept', {
      token,
      email: 'eve@evil.example',
      password: PASSWORD,
    });
    expect(signedIn(answer).person).toMatchObject({ email: 'Ann@Shop.example', role: null });
    expect(signedIn(answer).projects).toHaveLength(1);
    expect(await browser.do('POST /dashboard/api/links/state', { token })).toEqual({ state: 'used' });

    const late = await owner.browser.do('POST /dashboard/api/people/invite', {
      email: 'late@shop.example',
      role: 'viewer',
    });
    const lateToken = tokenOf({ url: late.link, expiresAt: 0 });
    test.http.clock.advance(7 * 24 * HOUR_MS - 1);
    expect(await browser.do('POST /dashboard/api/links/state', { token: lateToken })).toMatchObject({ state: 'open' });
    test.http.clock.advance(1);
    expect(await browser.do('POST /dashboard/api/links/state', { token: lateToken })).toEqual({ state: 'expired' });
    const refused = await browser.try('POST /dashboard/api/links/accept', { token: lateToken, password: PASSWORD });
    expect(refused.status).toBe(404);
  });

  it.each([
    ['short', 'at least 12 characters'],
    ['password2026!', 'too easy to guess'],
    ['passwordpassword', 'too easy to guess'],
    ['Cookie-Monster', 'too easy to guess'],
    ['summer2024winter!', 'too easy to guess'],
    ['qwertyuiopasdf', 'too easy to guess'],
    ['1q2w3e4r5t6y', 'too easy to guess'],
    ['weak@shop.example', 'too easy to guess'],
    ['shop.example', 'too easy to guess'],
    ['2026 shop.example!', 'too easy to guess'],
    ['weak@shop.example1', 'too easy to guess'],
  ])('refuses the password %s, and stays open', async (password, rule) => {
    const owner = await test.join('owner');
    const invited = await owner.browser.do('POST /dashboard/api/people/invite', {
      email: 'weak@shop.example',
      role: 'viewer',
    });
    const token = tokenOf({ url: invited.link, expiresAt: 0 });
    const answer = await test.browser().try('POST /dashboard/api/links/accept', { token, password });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { param: 'password', message: expect.stringContaining(rule) } },
    });
    expect(await owner.browser.do('POST /dashboard/api/links/state', { token })).toMatchObject({ state: 'open' });
  });
});

describe('signing in', () => {
  it('answers a wrong password, an unknown e-mail and a deactivated person alike', async () => {
    const gone = await test.join('viewer');
    const owner = await test.join('owner');
    await owner.browser.do('POST /dashboard/api/people/deactivate', { id: gone.id });
    expect(await gone.browser.session()).toMatchObject({ state: 'signed_out' });
    const answers = await Promise.all(
      [
        { email: owner.email, password: 'wrong wrong wrong' },
        { email: 'nobody@shop.example', password: PASSWORD },
        { email: gone.email, password: PASSWORD },
      ].map((body) => test.browser().try('POST /dashboard/api/sign-in', body)),
    );
    for (const { status, text } of answers) expect({ status, text }).toEqual({ status: 401, text: answers[0]?.text });
  });

  it('is refused in the reader’s language', async () => {
    const browser = test.browser({ headers: { 'accept-language': 'de' } });
    const body = { email: 'nobody@shop.example', password: 'wrong wrong wrong' };
    const { text } = await browser.try('POST /dashboard/api/sign-in', body);
    expect(text).toContain('Die E-Mail-Adresse oder das Passwort ist falsch.');
  });

  it('ignores the case of the e-mail', async () => {
    const { email } = await test.join('viewer');
    const browser = test.browser();
    const body = { email: email.toUpperCase(), password: PASSWORD };
    expect(await browser.do('POST /dashboard/api/sign-in', body)).toMatchObject({ state: 'signed_in' });
  });
});

describe('a session', () => {
  it("is new at every sign-in, which ends the browser's previous one", async () => {
    const { email, browser } = await test.join('viewer');
    const before = new Map(browser.cookies);
    await browser.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
    expect(browser.cookies.get('cointill_session')).not.toBe(before.get('cointill_session'));
    const thief = test.browser();
    thief.cookies.set('cointill_session', before.get('cointill_session') ?? '');
    expect(await thief.session()).toMatchObject({ state: 'signed_out' });
    expect((await thief.try('GET /dashboard/api/account/sessions')).status).toBe(401);
  });

  it('never uses a token that the browser sent before the sign-in', async () => {
    const { email } = await test.join('viewer');
    const browser = test.browser();
    const planted = 'A'.repeat(43);
    browser.cookies.set('cointill_session', planted);
    await browser.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
    expect(browser.cookies.get('cointill_session')).not.toBe(planted);
  });

  it('expires after 12 hours without use, and after seven days in any case', async () => {
    const idle = await test.join('viewer');
    const busy = await test.join('viewer');
    for (let hours = 11; hours < 7 * 24; hours += 11) {
      test.http.clock.advance(11 * HOUR_MS);
      expect(await busy.browser.session()).toMatchObject({ state: 'signed_in' });
    }
    expect(await idle.browser.session()).toMatchObject({ state: 'signed_out' });
    test.http.clock.advance(3 * HOUR_MS);
    expect(await busy.browser.session()).toMatchObject({ state: 'signed_out' });
  });

  it('expires exactly 12 hours after its last use', async () => {
    const [one, two] = [await test.join('viewer'), await test.join('viewer')];
    test.http.clock.advance(12 * HOUR_MS - 1);
    expect(await one.browser.session()).toMatchObject({ state: 'signed_in' });
    test.http.clock.advance(1);
    expect(await two.browser.session()).toMatchObject({ state: 'signed_out' });
    expect(await one.browser.session()).toMatchObject({ state: 'signed_in' });
  });

  it('is invalid after signing out, ending it elsewhere, or a reset of the password', async () => {
    const { email, browser } = await test.join('viewer');
    const second = await test.signIn(email);
    const third = await test.signIn(email);
    const stolen = test.browser();
    stolen.cookies.set('cointill_session', third.cookies.get('cointill_session') ?? '');
    expect(await stolen.session()).toMatchObject({ state: 'signed_in' });
    await third.do('POST /dashboard/api/sign-out');
    expect(await stolen.session()).toMatchObject({ state: 'signed_out' });
    const { data } = await browser.do('GET /dashboard/api/account/sessions');
    expect(data.map((one) => one.is_current)).toHaveLength(2);
    const other = data.find((one) => !one.is_current);
    await browser.do('POST /dashboard/api/account/sessions/end', { id: other?.id ?? '' });
    expect(await second.session()).toMatchObject({ state: 'signed_out' });
    const owner = await test.join('owner');
    const person = signedIn(await browser.session()).person;
    const reset = await owner.browser.do('POST /dashboard/api/people/reset', { id: person.id });
    expect(await browser.session()).toMatchObject({ state: 'signed_out' });
    expect((await test.browser().try('POST /dashboard/api/sign-in', { email, password: PASSWORD })).status).toBe(401);
    const again = { token: tokenOf({ url: reset.link, expiresAt: 0 }), password: 'another otter parade' };
    expect(await browser.do('POST /dashboard/api/links/accept', again)).toMatchObject({ state: 'signed_in' });
  });

  it('cannot be ended by another person who knows its id', async () => {
    const [one, two] = [await test.join('viewer'), await test.join('owner')];
    const id = signedIn(await one.browser.session()).session.id;
    for (const wrong of [id, 'x', '00000000-0000-7000-8000-000000000000']) {
      const answer = await two.browser.try('POST /dashboard/api/account/sessions/end', { id: wrong });
      expect(answer.status).toBe(404);
    }
    expect(await one.browser.session()).toMatchObject({ state: 'signed_in' });
  });

  it('can be ended together with all others of the person', async () => {
    const { email, browser } = await test.join('viewer');
    const other = await test.signIn(email);
    await browser.do('POST /dashboard/api/account/sessions/end-all');
    for (const each of [browser, other]) expect(await each.session()).toMatchObject({ state: 'signed_out' });
  });

  it('is ended by its person from elsewhere after a proof alone, and here without one', async () => {
    const { email, browser } = await test.join('viewer');
    const other = await test.signIn(email);
    test.http.clock.advance(REAUTHENTICATION_MS);
    const { data } = await browser.do('GET /dashboard/api/account/sessions');
    const id = data.find((one) => !one.is_current)?.id ?? '';
    const refused = { status: 403, body: { error: { type: 'reauthentication_required' } } };
    expect(await browser.try('POST /dashboard/api/account/sessions/end', { id })).toMatchObject(refused);
    expect(await browser.try('POST /dashboard/api/account/sessions/end-all')).toMatchObject(refused);
    expect(await other.session()).toMatchObject({ state: 'signed_in' });
    await browser.do('POST /dashboard/api/reauthenticate', { password: PASSWORD });
    await browser.do('POST /dashboard/api/account/sessions/end', { id });
    expect(await other.session()).toMatchObject({ state: 'signed_out' });
    test.http.clock.advance(REAUTHENTICATION_MS);
    await browser.do('POST /dashboard/api/sign-out');
    expect(await browser.session()).toMatchObject({ state: 'signed_out' });
  });

  it('gets a new token when the password changes, all others end, and no other browser stays known', async () => {
    const { id, email, browser } = await test.join('viewer');
    const other = await test.signIn(email);
    const before = browser.cookies.get('cointill_session');
    expect(await knownBrowsers(test, id)).toHaveLength(2);
    const next = 'seven umbrellas for geese';
    const wrong = { current_password: 'not it not it not', password: next };
    expect(await browser.try('POST /dashboard/api/account/password', wrong)).toMatchObject({
      status: 400,
      body: { error: { param: 'current_password' } },
    });
    await browser.do('POST /dashboard/api/account/password', { current_password: PASSWORD, password: next });
    expect(browser.cookies.get('cointill_session')).not.toBe(before);
    expect(await browser.session()).toMatchObject({ state: 'signed_in' });
    expect(await other.session()).toMatchObject({ state: 'signed_out' });
    expect(await knownBrowsers(test, id)).toEqual([browserHash(browser)]);
    expect((await test.browser().try('POST /dashboard/api/sign-in', { email, password: PASSWORD })).status).toBe(401);
  });
});

it('changing the e-mail, at once where no mails are sent, says of few others that somebody has them', async () => {
  const [one, other] = [await test.join('viewer'), await test.join('viewer')];
  const changed = signedIn(await one.browser.do('POST /dashboard/api/account/email', { email: 'own@shop.example' }));
  expect(changed.person).toMatchObject({ email: 'own@shop.example', pending_email: null });
  const change = (email: string) => one.browser.try('POST /dashboard/api/account/email', { email });
  for (let guess = 0; guess < 5; guess += 1) {
    const { status, text } = await change(other.email.toUpperCase());
    expect([status, text]).toEqual([400, expect.stringContaining('This e-mail address cannot be used here.')]);
  }
  expect((await change(other.email)).status).toBe(429);
  // A free one as well: whoever guesses learns nothing from the sixth on.
  expect((await change('free@shop.example')).status).toBe(429);
});

it('a refused role names the invalid field: the project, the person or the role', async () => {
  const own = await dashboardTest();
  onTestFinished(() => own.http.close());
  const { id, browser } = await own.join('owner');
  const nothing = '00000000-0000-7000-8000-000000000000';
  const role = 'viewer';
  for (const [path, body, param, status] of [
    ['role', { id, role, project: nothing }, 'project', 404],
    ['role', { id, role, project: 'x' }, 'project', 400],
    ['role', { id: nothing, role }, 'id', 404],
    ['role', { id, role }, 'role', 400],
    ['role', { id, role: 'king' }, 'role', 400],
    ['invite', { email: 'new@shop.example', role, project: nothing }, 'project', 404],
    ['deactivate', { id: nothing }, 'id', 404],
  ] as const) {
    const answer = await browser.call({ method: 'POST', path: `/dashboard/api/people/${path}`, body });
    expect([body, answer.status, answer.body]).toMatchObject([body, status, { error: { param } }]);
  }
});
