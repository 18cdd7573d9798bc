import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { blockedStatements, waitingTransaction } from '../../src/app/webhooks/webhooks.fixture.ts';
import { rotateSealingKey } from '../../src/service/rotate-sealing-key.ts';
import type { SealingKeys } from '../../src/webhooks/secret.ts';
import { listAuditEntries, WHOLE_LOG } from '../../src/store/people/audit.ts';
import { lockPerson } from '../../src/store/people/people.ts';
import { deleteSessions, listSessions, touchSession } from '../../src/store/people/sessions.ts';
import {
  BEHIND_PROXY,
  browserHash,
  dashboardTest,
  knownBrowsers,
  PASSWORD,
  signedIn,
  type Browser,
  type Member,
} from '../dashboard.ts';

const test = await dashboardTest(BEHIND_PROXY);
afterAll(() => test.http.close());
const { clock } = test.http;

const STEP_MS = 30_000;
const REAUTHENTICATION_MS = 10 * 60_000;

/** A person with an authenticator and ten recovery codes. */
interface Armed extends Member {
  readonly codeAt: (at: number) => string;
  readonly recoveryCodes: readonly string[];
}

const codesOf =
  (secret: string) =>
  (at: number): string =>
    new TOTP({ secret: Secret.fromBase32(secret), period: 30 }).generate({ timestamp: at });

async function armed(): Promise<Armed> {
  const member = await test.join('viewer');
  const { secret, uri, qr } = await member.browser.do('POST /dashboard/api/account/totp/start');
  expect(uri).toContain(`secret=${secret}`);
  expect(uri).toContain('issuer=Cointill');
  expect(qr.path).toMatch(/^M/);
  const codeAt = codesOf(secret);
  const { recovery_codes: codes } = await member.browser.do('POST /dashboard/api/account/totp/confirm', {
    code: codeAt(clock()),
  });
  clock.advance(STEP_MS);
  return { ...member, codeAt, recoveryCodes: codes ?? [] };
}

/** A browser that waits for the second step. */
async function halfWay(email: string, at: { readonly address?: string } = {}): Promise<Browser> {
  const browser = test.browser(at);
  const answer = await browser.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
  expect(answer).toMatchObject({ state: 'second_factor', factors: ['totp', 'recovery_code'] });
  return browser;
}

describe('an authenticator', () => {
  it('signs in whoever typed a code just before its secret was encrypted with another key', async () => {
    const { email, codeAt } = await armed();
    const { hasher, sealingKeys } = test.people;
    const keys: SealingKeys = [randomBytes(32), ...(await sealingKeys())];
    onTestFinished(() => void Object.assign(test.people, { hasher }));
    Object.assign(test.people, {
      sealingKeys: () => Promise.resolve(keys),
      hasher: {
        ...hasher,
        verify: async (...given: Parameters<typeof hasher.verify>) => {
          await rotateSealingKey(test.http.app, keys);
          return hasher.verify(...given);
        },
      },
    });
    const signIn = { email, password: PASSWORD, code: codeAt(clock()) };
    expect(await test.browser().do('POST /dashboard/api/sign-in', signIn)).toMatchObject({ state: 'signed_in' });
  });

  it('is required only after its first code was confirmed', async () => {
    const { email, browser } = await test.join('viewer');
    await browser.do('POST /dashboard/api/account/totp/start');
    expect(await browser.try('POST /dashboard/api/account/totp/confirm', { code: '000000' })).toMatchObject({
      status: 400,
    });
    const other = test.browser();
    expect(await other.do('POST /dashboard/api/sign-in', { email, password: PASSWORD })).toMatchObject({
      state: 'signed_in',
    });
  });

  it('is required after the password, before there is a session', async () => {
    const { email, codeAt } = await armed();
    const browser = await halfWay(email);
    expect(browser.cookies.has('__Host-cointill_session')).toBe(false);
    expect(await browser.session()).toMatchObject({ state: 'second_factor' });
    expect((await browser.try('GET /dashboard/api/account/sessions')).status).toBe(401);
    const code = codeAt(clock());
    expect(await browser.do('POST /dashboard/api/sign-in/code', { code })).toMatchObject({ state: 'signed_in' });
  });

  it('does not start a session, and stops nobody, when all sessions are ended at the same moment', async () => {
    const { email, id, recoveryCodes } = await armed();
    const browser = await halfWay(email);
    const ended = await waitingTransaction(test.http.app, async (trx) => {
      await lockPerson(trx, id);
      const confirming = browser.try('POST /dashboard/api/sign-in/recovery-code', { code: recoveryCodes[0] ?? '' });
      await blockedStatements(test.http.app, 1);
      await deleteSessions(trx, id);
      return { confirming };
    });
    expect((await ended.confirming).status).toBe(401);
    expect(await listSessions(test.http.app.db, id)).toEqual([]);
  });

  it('ends with all sessions, and stops nobody, while one of them is being used', async () => {
    const { id } = await armed();
    const { app } = test.http;
    const [session] = await listSessions(app.db, id);
    const ended = await waitingTransaction(app, async (trx) => {
      await lockPerson(trx, id);
      const used = touchSession(app.db, session?.id ?? '', clock(), '192.0.2.1');
      await blockedStatements(app, 1);
      await deleteSessions(trx, id);
      return { used };
    });
    await ended.used;
    expect(await listSessions(app.db, id)).toEqual([]);
  });

  it('accepts each code once, and no earlier code after it', async () => {
    const { email, codeAt } = await armed();
    const [one, two] = [await halfWay(email), await halfWay(email)];
    const code = codeAt(clock());
    const answers = await Promise.all([one, two].map((each) => each.try('POST /dashboard/api/sign-in/code', { code })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
    const late = await halfWay(email);
    const before = codeAt(clock() - STEP_MS);
    expect((await late.try('POST /dashboard/api/sign-in/code', { code: before })).status).toBe(401);
  });

  it.each([
    [-STEP_MS, 200],
    [STEP_MS, 200],
    [-2 * STEP_MS, 401],
    [2 * STEP_MS, 401],
  ])('whose clock is %i ms off is answered %i', async (offMs, status) => {
    const { email, codeAt } = await armed();
    clock.advance(4 * STEP_MS);
    const browser = await halfWay(email);
    expect((await browser.try('POST /dashboard/api/sign-in/code', { code: codeAt(clock() + offMs) })).status).toBe(
      status,
    );
  });

  it('cannot be guessed: after ten wrong codes from one client, even the right one is refused', async () => {
    const { email, codeAt } = await armed();
    const address = '203.0.113.9';
    const browser = await halfWay(email, { address });
    const right = codeAt(clock());
    const wrong = right === '123456' ? '123457' : '123456';
    for (let guess = 0; guess < 10; guess += 1) {
      expect((await browser.try('POST /dashboard/api/sign-in/code', { code: wrong })).status).toBe(401);
    }
    const answer = await browser.try('POST /dashboard/api/sign-in/code', { code: right });
    expect(answer).toMatchObject({ status: 429, body: { error: { type: 'rate_limit_error' } } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    const elsewhere = await halfWay(email, { address: '203.0.113.10' });
    expect(await elsewhere.do('POST /dashboard/api/sign-in/code', { code: right })).toMatchObject({
      state: 'signed_in',
    });
  });

  it('cannot be guessed from many clients: after twenty wrong codes, only known browsers and recovery codes work', async () => {
    const { email, codeAt, recoveryCodes } = await armed();
    const right = codeAt(clock());
    const wrong = right === '123456' ? '123457' : '123456';
    for (let guess = 0; guess < 20; guess += 1) {
      const browser = await halfWay(email, { address: `2001:db8:${guess}::1` });
      expect((await browser.try('POST /dashboard/api/sign-in/code', { code: wrong })).status).toBe(401);
    }
    const stranger = await halfWay(email, { address: '2001:db8:ffff::1' });
    expect((await stranger.try('POST /dashboard/api/sign-in/code', { code: right })).status).toBe(429);
    const code = recoveryCodes[0] ?? '';
    expect(await stranger.do('POST /dashboard/api/sign-in/recovery-code', { code })).toMatchObject({
      state: 'signed_in',
    });
    // This browser is known from now on.
    await stranger.do('POST /dashboard/api/sign-out');
    clock.advance(STEP_MS);
    await stranger.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
    const next = codeAt(clock());
    expect(await stranger.do('POST /dashboard/api/sign-in/code', { code: next })).toMatchObject({ state: 'signed_in' });
  });

  it('must be used within ten minutes of the password', async () => {
    const { email, codeAt } = await armed();
    const browser = await halfWay(email);
    clock.advance(10 * 60_000);
    expect((await browser.try('POST /dashboard/api/sign-in/code', { code: codeAt(clock()) })).status).toBe(401);
    expect(await browser.session()).toMatchObject({ state: 'signed_out' });
  });

  it('cannot be removed if there is none, which leaves no entry in the audit log', async () => {
    const { id, browser } = await test.join('viewer');
    const { db } = test.http.app;
    const removals = async () =>
      (await listAuditEntries(db, WHOLE_LOG, { after: null, limit: 1_000 })).filter(
        ({ action, actor }) => action === 'totp.remove' && actor.id === id,
      ).length;
    expect(await browser.try('POST /dashboard/api/account/totp/remove')).toMatchObject({
      status: 404,
      body: { error: { type: 'not_found_error', message: 'This account has no authenticator app.' } },
    });
    expect(await removals()).toBe(0);
    const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
    expect((await browser.try('POST /dashboard/api/account/totp/remove')).status).toBe(404);
    await browser.do('POST /dashboard/api/account/totp/confirm', { code: codesOf(secret)(clock()) });
    const answers = await Promise.all([1, 2].map(() => browser.try('POST /dashboard/api/account/totp/remove')));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
    expect(await removals()).toBe(1);
  });

  it('ends all other sessions and forgets all other browsers when it is added or removed', async () => {
    const { id, email, browser } = await test.join('viewer');
    const known = () => knownBrowsers(test, id);
    const here = browserHash(browser);
    const elsewhere = await test.signIn(email);
    expect(await known()).toHaveLength(2);
    const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
    await browser.do('POST /dashboard/api/account/totp/confirm', { code: codesOf(secret)(clock()) });
    expect(await elsewhere.session()).toMatchObject({ state: 'signed_out' });
    expect(await known()).toEqual([here]);
    clock.advance(STEP_MS);
    const second = await halfWay(email);
    await second.do('POST /dashboard/api/sign-in/code', { code: codesOf(secret)(clock()) });
    await browser.do('POST /dashboard/api/account/totp/remove');
    expect(await second.session()).toMatchObject({ state: 'signed_out' });
    expect(await known()).toEqual([here]);
    expect(await browser.session()).toMatchObject({ state: 'signed_in' });
  });

  it('is stored sealed', async () => {
    const { id, browser } = await test.join('viewer');
    const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
    const row = await test.http.app.db
      .selectFrom('people')
      .select('totp_pending')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row.totp_pending?.toString('latin1')).not.toContain(secret);
    expect(row.totp_pending?.length).toBeGreaterThan(20);
  });
});

describe('recovery codes', () => {
  it('are ten, of 120 bits each, and each works once', async () => {
    const { email, recoveryCodes } = await armed();
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const code of recoveryCodes) expect(code).toMatch(/^(?:[0-9a-hjkmnp-tv-z]{6}-){3}[0-9a-hjkmnp-tv-z]{6}$/);
    const [code = ''] = recoveryCodes;
    const typed = code.toUpperCase().replaceAll('-', ' ').replaceAll('0', 'O');
    const browser = await halfWay(email);
    const answer = await browser.do('POST /dashboard/api/sign-in/recovery-code', { code: typed });
    expect(signedIn(answer).factors.recovery_codes_left).toBe(9);
    const again = await halfWay(email);
    expect((await again.try('POST /dashboard/api/sign-in/recovery-code', { code })).status).toBe(401);
  });

  it('are stored only as hashes, and are replaced by new ones', async () => {
    const { id, email, browser, recoveryCodes } = await armed();
    const { recovery_codes: fresh } = await browser.do('POST /dashboard/api/account/recovery-codes');
    const rows = await test.http.app.db.selectFrom('recovery_codes').selectAll().where('person_id', '=', id).execute();
    expect(rows).toHaveLength(10);
    for (const row of rows) expect(row.code_hash).toHaveLength(32);
    const other = await halfWay(email);
    for (const [code, status] of [
      [recoveryCodes[3], 401],
      [fresh[3], 200],
    ] as const) {
      expect((await other.try('POST /dashboard/api/sign-in/recovery-code', { code: code ?? '' })).status).toBe(status);
    }
  });

  it('are deleted with the last second factor', async () => {
    const { id, email, browser } = await armed();
    await browser.do('POST /dashboard/api/account/totp/remove');
    const rows = await test.http.app.db.selectFrom('recovery_codes').selectAll().where('person_id', '=', id).execute();
    expect(rows).toEqual([]);
    expect(await browser.try('POST /dashboard/api/account/recovery-codes')).toMatchObject({ status: 400 });
    const other = test.browser();
    expect(await other.do('POST /dashboard/api/sign-in', { email, password: PASSWORD })).toMatchObject({
      state: 'signed_in',
    });
  });
});

describe('a dangerous action', () => {
  it('requires reauthentication once the last one is ten minutes old, which gives the session a new token', async () => {
    const { email, browser } = await test.join('owner');
    const invite = { email: 'new@shop.example', role: 'viewer' } as const;
    clock.advance(REAUTHENTICATION_MS - 1);
    await browser.do('POST /dashboard/api/people/invite', invite);
    clock.advance(1);
    expect(signedIn(await browser.session()).session).toMatchObject({
      reauthenticated_until: null,
      reauthentication_ways: ['password'],
    });
    const asked = await browser.try('POST /dashboard/api/people/invite', invite);
    expect(asked).toMatchObject({ status: 403, body: { error: { type: 'reauthentication_required' } } });
    const before = browser.cookies.get('__Host-cointill_session') ?? '';
    const wrong = await browser.try('POST /dashboard/api/reauthenticate', { password: 'not it, not it' });
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'password' } } });
    await browser.do('POST /dashboard/api/reauthenticate', { password: PASSWORD });
    await browser.do('POST /dashboard/api/people/invite', invite);
    const thief = test.browser();
    thief.cookies.set('__Host-cointill_session', before);
    expect(await thief.session()).toMatchObject({ state: 'signed_out' });
    expect(email).toMatch(/^owner/);
  });

  it('accepts a second factor as reauthentication if there is one, and then no password', async () => {
    const { browser, codeAt } = await armed();
    clock.advance(REAUTHENTICATION_MS);
    expect(signedIn(await browser.session()).session.reauthentication_ways).toEqual(['totp', 'recovery_code']);
    for (const path of ['totp/start', 'totp/remove', 'recovery-codes', 'passkeys/options'] as const) {
      expect((await browser.try(`POST /dashboard/api/account/${path}`)).status).toBe(403);
    }
    expect(await browser.try('POST /dashboard/api/reauthenticate', { password: PASSWORD })).toMatchObject({
      status: 400,
    });
    await browser.do('POST /dashboard/api/reauthenticate', { code: codeAt(clock()) });
    await browser.do('POST /dashboard/api/account/totp/remove');
  });

  it('limits wrong reauthentications, and requires exactly one way to reauthenticate at a time', async () => {
    const { browser } = await test.join('owner');
    const both = { password: PASSWORD, code: '000000' };
    for (const body of [{}, both])
      expect((await browser.try('POST /dashboard/api/reauthenticate', body)).status).toBe(400);
    for (let guess = 0; guess < 10; guess += 1) {
      expect((await browser.try('POST /dashboard/api/reauthenticate', { password: `wrong ${guess}` })).status).toBe(
        400,
      );
    }
    expect((await browser.try('POST /dashboard/api/reauthenticate', { password: PASSWORD })).status).toBe(429);
  });

  it('requires reauthentication after the clock is set back', async () => {
    const { browser } = await test.join('owner');
    clock.advance(-24 * 60 * 60_000);
    expect(signedIn(await browser.session()).session.reauthenticated_until).toBeNull();
    clock.advance(24 * 60 * 60_000);
  });
});

describe('a wrong guess', () => {
  it('is reported with outcome, person and client, but nothing that was typed', async () => {
    const { id, email, browser } = await armed();
    const from = test.activities.length;
    const address = '203.0.113.44';
    const typed = 'my secret instead of an e-mail';
    const [mail, password, code] = ['typed-here@shop.example', typed, '000000'];
    const stranger = test.browser({ address });
    await stranger.try('POST /dashboard/api/sign-in', { email: mail, password });
    await stranger.try('POST /dashboard/api/sign-in', { email, password });
    const other = await halfWay(email, { address });
    await other.try('POST /dashboard/api/sign-in/code', { code });
    await other.try('POST /dashboard/api/sign-in/recovery-code', { code: 'no-code' });
    await browser.try('POST /dashboard/api/reauthenticate', { code });
    await browser.try('POST /dashboard/api/account/password', { current_password: typed, password: PASSWORD + typed });
    const reported = test.activities.slice(from).filter(({ kind }) => kind === 'guess_refused');
    const refusal = (what: string, wrong: string, personId: string | null, client: string) => {
      const reason = expect.stringMatching(new RegExp(`^the ${wrong} was wrong$`));
      return { kind: 'guess_refused', what, reason, personId, client, requestId: expect.any(String) };
    };
    expect(reported).toEqual([
      refusal('sign-in', 'password', null, address),
      refusal('sign-in', 'password', id, address),
      refusal('sign-in', 'code', id, address),
      refusal('sign-in', 'recovery code', id, address),
      refusal('proof', 'code', id, '192.0.2.77'),
      refusal('proof', 'password', id, '192.0.2.77'),
    ]);
    const told = JSON.stringify(reported);
    for (const secret of [mail, email, typed, code, 'no-code']) expect(told).not.toContain(secret);
  });
});
