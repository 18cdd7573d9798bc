import { TOTP } from 'otpauth';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { EMAIL, PASSWORD, useDashboard, violations } from './dashboard.fixture.ts';

describe.skipIf(hasNoBrowser)('coming into the dashboard', () => {
  const dashboard = useDashboard();

  it.each([
    ['was used', 'This link has already been used', () => dashboard.service.setupLink],
    ['never was', 'This link is not valid', () => `${dashboard.service.dashboard}/setup/nothing`],
  ])('a link that %s opens a page without fields that says how to get a new one', async (_what, title, link) => {
    const { page } = await dashboard.openTab();
    await page.goto(link());
    await hasNoFields(page, title);
    expect(await page.getByText('cointill user invite').count()).toBe(1);
    expect(await violations(page, title)).toEqual([]);
  });

  it('continues to the requested page after the sign-in', async () => {
    const { page } = await dashboard.openTab({ expects: /401/ });
    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await page.getByRole('button', { name: 'Forgot your password?' }).click();
    await page.getByText('cointill user reset').waitFor();
    expect(await violations(page, 'sign-in')).toEqual([]);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await expect.poll(() => page.getByText('Fill in this field.').count()).toBe(2);
    await page.getByLabel('E-mail').fill('eva@');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Enter an e-mail address, such as').waitFor();
    expect(await page.locator('input[name=email]:focus').count()).toBe(1);
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await violations(page, 'a wrong password')).toEqual([]);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
    expect(await page.title()).toBe('Your account · Cointill');
    expect(await violations(page, 'the account')).toEqual([]);
    await page.getByLabel('Weekly summary').selectOption({ label: 'Tuesday' });
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel('Weekly summary').inputValue()).toBe('2');
    await page.getByText('This service sends no e-mail').waitFor();
  });

  it('the link of a mail switches its kind off by a button, without signing in', async () => {
    const { page } = await dashboard.openTab();
    const token = 'x'.repeat(43);
    const client = new Client({ connectionString: dashboard.service.database.url });
    await client.connect();
    await client.query(
      `insert into mail_unsubscribes (token_hash, person_id, notification, created_at)
        select sha256($1::bytea), id, 'endpoints', now() from people limit 1`,
      [Buffer.from(token)],
    );
    await client.end();
    await page.goto(`${dashboard.service.dashboard}/unsubscribe/${token}`);
    await page.getByText('You’ll no longer get these e-mails: failing webhooks.').waitFor();
    expect(await violations(page, 'switching mails off')).toEqual([]);
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByRole('heading', { level: 1, name: 'Switched off' }).waitFor();
    await page.goto(`${dashboard.service.dashboard}/unsubscribe/nothing`);
    await page.getByRole('heading', { level: 1, name: 'This link is no longer valid' }).waitFor();
  });

  it('asks for the second factor if there is one, and accepts a recovery code instead', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /40[01]/ });
    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
    await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
    expect(await violations(page, 'setting up an app')).toEqual([]);
    const secret = (await page.getByRole('dialog').locator('code').innerText()).replaceAll(' ', '');
    await page.getByLabel('One-time code').fill(new TOTP({ secret }).generate());
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('These codes are shown only once.').waitFor();
    expect(await violations(page, 'recovery codes')).toEqual([]);
    const codes = await page.getByRole('dialog').locator('li code').allInnerTexts();
    expect(codes).toHaveLength(10);
    await page.getByRole('button', { name: 'I have saved these codes' }).click();
    await page.getByRole('button', { name: 'Remove authenticator app' }).waitFor();
    expect(await violations(page, 'the account with a second factor')).toEqual([]);

    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel('One-time code').waitFor();
    expect(await violations(page, 'the second factor')).toEqual([]);
    await page.getByLabel('One-time code').fill('000000');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Use a recovery code' }).click();
    await page.getByLabel('Recovery code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    // Simulates strangers who used up the attempts at the account.
    const { page: other } = await dashboard.openTab({ expects: /4(?:01|29)/ });
    const json = { error: { type: 'rate_limit_error', message: 'Too many wrong attempts.', param: 'code' } };
    await other.route('**/dashboard/api/sign-in', (route) => route.fulfill({ status: 429, json }), { times: 1 });
    await other.goto(dashboard.service.dashboard);
    await other.getByLabel('E-mail').fill(EMAIL);
    await other.getByLabel('Password').fill(PASSWORD);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByText('Too many wrong attempts.').waitFor();
    expect(await violations(other, 'a code with the password')).toEqual([]);
    // The next step's code, because this step's may be used up.
    await other.getByLabel('One-time code').fill(new TOTP({ secret }).generate({ timestamp: Date.now() + 30_000 }));
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });
});

describe.skipIf(hasNoBrowser)('before anybody has an account', () => {
  const dashboard = useDashboard({ hasOwner: false });

  it('the sign-in says where the link is', async () => {
    const { page } = await dashboard.openTab();
    await page.goto(dashboard.service.dashboard);
    await hasNoFields(page, 'Set up your dashboard');
    expect(await violations(page, 'no people')).toEqual([]);
  });

  it('the link asks for e-mail and password, and shows errors at their fields', async () => {
    const { page } = await dashboard.openTab({ expects: /400/ });
    await page.goto(dashboard.service.setupLink);
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill('passwordpassword');
    expect(await violations(page, 'set-up')).toEqual([]);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.locator('[aria-invalid=true]').waitFor();
    await page.getByText('Password is too easy to guess.').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('password');
    expect(await page.getByLabel('E-mail').inputValue()).toBe(EMAIL);
    expect(await violations(page, 'set-up with a common password')).toEqual([]);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Protect your account' }).waitFor();
    expect(await violations(page, 'the offer of a second factor')).toEqual([]);
  });
});

async function hasNoFields(page: Page, title: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  expect(await page.getByRole('textbox').count()).toBe(0);
}
