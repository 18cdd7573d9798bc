import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { decodeId } from '../../src/domain/id.ts';
import { hasNoBrowser } from '../browser.ts';
import { manualClock } from '../harness.ts';
import { overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';
import { saveCursor, saveRefund } from './refund-list.fixture.ts';

describe.skipIf(hasNoBrowser)('Refunds', () => {
  const dashboard = useDashboard();
  const base = (mode: string) => `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/${mode}`;
  const panel = (page: Page) => page.getByRole('complementary', { name: 'Refund' });
  const dialog = (page: Page) => page.getByRole('dialog');
  const table = (page: Page) => page.getByRole('table', { name: 'Refunds' });

  async function act(page: Page, payment: string, what: string, data: object): Promise<void> {
    const path = `/dashboard/api/projects/${dashboard.service.projectId}/test/payments/${payment}/${what}`;
    const headers = { origin: new URL(page.url()).origin, 'sec-fetch-site': 'same-origin' };
    expect((await page.request.post(new URL(path, page.url()).href, { data, headers })).status()).toBe(200);
  }

  it('are made at the current rate for a payment that is found, and shown as they come without moving a row', async () => {
    const { page, context } = await dashboard.openSignedIn();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const order = await dashboard.makeOrder({ order_id: 'RP-1' });
    await page.goto(base('test'));
    await page.getByText('Up to date').waitFor();
    await act(page, order, 'simulate', { outcome: 'paid' });
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('heading', { name: 'No refunds yet' }).waitFor();
    const found = [...(await violations(page, 'Refunds, none yet'))];

    await page.getByRole('button', { name: 'New refund' }).click();
    await dialog(page).getByRole('searchbox').fill('RP-1');
    await dialog(page).getByText('$49.99').waitFor();
    found.push(...(await violations(page, 'finding the payment')));
    await dialog(page).getByText('RP-1').click();
    await dialog(page).getByLabel('An amount in USD, at the current rate').check();
    const amount = dialog(page).getByRole('textbox', { name: 'Amount', exact: true });
    const preview = dialog(page).getByRole('region', { name: 'What will be sent' });
    await amount.fill('50');
    await dialog(page).getByText('at most 0.00083317 BTC').waitFor();
    await amount.fill('20');
    await preview.getByText('0.00033333 BTC').waitFor();
    await preview.getByText('1 BTC = $60,000.00').waitFor();
    // A click beside the form loses nothing that was typed.
    await page.mouse.click(5, 5);
    expect(await amount.inputValue()).toBe('20');
    await dialog(page)
      .getByLabel(/^The customer enters the address/)
      .check();
    await preview.getByText('The address that the customer enters').waitFor();
    await preview.getByText('0.00049984 BTC').waitFor();
    found.push(...(await violations(page, 'a refund at the current rate')));
    await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Refund link' }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    await panel(page).getByText('0.00033333 BTC').waitFor();
    expect(new URL(page.url()).searchParams.get('show')).toMatch(/^re_/);
    await panel(page).getByRole('button', { name: 'Copy refund link' }).click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/\/refund\/re_/);
    found.push(...(await violations(page, 'a refund')));
    expect(await overflowEnlarged(page)).toBe(0);
    await page.keyboard.press('Escape');
    await table(page)
      .getByRole('row', { name: /0\.00033333/ })
      .waitFor();

    const token = { asset: 'BTC', network: 'bitcoin' };
    await table(page).hover();
    await act(page, order, 'refunds', { ...token, crypto_amount: '0.0001', request: 'another-form' });
    // Soon after the person's own change it may come in by itself.
    const fresh = page.getByRole('button', { name: '1 new' });
    await fresh
      .or(table(page).getByRole('row', { name: /^0\.0001 BTC/ }))
      .first()
      .waitFor();
    await page.getByLabel('Status').selectOption('Waiting for address');
    await page.waitForURL(/stage=waiting_for_address/);
    await table(page)
      .getByRole('row', { name: /^0\.0001 BTC/ })
      .waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await panel(page).getByText('0.0001 BTC').waitFor();
    await panel(page).getByRole('button', { name: 'Cancel refund' }).click();
    await dialog(page).getByRole('button', { name: 'Cancel refund' }).click();
    await panel(page).getByText('The refund was cancelled.').waitFor();
    expect(found).toEqual([]);
  });

  it('are not made of an amount of coins that means two things in the person’s language', async () => {
    const { page } = await dashboard.openSignedIn({ locale: 'de-DE' });
    const order = await dashboard.makeOrder({ order_id: 'RP-3' });
    await page.goto(`${base('test')}/payments/${order}`);
    await page.getByText('RP-3').first().waitFor();
    await act(page, order, 'simulate', { outcome: 'paid' });
    await page.getByRole('button', { name: 'Erstatten', exact: true }).first().click();
    await dialog(page).getByLabel('Ein Betrag in BTC').check();
    const amount = dialog(page).getByRole('textbox', { name: 'Betrag', exact: true });
    await amount.fill('0,000125');
    await dialog(page).getByRole('region').getByText('0,000125 BTC').first().waitFor();
    await dialog(page).getByLabel('Der Kunde gibt die Adresse über einen Link ein, den Sie senden').check();
    await amount.fill('1.125');
    await dialog(page).getByRole('button', { name: 'Erstatten', exact: true }).click();
    await dialog(page).getByText('Geben Sie eine Zahl über 0 mit höchstens 8 Nachkommastellen').waitFor();
    expect(await violations(page, 'an amount that means two things')).toEqual([]);
  });

  it('show where each stands on the chain, take those of one network together, and download what is filtered', async () => {
    // No wallet is set here: there is nothing to sign with.
    const { page } = await dashboard.openSignedIn({ expects: /status of 40[04]|ERR_FAILED/ });
    const order = await dashboard.makeOrder({ order_id: 'RP-2' });
    const waiting = await seed(decodeId('order', order) ?? '');
    await page.goto(`${base('live')}/refunds`);
    await table(page).waitFor();
    for (const text of [
      'Waiting for address',
      'To sign',
      'Detected on the chain',
      'Reversed by the chain',
      'Paid',
      'Failed',
    ]) {
      await table(page).getByText(text).first().waitFor();
    }
    await table(page).getByText('Confirmations: 3 of').waitFor();
    const found = [...(await violations(page, 'Refunds of every state'))];
    const choices = table(page).getByRole('checkbox');
    expect(await choices.count()).toBe(3);
    await table(page)
      .getByRole('checkbox', { name: /0\.1 BTC/ })
      .check();
    await table(page)
      .getByRole('checkbox', { name: /0\.25 BTC/ })
      .check();
    await page.getByText('2 selected: 0.35 BTC on Bitcoin').waitFor();
    expect(await table(page).getByRole('checkbox', { name: /LTC/ }).count()).toBe(0);
    found.push(...(await violations(page, 'refunds that are chosen')));
    await page.getByRole('button', { name: 'Sign together' }).click();
    await dialog(page).waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByText('2 selected: 0.35 BTC on Bitcoin').waitFor();

    await page
      .getByRole('row', { name: /Reversed by the chain/ })
      .getByRole('button')
      .click();
    await panel(page).getByText('Do not pay the refund again yet').waitFor();
    found.push(...(await violations(page, 'a refund that was reorganised away')));
    await page.keyboard.press('Escape');
    await page.getByRole('searchbox', { name: 'Any ID, order, address or hash' }).fill('RP-2');
    await page.waitForURL(/search=RP-2/);
    await page.getByLabel('Coin').selectOption('LTC');
    await page.waitForURL(/coin=LTC/);
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.route('**/refunds/export', (route) => route.abort());
    await dialog(page).getByRole('button', { name: 'Export refunds' }).click();
    await dialog(page)
      .getByText(/The dashboard could not reach the server/)
      .waitFor();
    await page.unroute('**/refunds/export');
    const arrives = page.waitForEvent('download');
    await dialog(page).getByRole('button', { name: 'Export refunds' }).click();
    const file = await arrives;
    expect(file.suggestedFilename()).toMatch(/^refunds-live-.*\.csv$/);
    expect(found).toEqual([]);

    await seedMany(decodeId('order', order) ?? '');
    await page.goto(`${base('live')}/refunds`);
    await page.getByText('Up to date').waitFor();
    await page.route(/refunds\?.*after=/, (route) => route.abort());
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('alert').getByText('The dashboard could not reach the server.').waitFor();
    expect(await violations(page, 'a further page that did not come')).toEqual([]);
    await page.unroute(/refunds\?.*after=/);
    await page.getByRole('button', { name: 'Show more' }).click();
    await table(page).getByText('Waiting for address').waitFor();
    const path = `/dashboard/api/projects/${dashboard.service.projectId}/live/payments/${order}/refunds/${waiting}/cancel`;
    const headers = { origin: new URL(page.url()).origin, 'sec-fetch-site': 'same-origin' };
    expect((await page.request.post(new URL(path, page.url()).href, { data: {}, headers })).status()).toBe(200);
    // A row of the second page changes in its place.
    await expect.poll(() => table(page).getByText('Waiting for address').count()).toBe(0);
    await table(page).getByText('Detected on the chain').waitFor();
  });

  const savesAt = (paymentId: string, at: number) => {
    const clock = manualClock();
    clock.set(at);
    const app = { db: dashboard.service.database.db, clock, random: randomBytes };
    return { app, payment: { id: paymentId, projectId: dashboard.service.projectId, api: 'order' } as const };
  };

  /** Creates as many newer refunds as a page holds. */
  async function seedMany(paymentId: string): Promise<void> {
    const { app, payment } = savesAt(paymentId, Date.now() - 1_800_000);
    for (let count = 0; count < 50; count += 1) await saveRefund(app, payment, 'failed');
  }

  /** Live refunds in every stage of a payment; the id of the one that waits for an address. */
  async function seed(paymentId: string): Promise<string> {
    const { db } = dashboard.service.database;
    await db.updateTable('payments').set({ mode: 'live' }).where('id', '=', paymentId).execute();
    const { app, payment } = savesAt(paymentId, Date.now() - 3_600_000);
    await saveCursor(app);
    const litecoin = { asset: 'LTC', network: 'litecoin', units: 5_000_000n } as const;
    await saveRefund(app, payment, 'failed');
    await saveRefund(app, payment, 'completed', { reason: 'One mug was broken' });
    await saveRefund(app, payment, 'reorged');
    await saveRefund(app, payment, 'seen');
    await saveRefund(app, payment, 'to_sign', litecoin);
    await saveRefund(app, payment, 'to_sign', { units: 10_000_000n });
    await saveRefund(app, payment, 'to_sign', { units: 25_000_000n });
    return saveRefund(app, payment, 'waiting_for_address');
  }
});
