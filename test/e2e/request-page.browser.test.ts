import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { hasNoBrowser } from '../browser.ts';
import { press, say, sees, until, useCheckout, type Made } from './payment-page.fixture.ts';

const SUCCESS_URL = 'https://shop.example/thanks';
const PAYER = { email: 'ann@example.com', name: 'Ann' };

describe.skipIf(hasNoBrowser)('the page of a payment request', () => {
  const checkout = useCheckout();

  async function ask(fields: object): Promise<Made> {
    const given = { title: 'Deposit for the cake', currency: 'EUR', ...fields };
    const { body } = await checkout.service.api('/v1/payment_requests', given);
    return { id: textAt(body, 'id'), url: textAt(body, 'url') };
  }

  /** The invoice whose page is open. */
  const invoiceAt = (page: Page): Made => {
    const id = /\/pay\/(inv_\w{26})/.exec(page.url())?.[1] ?? '';
    return { id, url: `${checkout.service.sandbox}/pay/${id}` };
  };

  /** Lets the time to pay end, as it would after half an hour. */
  async function end(invoice: Made): Promise<void> {
    const now = new Date();
    await checkout.setTimes(invoice, { expires_at: now, due_at: now, completes_at: null });
  }

  it.each([true, false])('takes a payer through it in parts (with JavaScript: %s)', async (javaScriptEnabled) => {
    const request = await ask({ amount: 100, ask: { email: true, name: true }, success_url: SUCCESS_URL });
    const { page } = await checkout.openTab({ javaScriptEnabled });
    await page.goto(request.url);
    await sees(page, 'Deposit for the cake', '€100.00', say('request_pay_title'));
    await page.getByLabel(say('request_email')).fill(PAYER.email);
    await page.getByLabel(say('request_name')).fill(PAYER.name);
    await page.getByRole('button', { name: say('request_pay', { amount: '€100.00' }) }).click();
    await page.waitForURL(/\/pay\/inv_/);
    const first = invoiceAt(page);
    await page.getByRole('button', { name: /Litecoin/ }).click();
    await sees(page, say('pay_title'));
    await press(page, 'simulate_part');
    await sees(page, say('part_title'));

    // Meanwhile the request leads to the same payment, here and for others.
    await page.goto(request.url);
    await sees(page, say('request_paying_title'));
    await page.getByRole('link', { name: say('request_go_on') }).click();
    await page.waitForURL(first.url);
    await end(first);
    await until('the invoice ends', async () => {
      await page.goto(first.url);
      return page.getByRole('link', { name: say('back_to_request') }).isVisible();
    });
    await page.getByRole('link', { name: say('back_to_request') }).click();
    await sees(page, say('request_left'), say('request_paid_so_far'));
    // The payer is known, but the form asks again: the page keeps nothing of anybody.
    await page.getByLabel(say('request_email')).fill(PAYER.email);
    await page.getByLabel(say('request_name')).fill(PAYER.name);
    await page.getByRole('button', { name: say('request_pay', { amount: '€50.00' }) }).click();
    await page.waitForURL((url) => url.pathname.startsWith('/pay/inv_') && url.href !== first.url);
    await page.getByRole('button', { name: /Bitcoin/ }).click();
    await sees(page, say('pay_title'));
    await press(page, 'simulate_paid');
    await sees(page, say('completed_title'));
    await page.getByRole('link', { name: say('back_to_request') }).click();
    await sees(page, say('request_paid_title'));
    const back = page.getByRole('link', { name: say('back_to', { shop: 'My shop' }) });
    expect(await back.getAttribute('href')).toBe(SUCCESS_URL);
    const { body } = await checkout.service.api(`/v1/payment_requests/${request.id}`);
    expect(body).toMatchObject({ amount_paid: 100, amount_left: 0 });
  });

  it.each([true, false])('names what is wrong with a form (with JavaScript: %s)', async (javaScriptEnabled) => {
    const request = await ask({ amount: null, min_amount: 5, max_payments: null, ask: { note: true } });
    const { page } = await checkout.openTab({ javaScriptEnabled, locale: 'de', expects: /status of 400/ });
    await page.goto(`${request.url}?lang=en`);
    await page.getByLabel(say('request_amount', { currency: 'EUR' })).fill('1,50');
    await page.getByLabel(say('request_note')).fill('Blue ribbon');
    await page.getByRole('button', { name: say('request_go_on') }).click();
    await page
      .getByRole('alert')
      .getByText(say('request_at_least', { amount: '€5.00' }))
      .waitFor();
    const amount = page.getByLabel(say('request_amount', { currency: 'EUR' }));
    expect([await amount.inputValue(), await page.getByLabel(say('request_note')).inputValue()]).toEqual([
      '1,50',
      'Blue ribbon',
    ]);
    await amount.fill('12,50');
    await page.getByRole('button', { name: say('request_go_on') }).click();
    await page.waitForURL(/\/pay\/inv_\w{26}\?lang=en$/);
    await sees(page, say('choose_title'), '€12.50');
  });

  it('prints with its code, and folds it away on the screen', async () => {
    const request = await ask({ amount: 100 });
    const { page } = await checkout.openTab();
    await page.goto(request.url);
    const code = page.locator('svg.qr');
    expect(await code.isVisible()).toBe(false);
    await page.locator('summary', { hasText: say('request_scan') }).click();
    await code.waitFor();
    await page.locator('summary', { hasText: say('request_scan') }).click();
    await page.emulateMedia({ media: 'print' });
    for (const shown of [code, page.getByText('Deposit for the cake'), page.getByText(request.url)]) {
      expect(await shown.isVisible()).toBe(true);
    }
    expect(await page.locator('form').isVisible()).toBe(false);
  });

  it('shows by itself that others have paid', async () => {
    const request = await ask({ amount: 100 });
    const { page } = await checkout.openTab();
    await page.clock.install();
    await page.goto(request.url);
    await page.getByRole('button', { name: say('request_pay', { amount: '€100.00' }) }).click();
    await page.waitForURL(/\/pay\/inv_/);
    const invoice = invoiceAt(page);
    await page.goto(request.url);
    await sees(page, say('request_paying_title'));
    await checkout.simulate(invoice, 'paid');
    const isPaid = async () => {
      await page.clock.runFor(16_000);
      return page.getByText(say('request_paid_title')).first().isVisible();
    };
    expect(await until('the page shows it', isPaid)).toBe(true);
  });
});
