import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';

describe.skipIf(hasNoBrowser)('Reports', () => {
  const dashboard = useDashboard();

  it('take a payment from its total to the file, and to a statement that balances and prints', async () => {
    const { page } = await dashboard.openSignedIn();
    const base = `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
    await page.goto(`${base}/reports`);
    await page.getByText(/^No entries: /).waitFor();
    expect(await violations(page, 'Reports without money')).toEqual([]);

    const id = await dashboard.makeOrder({ order_id: '=1+1', currency: 'EUR' });
    const path = `/dashboard/api/projects/${dashboard.service.projectId}/test/payments/${id}/simulate`;
    const paid = await page.evaluate(
      `fetch('${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"outcome":"late"}' }).then((answer) => answer.status)`,
    );
    expect(paid).toBe(200);
    await page.getByRole('combobox', { name: 'Period' }).selectOption('this_month');
    await page.getByRole('rowheader', { name: 'BTC · Bitcoin' }).waitFor();
    await page.getByLabel('Time zone').selectOption('Pacific/Kiritimati');
    await page.getByLabel('Coin', { exact: true }).selectOption('BTC bitcoin');
    await page.getByRole('rowheader', { name: 'BTC · Bitcoin' }).waitFor();
    // The choices are in the address: a link shows the same.
    expect(new URL(page.url()).search).toBe('?period=this_month&zone=Pacific%2FKiritimati&coin=BTC&network=bitcoin');
    await page.reload();
    await page.getByRole('rowheader', { name: 'BTC · Bitcoin' }).waitFor();
    expect(await page.getByLabel('Coin', { exact: true }).inputValue()).toBe('BTC bitcoin');
    expect(await page.getByLabel('Time zone').inputValue()).toBe('Pacific/Kiritimati');
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^transfers-test-.*\.csv$/);
    const [heads, row] = (await readFile(await file.path(), 'utf8')).split('\n');
    expect(heads).toContain('received (Pacific/Kiritimati)');
    expect(row).toContain(`${id},'=1+1,`);
    await page.getByText('Downloaded 1 rows.').waitFor();

    await page.getByRole('button', { name: 'Create statement' }).click();
    await page.getByText('The statement balances. All money received is accounted for, to the last unit.').waitFor();
    await page.getByText('not accepted (too late)').waitFor();
    await page.getByText('Test data: no real money').waitFor();
    expect(await violations(page, 'a statement')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('article').isVisible()).toBe(true);
    // Chromium may keep the previous colours for one more frame.
    await expect
      .poll(() => page.evaluate('getComputedStyle(document.querySelector("article")).backgroundColor'))
      .toBe('rgb(255, 255, 255)');
    await page.emulateMedia({ media: 'screen' });

    await page.getByRole('combobox', { name: 'Period' }).selectOption('days');
    await page.getByLabel('From').fill('2020-01-01');
    await page.getByLabel('To', { exact: true }).fill('2020-01-31');
    await page.getByText(/^No entries: .*2020 to .* 2020$/).waitFor();
    await page.getByRole('link', { name: 'Refunds' }).click();
    await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
    await page.goBack();
    await page.getByText(/^No entries: .*2020 to .* 2020$/).waitFor();
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2020-01-31');

    // A connection that ends in the middle ends the answer without an error, behind some proxies.
    await page.route('**/reports/statement', (route) => route.fulfill({ body: '{"step":"transfers"}\n' }));
    await page.getByRole('button', { name: 'Create statement' }).click();
    await page.getByText('The data transfer was interrupted').waitFor();
    expect(await page.getByRole('article').count()).toBe(0);

    // Choices in one mode are not carried into the other, whichever way it is opened.
    await page.getByRole('switch', { name: 'Test mode' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await page.getByRole('link', { name: 'Reports' }).click();
    await page.getByRole('combobox', { name: 'Period' }).selectOption('this_year');
    await page.evaluate('history.go(-2)');
    await page.waitForURL(/\/test\/reports\?from=2020-01-01&to=2020-01-31/);
    await expect.poll(() => page.getByRole('combobox', { name: 'Period' }).inputValue()).toBe('days');
  });

  it('add up what came in all coins, and lead to Home, which shows what was earned', async () => {
    const { page } = await dashboard.openSignedIn();
    const { dashboard: site, projectId } = dashboard.service;
    await page.goto(`${site}/projects/${projectId}/test`);
    for (const coin of ['BTC', 'LTC']) {
      const id = await dashboard.makeOrder({ crypto_currency: coin, amount: 10.25, currency: 'EUR' });
      const path = `/dashboard/api/projects/${projectId}/test/payments/${id}/simulate`;
      const paid = await page.evaluate(
        `fetch('${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"outcome":"paid"}' }).then((answer) => answer.status)`,
      );
      expect(paid).toBe(200);
    }
    await page.goto(`${site}/projects/${projectId}/test/reports?period=this_month&report=payments`);
    const sums = await page.getByRole('row', { name: /^All coins together/ }).textContent();
    const rows = await page.getByRole('row', { name: /^(BTC|LTC) · / }).allTextContents();
    const centsIn = (text: string | null): number =>
      Math.round(100 * Number(/\d+\.\d\d(?!.*\.\d\d)/.exec(text ?? '')?.[0]));
    expect(rows).toHaveLength(2);
    expect(centsIn(sums)).toBe(rows.reduce((sum, row) => sum + centsIn(row), 0));
    await page.getByRole('link', { name: 'Go to Home to see what you earned' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });
});
