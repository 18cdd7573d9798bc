import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { requireFactors } from '../../src/app/people/required-factors.ts';
import type { Role } from '../../src/domain/role.ts';
import { CONTRACT, type RouteName } from '../../src/http/dashboard/contract.ts';
import { listAuditEntries, WHOLE_LOG } from '../../src/store/people/audit.ts';
import { createAuthenticator } from '../authenticator.ts';
import { DASHBOARD_URL, dashboardTest, PASSWORD, signedIn, type Browser } from '../dashboard.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());
const { app, clock } = test.http;
const STEP_MS = 30_000;

const demand = async (...roles: readonly Role[]): Promise<void> => {
  expect(await requireFactors(app, roles)).toMatchObject({ kind: 'done', roles });
};
beforeEach(() => demand());

async function addTotp(browser: Browser): Promise<(at: number) => string> {
  const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
  const codeAt = (at: number): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at });
  await browser.do('POST /dashboard/api/account/totp/confirm', { code: codeAt(clock()) });
  clock.advance(STEP_MS);
  return codeAt;
}

async function addPasskey(browser: Browser): Promise<string> {
  const { options } = await browser.do('POST /dashboard/api/account/passkeys/options');
  const response = createAuthenticator(DASHBOARD_URL).register(options);
  const { passkey } = await browser.do('POST /dashboard/api/account/passkeys/add', { name: 'Key', response });
  return passkey.id;
}

const FIRST = { status: 403, body: { error: { type: 'second_factor_required' } } };
const isAsked = async (browser: Browser): Promise<boolean> => signedIn(await browser.session()).must_add_factor;

/** Routes of a session that must add a factor: those that add one, and those that need no session. */
const OPEN: readonly RouteName[] = [
  'POST /dashboard/api/reauthenticate',
  'POST /dashboard/api/reauthenticate/passkey',
  'POST /dashboard/api/account/totp/start',
  'POST /dashboard/api/account/totp/confirm',
  'POST /dashboard/api/account/passkeys/options',
  'POST /dashboard/api/account/passkeys/add',
  'GET /dashboard/api/session',
  'POST /dashboard/api/links/state',
  'POST /dashboard/api/links/accept',
  'POST /dashboard/api/links/confirm-email',
  'POST /dashboard/api/sign-in',
  'POST /dashboard/api/sign-in/code',
  'POST /dashboard/api/sign-in/recovery-code',
  'POST /dashboard/api/sign-in/passkey/options',
  'POST /dashboard/api/sign-in/passkey',
  'POST /dashboard/api/sign-out',
  'POST /dashboard/api/unsubscribe/state',
  'POST /dashboard/api/unsubscribe',
];

describe('a person whose role requires a second factor, and who has none,', () => {
  it('can do nothing but add one or sign out: every other route says so', async () => {
    const { browser } = await test.join('owner');
    await demand('owner');
    for (const name of Object.keys(CONTRACT)) {
      const [method = '', url = ''] = name.split(' ');
      const path = url.replace(':project', app.projectId).replace(':mode', 'test').replace(/:\w+/, 'x');
      const isOpen = OPEN.some((one) => one === name);
      // The body of an open route is refused, so that none of them does anything.
      const answer = await browser.call({ method, path, ...(method === 'POST' ? { body: '[' } : {}) });
      const isRefused = answer.status === 403 && answer.text.includes('second_factor_required');
      expect([name, isRefused]).toEqual([name, !isOpen]);
    }
    const refused = await browser.try('GET /dashboard/api/people');
    expect(refused.text).toContain('Your role requires a second factor, and you do not have one yet.');
    await browser.do('POST /dashboard/api/sign-out');
    expect(await browser.session()).toMatchObject({ state: 'signed_out' });
  });

  it('is asked at the next sign-in, sees no project before, and everything once there is an authenticator', async () => {
    const { email, browser } = await test.join('admin');
    await demand('admin');
    await browser.do('POST /dashboard/api/sign-out');
    const fresh = test.browser();
    const session = signedIn(await fresh.do('POST /dashboard/api/sign-in', { email, password: PASSWORD }));
    expect(session).toMatchObject({ must_add_factor: true, projects: [], person: { email, role: null, actions: [] } });
    await addTotp(fresh);
    expect(signedIn(await fresh.session())).toMatchObject({ must_add_factor: false, person: { role: 'admin' } });
    await fresh.do('GET /dashboard/api/people');
  });

  it('is asked in the running session too, which a passkey continues', async () => {
    const { browser } = await test.join('support', app.projectId);
    expect(await isAsked(browser)).toBe(false);
    await demand('support');
    expect(await isAsked(browser)).toBe(true);
    expect(await browser.try('GET /dashboard/api/account/sessions')).toMatchObject(FIRST);
    await addPasskey(browser);
    expect(await isAsked(browser)).toBe(false);
    await browser.do('GET /dashboard/api/account/sessions');
  });

  it('confirms the password first, if the last time is more than ten minutes ago', async () => {
    const { browser } = await test.join('viewer');
    await demand('viewer');
    clock.advance(10 * 60_000);
    const start = await browser.try('POST /dashboard/api/account/totp/start');
    expect(start).toMatchObject({ status: 403, body: { error: { type: 'reauthentication_required' } } });
    const session = signedIn(await browser.do('POST /dashboard/api/reauthenticate', { password: PASSWORD }));
    expect(session).toMatchObject({ must_add_factor: true, projects: [] });
    await addTotp(browser);
    expect(await isAsked(browser)).toBe(false);
  });

  it('is asked by any role, in one project or in all, and nobody else is', async () => {
    const [inOne, inAll] = [await test.join('developer', app.projectId), await test.join('developer')];
    const other = await test.join('viewer');
    await demand('developer', 'support');
    for (const { browser } of [inOne, inAll]) expect(await isAsked(browser)).toBe(true);
    expect(await isAsked(other.browser)).toBe(false);
    await demand('owner', 'admin', 'developer', 'support', 'viewer');
    expect(await isAsked(other.browser)).toBe(true);
  });

  it('is asked again after an owner removed a lost factor, and no longer once nothing is required', async () => {
    const owner = await test.join('owner');
    const { id, email, browser } = await test.join('support');
    await addTotp(browser);
    await demand('support');
    await owner.browser.do('POST /dashboard/api/people/remove-factors', { id });
    const again = await test.signIn(email);
    expect(await isAsked(again)).toBe(true);
    await demand();
    expect(await isAsked(again)).toBe(false);
    await again.do('GET /dashboard/api/account/sessions');
  });
});

describe('the last second factor of such a person', () => {
  const ONLY = { status: 400, text: expect.stringContaining('This is your only second factor') };

  it('cannot be removed by an owner as that of one of the people either', async () => {
    const { id, browser } = await test.join('owner');
    await addTotp(browser);
    await demand('owner');
    expect(await browser.try('POST /dashboard/api/people/remove-factors', { id })).toMatchObject(ONLY);
    await demand();
    await browser.do('POST /dashboard/api/people/remove-factors', { id });
  });

  it('cannot be removed, be it an authenticator or a passkey', async () => {
    const { browser } = await test.join('viewer');
    await addTotp(browser);
    await demand('viewer');
    expect(await browser.try('POST /dashboard/api/account/totp/remove')).toMatchObject(ONLY);
    const id = await addPasskey(browser);
    await browser.do('POST /dashboard/api/account/totp/remove');
    expect(await browser.try('POST /dashboard/api/account/passkeys/remove', { id })).toMatchObject(ONLY);
    const second = await addPasskey(browser);
    await browser.do('POST /dashboard/api/account/passkeys/remove', { id });
    expect(await browser.try('POST /dashboard/api/account/passkeys/remove', { id: second })).toMatchObject(ONLY);
    await demand();
    await browser.do('POST /dashboard/api/account/passkeys/remove', { id: second });
  });

  it('stays if both are removed at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { browser } = await test.join('viewer');
      await addTotp(browser);
      const id = await addPasskey(browser);
      await demand('viewer');
      const answers = await Promise.all([
        browser.try('POST /dashboard/api/account/totp/remove'),
        browser.try('POST /dashboard/api/account/passkeys/remove', { id }),
      ]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
      await demand();
    }
  });
});

describe('the roles that require a second factor', () => {
  const CHANGE = 'POST /dashboard/api/people/factor-roles';

  it('are changed by owners with reauthentication, and the log says so', async () => {
    const { id, email, browser } = await test.join('owner');
    await addTotp(browser);
    await browser.do(CHANGE, { roles: ['admin', 'owner'], seen: [] });
    expect((await browser.do('GET /dashboard/api/people')).factor_roles).toEqual(['owner', 'admin']);
    const [entry] = await listAuditEntries(app.db, { ...WHOLE_LOG, group: 'person' }, { after: null, limit: 1 });
    expect(entry).toMatchObject({
      action: 'person.require_factors',
      actor: { id, name: email },
      before: { roles: [] },
      after: { roles: ['owner', 'admin'] },
    });
    clock.advance(10 * 60_000);
    const late = await browser.try(CHANGE, { roles: [], seen: ['owner', 'admin'] });
    expect(late).toMatchObject({ status: 403, body: { error: { type: 'reauthentication_required' } } });
  });

  it('are not overwritten by somebody who saw others, and the same roles again leave no entry', async () => {
    const { browser } = await test.join('owner');
    await browser.do(CHANGE, { roles: ['viewer'], seen: [] });
    expect(await browser.try(CHANGE, { roles: ['support'], seen: [] })).toMatchObject({ status: 409 });
    const newest = async () => (await listAuditEntries(app.db, WHOLE_LOG, { after: null, limit: 1 }))[0]?.id;
    const before = await newest();
    // Entries of one millisecond have no order.
    clock.advance(1);
    await browser.do(CHANGE, { roles: ['viewer'], seen: ['viewer'] });
    expect(await newest()).toBe(before);
    expect((await browser.do('GET /dashboard/api/people')).factor_roles).toEqual(['viewer']);
  });
});
