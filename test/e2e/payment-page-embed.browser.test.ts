import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { hasNoBrowser } from '../browser.ts';
import {
  press,
  say,
  sees,
  serveSite,
  SHOP,
  shownPayment,
  until,
  useCheckout,
  type Made,
} from './payment-page.fixture.ts';

/** Records the events of the shop's page, with the payment and its status. */
const LISTEN = `window.heard = [];
  for (const name of ['open', 'status', 'completed', 'failed', 'close'])
    document.addEventListener('cointill:' + name, ({ detail }) => heard.push([name, detail.payment_id, detail.status]));`;

const linkTo = (sandbox: string, url: string): string =>
  `<script src="${sandbox}/embed.js" defer></script><a href="${url}" data-cointill>Pay</a>`;

describe.skipIf(hasNoBrowser)('the payment page in the frame of a shop', () => {
  const checkout = useCheckout();
  const { openTab } = checkout;

  /** A shop of another site than the payment page's, with a link to pay and the service's script. */
  async function openShop(options: {
    readonly isAllowed: boolean;
    readonly javaScriptEnabled?: boolean;
    readonly markup?: (sandbox: string, url: string) => string;
  }) {
    const { service } = checkout;
    const { markup = linkTo } = options;
    let payment: Made = { id: '', url: '' };
    const shop = await serveSite((request, response) => {
      // The strictest policy that a shop can have, on its own pages only.
      response.setHeader(
        'content-security-policy',
        `default-src 'none'; script-src ${service.sandbox}; frame-src ${service.sandbox}; img-src data:`,
      );
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>${request.url}</title>
        <body>${markup(service.sandbox, payment.url)}`);
    });
    await service.command(
      `project set ${service.projectId} --allow-origins ${options.isAllowed ? shop : 'https://other.example'}`,
    );
    payment = await checkout.pay({ amount: 10, crypto_currency: 'LTC', success_url: `${shop}/thanks` });
    const framedBy = options.isAllowed ? shop : 'https://other.example';
    await until('the service knows who may frame its pages', async () => {
      const { headers } = await fetch(payment.url);
      return headers.get('content-security-policy')?.endsWith(`frame-ancestors ${framedBy}`) === true;
    });
    const { page, ...tab } = await openTab({
      viewport: { width: 1024, height: 768 },
      alsoAsks: [shop],
      javaScriptEnabled: options.javaScriptEnabled ?? true,
      ...(options.isAllowed ? {} : { expects: /frame-ancestors|ERR_BLOCKED_BY_RESPONSE|allowed origins/ }),
    });
    await page.addInitScript(LISTEN);
    return { shop, payment, page, ...tab, heard: () => page.evaluate<readonly string[][]>('heard') };
  }

  /** The payment page inside of the shop's. */
  async function openFrame(page: Page, { id }: Made) {
    await page.getByRole('link', { name: 'Pay' }).click();
    return eventuallyFrame(page, id);
  }

  async function eventuallyFrame(page: Page, id: string) {
    const frame = page.frameLocator('iframe');
    await frame.locator(`#live[data-payment="${id}"]`).waitFor();
    return frame;
  }

  it('opens above the shop, is paid there, and notifies the shop, whose page stays', async () => {
    const { shop, payment, page, navigations, heard } = await openShop({ isAllowed: true });
    await page.goto(shop);
    const frame = await openFrame(page, payment);
    await frame.getByRole('heading', { name: say('pay_title') }).waitFor();
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await press(frame, 'simulate_paid');
    await frame.getByRole('heading', { name: say('completed_title') }).waitFor();
    await until('the shop is told', async () => (await heard()).some(([name]) => name === 'completed'));
    expect(await heard()).toEqual([
      ['open', '', ''],
      ['status', payment.id, 'pay'],
      ['status', payment.id, 'completed'],
      ['completed', payment.id, 'completed'],
    ]);
    await page.getByRole('button', { name: 'Close' }).click();
    await until('the frame is gone', async () => (await page.locator('iframe').count()) === 0);
    expect((await heard()).at(-1)).toEqual(['close', payment.id, 'completed']);
    expect(navigations).toEqual([`${shop}/`]);
  });

  it('shows what happens elsewhere, waits for the customer, and leads the whole page back to the shop', async () => {
    const { shop, payment, page, heard } = await openShop({ isAllowed: true });
    await page.goto(shop);
    const frame = await openFrame(page, payment);
    await frame.getByRole('heading', { name: say('pay_title') }).waitFor();
    await checkout.simulate(payment, 'paid');
    await frame.getByRole('heading', { name: say('completed_title') }).waitFor();
    await until('the shop is told', async () => (await heard()).some(([name]) => name === 'completed'));
    // The shop decides what its own page does next.
    expect(await frame.locator('[data-returning]').isVisible()).toBe(false);
    await frame.getByRole('link', { name: say('back_to', { shop: SHOP }), exact: true }).click();
    await page.waitForURL(`${shop}/thanks?payment_id=${payment.id}`);
  });

  it('closes by the Escape key inside of the frame and gives the focus back to the shop', async () => {
    const { shop, payment, page, heard } = await openShop({ isAllowed: true });
    await page.goto(shop);
    const frame = await openFrame(page, payment);
    await until('the shop is told', async () => (await heard()).length >= 2);
    await frame.locator('summary').first().press('Escape');
    await until('the frame is gone', async () => (await page.locator('iframe').count()) === 0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Pay');
    expect((await heard()).at(-1)).toEqual(['close', payment.id, 'pay']);
  });

  it('stays in the frame through its forms and languages', async () => {
    const { shop, page } = await openShop({ isAllowed: true });
    const payment = await checkout.pay({ amount: 49.99 });
    await page.goto(shop);
    await page.evaluate(`Cointill.open(${JSON.stringify(payment.url)}); null`);
    const frame = await eventuallyFrame(page, payment.id);
    await frame.locator('#languages summary').click();
    await frame.getByRole('link', { name: 'Deutsch' }).click();
    await frame.locator('html[lang=de]').waitFor();
    await frame.getByRole('button', { name: /Bitcoin/ }).click();
    await frame.locator('[data-amount]').waitFor();
    expect(await frame.locator('html').getAttribute('lang')).toBe('de');
    const embedded = await frame.locator('#live').getAttribute('data-embed');
    expect(embedded).toBe(shop);
  });

  it('does not open in the frame of a shop that is not allowed, which leads to the page itself', async () => {
    const { shop, payment, page } = await openShop({ isAllowed: false });
    await page.clock.install();
    await page.goto(shop);
    await page.getByRole('link', { name: 'Pay' }).click();
    await page.getByRole('dialog').waitFor();
    await until('the frame was refused', async () =>
      page.frames().some((frame) => frame.url().startsWith('chrome-error:')),
    );
    await page.clock.runFor(9_000);
    await page.waitForURL(payment.url);
    await sees(page, say('pay_title'));
    expect(await page.locator('#live').getAttribute('data-embed')).toBe(null);
    await press(page, 'simulate_paid');
    await sees(page, say('completed_title'));
  });

  it('is one click away from a shop whose visitor has no JavaScript', async () => {
    const { shop, payment, page } = await openShop({ isAllowed: true, javaScriptEnabled: false });
    await page.goto(shop);
    await page.getByRole('link', { name: 'Pay' }).click();
    await page.waitForURL(payment.url);
    expect(await shownPayment(page)).toMatchObject({ amount: '0.125' });
  });

  describe('by the button of a payment request', () => {
    async function openDonations(javaScriptEnabled = true) {
      const { service } = checkout;
      const fields = { title: 'For the animals', amount: null, currency: 'EUR', max_payments: null };
      const { body } = await service.api('/v1/payment_requests', fields);
      const url = textAt(body, 'url');
      const markup = (sandbox: string) =>
        `<a class="cointill-button" href="${url}" data-cointill>Donate</a><script src="${sandbox}/button.js" async></script>`;
      const { shop, page, ...tab } = await openShop({ isAllowed: true, javaScriptEnabled, markup });
      await page.goto(shop);
      return { shop, page, url, ...tab, button: page.getByRole('link', { name: 'Donate' }) };
    }

    it('takes an amount of the payer’s choice above the shop, whose page stays', async () => {
      const { shop, page, button, navigations, heard } = await openDonations();
      await page.waitForFunction('getComputedStyle(document.querySelector("a")).display !== "inline"');
      await page.waitForFunction('window.Cointill !== undefined');
      await button.click();
      const frame = page.frameLocator('iframe');
      await frame.getByLabel(say('request_amount', { currency: 'EUR' })).fill('12.50');
      await frame.getByRole('button', { name: say('request_go_on') }).click();
      await frame.getByRole('button', { name: /Litecoin/ }).click();
      await frame.getByRole('heading', { name: say('pay_title') }).waitFor();
      await press(frame, 'simulate_paid');
      await until('the shop is told', async () => (await heard()).some(([name]) => name === 'completed'));
      expect(navigations).toEqual([`${shop}/`]);
      await frame.getByRole('link', { name: say('back_to_request') }).click();
      await frame.getByRole('heading', { name: 'For the animals' }).waitFor();
      await frame.getByLabel(say('request_amount', { currency: 'EUR' })).press('Escape');
      await until('the frame is gone', async () => (await page.locator('iframe').count()) === 0);
    });

    it('is a link where the visitor has no JavaScript', async () => {
      const { page, url, button } = await openDonations(false);
      await button.click();
      await page.waitForURL(url);
      expect(await page.getByRole('heading', { name: 'For the animals' }).isVisible()).toBe(true);
    });
  });
});
