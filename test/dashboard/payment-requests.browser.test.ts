import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { decodeId } from '../../src/domain/id.ts';
import { hasNoBrowser } from '../browser.ts';
import { overflowAt, overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';

/** A title without a place to break. */
const LONG = 'Hochzeitstorte'.repeat(14);

describe.skipIf(hasNoBrowser)('Payment requests', () => {
  const dashboard = useDashboard();
  const scope = () => `/dashboard/api/projects/${dashboard.service.projectId}/test`;

  /** An invoice of a request, as the page for payers makes it. */
  async function invoiceOf(request: string): Promise<string> {
    const { api, database } = dashboard.service;
    const invoice = await api('/v1/invoices', { amount: 250, currency: 'EUR', description: 'Deposit' });
    const id = String(invoice.body['id']);
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const ids = [decodeId('request', request), decodeId('invoice', id)];
    await client.query('update payments set payment_request_id = $1 where id = $2', ids);
    await client.end();
    return id;
  }

  const post = (page: Page, path: string, body: object) =>
    page.evaluate(
      `fetch('${scope()}/${path}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(body)}' }).then((answer) => answer.status)`,
    );

  it('are made with clear errors, opened with link and code, paid in sight of the page, and closed', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /status of 400/ });
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test/payment-requests`);
    await page.getByText('No payment requests yet').waitFor();
    expect(await violations(page, 'no payment requests')).toEqual([]);

    await page.getByRole('button', { name: 'New payment request' }).click();
    const form = page.getByRole('dialog', { name: 'New payment request' });
    await form.getByLabel('Title').fill('Deposit');
    await form.getByLabel('Amount that you ask for').fill('0');
    await form.getByRole('combobox', { name: 'Currency' }).selectOption('EUR');
    await form.getByLabel('Last day').fill('2020-01-31');
    await form.getByRole('radio', { name: 'Only some coins' }).click();
    await form.getByRole('radio', { name: 'A certain number of times' }).click();
    await form.getByLabel('Number of payments').fill('0');
    await form.getByRole('button', { name: 'Create payment request' }).click();
    await form.getByText('Enter a whole number from 1 to 100,000.').waitFor();
    await form.getByRole('radio', { name: 'Once' }).click();
    const submit = (): Promise<void> => form.getByRole('button', { name: 'Create payment request' }).click();
    await submit();
    await form.getByText('The list of coins must have at least one entry.').waitFor();
    await form.getByRole('checkbox', { name: 'BTC · Bitcoin' }).check();
    await submit();
    await form.getByText(/The amount must be a number from 0\.01/).waitFor();
    await form.getByLabel('Amount that you ask for').fill('250');
    await submit();
    await form.getByText('The last day must be in the future.').waitFor();
    expect(await violations(page, 'the form of a request')).toEqual([]);
    await form.getByLabel('Last day').fill('');
    await submit();
    const made = page.getByRole('dialog', { name: 'Deposit' });
    await made.getByRole('img', { name: 'QR code of the link' }).waitFor();
    const url = await made.getByLabel('Link of the payment request').inputValue();
    expect(url).toMatch(/\/request\/req_[0-9a-z]{26}$/);
    expect(await violations(page, 'the link of a request')).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('main').isVisible()).toBe(false);
    expect(await page.getByText(url).isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
    await made.getByRole('button', { name: 'View payment request' }).click();

    const panel = page.getByRole('complementary', { name: 'Payment request' });
    await panel.getByText('Nobody has begun to pay yet.').waitFor();
    const code = `<a class="cointill-button" href="${url}" data-cointill>Pay with crypto</a>`;
    expect(await panel.locator('pre').textContent()).toContain(code);
    const row = page.getByRole('row', { name: 'Deposit' });
    expect(await row.textContent()).toMatch(/^DepositOpen€250\.00€0\.00/);
    const invoice = await invoiceOf(url.split('/').at(-1) ?? '');
    expect(await post(page, `payments/${invoice}/simulate`, { outcome: 'paid' })).toBe(200);
    // The stream brings the invoice, the sums and the status.
    await panel.getByRole('link', { name: '€250.00' }).waitFor();
    await panel.getByText('Paid', { exact: true }).nth(1).waitFor();
    await row.getByText('Paid', { exact: true }).waitFor();
    expect(await panel.getByRole('button', { name: 'Close payment request' }).count()).toBe(0);
    expect(await violations(page, 'a paid request')).toEqual([]);

    await panel.getByRole('link', { name: '€250.00' }).click();
    await page.getByRole('link', { name: 'View payment request' }).click();
    await panel.waitFor();
    expect(new URL(page.url()).pathname).toMatch(/payment-requests$/);
  });

  it('that nobody has paid is closed after a question, and stays in the list of the closed', async () => {
    const { page } = await dashboard.openSignedIn();
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/test/payment-requests`);
    const body = { request: 'long-form', title: LONG, min_amount: '5', currency: 'EUR', max_payments: null };
    expect(await post(page, 'payment-requests', body)).toBe(200);
    await page.reload();
    await page.getByRole('button', { name: LONG }).click();
    const panel = page.getByRole('complementary', { name: 'Payment request' });
    await panel.getByText('Payer types it, from €5.00').waitFor();
    expect(await violations(page, 'a long title')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);
    expect(await overflowAt(page, { width: 320, height: 640 })).toBe(0);
    await panel.getByRole('button', { name: 'Close payment request' }).click();
    const question = page.getByRole('dialog', { name: 'Close payment request' });
    expect(await violations(page, 'the question')).toEqual([]);
    await question.getByRole('button', { name: 'Close payment request' }).click();
    await panel.getByText('Closed').waitFor();
    await panel.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('closed');
    await page.getByRole('row', { name: LONG }).waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('open');
    await page.getByText('No payment request has this status.').waitFor();
  });
});
