import type { CDPSession, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { EMAIL, PASSWORD, useDashboard, violations, type Tab } from './dashboard.fixture.ts';

/** Chromium's own authenticator, as a phone or laptop has it: it keeps passkeys and proves who holds it. */
async function addAuthenticator({ page, context }: Tab): Promise<{ readonly cdp: CDPSession; readonly id: string }> {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, id };
}

const signOut = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Account', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
};

describe.skipIf(hasNoBrowser)('a passkey', () => {
  const dashboard = useDashboard();

  it('is added, is asked for after the password, signs in alone, and is removed', async () => {
    const tab = await dashboard.openSignedIn({ expects: /401/ });
    const { page } = tab;
    const { cdp, id } = await addAuthenticator(tab);
    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name').fill('Work laptop');
    expect(await violations(page, 'a new passkey')).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('These codes are shown only once.').waitFor();
    await page.getByRole('button', { name: 'I have saved these codes' }).click();
    await page.getByText('Work laptop').waitFor();
    expect((await cdp.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials).toHaveLength(1);

    // The same device a second time says so.
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Name').fill('Again');
    await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('This device or security key already has a passkey for your account.').waitFor();
    await page.keyboard.press('Escape');

    await signOut(page);
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    expect(await violations(page, 'the second step by passkey')).toEqual([]);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    await signOut(page);
    // A person who dismisses the browser's question stays where they were.
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false });
    await page.getByRole('button', { name: /passkey/ }).click();
    await expect.poll(() => page.getByRole('button', { name: /passkey/ }).isEnabled()).toBe(true);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: true });
    await page.getByRole('button', { name: /passkey/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByRole('button', { name: 'Remove passkey Work laptop' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('Removed.').waitFor();
    await expect.poll(() => page.getByText('Work laptop').count()).toBe(0);
    await signOut(page);
    await page.getByRole('button', { name: /passkey/ }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });

  it('works at DASHBOARD_URL alone, which a page at another address says', async () => {
    const { page } = await dashboard.openTab();
    const other = dashboard.service.dashboard.replace('localhost', '127.0.0.1');
    await page.goto(other);
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.goto(`${other}/account`);
    await page.getByText('Passkeys work only at').waitFor();
    expect(await page.getByRole('main').innerText()).toContain('DASHBOARD_URL');
  });
});

describe.skipIf(hasNoBrowser)('on an IP address', () => {
  // With the default settings, the dashboard is at the address of HOST.
  const dashboard = useDashboard({ hasOwner: false, settings: { DASHBOARD_URL: '' } });

  it('passkeys are not offered, and the pages say so and name DASHBOARD_URL', async () => {
    const { page } = await dashboard.openTab();
    expect(new URL(dashboard.service.setupLink).hostname).toBe('127.0.0.1');
    await page.goto(dashboard.service.setupLink);
    await page.getByLabel('E-mail').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    const says = page.getByText('Set DASHBOARD_URL to the host name that people use');
    await says.waitFor();
    expect(await violations(page, 'no passkeys')).toEqual([]);
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.goto(`${new URL(dashboard.service.setupLink).origin}/dashboard/account`);
    await says.waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
    await signOut(page);
    expect(await page.getByRole('button', { name: /passkey/ }).count()).toBe(0);
  });
});
