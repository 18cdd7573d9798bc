import type { FrameLocator } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { hasNoBrowser } from '../browser.ts';
import { press, say, sees, serveSite, until, useCheckout } from './payment-page.fixture.ts';

/**
 * The script of a shop, which does as a BTCPay plugin does: makes an order, shows its invoice, leads on when it is paid
 * and the customer closes the page, and says why when it is not. What it hears outlasts the page.
 */
const SHOP_SCRIPT = `
  const note = (message) => sessionStorage.setItem('heard', JSON.stringify([...heard(), message]));
  const heard = () => JSON.parse(sessionStorage.getItem('heard') ?? '[]');
  const say = (text) => (document.querySelector('#message').textContent = text);
  document.querySelector('#order').addEventListener('click', async () => {
    const { service, invoiceId, thanks } = await (await fetch('/order', { method: 'POST' })).json();
    let isPaid = false;
    btcpay.setApiUrlPrefix(service);
    btcpay.onModalWillEnter(() => say('Please pay'));
    btcpay.showInvoice(invoiceId);
    btcpay.onModalReceiveMessage(({ data }) => {
      note(typeof data === 'string' ? data : data.status);
      if (data.status === 'processing' || data.status === 'settled') isPaid = true;
      if (data.status === 'expired' || data.status === 'invalid') {
        btcpay.hideFrame();
        say('Order again, please');
      }
      if (data !== 'close') return;
      if (isPaid) location.assign(thanks);
      else say('You closed the payment');
    });
  });`;

describe.skipIf(hasNoBrowser)('a shop with a BTCPay plugin that shows the payment page above its own', () => {
  const checkout = useCheckout();

  async function openShop(isAllowed = true) {
    const { service } = checkout;
    const invoices: string[] = [];
    const order = async (): Promise<object> => {
      const thanks = `/thanks?order=${invoices.length + 1}`;
      const fields = { amount: '49.99', currency: 'EUR', checkout: { redirectURL: shop + thanks } };
      const { body } = await service.api(`/api/v1/stores/${service.projectId}/invoices`, fields);
      const invoiceId = textAt(body, 'id');
      invoices.push(invoiceId);
      return { service: service.sandbox, invoiceId, thanks };
    };
    const shop: string = await serveSite((request, response) => {
      if (request.method === 'POST') {
        void order().then((made) => response.setHeader('content-type', 'application/json').end(JSON.stringify(made)));
        return;
      }
      if (request.url === '/shop.js') {
        response.setHeader('content-type', 'text/javascript').end(SHOP_SCRIPT);
        return;
      }
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>${request.url}</title>
        <body><button id="order">Place order</button><p id="message"></p>
        <script src="${service.sandbox}/modal/btcpay.js?ver=2.8.0"></script><script src="/shop.js"></script>`);
    });
    const framedBy = isAllowed ? shop : 'https://other.example';
    await service.command(`project set ${service.projectId} --allow-origins ${framedBy}`);
    const { url } = await checkout.pay();
    await until('the service knows who may frame its pages', async () => {
      const { headers } = await fetch(url);
      return headers.get('content-security-policy')?.endsWith(`frame-ancestors ${framedBy}`) === true;
    });
    const { page, navigations } = await checkout.openTab({
      viewport: { width: 1024, height: 768 },
      alsoAsks: [shop],
      ...(isAllowed ? {} : { expects: /frame-ancestors|ERR_BLOCKED_BY_RESPONSE|allowed origins/ }),
    });
    await page.goto(shop);
    const placeOrder = async (): Promise<FrameLocator> => {
      const before = invoices.length;
      await page.getByRole('button', { name: 'Place order' }).click();
      await until('the invoice is there', () => invoices.length > before);
      return page.frameLocator('iframe');
    };
    const heard = () => page.evaluate<readonly string[]>(`JSON.parse(sessionStorage.getItem('heard') ?? '[]')`);
    const hears = (message: string) => until(`"${message}" is heard`, async () => (await heard()).includes(message));
    return { shop, page, navigations, invoices, placeOrder, heard, hears };
  }

  it('hears that the customer pays there, and leads to its own thanks when the page is closed', async () => {
    const { shop, page, navigations, placeOrder, heard, hears } = await openShop();
    const frame = await placeOrder();
    await frame.getByRole('button', { name: /Litecoin/ }).click();
    await frame.getByRole('heading', { name: say('pay_title') }).waitFor();
    expect(await page.locator('#message').textContent()).toBe('Please pay');
    expect(await heard()).toEqual(['loaded']);
    await press(frame, 'simulate_confirming');
    await hears('processing');
    await press(frame, 'simulate_paid');
    await frame.getByRole('heading', { name: say('completed_title') }).waitFor();
    await hears('settled');
    expect(navigations).toEqual([`${shop}/`]);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.waitForURL(`${shop}/thanks?order=1`);
    expect(await heard()).toEqual(['loaded', 'processing', 'settled', 'close']);
  });

  it('hears that it was closed unpaid, and that an invoice ran out, and takes the next order', async () => {
    const { shop, page, navigations, invoices, placeOrder, heard, hears } = await openShop();
    const first = await placeOrder();
    await first.getByRole('heading', { name: say('choose_title') }).waitFor();
    await hears('loaded');
    await page.keyboard.press('Escape');
    await sees(page, 'You closed the payment');
    const second = await placeOrder();
    await second.locator(`#live[data-payment="${invoices[1]}"]`).waitFor();
    await checkout.simulate({ id: '', url: `${checkout.service.sandbox}/pay/${invoices[1]}` }, 'expired');
    await sees(page, 'Order again, please');
    await until('the frame is gone', async () => (await page.locator('iframe').count()) === 0);
    const third = await placeOrder();
    await third.locator(`#live[data-payment="${invoices[2]}"]`).waitFor();
    await until('the third is loaded', async () => (await heard()).length === 5);
    expect(await heard()).toEqual(['loaded', 'close', 'loaded', 'expired', 'loaded']);
    expect(navigations).toEqual([`${shop}/`]);
  });

  it('leads to the page where its origin is not allowed, says why on the console, and gets its customer back', async () => {
    const { shop, page, invoices, placeOrder, heard } = await openShop(false);
    await page.clock.install();
    await page.reload();
    const said = page.waitForEvent('console', (message) => message.text().includes('allowed origins'));
    await placeOrder();
    await page.getByRole('dialog').waitFor();
    await until('the frame was refused', async () =>
      page.frames().some((frame) => frame.url().startsWith('chrome-error:')),
    );
    await page.clock.runFor(9_000);
    expect((await said).text()).toContain(shop);
    await page.waitForURL(`${checkout.service.sandbox}/pay/${invoices[0]}`);
    await press(page, 'simulate_paid');
    await sees(page, say('completed_title'));
    await page.getByRole('link', { name: say('back_to', { shop: 'My shop' }), exact: true }).click();
    await page.waitForURL(`${shop}/thanks?order=1&payment_id=${invoices[0]}`);
    expect(await heard()).toEqual([]);
  });
});
