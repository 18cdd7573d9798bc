import { expect, it } from 'vitest';
import { hashOf, newToken } from '../../src/app/people/token.ts';
import { customerOf, hasRefused, insertRefusalLink } from '../../src/store/projects/customer-mails.ts';
import { dashboardTest } from '../dashboard.ts';

const OFF = { is_on: false, from_address: '', reply_to: '', language: 'en' };

it('a project mails its customers as its admins choose, and refuses what is no single address', async () => {
  const test = await dashboardTest();
  const { projectId } = test.http.app;
  const path = `/dashboard/api/projects/${projectId}/settings/customer-mails`;
  const { browser } = await test.join('admin');
  const read = async () => (await browser.call<Record<string, unknown>>({ path })).body;
  const post = (body: unknown, by = browser) => by.call({ method: 'POST', path, body });
  expect(await read()).toMatchObject({ ...OFF, sends_mail: false });
  expect((await read())['languages']).toEqual([
    'ar',
    'de',
    'en',
    'es',
    'fr',
    'it',
    'ja',
    'nl',
    'pl',
    'pt',
    'ru',
    'tr',
    'zh',
  ]);
  const on = { is_on: true, from_address: ' shop@tea.example ', reply_to: 'help@tea.example', language: 'de' };
  expect((await post(on)).body).toMatchObject({ ...on, from_address: 'shop@tea.example' });
  expect(await read()).toMatchObject({ is_on: true, language: 'de' });
  for (const [field, wrong] of [
    ['from_address', 'a@tea.example, b@tea.example'],
    ['reply_to', 'a@tea.example\r\nBcc: c@tea.example'],
    ['language', 'xx'],
  ] as const) {
    const refused = await post({ ...on, [field]: wrong });
    expect(refused.status).toBe(400);
    expect(refused.body).toMatchObject({ error: { param: field } });
  }
  const viewer = await test.join('viewer');
  expect((await post(OFF, viewer.browser)).status).toBe(403);
  expect(await read()).toMatchObject({ is_on: true });
});

it('the page of a mail’s link asks for a click, in the customer’s language, and a mail program’s POST refuses', async () => {
  const test = await dashboardTest();
  const { app } = test.http;
  const token = newToken(app.random);
  const customer = customerOf(app.projectId, 'anna@customer.example');
  await insertRefusalLink(app.db, hashOf(token), customer, app.clock());
  const page = (method: 'GET' | 'POST', of: string) =>
    test.http.call({
      method,
      path: `/mails/${of}`,
      headers: {
        'accept-language': 'de',
        ...(method === 'POST' ? { 'content-type': 'multipart/form-data; boundary=x' } : {}),
      },
      ...(method === 'POST' ? { body: 'List-Unsubscribe=One-Click' } : {}),
    });
  const asked = await page('GET', token);
  expect(asked.status).toBe(200);
  expect(asked.text).toContain('Keine E-Mails von diesem Shop mehr?');
  expect(await hasRefused(app.db, customer)).toBe(false);
  expect((await page('POST', token)).status).toBe(200);
  expect(await hasRefused(app.db, customer)).toBe(true);
  expect((await page('POST', token)).status).toBe(200);
  expect((await page('GET', `${token.slice(1)}x`)).status).toBe(404);
});
