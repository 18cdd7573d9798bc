import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';

/** 32 × 16 pixels, as a browser wrote them. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAQCAYAAAB3AH1ZAAAALElEQVR4AezQMQ0AAAgDQcKKRCTgfwYZLNek++eypvfzGc8TQIAAAQIECBwAAAD//9pSEnYAAAAGSURBVAMAges6IS/wS1YAAAAASUVORK5CYII=',
  'base64',
);
/** 16 × 16 pixels. */
const ICON =
  'iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mM4JBFNEmIY1TCqYfhqAACtxzUQmObIOwAAAABJRU5ErkJggg==';
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>parent.hacked = true</script></svg>');

describe.skipIf(hasNoBrowser)('Settings', () => {
  const dashboard = useDashboard();
  const base = () => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test`;
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const previewOf = (page: Page) => page.frameLocator('iframe[title="Preview"]');
  /** The colour as a browser computes it there. */
  const colourOf = (page: Page, selector: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector('iframe').contentDocument.querySelector('${selector}')).backgroundColor`,
    );
  const choose = (page: Page, name: string, buffer: Buffer, field = 0) =>
    page.locator('input[type=file]').nth(field).setInputFiles({ name, mimeType: 'image/png', buffer });

  it('shows what customers will see before it is saved, refuses what is unsafe, deactivates, exports and deletes', async () => {
    await dashboard.makeOrder({ customer_email: 'ada@customer.example', description: 'Tea for Ada' });
    const { page } = await dashboard.openSignedIn({ expects: /400|403|409|'allow-(?:scripts|popups)'/ });
    await page.goto(`${base()}/settings`);
    const save = page.getByRole('button', { name: 'Save settings' });
    const saved = () => page.getByText('Settings saved').last().waitFor();
    await previewOf(page).getByText('Waiting for your payment').waitFor();
    expect(await violations(page, 'Settings')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);

    // The preview has what is typed, as text, and nothing in it runs or leads anywhere.
    await page.getByLabel('Name of the shop').fill('<img src=x onerror="parent.hacked=true">Tea');
    await page.getByRole('textbox', { name: 'Brand colour' }).fill('#c2185b');
    await page.getByLabel('Support link or e-mail').fill('help@shop.example');
    await previewOf(page).getByText('<img src=x onerror="parent.hacked=true">Tea').waitFor();
    await expect.poll(() => colourOf(page, '.monogram')).toBe('rgb(194, 24, 91)');
    await page.getByLabel('Colours of the preview').selectOption('dark');
    await expect.poll(() => colourOf(page, 'body')).toBe('rgb(14, 20, 18)');
    expect(await colourOf(page, '.monogram')).not.toBe('rgb(194, 24, 91)');
    await page.getByLabel('Width of the preview').selectOption('computer');
    await previewOf(page)
      .getByRole('link', { name: 'Get help' })
      .or(previewOf(page).locator('footer a'))
      .first()
      .click();
    expect(await page.evaluate('[window.hacked, history.length]')).toEqual([undefined, expect.any(Number)]);
    await choose(page, 'logo.svg', SVG);
    await page.getByText('The file does not contain a PNG, JPEG or WebP picture.').waitFor();
    await choose(page, 'logo.png', PNG);
    await previewOf(page).locator('img.logo').waitFor();
    expect(
      await page.evaluate(`document.querySelector('iframe').contentDocument.querySelector('.logo').decode()`),
    ).toBeUndefined();
    await choose(page, 'icon.png', PNG, 1);
    await page.getByText('an icon must be square').waitFor();
    await choose(page, 'icon.png', Buffer.from(ICON, 'base64'), 1);
    await page.locator('img[src*="/settings/logo/"]').waitFor();
    await page.getByLabel('Line of text').fill('Open \u202e9–17');
    await page.getByText('Your line of text must not contain characters that change the direction').waitFor();
    await page.getByLabel('Line of text').fill('Open <b>9–17</b>');
    await page.getByLabel('Link to your terms').fill('https://shop.example/terms');
    await page.getByLabel('Link to your imprint').fill('https://shop.example/imprint');
    await previewOf(page).getByText('Open <b>9–17</b>').waitFor();
    await previewOf(page).getByRole('link', { name: 'Imprint' }).waitFor();
    await save.click();
    await saved();
    await previewOf(page).locator('img.logo').waitFor();
    await previewOf(page).getByRole('link', { name: 'Terms' }).waitFor();

    await page.getByLabel('Support link or e-mail').fill('javascript:alert(1)');
    await page.getByText('The support link must be an absolute URL').waitFor();
    const refused = page.waitForResponse(
      (response) => response.url().endsWith('/settings') && response.request().method() === 'POST',
    );
    await save.click();
    await refused;
    await page.getByLabel('Support link or e-mail').fill('https://shop.example/help');
    await page.getByLabel('Minutes to pay').fill('1441');
    await save.click();
    await page.getByText('The time to pay must be a whole number of minutes from 1 to 1,440').waitFor();
    await page.getByLabel('Minutes to pay').fill('45');
    await page.getByLabel('Where customers go after paying').fill('https://shop.example/thanks');

    // Somebody else saves meanwhile: nothing of it is undone.
    const other = await page.context().newPage();
    await other.goto(`${base()}/settings`);
    await other.getByLabel('Name of the shop').fill('Northwind Tea');
    await other.getByRole('button', { name: 'Save settings' }).click();
    await other.getByText('Settings saved').last().waitFor();
    await other.close();
    await save.click();
    await page.getByText('Somebody else changed these settings first').waitFor();
    await expect.poll(() => page.getByLabel('Name of the shop').inputValue()).toBe('Northwind Tea');
    await page.getByLabel('Minutes to pay').fill('45');
    await save.click();
    await saved();

    await page.getByRole('button', { name: 'Deactivate the project' }).click();
    await dialogOf(page).getByText('Open payments whose pages stop asking for payment: 0 live, 1 test').waitFor();
    expect(await violations(page, 'Deactivate')).toEqual([]);
    await dialogOf(page).getByRole('textbox').fill('Northwind');
    await dialogOf(page).getByRole('button', { name: 'Deactivate the project' }).click();
    await dialogOf(page).getByText('This is not the name of the project').waitFor();
    await dialogOf(page).getByRole('textbox').fill('Northwind Tea');
    await dialogOf(page).getByRole('button', { name: 'Deactivate the project' }).click();
    await page.getByText('Deactivated', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Activate the project' }).click();
    await page.getByText('Active', { exact: true }).waitFor();

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export the project' }).click();
    const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ record: 'end', counts: { project: 1, payment: 1 } });

    await page.getByRole('button', { name: 'Delete customers’ data' }).click();
    await dialogOf(page).getByLabel('E-mail address of the customer').fill('ADA@customer.example');
    await dialogOf(page).getByRole('button', { name: 'Count' }).click();
    await dialogOf(page).getByRole('row', { name: 'Payments 1' }).waitFor();
    expect(await violations(page, 'Delete')).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Delete customers’ data' }).click();
    await page.getByText('Customers’ data deleted. Payments affected: 1').waitFor();
  });
});
