import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { readDatev, readXero } from '../bookkeeping.ts';
import { hasNoBrowser } from '../browser.ts';
import { overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';

describe.skipIf(hasNoBrowser)('Bookings', () => {
  const dashboard = useDashboard();

  it('need the numbers of DATEV, which lead to a file with the sums that the page shows', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /status of 400/ });
    const { dashboard: site, projectId } = dashboard.service;
    const base = `${site}/projects/${projectId}/test`;
    await page.goto(base);
    const id = await dashboard.makeOrder({ order_id: 'Rg 1.2/Köln', amount: 49.99, currency: 'EUR' });
    const path = `/dashboard/api/projects/${projectId}/test/payments/${id}/simulate`;
    const paid = await page.evaluate(
      `fetch('${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"outcome":"paid"}' }).then((answer) => answer.status)`,
    );
    expect(paid).toBe(200);

    await page.goto(`${base}/reports?period=this_month&zone=UTC&report=bookings`);
    await page.getByText('A DATEV file needs the numbers and accounts of your tax consultant').waitFor();
    expect(await violations(page, 'bookings without settings')).toEqual([]);
    await page.getByRole('link', { name: 'Go to Settings' }).click();
    await page.getByLabel('Consultant number').fill('29098');
    await page.getByLabel('Client number').fill('55003');
    await page.getByLabel('Account of the wallet').fill('146000');
    await page.getByLabel('Account for money received').fill('8400');
    await page.getByLabel('Account for refunds').fill('8720');
    await page.getByRole('button', { name: 'Save DATEV settings' }).click();
    await page.getByText('The account of the wallet must be a number of 1 to 5 digits').waitFor();
    expect(await violations(page, 'settings of DATEV')).toEqual([]);
    await page.getByLabel('Account of the wallet').fill('1460');
    await page.getByRole('button', { name: 'Save DATEV settings' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByLabel('Currency').selectOption('EUR');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved.').waitFor();

    await page.goto(`${base}/reports?period=this_month&zone=UTC&report=bookings`);
    await page.getByRole('rowheader', { name: 'Received: BTC · Bitcoin' }).waitFor();
    await page.getByRole('cell', { name: '€49.99' }).waitFor();
    expect(await violations(page, 'bookings')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);
    const download = async (format: string) => {
      await page.getByLabel('Format').selectOption(format);
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      const file = await downloading;
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
    };
    const datev = await download('datev');
    expect(datev.name).toMatch(/^EXTF_bookings-test-.*\.csv$/);
    expect(readDatev(datev.bytes).bookings).toMatchObject([{ cents: 4_999n, reference: 'Rg-1-2/Koeln', id }]);
    await page.getByText('Downloaded 1 rows.').waitFor();
    const xero = await download('xero');
    expect(xero.name).toMatch(/^xero-bookings-test-.*\.csv$/);
    expect(readXero(xero.bytes)).toMatchObject([{ cents: 4_999n, reference: 'Rg 1.2/Köln' }]);
  });
});
