import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';

/** An address without a place to break. */
const LONG = `${'a'.repeat(64)}@${'b'.repeat(60)}.example`;

describe.skipIf(hasNoBrowser)('Customers', () => {
  const dashboard = useDashboard();

  it('are one row for each address, open beside the list, and lead to their payments and to a file', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test/customers`);
    await page.getByText('No customers yet').waitFor();
    expect(await violations(page, 'no customers')).toEqual([]);

    const first = await dashboard.makeOrder({ order_id: 'A-1', customer_email: 'Ann@shop.example' });
    await dashboard.makeOrder({ order_id: 'A-2', customer_email: 'ann@SHOP.example' });
    await dashboard.makeOrder({ order_id: 'A-3', customer_email: 'annabel@shop.example' });
    await dashboard.makeOrder({ order_id: 'A-4', customer_email: LONG });
    const path = `/dashboard/api/projects/${dashboard.service.projectId}/test/payments/${first}/notes`;
    const noted = await page.evaluate(
      `fetch('${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"text":"<b>Call</b> her"}' }).then((answer) => answer.status)`,
    );
    expect(noted).toBe(200);
    await page.reload();
    const row = (name: string) => page.getByRole('row', { name });
    await row('ann@shop.example').waitFor();
    expect(await row('ann@shop.example').textContent()).toMatch(/^ann@shop\.example2\$0\.00/);
    expect(await violations(page, 'customers')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);

    await page.getByRole('searchbox', { name: 'Beginning of an e-mail address' }).fill('ANN@');
    await row('annabel').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'ann@shop.example' }).click();
    const panel = page.getByRole('complementary', { name: 'Customer' });
    await panel.getByText('<b>Call</b> her').waitFor();
    await panel.getByRole('link', { name: 'A-1' }).waitFor();
    expect(await violations(page, 'a customer')).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('dialog').getByRole('button', { name: 'Export customers' }).click();
    const file = await downloading;
    expect(file.suggestedFilename()).toMatch(/^customers-test-.*\.csv$/);
    const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^ann@shop\.example,2,0,0\.00,0\.00,USD,0,/);

    await panel.getByRole('link', { name: 'Show all payments' }).click();
    await row('A-2').waitFor();
    expect(await row('A-3').count()).toBe(0);
    expect(new URL(page.url()).search).toBe('?email=ann%40shop.example');
    await page.getByRole('button', { name: 'Remove the filter E-mail' }).waitFor();
  });
});
