import { Secret, TOTP } from 'otpauth';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { judged, type Guess, type Client } from '../../src/app/people/guess-limits.ts';
import {
  createPasswordHasher,
  HashesBusyError,
  HashPendingError,
  limitedTurns,
  type HashedFor,
} from '../../src/app/people/password-hash.ts';
import {
  deactivatePerson,
  invitePerson,
  peopleOf,
  removeSecondFactor,
  resetPerson,
  setRole,
} from '../../src/app/people/people.ts';
import { signIn } from '../../src/app/people/sign-in.ts';
import { newToken } from '../../src/app/people/token.ts';
import { projectsOf } from '../../src/app/projects/projects.ts';
import { CONTRACT } from '../../src/http/dashboard/contract.ts';
import { clientRange, createGuessLimits, createRateLimits } from '../../src/http/rate-limit.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import {
  BEHIND_PROXY,
  dashboardTest,
  openGuard,
  DASHBOARD_URL,
  PASSWORD,
  tokenOf,
  type Browser,
  type DashboardTest,
  type Member,
} from '../dashboard.ts';
import type { Answer } from '../http.ts';

const test = await dashboardTest();
afterAll(() => test.http.close());

/** Behind a proxy, so that requests can come from any address. */
const far = await dashboardTest(BEHIND_PROXY);
afterAll(() => far.http.close());

const WRONG = 'certainly not this one';
const NEXT = 'quiet llama harvest';

describe('guessing passwords', () => {
  it('is refused after ten wrong ones from one client, only for that client', async () => {
    const { email } = await far.join('viewer');
    const attacker = far.browser({ address: '198.51.100.1' });
    for (let guess = 0; guess < 10; guess += 1) {
      expect((await attacker.try('POST /dashboard/api/sign-in', { email, password: WRONG })).status).toBe(401);
    }
    const right = { email, password: PASSWORD };
    expect((await attacker.try('POST /dashboard/api/sign-in', right)).status).toBe(429);
    const inGerman = far.browser({ address: '198.51.100.1', headers: { 'accept-language': 'de' } });
    expect((await inGerman.try('POST /dashboard/api/sign-in', right)).text).toMatch(
      /Zu viele falsche Versuche\. Versuchen Sie es in \d+ min noch einmal/,
    );
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

  it.each([
    ['an IPv6 /48', (guess: number) => `2001:db8:77:${guess.toString(16)}::1`, '2001:db8:78::1'],
    ['an IPv4 /24', (guess: number) => `198.51.103.${guess}`, '198.51.104.1'],
  ])('is refused after thirty wrong ones from %s, only for that range', async (_name, addressOf, elsewhere) => {
    const { email } = await far.join('viewer');
    const statuses: number[] = [];
    for (let guess = 0; guess < 110; guess += 1) {
      const attacker = far.browser({ address: addressOf(guess) });
      statuses.push((await attacker.try('POST /dashboard/api/sign-in', { email, password: WRONG })).status);
    }
    expect(statuses).toEqual(statuses.map((_, guess) => (guess < 30 ? 401 : 429)));
    const right = { email, password: PASSWORD };
    const inside = far.browser({ address: addressOf(111) });
    expect((await inside.try('POST /dashboard/api/sign-in', right)).status).toBe(429);
    expect((await far.browser({ address: elsewhere }).try('POST /dashboard/api/sign-in', right)).status).toBe(200);
  });

  it('from many ranges blocks the account, but not in browsers that signed in before', async () => {
    const { email, browser } = await far.join('viewer');
    await browser.do('POST /dashboard/api/sign-out');
    await blockAccount(email, '198.51');
    const right = { email, password: PASSWORD };
    expect((await far.browser({ address: '198.51.200.7' }).try('POST /dashboard/api/sign-in', right)).status).toBe(429);
    expect(await browser.do('POST /dashboard/api/sign-in', right)).toMatchObject({ state: 'signed_in' });
    // Somebody else's known browser does not circumvent it.
    const stranger = await far.join('viewer');
    expect((await stranger.browser.try('POST /dashboard/api/sign-in', right)).status).toBe(429);
  });

  it('leaves a person with an authenticator a way in, which tells nobody whether a password is right', async () => {
    const { email, browser } = await far.join('viewer');
    const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
    const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: far.http.app.clock() });
    await browser.do('POST /dashboard/api/account/totp/confirm', { code: code() });
    far.http.app.clock.advance(30_000);
    await blockAccount(email, '198.52');
    const from = async (address: string, body: { readonly password: string; readonly code?: string }) => {
      const answer = await far.browser({ address }).try('POST /dashboard/api/sign-in', { email, ...body });
      return { status: answer.status, text: answer.text };
    };
    const refused = await from('198.51.201.1', { password: PASSWORD });
    expect(refused).toMatchObject({ status: 429, text: expect.stringMatching(/authenticator.*"param":"code"/s) });
    expect(await from('198.51.202.1', { password: WRONG })).toEqual(refused);
    const wrong = await from('198.51.203.1', { password: PASSWORD, code: '000000' });
    expect(wrong).toMatchObject({ status: 401, text: expect.stringContaining('the password or the code is wrong') });
    expect(await from('198.51.203.2', { password: WRONG, code: code() })).toEqual(wrong);
    // Wrong passwords use up no codes, and right ones no more of them than there are.
    for (let guess = 0; guess < 30; guess += 1) await from(`198.51.205.${guess}`, { password: WRONG, code: code() });
    expect(await from('198.51.206.1', { password: PASSWORD, code: code() })).toMatchObject({ status: 200 });
    expect(await from('198.51.206.2', { password: PASSWORD, code: code() })).toEqual(wrong);
    far.http.app.clock.advance(30_000);
    for (let guess = 0; guess < 18; guess += 1) {
      expect(await from(`198.51.207.${guess}`, { password: PASSWORD, code: '000000' })).toEqual(wrong);
    }
    expect(await from('198.51.208.1', { password: WRONG, code: code() })).toEqual(wrong);
    const usedUp = await from('198.51.208.2', { password: PASSWORD, code: code() });
    expect(usedUp).toMatchObject({ status: 429, text: expect.stringContaining('Too many wrong attempts.') });
  });

  it('is told of used up codes with the right password alone, in one request as in two, and mailed once a day', async () => {
    const own = await dashboardTest({ ...BEHIND_PROXY, sendsMail: true });
    onTestFinished(() => own.http.close());
    const { clock, db } = own.http.app;
    const { id, email, browser } = await own.join('viewer');
    const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
    const code = () => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock() });
    await browser.do('POST /dashboard/api/account/totp/confirm', { code: code() });
    clock.advance(30_000);
    let nets = 0;
    const elsewhere = () => own.browser({ address: `198.51.${(nets += 1)}.7` });
    const inOne = (given: { readonly password: string; readonly code: string }) =>
      elsewhere().try('POST /dashboard/api/sign-in', { email, ...given });
    const inTwo = async (given: { readonly code: string }) => {
      const stranger = elsewhere();
      await stranger.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
      return stranger.try('POST /dashboard/api/sign-in/code', given);
    };
    const mails = async (): Promise<readonly string[]> => {
      const rows = await db.selectFrom('mails').select('content').where('person_id', '=', id).execute();
      return rows.map(({ content }) => JSON.stringify(content)).filter((content) => content.includes('codes_used_up'));
    };
    for (let guess = 0; guess < 25; guess += 1) await inOne({ password: WRONG, code: '000000' });
    for (let guess = 0; guess < 19; guess += 1) {
      const given = { code: '000000' };
      const wrong = guess % 2 === 0 ? await inTwo(given) : await inOne({ password: PASSWORD, ...given });
      expect(wrong.status).toBe(401);
    }
    expect(await mails()).toEqual([]);
    expect((await inTwo({ code: '000000' })).status).toBe(401);
    expect(await mails()).toEqual([expect.stringContaining(`198.51.${nets}.7`)]);
    const [one, two] = [await inOne({ password: PASSWORD, code: code() }), await inTwo({ code: code() })];
    expect([one.status, one.body, two.status]).toEqual([429, two.body, 429]);
    expect((await inOne({ password: WRONG, code: code() })).status).toBe(401);
    const useUp = async () => {
      Object.assign(own.people, { limits: createGuessLimits(null) });
      for (let guess = 0; guess < 20; guess += 1) await inOne({ password: PASSWORD, code: '000000' });
    };
    await useUp();
    expect(await mails()).toHaveLength(1);
    clock.advance(24 * 60 * 60_000);
    await useUp();
    expect(await mails()).toHaveLength(2);
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
    const wrong = answers.filter(({ status }) => status === 401).length;
    expect(wrong).toBeGreaterThan(0);
    expect(wrong).toBeLessThanOrEqual(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30 - wrong);
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
    const client = clientAt('192.0.2.1');
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

const clientAt = (ip: string): Client => ({
  bucket: ip,
  range: clientRange(ip),
  ip,
  userAgent: null,
  browserToken: null,
  sessionToken: null,
});

/** Uses up the account's limit of wrong passwords, from ten addresses of `net`. */
async function blockAccount(email: string, net: string): Promise<void> {
  for (let guess = 0; guess < 100; guess += 1) {
    const attacker = far.browser({ address: `${net}.${Math.floor(guess / 10)}.7` });
    expect((await attacker.try('POST /dashboard/api/sign-in', { email, password: WRONG })).status).toBe(401);
  }
}

/** A dashboard with an owner who has signed out of the browser that they are known in. */
async function besideAttackers() {
  const own = await dashboardTest(BEHIND_PROXY);
  onTestFinished(() => own.http.close());
  const known = await own.join('owner');
  await known.browser.do('POST /dashboard/api/sign-out');
  /** From then on, a hash costs as much as in production. */
  const makeHashesDear = (): void => {
    const hasher = createPasswordHasher(own.http.app.random, { memoryKiB: 32_768, passes: 2 });
    Object.assign(own.people, { hasher });
  };
  return { own, known, makeHashesDear };
}

describe('sign-ins of strangers from many addresses at once', () => {
  it('hold up neither a known browser nor a session, and are refused with Retry-After', async () => {
    const { own, known, makeHashesDear } = await besideAttackers();
    const present = await own.join('owner');
    makeHashesDear();
    const right = { email: known.email, password: PASSWORD };
    const unknown = (index: number) => ({ email: `nobody-${index}@shop.example`, password: WRONG });
    const strangers = Array.from({ length: 60 }, (_, index) => {
      const stranger = own.browser({ address: `2001:db8:${index.toString(16)}::1` });
      return stranger.try('POST /dashboard/api/sign-in', unknown(index));
    });
    const inside = present.browser.try('POST /dashboard/api/reauthenticate', { password: PASSWORD });
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
        error: { type: 'service_unavailable', message: expect.stringContaining('Too many people are signing in') },
      });
    }
  });

  it('count as guesses only if the password was checked', async () => {
    const { email } = await far.join('viewer');
    const busy = {
      ...far.people,
      hasher: { ...far.people.hasher, verify: () => Promise.reject(new HashesBusyError()) },
    };
    const client = clientAt('192.0.2.9');
    const given = { email, password: PASSWORD };
    for (let time = 0; time < 11; time += 1) await expect(signIn(busy, client, given)).rejects.toThrow(HashesBusyError);
    expect(await signIn(far.people, client, given)).toMatchObject({ kind: 'signed_in' });
  });
});

describe('right reauthentications in many sessions of one person, and calls on one link', () => {
  it('hold up nobody else, in a known browser or a new one', async () => {
    const { own, known, makeHashesDear } = await besideAttackers();
    const { email } = await own.join('viewer');
    const sessions: Browser[] = [];
    for (let at = 1; at <= 45; at += 1) sessions.push(await own.signIn(email, { address: `198.51.101.${at}` }));
    const invited = await invitePerson(own.http.app, own.people.site.url, {
      email: 'invited@shop.example',
      role: 'viewer',
      projectId: null,
    });
    if (invited.kind !== 'done') throw new Error(invited.code);
    const accepted = { token: tokenOf(invited.link), password: PASSWORD };
    makeHashesDear();
    const reauthentications = sessions.map((browser) =>
      browser.try('POST /dashboard/api/reauthenticate', { password: PASSWORD }),
    );
    const links = Array.from({ length: 60 }, (_, at) =>
      own.browser({ address: `198.51.102.${at}` }).try('POST /dashboard/api/links/accept', accepted),
    );
    const isRefused = async (answer: Promise<Answer>) => {
      const { status } = await answer;
      if (status === 200) throw new Error('It was let in.');
    };
    await Promise.all([reauthentications, links].map((answers) => Promise.any(answers.map(isRefused))));
    const right = { email: known.email, password: PASSWORD };
    const [back, fresh] = await Promise.all([
      known.browser.try('POST /dashboard/api/sign-in', right),
      own.browser({ address: '198.51.100.5' }).try('POST /dashboard/api/sign-in', right),
    ]);
    expect([back.status, fresh.status]).toEqual([200, 200]);
    const refused = (await Promise.all(reauthentications)).filter(({ status }) => status !== 200);
    expect(refused[0]).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      body: { error: { message: expect.stringContaining('still checking another password') } },
    });
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
    const done = (await Promise.all(links)).map(({ status }) => status);
    expect(done.filter((status) => status === 200)).toHaveLength(1);
    expect(done.filter((status) => status === 503)).toEqual([]);
  });
});

describe('a guess that was not judged', () => {
  it('counts neither as a wrong reauthentication nor as a wrong code', async () => {
    const own = await dashboardTest();
    onTestFinished(() => own.http.close());
    const { browser } = await own.join('viewer');
    const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: own.http.app.clock() });
    const attempts = async (): Promise<readonly number[]> => [
      (await browser.try('POST /dashboard/api/reauthenticate', { password: PASSWORD })).status,
      (await browser.try('POST /dashboard/api/account/password', { current_password: PASSWORD, password: NEXT }))
        .status,
      (await browser.try('POST /dashboard/api/account/totp/confirm', { code })).status,
    ];
    const { hasher, sealingKeys } = own.people;
    Object.assign(own.people, {
      hasher: { ...hasher, verify: () => Promise.reject(new HashesBusyError()) },
      sealingKeys: () => Promise.reject(new Error('The disk does not answer.')),
    });
    for (let time = 0; time < 11; time += 1) expect(await attempts()).toEqual([503, 503, 500]);
    Object.assign(own.people, { hasher, sealingKeys });
    expect(await attempts()).toEqual([200, 200, 200]);
  });

  it('counts not even where another limit refused it', async () => {
    const limits = createGuessLimits(null);
    const client = { bucket: 'password-client', id: 'a' } as const;
    const account = { bucket: 'password-account', id: 'b' } as const;
    const judge = (guesses: readonly Guess[], isRight: boolean) =>
      judged(limits, guesses, () => Promise.resolve(isRight), Boolean);
    for (let guess = 0; guess < 100; guess += 1) expect(await judge([account], false)).toBe(false);
    for (let guess = 0; guess < 20; guess += 1) {
      expect(await judge([client, account], true)).toMatchObject({ kind: 'too_many' });
    }
    expect(await judge([client], true)).toBe(true);
  });
});

describe('hashing', () => {
  it('takes known people and strangers in turns, and otherwise in the order of arrival', async () => {
    const inTurn = limitedTurns();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const come = (id: string, kind: HashedFor['kind']): Promise<void> =>
      inTurn({ kind, id }, () => {
        begun.push(id);
        return new Promise((resolve) => void ends.push(resolve));
      });
    const strangers = ['a', 'b', 'c', 'd'];
    const known = ['one', 'two', 'three', 'four'];
    const all = [...strangers.map((id) => come(id, 'stranger')), ...known.map((id) => come(id, 'known'))];
    expect(begun).toEqual(['a', 'b']);
    for (let ended = 0; ended < all.length; ended += 1) {
      ends[ended]?.();
      await all[[...strangers, ...known].indexOf(begun[ended] ?? '')];
    }
    expect(begun).toEqual(['a', 'b', 'one', 'c', 'two', 'd', 'three', 'four']);
  });

  it.each([
    ['known', 1],
    ['stranger', 5],
  ] as const)(
    'of a %s one is refused while %i for the same one are made or wait, and not after that',
    async (kind, most) => {
      const inTurn = limitedTurns();
      const { promise, resolve } = Promise.withResolvers<string>();
      const come = (id: string) => inTurn({ kind, id }, () => promise);
      const all = ['one', 'two', 'three'].flatMap((id) => Array.from({ length: most }, () => come(id)));
      for (const id of ['one', 'three']) await expect(come(id)).rejects.toThrow(HashPendingError);
      resolve('done');
      expect(new Set(await Promise.all(all))).toEqual(new Set(['done']));
      expect(await come('one')).toBe('done');
    },
  );

  it('runs two at a time, and is refused if too many are waiting', async () => {
    let begun = 0;
    const hasher = createPasswordHasher(
      (size) => {
        begun += 1;
        return Buffer.alloc(size, begun);
      },
      { memoryKiB: 8_192, passes: 1 },
    );
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => hasher.verify('x', null, { kind: 'stranger', id: `${index}` })),
    );
    const done = outcomes.filter(({ status }) => status === 'fulfilled').length;
    expect(done).toBe(22);
  });

  it('accepts a password in every Unicode normalization form, and no other password', async () => {
    const { hasher } = test.people;
    const whom = { kind: 'stranger', id: '192.0.2.1' } as const;
    const stored = await hasher.hash('Übergröße für alle', whom);
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=64,t=1,p=1\$/);
    expect(await hasher.verify('Übergröße für alle'.normalize('NFD'), stored, whom)).toBe(true);
    expect(await hasher.verify('Ubergroße für alle', stored, whom)).toBe(false);
    expect(await hasher.verify('Übergröße für alle', null, whom)).toBe(false);
  });

  it('is repeated at the next sign-in if its cost is outdated', async () => {
    const { id, email } = await test.join('viewer');
    const dearer = {
      ...test.people,
      hasher: createPasswordHasher(test.http.app.random, { memoryKiB: 128, passes: 1 }),
    };
    const client = clientAt('192.0.2.8');
    expect(await signIn(dearer, client, { email, password: PASSWORD })).toMatchObject({ kind: 'signed_in' });
    const { db } = test.http.app;
    const row = await db.selectFrom('people').select('password_hash').where('id', '=', id).executeTakeFirstOrThrow();
    expect(row.password_hash).toContain('m=128,');
  });

  it.each([
    ['does not undo a change of the password that came meanwhile', NEXT, 'wrong'],
    ['does not undo a reset that came meanwhile', null, 'wrong'],
    ['lets in both of two who sign in at once, and whose hash the other has renewed', PASSWORD, 'signed_in'],
  ])('anew %s', async (_, password, kind) => {
    const { id, email } = await test.join('viewer');
    const { db, random } = test.http.app;
    const dearer = createPasswordHasher(random, { memoryKiB: 128, passes: 1 });
    const changed = password === null ? null : await dearer.hash(password, { kind: 'known', id });
    const hasher = {
      ...dearer,
      hash: async (given: string, whom: HashedFor) => {
        await db.updateTable('people').set({ password_hash: changed }).where('id', '=', id).execute();
        return dearer.hash(given, whom);
      },
    };
    const client = clientAt('192.0.2.7');
    expect(await signIn({ ...test.people, hasher }, client, { email, password: PASSWORD })).toMatchObject({ kind });
    const row = await db.selectFrom('people').select('password_hash').where('id', '=', id).executeTakeFirstOrThrow();
    expect(row.password_hash).toBe(changed);
  });
});

describe('a right password, checked while something else happens,', () => {
  /** Signs in by the password; `meanwhile` happens once it was found right. */
  async function signInWhile(email: string, meanwhile: () => Promise<unknown>, code?: string) {
    const { hasher } = test.people;
    const verify: typeof hasher.verify = async (...given) => {
      const isRight = await hasher.verify(...given);
      await meanwhile();
      return isRight;
    };
    const client = clientAt('192.0.2.9');
    return signIn({ ...test.people, hasher: { ...hasher, verify } }, client, { email, password: PASSWORD, code });
  }

  /** Adds an authenticator to the account; the code that it shows at a time. */
  async function addAuthenticator(browser: Browser): Promise<(at: number) => string> {
    const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
    const codeAt = (at: number): string => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at });
    await browser.do('POST /dashboard/api/account/totp/confirm', { code: codeAt(test.http.clock()) });
    test.http.clock.advance(30_000);
    return codeAt;
  }
  const WRONG = { kind: 'wrong' };

  it('starts no session after a reset', async () => {
    const { id, email } = await test.join('viewer');
    expect(await signInWhile(email, () => resetPerson(test.http.app, DASHBOARD_URL, { id }))).toEqual(WRONG);
  });

  it('starts no session after the password was changed, and waits for no second factor either', async () => {
    const [plain, careful] = [await test.join('viewer'), await test.join('viewer')];
    await addAuthenticator(careful.browser);
    const { db } = test.http.app;
    for (const { id, email } of [plain, careful]) {
      const next = await test.people.hasher.hash(NEXT, { kind: 'known', id });
      const change = () => db.updateTable('people').set({ password_hash: next }).where('id', '=', id).execute();
      expect(await signInWhile(email, change)).toEqual(WRONG);
    }
  });

  it('starts a session though another sign-in has renewed the hash meanwhile', async () => {
    const { id, email } = await test.join('viewer');
    const { db } = test.http.app;
    const renewed = await test.people.hasher.hash(PASSWORD, { kind: 'known', id });
    const renew = () => db.updateTable('people').set({ password_hash: renewed }).where('id', '=', id).execute();
    expect(await signInWhile(email, renew)).toMatchObject({ kind: 'signed_in' });
  });

  it('starts no session with the code of an authenticator that was removed meanwhile', async () => {
    const { id, email, browser } = await test.join('viewer');
    const codeAt = await addAuthenticator(browser);
    const code = codeAt(test.http.clock());
    expect(await signInWhile(email, () => removeSecondFactor(test.http.app, { id }), code)).toEqual(WRONG);
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
    dashboard: openGuard(test.http.app),
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

  it('lets no client that used it up have more made-up cookies looked up, and lets sessions behind it go on', async () => {
    const own = await dashboardTest({ limits: createRateLimits({ test: 9, live: 9, page: 9, dashboard: 99 }, null) });
    onTestFinished(() => own.http.close());
    const { browser } = await own.join('viewer');
    await browser.session();
    const stranger = own.browser();
    const askAsSomebody = (): Promise<Answer> => {
      stranger.cookies.set('cointill_session', newToken(own.http.app.random));
      return stranger.try('GET /dashboard/api/session');
    };
    for (let time = 0; time < 9; time += 1) await askAsSomebody();
    await own.http.app.db.transaction().execute(async (trx) => {
      // A look-up would wait for the end of this transaction.
      await sql`lock table sessions in access exclusive mode`.execute(trx);
      expect(await askAsSomebody()).toMatchObject({ status: 429, body: { error: { type: 'rate_limit_error' } } });
    });
    expect(await browser.session()).toMatchObject({ state: 'signed_in' });
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
        body: { error: { message: expect.stringContaining('only one left') } },
      });
    }
  });

  it('stays owner when commands would change that, with the same message, and after being invited again', async () => {
    const own = await dashboardTest();
    onTestFinished(() => own.http.close());
    const { app } = own.http;
    const { id, email, browser } = await own.join('owner');
    const answer = await browser.try('POST /dashboard/api/people/deactivate', { id });
    expect(answer.body).toMatchObject({ error: { message: expect.stringContaining('only one left') } });
    const refused = { code: 'last_owner' };
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
