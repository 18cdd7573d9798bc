import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { otherSite, paymentServer, shows, until, useBrowser, type Standing } from './fixture.ts';

const NOON = Date.UTC(2026, 5, 15, 12);
const PAY: Standing = { version: 'v1', status: 'pay', body: '' };

describe.skipIf(hasNoBrowser)('the parts of the payment page that need the script', () => {
  const openTab = useBrowser();

  it("counts down by the server's clock, whatever the reader's says, and requests the page again when the time is over", async () => {
    const server = await paymentServer({
      ...PAY,
      now: NOON,
      body: `<span data-countdown="${NOON + 3_605_000}">60 minutes</span>`,
    });
    const { page } = await openTab();
    // The reader's clock is a quarter of an hour ahead. It runs until it is stopped, and cannot be stopped in its past.
    await page.clock.install({ time: NOON + 600_000 });
    await page.clock.pauseAt(NOON + 900_000);
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    expect(await shows(page, '[data-countdown]', ':')).toBe('1:00:05');
    await page.clock.runFor(6_000);
    expect(await page.locator('[data-countdown]').textContent()).toBe('59:59');
    server.standing = { ...PAY, version: 'v2', now: NOON, body: `<b data-countdown="${NOON + 2_500}"></b>` };
    server.send('v2');
    await shows(page, '[data-countdown]', '0:03');
    await page.clock.runFor(2_400);
    expect(await page.locator('[data-countdown]').textContent()).toBe('0:01');
    expect(server.asked.page).toBe(2);
    server.standing = { ...server.standing, now: null };
    // The server has not drawn the deadline yet: asked at once, then after 2, 4, 8, 15 and 15 seconds.
    for (const [passed, asked] of [
      [200, 3],
      [1_500, 3],
      [1_500, 4],
      [4_000, 5],
      [6_000, 5],
      [3_000, 6],
      [16_000, 7],
      [15_000, 8],
    ] as const) {
      await page.clock.runFor(passed);
      await until(`asked ${asked} times`, () => server.asked.page >= asked);
      expect(server.asked.page).toBe(asked);
    }
    expect(await page.locator('[data-countdown]').textContent()).toBe('0:00');
  });

  it('asks for no money once the time is over, also where the service cannot be reached', async () => {
    const body = `<section class="card"><b data-countdown="${NOON + 60_000}"></b><p hidden data-overdue>Send nothing</p>
      <div class="pay">Send 0.5</div><section class="wallets">Wallets</section></section>`;
    const server = await paymentServer({ ...PAY, now: NOON, body });
    const { page } = await openTab();
    await page.clock.install({ time: NOON });
    await page.clock.pauseAt(NOON + 300_000);
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    const shown = () =>
      page.evaluate(`[...document.querySelectorAll('.pay, .wallets, [data-overdue]')]
        .filter((element) => element.checkVisibility()).map((element) => element.textContent)`);
    expect(await shown()).toEqual(['Send 0.5', 'Wallets']);
    await page.context().setOffline(true);
    await page.clock.runFor(61_000);
    expect(await shown()).toEqual(['Send nothing']);
    // The service gave more time: its page counts.
    await page.context().setOffline(false);
    server.standing = { ...PAY, version: 'v2', now: NOON, body: body.replace(`${NOON + 60_000}`, `${NOON + 600_000}`) };
    await page.evaluate('dispatchEvent(new Event("online"))');
    await until('the new page is shown', async () => JSON.stringify(await shown()) === '["Send 0.5","Wallets"]');
  });

  it('closes the language menu on Escape, with the focus back on it, and on a click beside it', async () => {
    const server = await paymentServer({
      ...PAY,
      body: '<details id="languages"><summary>Language</summary><a href="/de">Deutsch</a></details><p id="beside">.</p>',
    });
    const { page } = await openTab();
    await page.goto(server.url);
    const isOpen = () => page.evaluate(`document.getElementById('languages').open`);
    await page.locator('summary').click();
    await page.keyboard.press('Tab');
    expect(await isOpen()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await isOpen()).toBe(false);
    expect(await page.evaluate('document.activeElement.localName')).toBe('summary');
    await page.locator('summary').click();
    await page.locator('#beside').click();
    expect(await isOpen()).toBe(false);
  });

  it('reads out what else is to be known of a change under the same heading', async () => {
    const part = (amount: string): Standing => ({
      ...PAY,
      version: amount,
      body: `<dl class="facts"><div><dt>Missing</dt> <dd data-announce>${amount}</dd></div></dl>`,
    });
    const server = await paymentServer({ ...part('0.5 BTC'), title: 'Waiting' });
    const { page } = await openTab();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    server.standing = part('0.2 BTC');
    server.send('0.2 BTC');
    expect(await shows(page, '#announcer', '0.2 BTC')).toBe('Now pay. This is 0.2 BTC. Missing 0.2 BTC.');
  });

  it("writes times in the reader's zone and the page's language, with the date of another day", async () => {
    const time = (at: number, kind: string) =>
      `<time datetime="${new Date(at).toISOString()}" data-local="${kind}">UTC</time>`;
    const server = await paymentServer({
      ...PAY,
      now: NOON,
      body: time(NOON + 60_000, 'time') + time(NOON + 86_400_000, 'time') + time(NOON, 'datetime'),
    });
    const { page } = await openTab({ timezoneId: 'Asia/Tokyo', locale: 'de' });
    await page.clock.install({ time: NOON });
    await page.goto(server.url);
    await shows(page, 'footer', 'Your own time');
    const times = await page.locator('time').allTextContents();
    expect(times.map((text) => text.replace(/\s/gu, ' '))).toEqual([
      '9:01 PM',
      'Jun 16, 2026, 9:00 PM',
      'Jun 15, 2026, 9:00 PM',
    ]);
  });

  for (const isSecure of [true, false]) {
    it(`copies the exact text and says so, ${isSecure ? 'by the clipboard' : 'also where there is no clipboard'}`, async () => {
      const server = await paymentServer({
        ...PAY,
        body: `<button type="button" hidden data-copy=" 0.00083317"><svg></svg><span>Copy</span></button><textarea></textarea>`,
      });
      const { page, problems } = await openTab({ permissions: ['clipboard-read', 'clipboard-write'] });
      // A page without TLS has no clipboard.
      if (!isSecure) await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
      await page.clock.install();
      await page.goto(server.url);
      const button = page.locator('[data-copy]');
      await button.click();
      await shows(page, '[data-copy]', 'Copied');
      expect(await page.locator('#announcer').textContent()).toBe('Copied');
      expect(await page.evaluate('document.activeElement.dataset.copy')).toBe(' 0.00083317');
      await page.clock.runFor(2_100);
      expect(await button.textContent()).toBe('Copy');
      await page.locator('textarea').focus();
      await page.keyboard.press('ControlOrMeta+V');
      expect(await page.locator('textarea').inputValue()).toBe(' 0.00083317');
      expect(problems).toEqual([]);
    });
  }

  it('says that nothing was copied when the browser refuses', async () => {
    const server = await paymentServer({ ...PAY, body: '<button type="button" hidden data-copy="1">Copy</button>' });
    const { page } = await openTab();
    await page.addInitScript(`Object.defineProperty(navigator, "clipboard", { value: undefined });
      document.execCommand = () => false;`);
    await page.goto(server.url);
    await page.locator('[data-copy]').click();
    expect(await shows(page, '#announcer', 'Not copied')).toBe('Not copied');
  });
});

describe.skipIf(hasNoBrowser)('the way back to the shop', () => {
  const openTab = useBrowser();
  const end = (shop: string): Standing => ({
    version: 'v9',
    status: 'completed',
    final: true,
    body: `<a data-return href="${shop}/thanks?payment_id=p1">Back</a>
      <p hidden data-returning><span data-returning-text></span> <button type="button" data-stay>Stay</button></p>`,
  });

  /** A tab with a payment that is under way, its clock held by the test. */
  async function openPayment() {
    const shop = await otherSite({});
    const server = await paymentServer(PAY);
    const { page } = await openTab();
    await page.clock.install();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    return { shop, server, page };
  }

  it('leads there twenty seconds after the payment ended before the eyes of the customer', async () => {
    const { shop, server, page } = await openPayment();
    await page.clock.pauseAt(Date.now() + 3_600_000);
    server.standing = end(shop);
    server.send('v9');
    await shows(page, '[data-returning-text]', 'Back in 20 s');
    expect(await page.locator('#announcer').textContent()).toBe('Now completed. This is v9. Back in 20 s');
    await page.clock.runFor(19_000);
    expect(await page.locator('[data-returning-text]').textContent()).toBe('Back in 1 s');
    await page.clock.runFor(1_000);
    await page.waitForURL(`${shop}/thanks?payment_id=p1`);
  });

  it('stays when the customer says so', async () => {
    const { shop, server, page } = await openPayment();
    server.standing = end(shop);
    server.send('v9');
    await page.locator('[data-stay]').click();
    await page.clock.runFor(60_000);
    expect(page.url()).toBe(server.url);
    expect(await page.locator('[data-returning]').isVisible()).toBe(false);
    expect(await page.evaluate('"return" in document.activeElement.dataset')).toBe(true);
  });

  it('is only a link on a page that was final when it was opened, and where it is no web address', async () => {
    const shop = await otherSite({});
    const server = await paymentServer(end(shop));
    const { page } = await openTab();
    await page.clock.install();
    await page.goto(server.url);
    await shows(page, 'footer', 'Your own time');
    await page.clock.runFor(60_000);
    expect(page.url()).toBe(server.url);
    server.standing = PAY;
    await page.reload();
    await until('the stream is open', () => server.asked.stream === 2);
    server.standing = end('javascript:void ');
    server.send('v9');
    await shows(page, '#live', 'Now completed');
    await page.clock.runFor(60_000);
    expect(page.url()).toBe(server.url);
    expect(await page.locator('[data-returning]').isVisible()).toBe(false);
  });
});
