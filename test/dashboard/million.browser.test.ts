import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { isFilled, PAYMENTS, useDashboard, violations } from './dashboard.fixture.ts';

/** Half an export of a million rows on a busy machine. */
const EXPORTED_WITHIN_MS = 300_000;

// People search a full project for older payments, not for those that they have just made.
describe.skipIf(hasNoBrowser || !isFilled)('a project with as many payments as PAYMENTS says', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const row = (page: Page, name: string) => page.getByRole('row', { name: new RegExp(`${name}(?!\\d)`) });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const rare = PAYMENTS / 4 + 3;

  it(
    'is looked through with the mouse: figures, a rare coin, older pages, a payment, and everything exported',
    async () => {
      const { page } = await dashboard.openSignedIn();
      await page.goto(base());
      await page.getByLabel('Period').selectOption('365d');
      await page.getByText('Typical time to complete').first().waitFor();
      expect(await violations(page, 'Home of a full project')).toEqual([]);
      await page.getByRole('link', { name: 'Payments' }).first().click();
      await button(page, 'Filter').click();
      await page.getByLabel('Coin').selectOption('USDT');
      await page.getByRole('dialog', { name: 'Filter' }).getByRole('button', { name: 'Apply' }).click();
      await row(page, 'A-order3').waitFor();
      const rows = page.locator('main tbody tr');
      const shown = await rows.count();
      await button(page, 'Show more').click();
      await expect.poll(() => rows.count()).toBeGreaterThan(shown);
      await row(page, 'A-order1003').getByText('USDT').first().click();
      await page.getByRole('complementary', { name: 'Payment' }).getByText('A-order1003').first().waitFor();
      expect(await violations(page, 'a rare coin')).toEqual([]);
      await page.goto(`${base()}/payments`);
      await button(page, 'Export').click();
      const [download] = await Promise.all([
        page.waitForEvent('download', { timeout: EXPORTED_WITHIN_MS }),
        button(page, 'Download').click(),
      ]);
      let lines = 0;
      for await (const _line of createInterface({ input: createReadStream(await download.path()) })) lines += 1;
      expect(lines).toBe(PAYMENTS + 2);
    },
    2 * EXPORTED_WITHIN_MS,
  );

  it('is searched with the keyboard alone: by e-mail, by order id, by a description, and opened', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(base());
    await page.getByText('Up to date').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    await page.keyboard.type(`customer${rare}@EXAMPLE.com`);
    await page
      .getByRole('option', { name: /by e-mail/ })
      .first()
      .waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(`subscription of order ${rare}`);
    await row(page, `A-order${rare}`).waitFor();
    await expect.poll(() => page.locator('main tbody tr').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByText(`Subscription of order ${rare}`).first().waitFor();
    expect(await violations(page, 'one of many')).toEqual([]);
  });
});
