import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { createServiceHealth } from '../../src/app/dashboard/health.ts';
import { newId } from '../../src/app/context.ts';
import { surveyAttention } from '../../src/app/notifications/survey.ts';
import { hashOf, newToken } from '../../src/app/people/token.ts';
import { createProject } from '../../src/app/projects/projects.ts';
import { insertUnsubscribe } from '../../src/store/people/mails.ts';
import { dashboardTest, type DashboardTest, type Member } from '../dashboard.ts';

const CHOICES = '/dashboard/api/account/notifications';

async function tokenFor({ http }: DashboardTest, { id }: Member): Promise<string> {
  const token = newToken(http.app.random);
  const of = { personId: id, notification: 'endpoints', projectId: null, now: http.app.clock() } as const;
  await http.app.db.transaction().execute((trx) => insertUnsubscribe(trx, hashOf(token), of));
  return token;
}

it('people choose their mails for themselves, each choice alone', async () => {
  const test = await dashboardTest();
  const { browser } = await test.join('viewer');
  expect(await browser.do(`GET ${CHOICES}`)).toEqual({
    wallet_changed: true,
    endpoints: true,
    attention: 'off',
    weekly_on: null,
    zone: null,
    language: null,
    projects: [],
    sends_mail: false,
  });
  await browser.do(`POST ${CHOICES}`, { attention: 'daily', zone: 'Europe/Berlin' });
  expect(await browser.do(`POST ${CHOICES}`, { weekly_on: 1 })).toMatchObject({
    attention: 'daily',
    zone: 'Europe/Berlin',
    weekly_on: 1,
    endpoints: true,
  });
  for (const wrong of [{ zone: 'Mars/Base' }, { weekly_on: 8 }, { attention: 'hourly' }, { person: 'x' }])
    expect((await browser.call({ method: 'POST', path: CHOICES, body: wrong })).status).toBe(400);
  const other = await test.join('owner');
  expect(await other.browser.do(`GET ${CHOICES}`)).toMatchObject({ attention: 'off', weekly_on: null });
});

it('people choose mails about the payments of each project that they may see, each choice alone', async () => {
  const test = await dashboardTest();
  const { projectId: id } = test.http.app;
  const { browser } = await test.join('viewer', id);
  const SAVE = `POST ${CHOICES}/project` as const;
  await browser.do(SAVE, { id, payments: 'daily' });
  const chosen = { projects: [{ id, payments: 'daily', refunds: true, monthly: false }] };
  expect(await browser.do(SAVE, { id, refunds: true })).toMatchObject(chosen);
  expect(await browser.do(`GET ${CHOICES}`)).toMatchObject(chosen);
  const other = newId(test.http.app, 0);
  expect((await browser.try(SAVE, { id: other, refunds: true })).status).toBe(404);
  expect((await browser.try(SAVE, { id: 'x'.repeat(36), refunds: true })).status).toBe(404);
  const made = await createProject(test.http.app, 'Other');
  if (made.kind !== 'done') throw new Error(made.code);
  const stranger = await test.join('viewer', made.project.id);
  expect((await stranger.browser.try(SAVE, { id, refunds: true })).status).toBe(404);
});

it('the language of mails is that of the browser at the first sign-in, until somebody chooses another', async () => {
  const test = await dashboardTest();
  const { email } = await test.join('viewer');
  const own = test.browser({ headers: { 'accept-language': 'fr-FR,de-AT;q=0.8,en;q=0.5' } });
  await own.do('POST /dashboard/api/sign-in', { email, password: 'grumpy otter parade' });
  expect(await own.do(`GET ${CHOICES}`)).toMatchObject({ language: 'de' });
  await own.do(`POST ${CHOICES}`, { language: 'en' });
  const again = test.browser({ headers: { 'accept-language': 'de' } });
  await again.do('POST /dashboard/api/sign-in', { email, password: 'grumpy otter parade' });
  expect(await again.do(`GET ${CHOICES}`)).toMatchObject({ language: 'en' });
});

it.each([
  ['den, en;q=0.5', 'en'],
  ['de;q=0, en;q=0.5', 'en'],
  ['en;q=0.5, de', 'de'],
])('a browser that asks for %s gets mails in %s', async (header, language) => {
  const test = await dashboardTest();
  const { email } = await test.join('viewer');
  const browser = test.browser({ headers: { 'accept-language': header } });
  await browser.do('POST /dashboard/api/sign-in', { email, password: 'grumpy otter parade' });
  expect(await browser.do(`GET ${CHOICES}`)).toMatchObject({ language });
});

it('the link of a mail switches its kind off without a session, and reading the page does not', async () => {
  const test = await dashboardTest();
  const ann = await test.join('owner');
  const token = await tokenFor(test, ann);
  const stranger = test.browser();
  const opened = await stranger.do('POST /dashboard/api/unsubscribe/state', { token });
  expect(opened).toEqual({ state: 'open', notification: 'endpoints', project: null });
  expect(await ann.browser.do(`GET ${CHOICES}`)).toMatchObject({ endpoints: true });
  expect(await stranger.do('POST /dashboard/api/unsubscribe', { token })).toMatchObject({ state: 'used' });
  expect(await ann.browser.do(`GET ${CHOICES}`)).toMatchObject({ endpoints: false, wallet_changed: true });
  expect(await stranger.do('POST /dashboard/api/unsubscribe', { token: 'x' })).toEqual({
    state: 'unknown',
    notification: null,
    project: null,
  });
});

it('a mail program unsubscribes with one POST of its own, as RFC 8058 has it', async () => {
  const test = await dashboardTest();
  const ann = await test.join('owner');
  const token = await tokenFor(test, ann);
  const post = (path: string) =>
    test.browser().call({
      method: 'POST',
      path,
      headers: {
        origin: 'https://mail.example',
        'sec-fetch-site': 'cross-site',
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'List-Unsubscribe=One-Click',
    });
  expect((await post(`/dashboard/unsubscribe/${token}`)).status).toBe(200);
  expect(await ann.browser.do(`GET ${CHOICES}`)).toMatchObject({ endpoints: false });
  expect((await post(`/dashboard/unsubscribe/${token}`)).status).toBe(200);
  expect((await post(`/dashboard/unsubscribe/${token.slice(1)}x`)).status).toBe(404);
});

it('what needs attention has a number once it was noticed, of what the role may see', async () => {
  const test = await dashboardTest();
  const { app } = test.http;
  const { browser } = await test.join('owner');
  const payment = await app.pay({ mode: 'live', merchantOrderId: 'A-1' });
  await sql`update payments set exception = 'underpaid', seen_units = owed_units / 2, status = 'pending'
    where id = ${payment.id}`.execute(app.db);
  const path = `/dashboard/api/projects/${app.projectId}/live/attention`;
  const read = async (at: string) => (await browser.call<Record<string, unknown>>({ method: 'GET', path: at })).body;
  const before = await read(`${path}/count`);
  expect(before).toMatchObject({ count: 1, newest: 0 });
  const list = await read(path);
  expect(list).toMatchObject({ data: [{ noticed: null, identity: (before['unnoticed'] as string[])[0] }] });
  await surveyAttention(app, { serviceHealth: createServiceHealth(app, [], 0), sweeps: () => Promise.resolve([]) });
  const after = await read(`${path}/count`);
  expect(after).toMatchObject({ count: 1, unnoticed: [] });
  expect(after['newest']).toBeGreaterThan(0);
  expect(await read(path)).toMatchObject({ data: [{ noticed: after['newest'] }] });
});
