import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { useDashboard, violations } from './dashboard.fixture.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

describe.skipIf(hasNoBrowser)('Needs attention', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const heading = (page: Page) => page.getByRole('heading', { level: 1, name: 'Needs attention' });

  /** An order to which the sandbox does this, in the page's own session. */
  const faulty = async (page: Page, name: string, outcome: string): Promise<void> => {
    const id = await dashboard.makeOrder({ order_id: name });
    const path = `/dashboard/api/projects/${dashboard.service.projectId}/test/payments/${id}/simulate`;
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"outcome":"${outcome}"}`,
    };
    const status = await page.evaluate<number>(
      `fetch(${JSON.stringify(path)}, ${JSON.stringify(options)}).then(({ status }) => status)`,
    );
    expect(status).toBe(200);
  };

  it('shows late money with its action, resolves it in the panel, and it is gone, with the mouse', async () => {
    const { page, context } = await dashboard.openSignedIn();
    await page.goto(base());
    await page.getByText('Up to date').waitFor();
    const other = await context.newPage();
    await other.goto(`${base()}/payments`);
    await other.getByText('Up to date').waitFor();
    await faulty(page, 'AT-1', 'late');
    // The number in the navigation comes by itself, and a word about it in every tab, once.
    await page.locator('nav [data-count="1"]').first().waitFor();
    const said = (tab: Page) => tab.getByRole('status').getByText('Paid late: AT-1');
    for (const tab of [page, other]) await said(tab).waitFor();
    for (const tab of [page, other]) expect(await said(tab).count()).toBe(1);
    await other.reload();
    await other.locator('nav [data-count="1"]').first().waitFor();
    expect(await said(other).count()).toBe(0);
    await other.close();
    await page.getByRole('link', { name: 'Needs attention' }).first().click();
    await heading(page).waitFor();
    await page.getByRole('heading', { name: 'Paid late: AT-1' }).waitFor();
    await page.getByRole('button', { name: 'Paid late: AT-1' }).click();
    const panel = page.getByRole('complementary', { name: 'Payment' });
    await panel.getByRole('button', { name: 'Accept payment' }).waitFor();
    expect(await violations(page, 'Needs attention with a panel')).toEqual([]);
    await panel.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Accept payment' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Accept payment' }).click();
    await page.getByRole('heading', { name: 'Paid late: AT-1' }).waitFor({ state: 'detached' });
    await expect.poll(() => page.locator('nav [data-count]').count()).toBe(0);
  });

  it('assigns, notes, marks as done and takes it back with the keyboard alone, and another tab follows', async () => {
    const { page, context } = await dashboard.openSignedIn();
    await page.goto(base());
    await page.getByText('Up to date').waitFor();
    await faulty(page, 'AT-2', 'part');
    const other = await context.newPage();
    await other.goto(`${base()}/attention`);
    await other.getByRole('heading', { name: 'Underpaid: AT-2' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('heading', { name: 'Underpaid: AT-2' }).waitFor();
    const item = page.getByRole('listitem').filter({ hasText: 'AT-2' });
    await item.getByLabel('Assigned to').focus();
    await page.keyboard.press('m');
    await other.locator('option:checked', { hasText: 'mara@example.com' }).waitFor({ state: 'attached' });
    await item.getByRole('button', { name: 'Note' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Note', { exact: true }).focus();
    await page.keyboard.type(`Ask Ann ${SCRIPT}`);
    await page.keyboard.press('Tab');
    while ((await page.evaluate<string>('document.activeElement.textContent')) !== 'Save') {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await other.getByText(`Ask Ann ${SCRIPT}`).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await item.getByRole('button', { name: 'Done' }).focus();
    await page.keyboard.press('Enter');
    await other.getByRole('heading', { name: 'Underpaid: AT-2' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).focus();
    await page.keyboard.press('Enter');
    // It is new there: the other tab moves nothing until it is asked for, unless it has nothing else.
    await page.getByRole('heading', { name: 'Underpaid: AT-2' }).waitFor();
    expect(await page.title()).not.toBe('1');
  });

  it('“Refund the excess” opens the refund with the excess chosen, and its buttons stay in sight', async () => {
    const { page } = await dashboard.openSignedIn({ viewport: { width: 1280, height: 640 } });
    await page.goto(`${base()}/attention`);
    await page.getByText('Up to date').waitFor();
    await faulty(page, 'AT-6', 'over');
    const item = page.getByRole('listitem').filter({ hasText: 'Overpaid: AT-6' });
    await item
      .or(page.getByRole('button', { name: '1 new' }))
      .first()
      .waitFor();
    if ((await item.count()) === 0) await page.getByRole('button', { name: '1 new' }).click();
    await item.getByRole('button', { name: 'Refund the excess' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: 'Only the overpaid amount', checked: true }).waitFor();
    const button = await dialog.getByRole('button', { name: 'Refund', exact: true }).boundingBox();
    expect((button?.y ?? Infinity) + (button?.height ?? 0)).toBeLessThan(640);
    await dialog.getByLabel('The customer enters the address').check();
    await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
    // The link stays when the item is over.
    await item.waitFor({ state: 'detached' });
    const link = await page.getByRole('dialog').getByRole('textbox', { name: 'Refund link' }).inputValue();
    expect((await fetch(link)).status).toBe(200);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  });

  it('counts what is new and moves nothing until it is asked for, and passes axe', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${base()}/attention`);
    await page.getByText('Up to date').waitFor();
    const first = page.getByRole('heading', { name: /AT-/ }).first();
    await first.waitFor();
    // Under the pointer nothing moves.
    await first.hover();
    await faulty(page, 'AT-4', 'over');
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Overpaid: AT-4' }).count()).toBe(0);
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('heading', { name: 'Overpaid: AT-4' }).waitFor();
    expect(await violations(page, 'Needs attention')).toEqual([]);
    await page.getByRole('button', { name: 'Note' }).first().click();
    await page.getByRole('dialog').waitFor();
    expect(await violations(page, 'a note in Needs attention')).toEqual([]);
  });

  it('Home shows other days by the address, and its chart as a table with the time before', async () => {
    await dashboard.makeOrder({ order_id: 'AT-5' });
    const { page } = await dashboard.openSignedIn({ timezoneId: 'Asia/Kathmandu' });
    await page.goto(base());
    await page.getByText('Typical time to complete').first().waitFor();
    await page.getByLabel('Period').selectOption('7d');
    await page.waitForURL(/period=7d/);
    await page.getByLabel('Period').selectOption('custom');
    await page.waitForURL(/from=\d{4}-\d\d-\d\d&to=/);
    await page.getByLabel('First day').fill('2026-01-01');
    await page.waitForURL(/from=2026-01-01/);
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('columnheader', { name: 'Previous volume' }).waitFor();
    expect(await violations(page, 'Home with other days')).toEqual([]);
  });
});
