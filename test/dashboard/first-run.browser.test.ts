import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { EMAIL, PASSWORD, useDashboard } from './dashboard.fixture.ts';

describe.skipIf(hasNoBrowser)('from the printed link to a completed test payment', () => {
  describe('with the mouse', () => {
    const dashboard = useDashboard({ hasOwner: false });

    it('is a few clicks', async () => {
      const order = await dashboard.makeOrder({ order_id: 'NW-1' });
      const { page } = await dashboard.openTab();
      await page.goto(dashboard.service.setupLink);
      await page.getByLabel('E-mail').fill(EMAIL);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByRole('button', { name: 'Not now' }).click();
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      // The order created a minute ago.
      await page.getByRole('row', { name: /NW-1/ }).waitFor();
      expect(await page.getByRole('switch', { name: 'Test mode' }).getAttribute('aria-checked')).toBe('true');

      await page.getByRole('link', { name: 'Payments' }).click();
      await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
      await page.getByRole('row', { name: /NW-1/ }).click();
      const panel = page.getByRole('complementary', { name: 'Payment' });
      await panel.getByRole('button', { name: 'Complete payment' }).click();
      const question = page.getByRole('dialog', { name: 'Complete payment' });
      await question.getByText('No money moves.').waitFor();
      await question.getByRole('button', { name: 'Complete payment' }).click();
      await page.getByText('Payment completed.').waitFor();
      await page.getByRole('row', { name: /NW-1/ }).getByText('Paid').waitFor();
      expect(await statusOf(dashboard, order)).toBe('completed');
    });
  });

  describe('with the keyboard alone', () => {
    const dashboard = useDashboard({ hasOwner: false });

    it('never needs a mouse', async () => {
      const order = await dashboard.makeOrder({ order_id: 'NW-2' });
      const { page } = await dashboard.openTab();
      const { keyboard } = page;
      await page.goto(dashboard.service.setupLink);
      await hasFocus(page, 'E-mail');
      await keyboard.type(EMAIL);
      await keyboard.press('Tab');
      await keyboard.type('Mara');
      await keyboard.press('Tab');
      await keyboard.type(PASSWORD);
      await keyboard.press('Enter');
      await page.getByRole('button', { name: 'Not now' }).waitFor();
      await tabTo(page, 'Not now');
      await keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      await page.getByRole('row', { name: /NW-2/ }).waitFor();

      await keyboard.press('g');
      await keyboard.press('p');
      await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
      await page.getByRole('row', { name: /NW-2/ }).waitFor();
      await keyboard.press('j');
      await keyboard.press('Enter');
      await page.getByRole('button', { name: 'Complete payment' }).waitFor();
      await tabTo(page, 'Complete payment');
      await keyboard.press('Enter');
      await page.getByRole('dialog', { name: 'Complete payment' }).waitFor();
      await tabTo(page, 'Complete payment');
      await keyboard.press('Enter');
      await page.getByText('Payment completed.').waitFor();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await statusOf(dashboard, order)).toBe('completed');
    });
  });
});

async function statusOf(dashboard: ReturnType<typeof useDashboard>, order: string): Promise<unknown> {
  const { body } = await dashboard.service.api(`/v1/orders/${order}`);
  return body['status'];
}

async function focused(page: Page): Promise<string> {
  return page.evaluate<string>(`(({ activeElement: one }) => {
    // A dialog is there a moment before the focus is in it; the button that opened it may have the same name.
    if (document.querySelector('[role=dialog]')?.contains(one) === false) return '';
    return (one?.labels?.[0] ?? one)?.textContent?.trim() ?? '';
  })(document)`);
}

async function hasFocus(page: Page, name: string): Promise<void> {
  await expect.poll(() => focused(page)).toBe(name);
}

const MAX_TABS = 40;

async function tabTo(page: Page, name: string): Promise<void> {
  for (let count = 0; count < MAX_TABS; count += 1) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Nothing named ${name} within ${MAX_TABS} steps of the Tab key.`);
}
