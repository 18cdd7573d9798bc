import { Secret, TOTP } from 'otpauth';
import { expect, it, onTestFinished } from 'vitest';
import { createMailer } from '../../src/app/notifications/send-mails.ts';
import { hashOf, newToken } from '../../src/app/people/token.ts';
import { createMailSender } from '../../src/mail/send.ts';
import { localSmtp } from '../../src/mail/smtp-server.fixture.ts';
import { dashboardTest, DASHBOARD_URL, PASSWORD, signedIn, tokenOf } from '../dashboard.ts';

const CHOICES = '/dashboard/api/account/notifications';
const HOUR_MS = 60 * 60_000;

/** The dashboard with a mail server. */
async function mailTest() {
  const test = await dashboardTest({ sendsMail: true });
  onTestFinished(() => test.http.close());
  const { app } = test.people;
  const { renderer } = test.dashboard;
  const { problems } = test.http;
  const smtp = await localSmtp();
  const from = { name: 'Cointill', address: 'pay@shop.example' };
  const sender = createMailSender({ server: smtp.server, from, answerMs: 5_000 });
  const mailer = createMailer(app, { sender, from: from.address, siteUrl: DASHBOARD_URL, renderer, problems });
  let read = 0;
  /** The mails that were not read before, by their addresses. */
  const rawMails = async () => {
    while (await mailer.sendDue());
    const fresh = smtp.taken.slice(read).map(({ to, raw }) => ({ to, raw: raw.replaceAll(/=\r?\n/g, '') }));
    read = smtp.taken.length;
    return fresh.toSorted((a, b) => ((a.to[0] ?? '') < (b.to[0] ?? '') ? -1 : 1));
  };
  return {
    test,
    app,
    smtp,
    clock: test.http.clock,
    rawMails,
    /** The same, each as its address and subject. */
    mails: async () =>
      (await rawMails()).map(({ to, raw }) => [to.join(','), /^Subject: (.*)$/m.exec(raw)?.[1]?.trim() ?? '']),
    /** Somebody with an account whose mails of invitation were read. */
    joined: async (role: 'owner' | 'viewer' = 'viewer') => {
      const member = await test.join(role);
      await rawMails();
      return member;
    },
  };
}

const tokenIn = (raw = ''): string => /dashboard\/setup\/([\w-]{43})/.exec(raw)?.[1] ?? '';

it('every change of somebody’s account is mailed to them, and no link in those mails switches them off', async () => {
  const { clock, joined, mails, rawMails, test } = await mailTest();
  const { id, email, browser } = await joined();
  const owner = await joined('owner');
  const code = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: clock() });
  const { secret } = await browser.do('POST /dashboard/api/account/totp/start');
  expect(await mails()).toEqual([]);
  await browser.do('POST /dashboard/api/account/totp/confirm', { code: code(secret) });
  const [added] = await rawMails();
  expect(added).toMatchObject({ to: [email], raw: expect.stringMatching(/^Subject: An authenticator app was added/m) });
  expect(added?.raw).toContain('/dashboard/account');
  expect(added?.raw).not.toMatch(/unsubscribe/i);
  await browser.do('POST /dashboard/api/account/recovery-codes');
  expect(await mails()).toEqual([[email, 'Your account has new recovery codes']]);
  await browser.do('POST /dashboard/api/account/totp/remove');
  expect(await mails()).toEqual([[email, 'The authenticator app was removed from your account']]);
  await browser.do('POST /dashboard/api/account/password', { current_password: PASSWORD, password: `${PASSWORD} 2` });
  expect(await mails()).toEqual([[email, 'Your password was changed']]);

  const { secret: again } = await browser.do('POST /dashboard/api/account/totp/start');
  clock.advance(30_000);
  await browser.do('POST /dashboard/api/account/totp/confirm', { code: code(again) });
  await mails();
  await owner.browser.do('POST /dashboard/api/people/remove-factors', { id });
  expect(await mails()).toEqual([[email, 'The second factors were removed from your account']]);
  const { link } = await owner.browser.do('POST /dashboard/api/people/reset', { id });
  const [reset] = await rawMails();
  expect(reset).toMatchObject({ to: [email], raw: expect.stringMatching(/^Subject: Your password was reset/m) });
  expect(reset?.raw).toContain(owner.email);
  const token = tokenOf({ url: link, expiresAt: 0 });
  expect(reset?.raw).not.toContain(token);
  await test.browser().do('POST /dashboard/api/links/accept', { token, password: PASSWORD });
  expect(await mails()).toEqual([[email, 'Your password was changed']]);
});

it('a sign-in from a new browser is mailed, and none from a browser that is known', async () => {
  const { joined, mails, rawMails, test } = await mailTest();
  const { email, browser } = await joined();
  await browser.do('POST /dashboard/api/sign-out');
  await browser.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
  expect(await mails()).toEqual([]);
  const other = test.browser({ headers: { 'user-agent': 'Elsewhere/1.0' } });
  await other.do('POST /dashboard/api/sign-in', { email, password: PASSWORD });
  const [mail] = await rawMails();
  expect(mail?.to).toEqual([email]);
  expect(mail?.raw).toContain('Elsewhere/1.0');
});

it('a new e-mail takes effect once its own address confirms it, and the old address is told of both', async () => {
  const { joined, mails, rawMails, test } = await mailTest();
  const { email, browser } = await joined();
  const next = 'zoe@shop.example';
  const asked = await browser.do('POST /dashboard/api/account/email', { email: next });
  expect(signedIn(asked).person).toMatchObject({ email, pending_email: next });
  const [toOld, toNew] = await rawMails();
  expect([toOld?.to, toNew?.to]).toEqual([[email], [next]]);
  expect(toOld?.raw).toContain(next);
  expect(toOld?.raw).not.toContain('/setup/');
  const token = tokenIn(toNew?.raw);
  // The link may have gone to a stranger: it opens no account.
  const stranger = test.browser();
  const password = 'seven umbrellas for geese';
  expect((await stranger.try('POST /dashboard/api/links/accept', { token, password })).status).toBe(404);
  const state = await stranger.do('POST /dashboard/api/links/state', { token });
  expect(state).toMatchObject({ state: 'open', purpose: 'email', email: next });
  expect(signedIn(await browser.session()).person.email).toBe(email);
  expect((await stranger.try('POST /dashboard/api/sign-in', { email: next, password: PASSWORD })).status).toBe(401);

  await stranger.do('POST /dashboard/api/links/confirm-email', { token });
  expect(await stranger.session()).toMatchObject({ state: 'signed_out' });
  expect(signedIn(await browser.session()).person).toMatchObject({ email: next, pending_email: null });
  expect(await mails()).toEqual([[email, 'Your e-mail address was changed']]);
  expect((await stranger.try('POST /dashboard/api/links/confirm-email', { token })).status).toBe(404);
});

it('a new e-mail is dropped with a newer one, a new password and an hour, and is nobody else’s by then', async () => {
  const { clock, joined, rawMails, smtp, test } = await mailTest();
  const { browser } = await joined();
  const ask = async (email: string): Promise<string> => {
    await browser.do('POST /dashboard/api/account/email', { email });
    return tokenIn((await rawMails()).find(({ to }) => to.includes(email))?.raw);
  };
  const confirm = async (token: string): Promise<number> =>
    (await test.browser().try('POST /dashboard/api/links/confirm-email', { token })).status;
  const first = await ask('one@shop.example');
  // Only the newer of two requests that wait for the mail server is mailed.
  await browser.do('POST /dashboard/api/account/email', { email: 'two@shop.example' });
  const third = await ask('three@shop.example');
  expect(smtp.taken.flatMap(({ to }) => to)).not.toContain('two@shop.example');
  expect(await confirm(first)).toBe(404);
  await browser.do('POST /dashboard/api/account/password', { current_password: PASSWORD, password: `${PASSWORD} 2` });
  expect(await confirm(third)).toBe(404);
  const late = await ask('late@shop.example');
  clock.advance(HOUR_MS);
  expect(await confirm(late)).toBe(404);
  await browser.do('POST /dashboard/api/reauthenticate', { password: `${PASSWORD} 2` });
  const taken = await ask('taken@shop.example');
  await test.join('viewer', null, 'taken@shop.example');
  expect(await confirm(taken)).toBe(404);
  const { email, pending_email: pending } = signedIn(await browser.session()).person;
  expect([email, pending]).toEqual([expect.stringMatching(/^viewer-/), null]);
});

it('a request for a new e-mail is shown no more in the answer to the new password or reset that drops it', async () => {
  const { joined, test } = await mailTest();
  const { id, browser } = await joined();
  const owner = await joined('owner');
  await browser.do('POST /dashboard/api/account/email', { email: 'dropped@shop.example' });
  const password = `${PASSWORD} 2`;
  const changed = await browser.do('POST /dashboard/api/account/password', { current_password: PASSWORD, password });
  expect(signedIn(changed).person.pending_email).toBeNull();
  const { link } = await owner.browser.do('POST /dashboard/api/people/reset', { id });
  await test.people.app.db
    .updateTable('people')
    .set({ pending_email: 'since@shop.example' })
    .where('id', '=', id)
    .execute();
  const token = tokenOf({ url: link, expiresAt: 0 });
  const accepted = await test.browser().do('POST /dashboard/api/links/accept', { token, password: PASSWORD });
  expect(signedIn(accepted).person.pending_email).toBeNull();
});

it('a new e-mail that one of two people confirms ends the request of the other alone', async () => {
  const { joined, rawMails, test } = await mailTest();
  const [one, two, third] = [await joined(), await joined(), await joined()];
  await two.browser.do('POST /dashboard/api/account/email', { email: 'Shared@shop.example' });
  const asked = tokenIn((await rawMails()).find(({ to }) => to.includes('Shared@shop.example'))?.raw);
  await third.browser.do('POST /dashboard/api/account/email', { email: 'else@shop.example' });
  await rawMails();
  await one.browser.do('POST /dashboard/api/account/email', { email: 'shared@shop.example' });
  const token = tokenIn((await rawMails()).find(({ to }) => to.includes('shared@shop.example'))?.raw);
  await test.browser().do('POST /dashboard/api/links/confirm-email', { token });
  const pending = async ({ browser }: typeof one) => signedIn(await browser.session()).person.pending_email;
  expect(await Promise.all([one, two, third].map(pending))).toEqual([null, null, 'else@shop.example']);
  expect(await test.browser().do('POST /dashboard/api/links/state', { token: asked })).toEqual({ state: 'used' });
  expect((await test.browser().try('POST /dashboard/api/links/confirm-email', { token: asked })).status).toBe(404);
});

it('asks few addresses an hour to confirm', async () => {
  const { joined } = await mailTest();
  const { browser } = await joined();
  const statuses: number[] = [];
  for (let index = 0; index < 6; index += 1) {
    const body = { email: `stranger-${index}@shop.example` };
    statuses.push((await browser.try('POST /dashboard/api/account/email', body)).status);
  }
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});

it('the alarm of a changed wallet is switched off with reauthentication alone, and by no link', async () => {
  const { app, clock, joined, test } = await mailTest();
  const { id, browser } = await joined('owner');
  clock.advance(10 * 60_000);
  const off = { wallet_changed: false };
  expect(await browser.try(`POST ${CHOICES}`, off)).toMatchObject({
    status: 403,
    body: { error: { type: 'reauthentication_required' } },
  });
  await browser.do(`POST ${CHOICES}`, { wallet_changed: true, endpoints: false });
  const token = newToken(app.random);
  // A mail sent by a former version.
  const row = {
    token_hash: hashOf(token),
    person_id: id,
    notification: 'wallet_changed',
    created_at: new Date(clock()),
  };
  await app.db
    .insertInto('mail_unsubscribes')
    .values(row as typeof row & { notification: 'endpoints' })
    .execute();
  const opened = await test.browser().do('POST /dashboard/api/unsubscribe', { token });
  expect(opened).toEqual({ state: 'unknown', notification: null, project: null });
  expect(await browser.do(`GET ${CHOICES}`)).toMatchObject({ wallet_changed: true });
  await browser.do('POST /dashboard/api/reauthenticate', { password: PASSWORD });
  expect(await browser.do(`POST ${CHOICES}`, off)).toMatchObject({ wallet_changed: false });
});
