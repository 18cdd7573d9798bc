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
    expect(await links(page)).toEqual([
      'Home',
      ...['Payments', 'Refunds', 'Needs attention'],
      ...['Wallets', 'Sweeps', 'Reports'],
      ...['Keys', 'Webhooks', 'Events', 'Requests'],
      ...['Settings', 'People', 'Audit'],
    ]);
    await group(page, 'Developers').click();
    await group(page, 'Money').focus();
    await page.keyboard.press('Enter');
    const left = ['Home', 'Payments', 'Refunds', 'Needs attention', 'Settings', 'People', 'Audit'];
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
    ['viewer', ['Home', 'Payments', 'Refunds', 'Needs attention', 'Reports'], ['Payments', 'Money']],
    [
      'developer',
      ['Home', ...['Payments', 'Refunds', 'Needs attention', 'Reports'], ...['Keys', 'Webhooks', 'Events', 'Requests']],
      ['Payments', 'Money', 'Developers'],
    ],
  ])('shows a %s the pages of the role alone, and no empty group', async (role, shown, groups) => {
    const page = await openAs(role);
    expect(await links(page)).toEqual(shown);
    for (const name of GROUPS) expect(await group(page, name).count()).toBe(groups.includes(name) ? 1 : 0);
  });
});
