import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { otherSite, paymentServer, sendPage, shows, until, useBrowser, type Standing } from './fixture.ts';

/** The strictest policy that a shop can have: no style but from files, no script but from the payment service. */
function shopPolicy(origin: string): string {
  return `default-src 'none'; script-src ${origin}; frame-src ${origin} http://127.0.0.1:*; style-src 'none'; img-src data:`;
}

const EVENTS = `window.heard = [];
  for (const name of ['open', 'status', 'completed', 'failed', 'close'])
    document.addEventListener('cointill:' + name, (event) => heard.push([name, event.target.id ?? 'document', event.detail.payment_id, event.detail.status]));`;

describe.skipIf(hasNoBrowser)('the script for shops', () => {
  const openTab = useBrowser();

  /** A shop with a link and a button to pay, whose page knows nothing of the payment service but its script. */
  async function openShop(standing: Standing = { version: 'v1', status: 'pay', body: '' }) {
    const server = await paymentServer(standing);
    const shop = await otherSite(
      {
        '/': `<!doctype html><title>Shop</title><link rel="icon" href="data:,">
          <script src="${server.origin}/embed.js" data-title="Zahlung" data-close="Schließen" defer></script>
          <a id="link" href="${server.url}" data-cointill><b>Pay</b></a>
          <button id="button" data-cointill="${server.url}">Pay</button>
          <button id="none" data-cointill="javascript:void(document.title='hacked')">Pay</button>`,
      },
      shopPolicy(server.origin),
    );
    server.standing = { ...standing, embed: shop };
    const { page, problems } = await openTab();
    await page.addInitScript(EVENTS);
    await page.goto(shop);
    const frame = page.frameLocator('iframe');
    return { server, shop, page, problems, frame, heard: () => page.evaluate<string[][]>('heard') };
  }

  it('opens the payment above the shop, sends the shop its status, and restores the focus', async () => {
    const { server, shop, page, problems, frame, heard } = await openShop();
    await page.locator('#link').click();
    await frame.locator('#status-title').waitFor();
    const dialog = page.getByRole('dialog', { name: 'Zahlung' });
    expect(await dialog.isVisible()).toBe(true);
    expect(await page.locator('iframe').getAttribute('src')).toBe(`${server.url}?embed=${encodeURIComponent(shop)}`);
    expect(await page.locator('iframe').getAttribute('title')).toBe('Zahlung');
    expect(await page.locator('iframe').getAttribute('allow')).toBe('clipboard-write; payment');
    await until('the status is told', async () => JSON.stringify(await heard()).includes('status'));

    await until('the stream is open', () => server.asked.stream === 1);
    server.standing = {
      ...server.standing,
      version: 'v2',
      status: 'completed',
      final: true,
      body: `<a data-return href="${shop}/thanks">Back</a><p hidden data-returning><span data-returning-text></span></p>`,
    };
    server.send('v2');
    await frame.locator('h2', { hasText: 'completed' }).waitFor();
    // The shop decides what comes next; the link leads out of the frame.
    expect(await frame.locator('[data-returning]').isVisible()).toBe(false);
    expect(await frame.locator('a[data-return]').getAttribute('target')).toBe('_top');
    await page.getByRole('button', { name: 'Schließen' }).click();
    await until('the dialog is gone', async () => (await page.locator('iframe').count()) === 0);
    expect(await page.evaluate('document.activeElement.id')).toBe('link');
    expect(await heard()).toEqual([
      ['open', 'link', '', ''],
      ['status', 'link', 'p1', 'pay'],
      ['status', 'link', 'p1', 'completed'],
      ['completed', 'link', 'p1', 'completed'],
      ['close', 'link', 'p1', 'completed'],
    ]);
    expect(problems).toEqual([]);
    expect(page.url()).toBe(`${shop}/`);
  });

  it('closes by Escape, in the frame and outside of it, and by the button of the page itself', async () => {
    const { page, frame, heard } = await openShop({
      version: 'v1',
      status: 'expired',
      final: true,
      body: '<button data-close hidden>Close</button><input>',
    });
    await page.locator('#button').click();
    await frame.locator('[data-close]').click();
    await until('closed by the page', async () => (await page.locator('iframe').count()) === 0);
    await page.locator('#button').click();
    await frame.locator('input').press('Escape');
    await until('closed by Escape in the frame', async () => (await page.locator('iframe').count()) === 0);
    await page.locator('#button').click();
    await until('the status is told', async () => (await heard()).length === 11);
    await page.keyboard.press('Escape');
    await until('closed by Escape', async () => (await page.locator('iframe').count()) === 0);
    const closed = (await heard()).filter(([name]) => name === 'failed' || name === 'close');
    expect(closed).toEqual(
      ['failed', 'close', 'failed', 'close', 'failed', 'close'].map((name) => [name, 'button', 'p1', 'expired']),
    );
  });

  it('believes the frame alone, and only what comes from the payment page in it', async () => {
    const { server, shop, page, heard, frame } = await openShop();
    const lie = `{ source: 'cointill', type: 'status', payment_id: 'p1', status: 'completed' }`;
    // Another site comes to stand in the frame, and one in a frame beside it, of the payment page's origin even.
    const liar = await otherSite({
      '/': `<script>parent.postMessage(${lie}, '*'); parent.postMessage('done', '*')</script>`,
    });
    await page.locator('#link').click();
    await frame.locator('#status-title').waitFor();
    await until('the status is told', async () => JSON.stringify(await heard()).includes('status'));
    await page.evaluate(`window.done = 0; addEventListener('message', ({ data }) => data === 'done' && (done += 1));
      postMessage(${lie}, '*'); postMessage('done', '*');`);
    await until('the lie of the shop itself is heard', async () => (await page.evaluate('done')) === 1);
    await page.evaluate(
      `beside = document.createElement('iframe'); beside.src = '${server.origin}/nothing'; document.body.append(beside)`,
    );
    await until('a frame beside it is there', () => page.frames().some((one) => one.url().endsWith('/nothing')));
    const beside = page.frames().find((one) => one.url().endsWith('/nothing'));
    await beside?.evaluate(`parent.postMessage(${lie}, '*'); parent.postMessage('done', '*');`);
    await until('its lie is heard', async () => (await page.evaluate('done')) === 2);
    await page.evaluate(`document.querySelector('body > div').shadowRoot.querySelector('iframe').src = '${liar}/'`);
    await until('the lie of another site is heard', async () => (await page.evaluate('done')) === 3);
    expect(await heard()).toEqual([
      ['open', 'link', '', ''],
      ['status', 'link', 'p1', 'pay'],
    ]);
    expect(page.url()).toBe(`${shop}/`);
  });

  it('leads to the payment page at once where the shop may not frame it', async () => {
    const { server, shop, page, problems } = await openShop();
    await page.clock.install();
    await page.reload();
    // The shop is not allowed to frame the page.
    server.answer = (response) => {
      response.setHeader('x-frame-options', 'DENY');
      sendPage(response, server.render({ ...server.standing, version: 'v2' }));
    };
    const asked = page.waitForEvent('console', (message) => message.text().includes('X-Frame-Options'));
    await page.locator('#link').click();
    await asked;
    await page.clock.runFor(1_100);
    await page.waitForURL(server.url);
    expect(page.url()).toBe(server.url);
    expect(
      problems.filter((problem) => problem.includes(`if ${shop} is not among the project’s allowed origins`)),
    ).toHaveLength(1);
  });

  it('leads to the payment page when an error comes to stand in the frame later', async () => {
    const { server, page, frame } = await openShop({
      version: 'v1',
      status: 'pay',
      body: '<a id="next" href="?again">Next</a>',
    });
    await page.locator('#link').click();
    await frame.locator('#next').click();
    await frame.locator('#next').waitFor();
    await until('the next page stands', () => server.asked.page === 2);
    server.answer = (response) => void response.writeHead(429, { 'x-frame-options': 'DENY' }).end('Too many');
    await frame.locator('#next').click();
    await until('the error was sent', () => server.asked.page === 3);
    server.answer = null;
    await page.waitForURL(server.url);
    expect(await shows(page, '#live', 'Now pay')).toContain('v1');
  });

  it('leaves modifier keys to the browser, and opens nothing that is no web address', async () => {
    const { shop, page, heard } = await openShop();
    // Seen after every listener of the script, and kept from opening a tab: Chromium now and then crashes with one.
    await page.evaluate(`isLeft = null; addEventListener('click', (event) => {
      isLeft = !event.defaultPrevented;
      event.preventDefault();
    }, { once: true });`);
    await page.locator('#link').click({ modifiers: ['ControlOrMeta'] });
    expect(await page.evaluate('isLeft')).toBe(true);
    await page.locator('#none').click();
    expect(await page.locator('iframe').count()).toBe(0);
    expect(await heard()).toEqual([]);
    expect(await page.title()).toBe('Shop');
    expect(page.url()).toBe(`${shop}/`);
  });

  it('opens by script too, with events on what it returns and a promise of how it stood', async () => {
    const { server, page, frame } = await openShop();
    await page.evaluate(`payment = Cointill.open('${server.url}');
      payment.addEventListener('cointill:status', ({ detail }) => (told = detail)); told = null;`);
    await frame.locator('#status-title').waitFor();
    await until('the status is told', async () => (await page.evaluate('told')) !== null);
    expect(await page.evaluate('told')).toEqual({ payment_id: 'p1', status: 'pay' });
    await page.evaluate('payment.close()');
    expect(await page.evaluate('payment.closed')).toEqual({ payment_id: 'p1', status: 'pay' });
    // A second payment takes the place of the first.
    await page.evaluate(`Cointill.open('${server.url}'); Cointill.open('${server.url}?second'); null`);
    await until('one is left', async () => (await page.locator('iframe').count()) === 1);
    expect(await page.locator('iframe').getAttribute('src')).toContain('second');
  });
});
