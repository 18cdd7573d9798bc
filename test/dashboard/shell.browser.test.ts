import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { DESKTOP, PASSWORD, PHONE, signIn, useDashboard, violations } from './dashboard.fixture.ts';

const DAY_MS = 86_400_000;
const LIGHT_PAGE = 'rgb(246, 248, 247)';
const DARK_PAGE = 'rgb(14, 20, 18)';

describe.skipIf(hasNoBrowser)('a tab of the dashboard', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const background = (page: Page) => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  const chooseTheme = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('radio', { name }).check();
    await page.keyboard.press('Escape');
  };

  it('is light, dark or as the system is, as was chosen in the account menu; other tabs follow', async () => {
    const { page, context } = await dashboard.openSignedIn({ colorScheme: 'light' });
    await page.goto(base());
    const other = await context.newPage();
    await other.goto(base());
    expect(await background(page)).toBe(LIGHT_PAGE);
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    expect(await page.getByRole('radio', { name: 'System' }).isChecked()).toBe(true);
    await page.keyboard.press('Escape');
    await chooseTheme(page, 'Dark');
    expect(await background(page)).toBe(DARK_PAGE);
    await expect.poll(() => background(other)).toBe(DARK_PAGE);
    await page.emulateMedia({ colorScheme: 'dark' });
    await chooseTheme(page, 'Light');
    expect(await background(page)).toBe(LIGHT_PAGE);
    await chooseTheme(page, 'System');
    expect(await background(page)).toBe(DARK_PAGE);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await background(page)).toBe(LIGHT_PAGE);
  });

  it('has the chosen colours before its own script runs, after a reload and on the page of the sign-in', async () => {
    const { page } = await dashboard.openSignedIn({ colorScheme: 'light', expects: /ERR_FAILED/ });
    await page.goto(base());
    await chooseTheme(page, 'Dark');
    await page.route(/\/dashboard\/assets\/main\./, (route) => route.abort());
    await page.reload();
    expect(await page.locator('#root').innerHTML()).toBe('');
    expect(await background(page)).toBe(DARK_PAGE);
    await page.unroute(/\/dashboard\/assets\/main\./);
    await page.context().clearCookies();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(await background(page)).toBe(DARK_PAGE);
  });

  it('says that it is offline, keeps what it shows, and goes on by itself', async () => {
    const orderId = `NW-1-${randomUUID()}`;
    await dashboard.makeOrder({ order_id: orderId });
    const { page, context } = await dashboard.openSignedIn({
      expects: /ERR_INTERNET_DISCONNECTED|ERR_NETWORK|dynamically imported/,
    });
    await page.goto(`${base()}/payments`);
    await page.getByRole('row', { name: orderId }).waitFor();
    await page.getByText('Up to date').waitFor();
    // Menus and dialogs are loaded once the page is idle, which on a busy machine it may not be before it is offline.
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('link', { name: 'Your account' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Project:/ }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await page.getByRole('dialog', { name: 'New project' }).waitFor();
    await page.keyboard.press('Escape');
    await context.setOffline(true);
    await page.getByText('Offline').waitFor();
    expect(await page.getByRole('row', { name: orderId }).count()).toBe(1);
    expect(await violations(page, 'offline')).toEqual([]);
    await page.setViewportSize(PHONE);
    expect(await page.getByText('Offline').isVisible()).toBe(true);
    await page.setViewportSize(DESKTOP);
    // A page that was never opened here cannot come, and says why.
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('link', { name: 'Your account' }).click();
    await page.getByRole('heading', { level: 2, name: 'Couldn’t reach the server' }).waitFor();
    expect(await violations(page, 'a page that did not come')).toEqual([]);
    await context.setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
    await page.getByRole('link', { name: 'Payments' }).click();
    await page.getByRole('row', { name: orderId }).waitFor();
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Payments' }).click();
    // A request now is answered with a sentence, and typed text stays.
    await page.getByRole('button', { name: /^Project:/ }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Made offline');
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByRole('button', { name: 'New project' }).click();
    await dialog.getByText('Check your connection, then try again.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Made offline');
    const orderMadeOffline = `NW-2-${randomUUID()}`;
    await dashboard.makeOrder({ order_id: orderMadeOffline });
    await context.setOffline(false);
    await dialog.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('button', { name: 'Project: Made offline' }).waitFor();
    await page.goto(`${base()}/payments`);
    await page.getByRole('row', { name: orderMadeOffline }).waitFor();
    await page.getByText('Up to date').waitFor();
  });

  it('whose server was away says so, and shows what happened meanwhile once it is back', async () => {
    const orderId = `NW-3-${randomUUID()}`;
    await dashboard.makeOrder({ order_id: orderId });
    const { page } = await dashboard.openSignedIn({ expects: /ERR_|50\d|dynamically imported/ });
    await page.goto(`${base()}/payments`);
    await page.getByRole('row', { name: orderId }).waitFor();
    await page.getByText('Up to date').waitFor();
    await dashboard.service.stop();
    await page.getByText('Reconnecting…').waitFor();
    await dashboard.service.start();
    await page.getByText('Up to date').waitFor();
    expect(await page.getByRole('row', { name: orderId }).count()).toBe(1);

    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('link', { name: 'Your account' }).waitFor();
    await dashboard.service.stop();
    await page.getByText('Reconnecting…').waitFor();
    // The script of a page that was never opened here cannot come, which is no upgrade.
    await page.getByRole('link', { name: 'Your account' }).click();
    await page.getByRole('heading', { level: 2, name: 'Couldn’t reach the server' }).waitFor();
    await dashboard.service.start();
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
  });

  it('that is open across an upgrade says so, loses nothing, and loads anew only when asked', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /404|ERR_|dynamically imported/ });
    await page.goto(base());
    await page.getByText('Up to date').waitFor();
    await page.getByRole('button', { name: /^Project:/ }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Half a name');
    // The stream of the upgraded server, and the files that it has no more.
    await page.route(/\/events$/, (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: 'retry: 600000\ndata: {"kind":"version","version":"another"}\n\n',
      }),
    );
    await page.route(/\/assets\/account-page\./, (route) => route.fulfill({ status: 404, json: {} }));
    await dashboard.service.stop();
    await dashboard.service.start();
    await page.getByText('This page is from an earlier version of Cointill.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Half a name');
    expect(await violations(page, 'the bar of an upgrade')).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('link', { name: 'Your account' }).click();
    await page.getByRole('heading', { level: 2, name: 'Cointill was updated' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('main').getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
    expect(await page.getByText('This page is from an earlier version').count()).toBe(0);
  });

  it('whose person signs out in another one shows nothing more without a sign-in', async () => {
    const { page, context } = await dashboard.openTab({ expects: /401/ });
    await page.goto(dashboard.service.dashboard);
    await signIn(page);
    await page.getByText('Up to date').waitFor();
    const other = await context.newPage();
    await other.goto(`${dashboard.service.dashboard}/account`);
    await other.getByRole('button', { name: 'Account', exact: true }).click();
    await other.getByRole('button', { name: 'Sign out', exact: true }).click();
    await other.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    // The first tab is told by its stream, without anybody touching it.
    const dialog = page.getByRole('dialog', { name: 'You are signed out' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    expect(await dialog.count()).toBe(1);
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Up to date').waitFor();
  });

  it.each([
    ['three days slow', -3 * DAY_MS],
    ['three days fast', 3 * DAY_MS],
  ])('whose clock is %s works all the same', async (_name, skewMs) => {
    const orderId = `NW-${skewMs}`;
    const id = await dashboard.makeOrder({ order_id: orderId });
    const { page } = await dashboard.openTab();
    await page.clock.install({ time: Date.now() + skewMs });
    await page.goto(dashboard.service.dashboard);
    await signIn(page);
    await page.getByRole('row', { name: new RegExp(orderId) }).waitFor();
    await page.goto(`${base()}/payments/${id}`);
    await page.getByRole('button', { name: 'Complete payment' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Complete payment' }).click();
    await page.getByText('Payment completed.').waitFor();
    const { body } = await dashboard.service.api(`/v1/orders/${id}`);
    expect(body['status']).toBe('completed');
  });
});
