import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { PAYMENT, paymentServer, sendPage, shows, until, useBrowser, type Standing } from './fixture.ts';

const FIRST: Standing = {
  version: 'v1',
  status: 'pay',
  title: 'Waiting',
  body: `<button type="button" hidden data-copy="0.5">Copy amount</button>
    <button type="button" hidden data-copy="addr">Copy address</button>
    <form method="post" action="/slow"><input name="refund" value=""><button name="asset" value="BTC">Bitcoin</button>
      <button name="asset" value="LTC">Litecoin</button></form>
    <details><summary>Cancel</summary><p>Sure?</p></details><details open><summary>More</summary></details>`,
};
const SECOND: Standing = { ...FIRST, version: 'v2', status: 'detected', title: 'Detected' };
const FINAL: Standing = { version: 'v9', status: 'completed', final: true, body: 'Thank you' };

describe.skipIf(hasNoBrowser)('the open payment page', () => {
  const openTab = useBrowser();

  /** The page with its clock in the test's hands, once its stream is open. */
  const openLivePage = async () => {
    const server = await paymentServer(FIRST);
    const { page } = await openTab();
    await page.clock.install();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    return { server, page };
  };

  it('shows a change as soon as the stream sends it, with title and band, and announces it', async () => {
    const server = await paymentServer(FIRST);
    const { page, problems } = await openTab();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    expect(server.versions).toEqual(['v1']);
    server.standing = { ...SECOND, band: '<aside id="band">Test mode</aside>' };
    server.send('v2');
    await shows(page, '#live', 'Now detected');
    expect(await page.title()).toBe('Detected');
    expect(await page.locator('body > :first-child').textContent()).toBe('Test mode');
    expect(await page.locator('#announcer').textContent()).toBe('Now detected. This is v2.');
    server.standing = { ...FIRST, version: 'v3' };
    server.send('v3');
    await shows(page, '#live', 'v3');
    expect(await page.locator('#band').count()).toBe(0);
    expect(server.asked).toEqual({ page: 3, stream: 1 });
    expect(problems).toEqual([]);
  });

  it('keeps keyboard focus, opened details and half-typed fields over a change', async () => {
    const server = await paymentServer(FIRST);
    const { page } = await openTab();
    await page.goto(server.url);
    await page.locator('[name=refund]').fill('bc1q');
    await page.locator('summary', { hasText: 'Cancel' }).click();
    await page.locator('summary', { hasText: 'More' }).click();
    const focused = () =>
      page.evaluate('document.activeElement.dataset.copy ?? document.activeElement.value ?? document.activeElement.id');
    let version = 2;
    for (const [selector, expected] of [
      ['[data-copy=addr]', 'addr'],
      ['[value=LTC]', 'LTC'],
      ['[name=refund]', 'bc1q'],
    ] as const) {
      await page.locator(selector).focus();
      server.standing = { ...SECOND, version: `v${version}` };
      server.send(`v${version}`);
      await shows(page, '#live', `v${version}`);
      expect(await focused()).toBe(expected);
      version += 1;
    }
    expect(await page.locator('[name=refund]').inputValue()).toBe('bc1q');
    expect(await page.evaluate('[...document.querySelectorAll("#live details")].map((one) => one.open)')).toEqual([
      true,
      false,
    ]);
    // The missing amount has changed: the focus stays on the button that copies it.
    await page.locator('[data-copy="0.5"]').focus();
    server.standing = { ...FIRST, version: 'v8', body: FIRST.body.replace('data-copy="0.5"', 'data-copy="0.2"') };
    server.send('v8');
    await shows(page, '#live', 'v8');
    expect(await focused()).toBe('0.2');
    // The focused element is gone: the focus goes to the news, not to the top of the page.
    server.standing = FINAL;
    server.send('v9');
    await shows(page, '#live', 'Thank you');
    expect(await focused()).toBe('status-title');
  });

  it('never shows an older answer after a newer one', async () => {
    const server = await paymentServer(FIRST);
    const { page } = await openTab();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    await page.evaluate(`window.shown = [];
      new MutationObserver(() => shown.push(document.getElementById('live').dataset.version))
        .observe(document.body, { childList: true });`);
    let release = () => {};
    server.answer = (response) => (release = () => sendPage(response, server.render(SECOND)));
    server.send('v2');
    await until('the first request is there', () => server.asked.page === 2);
    server.answer = null;
    server.standing = { ...SECOND, version: 'v3', status: 'confirming' };
    server.send('v3');
    await shows(page, '#live', 'Now confirming');
    const answered = page.waitForEvent('requestfinished');
    release();
    await answered;
    // Its turn would have come by now: scripts run in the order of their answers.
    server.standing = { ...SECOND, version: 'v4', body: 'the latest' };
    server.send('v4');
    await shows(page, '#live', 'the latest');
    expect(server.asked.page).toBe(4);
    expect(await page.evaluate('shown')).toEqual(['v3', 'v4']);
  });

  for (const stream of ['error', 'silent'] as const) {
    it(`asks every five seconds when the stream cannot be had (${stream}), and not while it is hidden`, async () => {
      const server = await paymentServer(FIRST);
      server.stream = stream;
      const { page } = await openTab();
      await page.clock.install();
      await page.goto(server.url);
      await until('the stream was asked for', () => server.asked.stream === 1);
      for (let asked = 2; asked <= 4; asked += 1) {
        const before = server.asked.page;
        // The page's clock also goes on by itself: a busy machine takes a part of the five seconds between two steps.
        await page.clock.runFor(2_500);
        expect(server.asked.page).toBe(before);
        await page.clock.runFor(3_600);
        await until('the page is asked for', () => server.asked.page === asked);
        await page.evaluate('new Promise((resolve) => queueMicrotask(resolve))');
      }
      await setHidden(page, true);
      await page.clock.runFor(60_000);
      expect(server.asked.page).toBe(4);
      server.standing = SECOND;
      await setHidden(page, false);
      await shows(page, '#live', 'Now detected');
      expect(server.asked.page).toBe(5);
    });
  }

  /** A tab with a payment whose stream is of this kind, its clock held by the test. */
  async function openWith(stream: 'mute' | 'error') {
    const server = await paymentServer(FIRST);
    server.stream = stream;
    const { page } = await openTab();
    await page.clock.install();
    await page.goto(server.url);
    return { server, page };
  }

  it('finds out that a stream is held back, and asks by itself from then on', async () => {
    const { server, page } = await openWith('mute');
    await until('the stream is open', () => server.asked.stream === 1);
    server.standing = SECOND;
    await page.clock.runFor(36_100);
    await shows(page, '#live', 'Now detected');
    const { page: asked } = server.asked;
    await page.clock.runFor(3_100);
    await page.clock.runFor(6_100);
    await until('the page is asked for again', () => server.asked.page > asked);
    expect(server.asked.stream).toBe(1);
  });

  it('reconnects the stream after it was cut, and requests what it missed', async () => {
    const server = await paymentServer(FIRST);
    const { page } = await openTab();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    server.standing = SECOND;
    server.cutStreams();
    await shows(page, '#live', 'Now detected');
    expect(server.asked.stream).toBe(2);
    expect(await page.locator('#connection').isVisible()).toBe(false);
  });

  it('says that the connection is lost after two failures in a row, and when it is back', async () => {
    const { server, page } = await openWith('error');
    await until('the stream was asked for', () => server.asked.stream === 1);
    server.answer = (response) => response.writeHead(502).end();
    await page.clock.runFor(6_100);
    await until('the first request has failed', () => server.asked.page === 2);
    await page.clock.runFor(1_000);
    expect(await page.locator('#connection').isVisible()).toBe(false);
    await page.clock.runFor(6_100);
    await shows(page, '#connection', 'Offline');
    expect(await page.locator('#connection').isVisible()).toBe(true);
    // Neither an error page of somebody on the way, nor another payment, is taken for the page.
    server.answer = (response) => sendPage(response, server.render().replace(`data-payment="${PAYMENT}"`, ''));
    await page.evaluate('dispatchEvent(new Event("online"))');
    await until('the page is asked for', () => server.asked.page >= 4);
    expect(await page.locator('#connection').isVisible()).toBe(true);
    server.answer = null;
    server.standing = SECOND;
    await page.evaluate('dispatchEvent(new Event("online"))');
    await shows(page, '#live', 'Now detected');
    expect(await page.locator('#connection').isVisible()).toBe(false);
    await shows(page, '#announcer', 'Online again');
  });

  it('stops polling once the payment is complete, and still gets a refund', async () => {
    const { server, page } = await openLivePage();
    server.standing = FINAL;
    server.send('v9');
    await shows(page, '#live', 'Thank you');
    await page.clock.runFor(300_000);
    await page.reload();
    await until('the stream is open', () => server.asked.stream === 2);
    await page.clock.runFor(300_000);
    expect(server.asked).toEqual({ page: 3, stream: 2 });
    server.standing = { ...FINAL, version: 'v10', body: 'Refunded' };
    server.send('v10');
    await shows(page, '#live', 'Refunded');
    expect(server.asked).toEqual({ page: 4, stream: 2 });
  });

  it('leaves the connection to other tabs while it is hidden', async () => {
    const server = await paymentServer(FIRST);
    const { page } = await openTab();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    await setHidden(page, true);
    await until('the stream is closed', () => server.streams() === 0);
    server.standing = SECOND;
    await setHidden(page, false);
    await shows(page, '#live', 'Now detected');
    await until('the stream is open again', () => server.streams() === 1);
    expect(server.asked.stream).toBe(2);
  });

  describe('submits a form', () => {
    const clickAll = `for (const name of ["BTC", "LTC", "BTC"]) document.querySelector('[value=' + name + ']').click()`;

    it('once, also for a second click, and marks what was clicked before anything is answered', async () => {
      const server = await paymentServer(FIRST);
      server.answerPost = () => {};
      const { page } = await openTab();
      await page.goto(server.url);
      // In the task of the click itself: the next frame shows it.
      expect(await page.evaluate(`${clickAll}; document.querySelector('[value=BTC]').ariaBusy`)).toBe('true');
      expect(await page.locator('#announcer').textContent()).toBe('One moment');
      await until('a form was sent', () => server.posted.length > 0);
      await page.locator('[value=LTC]').click();
      // The page comes back from the browser's history.
      await page.evaluate('dispatchEvent(new PageTransitionEvent("pageshow"))');
      expect(await page.locator('[aria-busy]').count()).toBe(0);
      await page.locator('[value=LTC]').click();
      await until('another form was sent', () => server.posted.length > 1);
      expect(server.posted).toEqual(['refund=&asset=BTC', 'refund=&asset=LTC']);
    });

    it('and shows its answer in place, whatever was asked for before it', async () => {
      const server = await paymentServer(FIRST);
      const { page, problems } = await openTab();
      await page.goto(server.url);
      await until('the stream is open', () => server.asked.stream === 1);
      let answerOld = () => {};
      server.answer = (response) => (answerOld = () => sendPage(response, server.render(FIRST)));
      server.send('v1b');
      await until('the page was asked for', () => server.asked.page === 2);
      server.answer = null;
      server.standing = SECOND;
      await page.locator('[value=LTC]').click();
      await shows(page, '#live', 'Now detected');
      answerOld();
      server.standing = { ...SECOND, version: 'v3' };
      server.send('v3');
      await shows(page, '#live', 'v3');
      expect(await page.locator('[aria-busy]').count()).toBe(0);
      expect(await page.evaluate('performance.getEntriesByType("navigation").length + history.length')).toBe(3);
      expect(problems).toEqual([]);
    });

    it('and shows a refusal, which changes nothing else', async () => {
      const server = await paymentServer(FIRST);
      const { page } = await openTab();
      await page.goto(server.url);
      const refused = { ...FIRST, body: `<p class="notice" role="alert">Not changed</p>${FIRST.body}` };
      server.answerPost = (response) => sendPage(response, server.render(refused), 400);
      await page.locator('[value=LTC]').click();
      await shows(page, '#live', 'Not changed');
      expect(page.url()).toBe(server.url);
    });

    it('and says so when no answer comes', async () => {
      const server = await paymentServer(FIRST);
      const { page } = await openTab();
      await page.goto(server.url);
      server.answerPost = (response) => response.destroy();
      await page.locator('[value=LTC]').click();
      await until('the button is free', async () => (await page.locator('[aria-busy]').count()) === 0);
      expect(await page.locator('#announcer').textContent()).toMatch(/^(?:Offline|Online again)/);
      // The page itself is there.
      await page.locator('#connection').waitFor({ state: 'hidden' });
    });

    it('and leads to the page where the answer is another, such as that there were too many requests', async () => {
      const server = await paymentServer(FIRST);
      const { page } = await openTab();
      await page.goto(server.url);
      server.answerPost = (response) => response.writeHead(429, { 'content-type': 'text/html' }).end('<p>Too many</p>');
      server.standing = SECOND;
      await page.locator('[value=LTC]').click();
      await shows(page, '#live', 'Now detected');
      expect(await page.evaluate('performance.getEntriesByType("navigation")[0].type')).toBe('navigate');
      expect(server.asked.page).toBe(2);
    });
  });

  it('marks a link to another of its pages at once', async () => {
    const server = await paymentServer({ ...FIRST, body: '<a href="?choose=token">Another coin</a>' });
    server.answer = null;
    const { page } = await openTab();
    await page.goto(server.url);
    server.answer = () => {};
    const busy = await page.evaluate(`const link = document.querySelector('main a'); link.click(); link.ariaBusy`);
    expect(busy).toBe('true');
  });

  it('says at once when the browser is offline, and when it is back', async () => {
    const server = await paymentServer(FIRST);
    const { page } = await openTab();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    await page.context().setOffline(true);
    await shows(page, '#connection', 'Offline');
    await page.context().setOffline(false);
    await shows(page, '#announcer', 'Online again');
    expect(await page.locator('#connection').isHidden()).toBe(true);
  });

  it('shows the last state that the service knows while its database is silent, and asks often until it is back', async () => {
    const { server, page } = await openLivePage();
    const stale = { ...FIRST, stale: true, body: '<p class="notice" role="alert">As it stood</p>' };
    server.answer = (response) => sendPage(response, server.render(stale), 503);
    server.send('silent');
    await shows(page, '#live', 'As it stood');
    expect(await page.locator('#connection').isHidden()).toBe(true);
    server.answer = null;
    server.standing = SECOND;
    // Long before the half minute after which a page with a stream asks by itself.
    await until('the page is back', async () => {
      await page.clock.runFor(1_000);
      return (await page.locator('#live').textContent())?.includes('Now detected') === true;
    });
  });
});

/** Chromium's headless pages are always visible; what the script sees is set instead. */
async function setHidden(page: { evaluate(code: string): Promise<unknown> }, hidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
    document.dispatchEvent(new Event('visibilitychange'));`);
}
