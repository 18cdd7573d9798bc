import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { otherSite, paymentServer, until, useBrowser, type Standing } from './fixture.ts';

/** Calls as a plugin makes them, and the messages that it reads. */
const PLUGIN = `window.heard = [];
  btcpay.onModalWillEnter(() => heard.push('enter'));
  btcpay.onModalWillLeave(() => heard.push('leave'));
  btcpay.onModalReceiveMessage(({ data }) => heard.push(typeof data === 'string' ? data : data.invoiceId + ' ' + data.status));`;

describe.skipIf(hasNoBrowser)('the script for BTCPay’s plugins', () => {
  const openTab = useBrowser();

  /** A shop whose page loads the script under the given path of the service, or from elsewhere in its own bundle. */
  async function openShop({ status, isBundled = false }: { readonly status: string; readonly isBundled?: boolean }) {
    const standing: Standing = { version: 'v1', status, body: '<button data-close hidden>Close</button>' };
    const server = await paymentServer(standing);
    const script = await (await fetch(`${server.origin}/modal/btcpay.js`)).text();
    const tag = isBundled
      ? `<script>${script}</script>`
      : `<script src="${server.origin}/modal/btcpay.js?ver=2"></script>`;
    const shop = await otherSite({ '/': `<!doctype html><title>Shop</title><link rel="icon" href="data:,">${tag}` });
    server.standing = { ...standing, embed: shop };
    const { page, problems } = await openTab();
    await page.goto(shop);
    await page.evaluate(PLUGIN);
    const show = async (next: string) => {
      const version = `v of ${next}`;
      server.standing = { ...server.standing, version, status: next };
      server.send(version);
      await page.frameLocator('iframe').locator('h2', { hasText: next }).waitFor();
    };
    const isGone = () => until('the frame is gone', async () => (await page.locator('iframe').count()) === 0);
    const heard = () => page.evaluate<string[]>('heard');
    const hears = async (...messages: readonly string[]) => {
      await until(`"${messages.at(-1)}" is heard`, async () => (await heard()).length >= messages.length);
      expect(await heard()).toEqual(messages);
    };
    return { server, shop, page, problems, show, isGone, hears };
  }

  it('tells what happens to the payment, each status once, in the words of plugins', async () => {
    const { server, page, problems, show, isGone, hears } = await openShop({ status: 'choose' });
    await page.evaluate(`btcpay.showInvoice('p1')`);
    await hears('enter', 'loaded');
    await until('the stream is open', () => server.asked.stream === 1);
    await show('pay');
    await show('detected');
    await show('confirming');
    // A chain reorganisation removes the money, and it comes back.
    await show('pay');
    await show('detected');
    await show('completed');
    const paid = ['enter', 'loaded', 'p1 processing', 'p1 processing', 'p1 settled'];
    await hears(...paid);
    await page.frameLocator('iframe').locator('[data-close]').click();
    await isGone();
    await hears(...paid, 'leave', 'close');
    expect(problems).toEqual([]);
  });

  it.each([
    ['expired', 'expired'],
    ['failed', 'expired'],
    ['cancelled', 'invalid'],
  ])('tells of %s as %s; a shop that hides it then hears of no closing', async (status, told) => {
    const { page, isGone, hears } = await openShop({ status });
    await page.evaluate(`btcpay.showInvoice('p1')`);
    await hears('enter', 'loaded', `p1 ${told}`);
    await page.evaluate('btcpay.hideFrame()');
    await isGone();
    await hears('enter', 'loaded', `p1 ${told}`, 'leave');
    await page.evaluate('btcpay.hideFrame(), btcpay.showFrame()');
    await hears('enter', 'loaded', `p1 ${told}`, 'leave', 'enter', 'loaded', `p1 ${told}`);
  });

  it('shows another invoice in place of the first, and nothing that was hidden while it loaded', async () => {
    const { server, page, hears } = await openShop({ status: 'pay', isBundled: true });
    // Without a file of its own, the script loads the other one when the plugin says from where.
    await page.evaluate(`btcpay.showFrame(), btcpay.setApiUrlPrefix('${server.origin}//')`);
    await page.evaluate(`btcpay.showInvoice('p1'), btcpay.hideFrame()`);
    await page.waitForFunction('window.Cointill !== undefined');
    await hears();
    await page.evaluate(`btcpay.showInvoice('other'), btcpay.showInvoice('p1')`);
    await hears('enter', 'loaded');
    await page.evaluate(`btcpay.showInvoice('p1')`);
    await hears('enter', 'loaded', 'leave', 'enter', 'loaded');
    expect(await page.locator('iframe').count()).toBe(1);
  });

  it('leads to the payment page where the script that it needs does not come', async () => {
    const { server, page } = await openShop({ status: 'pay', isBundled: true });
    await page.route(`${server.origin}/embed.js`, (route) => route.abort());
    await page.evaluate(`btcpay.setApiUrlPrefix('${server.origin}'), btcpay.showInvoice('p1')`);
    await page.waitForURL(server.url);
    expect(await page.locator('#status-title').innerText()).toBe('Now pay');
  });
});
