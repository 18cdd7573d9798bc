import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { PHONE, useDashboard, violations } from './dashboard.fixture.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

describe.skipIf(hasNoBrowser)('the list of payments', () => {
  const dashboard = useDashboard();
  const url = (query = '') =>
    `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test/payments${query}`;
  const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(name) });
  const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const openList = async (): Promise<Page> => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(url());
    await row(page, 'NW-1').waitFor();
    return page;
  };
  let small = '';
  beforeAll(async () => {
    small = await dashboard.makeOrder({
      order_id: 'NW-1',
      amount: 12.5,
      description: 'Tea, green',
      customer_email: 'ann@example.com',
    });
    await dashboard.makeOrder({ order_id: 'NW-2', amount: 480, crypto_currency: 'LTC', description: '=1+1' });
    await dashboard.makeOrder({ order_id: 'NW-3', amount: 75, description: SCRIPT });
  });

  it('is filtered with the mouse, by chips that go away, and kept as a view beside the other tabs', async () => {
    const page = await openList();
    await button(page, 'Filter').click();
    expect(await violations(page, 'the filters')).toEqual([]);
    await page.getByLabel('Amount from').fill('ten');
    await dialog(page, 'Filter').getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Enter a number, such as 49.99.').waitFor();
    await page.getByLabel('Amount from').fill('20');
    await page.getByLabel('Coin').selectOption('BTC');
    await dialog(page, 'Filter').getByRole('button', { name: 'Apply' }).click();
    await row(page, 'NW-2').waitFor({ state: 'detached' });
    await row(page, 'NW-3').waitFor();
    expect(await row(page, 'NW-1').count()).toBe(0);
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ coin: 'BTC', min: '20' });
    expect(await violations(page, 'a filtered list')).toEqual([]);

    await button(page, 'Save view').click();
    await page.getByLabel('Name').fill(SCRIPT);
    expect(await violations(page, 'saving a view')).toEqual([]);
    await dialog(page, 'Save view').getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('link', { name: SCRIPT }).waitFor();
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await row(page, 'NW-1').waitFor({ state: 'detached' });
    await page.goto(url());
    await page.getByRole('link', { name: SCRIPT }).click();
    await page.getByRole('button', { name: 'Remove the filter BTC' }).click();
    await row(page, 'NW-2').waitFor();
    await button(page, 'Update view').click();
    expect(await violations(page, 'updating a view')).toEqual([]);
    await dialog(page, 'Update view').getByRole('button', { name: 'Update view' }).click();
    await dialog(page, 'Update view').waitFor({ state: 'detached' });
    await page.goto(url());
    await page.getByRole('link', { name: SCRIPT }).click();
    await row(page, 'NW-2').waitFor();
    expect(await row(page, 'NW-1').count()).toBe(0);
    // Where a view was saved, none is deleted: that is in a menu, as is another name.
    await button(page, `More for “${SCRIPT}”`).click();
    await page.getByRole('menuitem', { name: 'Rename view' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Dear ones');
    expect(await violations(page, 'renaming a view')).toEqual([]);
    await dialog(page, 'Rename view').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Dear ones' }).waitFor();
    expect(await page.getByRole('link', { name: SCRIPT }).count()).toBe(0);
    await row(page, 'NW-2').waitFor();
    await button(page, 'More for “Dear ones”').click();
    await page.getByRole('menuitem', { name: 'Delete view' }).click();
    expect(await violations(page, 'deleting a view')).toEqual([]);
    await dialog(page, 'Delete view').getByRole('button', { name: 'Delete view' }).click();
    await page.getByRole('link', { name: 'Dear ones' }).waitFor({ state: 'detached' });
  });

  it('shows the columns that were chosen, and remembers them on this device', async () => {
    const page = await openList();
    await button(page, 'Columns').click();
    expect(await violations(page, 'the columns')).toEqual([]);
    await page.getByRole('checkbox', { name: 'Description' }).check();
    await page.getByRole('checkbox', { name: 'Status' }).uncheck();
    await dialog(page, 'Columns').getByRole('button', { name: 'Save', exact: true }).click();
    await row(page, 'NW-1').getByText('Tea, green').waitFor();
    await row(page, 'NW-3').getByText(SCRIPT).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Status' }).count()).toBe(0);
    expect(await violations(page, 'chosen columns')).toEqual([]);
    await page.goto(url());
    await row(page, 'NW-1').getByText('Tea, green').waitFor();
  });

  it('is exported with the mouse: what the filters show, formulas made harmless', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(url('?min=480&max=480'));
    await row(page, 'NW-2').waitFor();
    await button(page, 'Export').click();
    expect(await page.getByRole('radio', { name: 'CSV' }).isChecked()).toBe(true);
    expect(await violations(page, 'the export')).toEqual([]);
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download').click()]);
    expect(download.suggestedFilename()).toMatch(/^payments-test-.*\.csv$/);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('NW-2,');
    expect(lines[1]).toContain(",'=1+1,");
    await page.getByText('Export finished: 1 rows.').waitFor();
  });

  it('is searched, exported and opened with the keyboard alone', async () => {
    const page = await openList();
    await page.keyboard.press('/');
    await page.keyboard.type('tea, gr');
    await row(page, 'NW-2').waitFor({ state: 'detached' });
    await row(page, 'NW-1').waitFor();
    await page.getByText('1 found for “tea, gr”').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('e');
    await dialog(page, 'Export').waitFor();
    await page.getByRole('radio', { name: 'CSV' }).focus();
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('radio', { name: 'JSON lines' }).isChecked()).toBe(true);
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ id: small, order_id: 'NW-1', amount: '12.50', email: 'ann@example.com' });
    await dialog(page, 'Export').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    await page.keyboard.type('ANN@exam');
    await page.getByRole('option', { name: /NW-1.*by e-mail/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /NW-1|12\.50/ }).waitFor();
  });

  it('is filtered, saved as a view, given columns and walked through with the keyboard alone', async () => {
    const page = await openList();
    const { keyboard } = page;
    const press = async (name: string): Promise<void> => {
      await button(page, name).focus();
      await keyboard.press('Enter');
      await dialog(page, name).waitFor();
    };
    await press('Filter');
    await page.getByLabel('Amount from').focus();
    await keyboard.type('20');
    await keyboard.press('Tab');
    await keyboard.type('100');
    await keyboard.press('Enter');
    await row(page, 'NW-2').waitFor({ state: 'detached' });
    await press('Save view');
    await page.getByLabel('Name').focus();
    await keyboard.type('Middling');
    await keyboard.press('Enter');
    await page.getByRole('link', { name: 'Middling' }).waitFor();
    await dialog(page, 'Save view').waitFor({ state: 'detached' });
    await press('Columns');
    await page.getByRole('checkbox', { name: 'Number' }).focus();
    await keyboard.press('Space');
    await keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'Number' }).waitFor();
    await page.getByRole('button', { name: 'Remove the filter Up to 100' }).focus();
    await keyboard.press('Enter');
    await row(page, 'NW-2').waitFor();
    await keyboard.press('j');
    await keyboard.press('j');
    await keyboard.press('Enter');
    // The panel opens as by a click, but the focus goes along, and Escape leads back.
    const panel = page.getByRole('complementary', { name: 'Payment' });
    await panel.getByText('NW-2').first().waitFor();
    const focused = () => page.evaluate<string>('document.activeElement.dataset.row ?? document.activeElement.tagName');
    await expect.poll(focused).toBe('ASIDE');
    expect(await violations(page, 'a panel opened by a key')).toEqual([]);
    await keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    expect(await focused()).toMatch(/^ord_/);
    await keyboard.press('k');
    await keyboard.press('Enter');
    await panel.getByText('NW-3').first().waitFor();
  });

  it('opens the page of a payment where there is no room for its panel, and Escape leads back', async () => {
    const { page } = await dashboard.openSignedIn({ viewport: PHONE });
    await page.goto(url(`?show=${small}`));
    await page.getByRole('heading', { level: 1, name: /12\.50/ }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/payments\/ord_/);
    await page.goto(url('?min=20'));
    await row(page, 'NW-3').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /75/ }).waitFor();
    await page.keyboard.press('Escape');
    await row(page, 'NW-3').waitFor();
    expect(new URL(page.url()).search).toBe('?min=20');
  });

  it('says so when an export is refused or breaks off, and keeps what was chosen', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /503|ERR_/ });
    await page.goto(url());
    await button(page, 'Export').click();
    await page.getByRole('radio', { name: 'JSON lines' }).check();
    await page.route(/\/export$/, (route) =>
      route.fulfill({
        status: 503,
        json: { error: { type: 'service_unavailable', message: 'Two exports are already running.' } },
      }),
    );
    await button(page, 'Download').click();
    await page.getByRole('alert').getByText('Two exports are already running.').waitFor();
    expect(await page.getByRole('radio', { name: 'JSON lines' }).isChecked()).toBe(true);
    expect(await violations(page, 'a refused export')).toEqual([]);
    await page.unroute(/\/export$/);
    await page.route(/\/export$/, (route) => route.abort());
    await button(page, 'Download').click();
    await page.getByRole('alert').getByText('The dashboard could not reach the server.').waitFor();
  });

  it('takes addresses and views of other versions: what it does not know is left out, and said', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /400/ });
    await page.goto(url('?status=paid&min=1e9&from=2026-02-31&columns=nonsense&api=soap&search=%00'));
    await page.getByText('cannot be stored').waitFor();
    await page.goto(url('?status=paid&min=1e9&from=2026-02-31&columns=nonsense&api=soap&view=x'));
    await row(page, 'NW-1').waitFor();
    await page.goto(url('?network=dogecoin'));
    await page.getByText('network must be one or more of').waitFor();
    expect(await violations(page, 'a filter that the server refuses')).toEqual([]);
    await button(page, 'Clear filters').click();
    await row(page, 'NW-1').waitFor();
    await page.evaluate(
      `fetch('/dashboard/api/projects/${dashboard.service.projectId}/views', { method: 'POST', headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Of tomorrow', query: 'min=20&mood=sunny', shared: false }) })`,
    );
    await page.reload();
    await page.getByRole('link', { name: 'Of tomorrow' }).click();
    await page.getByText('ignores them: mood.').waitFor();
    await row(page, 'NW-3').waitFor();
    expect(await row(page, 'NW-1').count()).toBe(0);
    expect(await violations(page, 'a view of another version')).toEqual([]);
  });

  it('cuts what is pasted in megabytes, and goes on', async () => {
    const page = await openList();
    await page.getByRole('searchbox').focus();
    await page.evaluate("document.execCommand('insertText', false, 'x'.repeat(10_000_000))");
    await page.getByText('Nothing was found for “xxx').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toHaveLength(255);
  });

  it('finds what was created since the same search found nothing', async () => {
    const page = await openList();
    const search = page.getByRole('searchbox');
    await search.fill('NW-9');
    await page.getByText('Nothing was found for “NW-9”').waitFor();
    await search.fill('');
    await row(page, 'NW-1').waitFor();
    await dashboard.makeOrder({ order_id: 'NW-9', amount: 9 });
    await row(page, 'NW-9').or(button(page, '1 new')).waitFor();
    await search.fill('NW-9');
    await row(page, 'NW-1').waitFor({ state: 'detached' });
    await row(page, 'NW-9').waitFor();
    expect(await page.getByText('Nothing was found').count()).toBe(0);
  });
});
