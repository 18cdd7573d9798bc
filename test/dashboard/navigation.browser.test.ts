import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { DESKTOP, PASSWORD, PHONE, useDashboard, violations } from './dashboard.fixture.ts';

describe.skipIf(hasNoBrowser)('the navigation', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const pages = (page: Page) => page.getByRole('navigation', { name: 'Pages' });
  const group = (page: Page, name: string) => pages(page).getByRole('button', { name, exact: true });
  const links = (page: Page) => pages(page).getByRole('link').allTextContents();
  const OF_PAYMENTS = ['Payments', 'Payment requests', 'Refunds', 'Customers', 'Needs attention'];
  const GROUPS = ['Payments', 'Money', 'Developers', 'Settings'];

  /** Signs a person of a role in. */
  const openAs = async (role: string): Promise<Page> => {
    const { link } = (await dashboard.service.command(`user invite --email ${role}@example.com --role ${role}`)) as {
      readonly link: string;
    };
    const { page } = await dashboard.openTab();
    await page.goto(link);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    return page;
  };

  it('has groups, which stay folded as the person left them, beside the page and in the drawer of a phone', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${base()}/keys`);
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    expect(await links(page)).toEqual(
      [
        ['Home'],
        OF_PAYMENTS,
        ['Wallets', 'Sweeps', 'Reports'],
        ['Keys', 'Webhooks', 'Events', 'Requests'],
        ['Settings', 'People', 'Audit'],
        ['Till'],
      ].flat(),
    );
    await group(page, 'Developers').click();
    await group(page, 'Money').focus();
    await page.keyboard.press('Enter');
    const left = ['Home', ...OF_PAYMENTS, 'Settings', 'People', 'Audit', 'Till'];
    expect(await links(page)).toEqual(left);
    expect(await group(page, 'Developers').getAttribute('aria-expanded')).toBe('false');
    expect(await violations(page, 'folded groups')).toEqual([]);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    expect(await links(page)).toEqual(left);
    await page.setViewportSize(PHONE);
    await page.getByRole('button', { name: 'Menu' }).click();
    expect(await links(page)).toEqual(left);
    expect(await violations(page, 'the drawer of a phone')).toEqual([]);
    await page.setViewportSize(PHONE);
    await group(page, 'Developers').click();
    await pages(page).getByRole('link', { name: 'Events' }).click();
    await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    await page.setViewportSize(DESKTOP);
    expect(await group(page, 'Developers').getAttribute('aria-expanded')).toBe('true');
    // The keys of a page work whether its group is folded or not.
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.getByRole('heading', { level: 1, name: 'Reports' }).waitFor();
  });

  it.each([
    ['viewer', ['Home', ...OF_PAYMENTS, 'Reports'], ['Payments', 'Money']],
    [
      'developer',
      ['Home', ...OF_PAYMENTS, 'Reports', 'Keys', 'Webhooks', 'Events', 'Requests'],
      ['Payments', 'Money', 'Developers'],
    ],
  ])('shows a %s the pages of the role alone, and no empty group', async (role, shown, groups) => {
    const page = await openAs(role);
    expect(await links(page)).toEqual(shown);
    for (const name of GROUPS) expect(await group(page, name).count()).toBe(groups.includes(name) ? 1 : 0);
  });

  it('does things from every page by its palette and its keys, and lists both', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${base()}/audit`);
    await page.getByText('Up to date').waitFor();
    await page.keyboard.press('Control+k');
    const option = (name: string) => page.getByRole('option', { name });
    for (const [name, keys] of [
      ['New payment', 'n p'],
      ['Refund a payment', 'n f'],
      ['Create a key', 'n k'],
      ['Invite a person', 'n u'],
      ['Switch to live mode', 'g m'],
    ] as const) {
      expect(await option(name).locator('kbd').textContent()).toBe(keys);
    }
    expect(await violations(page, 'the palette')).toEqual([]);
    await page.keyboard.type('create key');
    await page.keyboard.press('Enter');
    const dialog = (name: string) => page.getByRole('dialog', { name, exact: true });
    await dialog('Create key').getByLabel('Name').fill('From the palette');
    await dialog('Create key').getByRole('button', { name: 'Create key' }).click();
    await page
      .getByText(/^sk_test_/)
      .first()
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'I have saved this key' }).click();
    // The page below is the same.
    expect(new URL(page.url()).pathname).toMatch(/\/audit$/);
    for (const [key, name] of [
      ['p', 'New payment'],
      ['f', 'New refund'],
      ['k', 'Create key'],
      ['w', 'Add endpoint'],
      ['u', 'Invite'],
      ['o', 'New project'],
    ] as const) {
      await page.keyboard.press('n');
      await page.keyboard.press(key);
      await dialog(name).waitFor();
      await page.keyboard.press('Escape');
      await dialog(name).waitFor({ state: 'detached' });
    }
    await page.keyboard.press('?');
    await dialog('Keyboard shortcuts').getByText('Invite a person').waitFor();
    expect(await violations(page, 'the list of keys')).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog('Keyboard shortcuts').waitFor({ state: 'detached' });
    // On a page of no project, the dialog opens over Home.
    await page.goto(`${dashboard.service.dashboard}/account`);
    await page.getByText('Up to date').waitFor();
    await page.keyboard.press('n');
    await page.keyboard.press('p');
    await dialog('New payment').waitFor();
    await page.keyboard.press('Escape');
    await dialog('New payment').waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('m');
    await page.getByRole('switch', { name: 'Test mode', checked: false }).waitFor();
    await page.keyboard.press('n');
    await page.keyboard.press('o');
    await dialog('New project').getByLabel('Name').fill('Cellar');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Project: Cellar' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('1');
    await page.getByRole('button', { name: 'Project: My shop' }).waitFor();
  });

  it('offers people only what their role permits', async () => {
    const page = await openAs('admin');
    await page.getByText('Up to date').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Create a key' }).waitFor();
    expect(await page.getByRole('option', { name: 'Invite a person' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('n');
    await page.keyboard.press('u');
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('heading', { level: 1, name: 'Needs attention' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});
