import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { isFilled, PASSWORD, useDashboard, violations } from './dashboard.fixture.ts';

const DIALOG = 'dialog';
/** Panels of records that do not exist. */
const PANELS = [
  ['payments?show=ord_00000000000000000000000001', 'Payment'],
  ['refunds?show=re_00000000000000000000000001', 'Refund'],
  ['customers?show=nobody@shop.example', 'Customer'],
  ['webhooks?show=dlv_1', 'Delivery'],
  ['event-log?show=evt_00000000000000000000000001', 'Event'],
  ['requests?show=00000000-0000-7000-8000-000000000001', 'Request'],
] as const;
/** A merchant's text that would run a script if it were inserted as markup. */
const SCRIPT = '<img src=x onerror="document.title=1"><script>alert(1)</script>';

describe.skipIf(hasNoBrowser)('the pages of a project', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  it.skipIf(isFilled)('pass axe while they are empty, and log no fault where there is nothing', async () => {
    // The browser itself logs the answer.
    const { page } = await dashboard.openSignedIn({ expects: /Failed to load resource.* status of 404/ });
    await page.goto(base());
    await page.getByText('No payments yet').waitFor();
    const found = [...(await violations(page, 'Home, empty'))];
    await page.goto(`${base()}/payments`);
    await page.getByText('No payments yet').waitFor();
    found.push(...(await violations(page, 'Payments, empty')));
    await page.goto(`${base()}/payments?status=completed&search=nothing`);
    await page.getByText('No matches').waitFor();
    found.push(...(await violations(page, 'Payments, no matches')));
    for (const place of ['', '/payments', '/attention']) {
      await page.goto(`${base().replace(/test$/, 'live')}${place}`);
      await page.getByText(/^(?:No payments yet|Nothing needs attention)$/).waitFor();
      found.push(...(await violations(page, `live${place}, empty`)));
    }
    await page.goto(`${dashboard.service.dashboard}/nowhere`);
    await heading(page, 'There is nothing here');
    expect(await page.getByRole('link', { name: 'Payments' }).count()).toBe(1);
    found.push(...(await violations(page, 'nothing here')));
    expect(found).toEqual([]);
    await page.goto(`${base()}/payments/ord_x`);
    await heading(page, 'There is nothing here');
  });

  it('pass axe with data, and with every dialog and menu open', async () => {
    const id = await dashboard.makeOrder({ order_id: 'NW-10', description: SCRIPT, customer_email: 'a@example.com' });
    const done = await dashboard.makeOrder({ order_id: 'NW-11', metadata: { [SCRIPT]: SCRIPT } });
    const { page } = await dashboard.openSignedIn();
    const found: string[] = [];
    const check = async (what: string) => void found.push(...(await violations(page, what)));
    await page.goto(base());
    await page.getByRole('row', { name: /NW-10/ }).waitFor();
    await check('Home');
    await page.getByRole('button', { name: 'Table' }).click();
    await check('Home with its table');
    await page.getByRole('button', { name: 'Project: My shop' }).click();
    await page.getByRole('menuitem', { name: 'New project' }).waitFor();
    await check('the menu of projects');
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await page.getByRole(DIALOG, { name: 'New project' }).waitFor();
    await check('a new project');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Account', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await check('the account menu');
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole(DIALOG, { name: 'Keyboard shortcuts' }).waitFor();
    await check('the keys');
    await page.keyboard.press('Escape');

    await page.goto(`${base()}/payments?show=${id}`);
    await page.getByRole('complementary', { name: 'Payment' }).getByText('a@example.com').waitFor();
    await check('Payments with a panel');
    await page.goto(`${base()}/payments/${id}`);
    for (const action of ['Simulate', 'Cancel payment', 'Complete payment']) {
      await page.getByRole('button', { name: action }).click();
      await page.getByRole(DIALOG, { name: action }).waitFor();
      await check(action);
      await page.keyboard.press('Escape');
      await page.getByRole(DIALOG).waitFor({ state: 'detached' });
    }
    await check('a payment');
    await page.goto(`${base()}/payments/${done}`);
    await page.getByRole('button', { name: 'Complete payment' }).click();
    await page.getByRole(DIALOG).getByRole('button', { name: 'Complete payment' }).click();
    await page.getByText('Payment completed.').waitFor();
    await check('a completed payment');
    expect(await page.getByText(SCRIPT).count()).toBeGreaterThan(0);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('NW-11');
    await page.getByRole('option', { name: /NW-11/ }).waitFor();
    await check('the palette');
    expect(found).toEqual([]);
  });

  it('pass axe while the server fails, and recover when it is back', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /500|The server failed/ });
    const refused = /\/dashboard\/api\/(?!session|.*\/events$)/;
    await page.route(refused, (route) =>
      route.fulfill({ status: 500, json: { error: { type: 'api_error', message: 'The server failed.' } } }),
    );
    await page.goto(base());
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    const found = [...(await violations(page, 'Home that failed'))];
    await page.getByRole('link', { name: 'Payments' }).click();
    await heading(page, 'Payments');
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    found.push(...(await violations(page, 'Payments that failed')));
    for (const place of ['attention', 'payments/ord_00000000000000000000000000']) {
      await page.goto(`${base()}/${place}`);
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      found.push(...(await violations(page, `${place} that failed`)));
    }
    for (const [place, title] of PANELS) {
      await page.goto(`${base()}/${place}`);
      const panel = page.getByRole('complementary', { name: title, exact: true });
      await panel.getByRole('button', { name: 'Try again' }).waitFor();
      found.push(...(await violations(page, `${place} that failed`)));
    }
    await page.goto(`${dashboard.service.dashboard}/account`);
    for (const card of ['Sessions', 'Notifications']) {
      await page.getByRole('region', { name: card }).getByRole('button', { name: 'Try again' }).waitFor();
    }
    found.push(...(await violations(page, 'Account that failed')));
    await page.goto(`${base()}/payments`);
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.unroute(refused);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('table', { name: 'Payments' }).waitFor();
    expect(found).toEqual([]);
  });

  it('show changes made elsewhere without moving rows under the pointer, and at once where none is', async () => {
    const id = await dashboard.makeOrder({ order_id: 'NW-20' });
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${base()}/payments`);
    await page.getByText('Up to date').waitFor();
    await page.getByRole('row', { name: /NW-20/ }).getByText('Waiting').waitFor();
    await dashboard.service.api(`/v1/orders/${id}/cancel`, {});
    await page.getByRole('row', { name: /NW-20/ }).getByText('Cancelled').waitFor();
    await page.getByRole('row', { name: /NW-20/ }).hover();
    await dashboard.makeOrder({ order_id: 'NW-21' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.getByRole('row', { name: /NW-21/ }).count()).toBe(0);
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('row', { name: /NW-21/ }).waitFor();
    await page.getByRole('heading', { level: 1 }).hover();
    await dashboard.makeOrder({ order_id: 'NW-22' });
    await page.getByRole('row', { name: /NW-22/ }).waitFor();
    expect(await page.getByRole('button', { name: '1 new' }).count()).toBe(0);
  });

  it('keep their filters in the URL, across a reload and the back button', async () => {
    await dashboard.makeOrder({ order_id: 'NW-30' });
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${base()}/payments`);
    await page.getByRole('row', { name: /NW-30/ }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('NW-30');
    await page.waitForURL(/search=NW-30/);
    await page.getByRole('link', { name: 'Paid' }).click();
    await page.getByText('No matches').waitFor();
    await page.reload();
    await page.getByText('No matches').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('NW-30');
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /NW-30/ }).waitFor();
    expect(new URL(page.url()).search).toBe('');
  });
});

describe.skipIf(hasNoBrowser)('the shell', () => {
  const dashboard = useDashboard();

  it('keeps unsaved input when the session ends elsewhere, and continues after the sign-in', async () => {
    const { page, context } = await dashboard.openSignedIn({ expects: /401/ });
    await page.goto(dashboard.service.dashboard);
    await page.getByRole('button', { name: 'Project: My shop' }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Northwind Tea');
    const cookies = await context.cookies();
    await context.clearCookies();
    await page.getByRole('dialog').getByRole('button', { name: 'New project' }).click();
    await page.getByRole('dialog', { name: 'You are signed out' }).waitFor();
    expect(await violations(page, 'signed out')).toEqual([]);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('dialog', { name: 'You are signed out' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Northwind Tea');
    await page.getByRole('dialog').getByRole('button', { name: 'New project' }).click();
    await page.getByRole('button', { name: 'Project: Northwind Tea' }).waitFor();
    await context.addCookies(cookies);
  });

  it('asks before unsaved input is lost', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(dashboard.service.dashboard);
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.getByRole('link', { name: 'Payments' }).click();
    await page.getByRole('button', { name: /^Project:/ }).click();
    await page.getByRole('menuitem', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('Half a name');
    await page.goBack();
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.waitFor();
    expect(await violations(page, 'leaving')).toEqual([]);
    await question.getByRole('button', { name: 'Back' }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('Half a name');
  });

  it('is in German on every page if the browser prefers German', async () => {
    const { page } = await dashboard.openSignedIn({ locale: 'de-DE' });
    await page.goto(dashboard.service.dashboard);
    await page.getByRole('heading', { level: 1, name: 'Start' }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('de');
    await page.getByRole('link', { name: 'Zahlungen' }).click();
    await page.getByRole('heading', { level: 1, name: 'Zahlungen' }).waitFor();
    expect(await violations(page, 'German')).toEqual([]);
  });

  // Last, because reauthentication replaces the session's token, which the other tests use.
  it('asks for reauthentication before a dangerous change, which then continues', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /403/ });
    await page.goto(`${dashboard.service.dashboard}/account`);
    const old = new Date(Date.now() - 3_600_000);
    await dashboard.service.database.db.updateTable('sessions').set({ proved_at: old }).execute();
    await page.getByRole('button', { name: 'Change e-mail' }).click();
    await page.getByRole('textbox', { name: 'E-mail' }).fill('someone@example.com');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    const reauthentication = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await reauthentication.waitFor();
    expect(await violations(page, 'reauthentication')).toEqual([]);
    await reauthentication.getByLabel('Password').fill(PASSWORD);
    await reauthentication.getByRole('button', { name: 'Confirm' }).click();
    await page.getByText('Your e-mail address was changed.').waitFor();
    await page.getByText('someone@example.com').waitFor();
  });
});
