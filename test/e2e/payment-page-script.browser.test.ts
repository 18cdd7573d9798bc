import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../src/http/checkout/language/locale.ts';
import { hasNoBrowser } from '../browser.ts';
import {
  isShown,
  plainSite,
  press,
  say,
  sees,
  SHOP,
  shownPayment,
  until,
  useCheckout,
} from './payment-page.fixture.ts';

const { texts: ar } = chooseLanguage('ar', undefined);
const { texts: pt } = chooseLanguage('pt', undefined);
const ORDER = { amount: 10, crypto_currency: 'LTC' };

describe.skipIf(hasNoBrowser)('the script of the payment page', () => {
  const checkout = useCheckout();
  const { pay, openTab } = checkout;

  describe('shows what happens elsewhere, without loading the page again', () => {
    it('from the choice of the coin on another device to the end, and says it to screen readers', async () => {
      const payment = await pay({ amount: 10 });
      const { page, navigations } = await openTab();
      await page.goto(payment.url);
      await sees(page, say('choose_title'));

      const other = await openTab({ javaScriptEnabled: false });
      await other.page.goto(payment.url);
      await other.page.getByRole('button', { name: /Litecoin/ }).click();
      await sees(page, say('pay_title'));
      expect(await shownPayment(page)).toEqual(await shownPayment(other.page));
      await announces(page, `${say('pay_title')}.`);
      expect(await page.title()).toBe(`TEST: ${say('pay_title')} - ${SHOP}`);

      await checkout.simulate(payment, 'part');
      await sees(page, say('part_title'));
      await announces(page, `${say('part_title')}. ${say('still_missing')} 0.0625 LTC ≈ $5.00.`);
      expect((await shownPayment(page)).amount).toBe('0.0625');

      await checkout.service.command(`payment simulate ${payment.id} paid`);
      await sees(page, say('completed_title'), say('test_ended'));
      await announces(page, `${say('completed_title')}. ${say('completed_text', { shop: SHOP })}`);
      expect(await page.title()).toBe(`TEST: ${say('completed_title')} - ${SHOP}`);
      expect(navigations).toEqual([payment.url]);
    });

    it('but leaves the choice of another coin alone until something happens', async () => {
      const payment = await pay({ amount: 10 });
      const { page } = await openTab();
      await page.clock.install();
      await page.goto(payment.url);
      await page.getByRole('button', { name: /Litecoin/ }).click();
      await page.getByRole('link', { name: say('other_token') }).click();
      await sees(page, say('choose_title'));
      await page.clock.runFor(60_000);
      await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
      await page.waitForLoadState('networkidle').catch(() => {});
      await page.clock.runFor(60_000);
      await sees(page, say('choose_title'));
      await checkout.simulate(payment, 'paid');
      await sees(page, say('completed_title'));
      expect(new URL(page.url()).searchParams.get('choose')).toBe('token');
    });

    it('also when the API cancels it', async () => {
      const payment = await pay(ORDER);
      const { page, navigations } = await openTab();
      await page.goto(payment.url);
      await sees(page, say('pay_title'));
      expect((await checkout.service.api(`/v1/orders/${payment.id}/cancel`, {})).status).toBe(200);
      await sees(page, say('cancelled_title'), say('nothing_came'));
      await announces(page, `${say('cancelled_title')}. ${say('cancelled_text')}`);
      expect(await page.locator('form').count()).toBe(0);
      expect(navigations).toEqual([payment.url]);
    });

    it('and what the rail sees of a payment', async () => {
      const payment = await pay(ORDER);
      const { page, navigations } = await openTab();
      await page.goto(payment.url);
      await sees(page, say('pay_title'));
      await checkout.move(payment, (before) => ({ ...before, status: 'processing' }));
      await sees(page, say('detected_title'));
      await announces(
        page,
        `${say('detected_title')}. ${say('detected_text', { network: 'Litecoin' })} ${say('usually_takes', { time: '2 minutes' })}`,
      );
      await checkout.move(payment, (before) => ({ ...before, status: 'confirming' }));
      await sees(page, say('confirming_title'));
      expect(navigations).toEqual([payment.url]);
    });
  });

  describe('time', () => {
    it('ticks down to the end, at which the page says so by itself', async () => {
      const payment = await pay(ORDER);
      // Long enough to see three ticks on a busy machine.
      const end = new Date(Date.now() + 8_500);
      await checkout.setTimes(payment, { expires_at: end, completes_at: null, due_at: end });
      const { page, navigations } = await openTab();
      await page.goto(payment.url);
      await sees(page, say('pay_title'));
      const seen = new Set<string>();
      await until('it ticked', async () => {
        seen.add((await page.locator('[data-countdown]').textContent()) ?? '');
        return seen.size >= 3;
      });
      for (const text of seen) expect(text).toMatch(/^0:0[0-9]$/);
      await sees(page, say('expired_title'), say('expired_text'));
      await announces(page, `${say('expired_title')}. ${say('expired_text')}`);
      expect(navigations).toEqual([payment.url]);
    });

    it("is shown in the reader's time zone", async () => {
      const payment = await pay(ORDER);
      const { page } = await openTab({ timezoneId: 'Asia/Kathmandu' });
      await page.goto(payment.url);
      await sees(page, say('local_time'));
      const { expires_at: expiresAt } = await checkout.read(payment);
      const time = page.locator('.clock time');
      expect(await time.getAttribute('datetime')).toBe(expiresAt);
      const local = new Intl.DateTimeFormat('en', { timeStyle: 'short', timeZone: 'Asia/Kathmandu' });
      const shown = (await time.innerText()).replaceAll(/\s/g, ' ');
      // With the date where it is another day in that zone.
      expect(shown).toContain(local.format(new Date(String(expiresAt))).replaceAll(/\s/g, ' '));
    });
  });

  it('copies the exact amount and address, and says so', async () => {
    const payment = await pay({ ...ORDER, crypto_currency: 'BTC', amount: 49.99 });
    const { page } = await openTab({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.goto(payment.url);
    const { amount, address } = await shownPayment(page);
    expect(address).toBe((await checkout.read(payment))['address']);
    for (const [key, text] of [
      ['copy_amount', amount],
      ['copy_address', address],
    ] as const) {
      await page.getByRole('button', { name: say(key) }).click();
      await page.locator(`[data-copy="${text}"]`, { hasText: say('copied') }).waitFor();
      await announces(page, say('copied'));
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(text);
    }
  });

  it('prints the receipt, and of the page no more than that', async () => {
    const payment = await pay({ ...ORDER, success_url: 'https://shop.example/thanks' });
    await checkout.simulate(payment, 'paid');
    const { page } = await openTab();
    await page.addInitScript('window.print = () => { document.documentElement.dataset.printed = "yes"; };');
    await page.goto(payment.url);
    await page.getByRole('button', { name: say('print') }).click();
    expect(await page.locator('html').getAttribute('data-printed')).toBe('yes');
    await page.emulateMedia({ media: 'print' });
    await sees(page, say('receipt'), say('completed_title'));
    expect(await page.getByRole('link').or(page.getByRole('button')).count()).toBe(0);
  });

  describe('the way back to the shop', () => {
    /** The tab of a customer whose payment ends while they watch; time is driven. */
    async function payOpen(outcome: 'paid' | 'expired' | 'late') {
      const shop = await plainSite();
      const urls = { success_url: `${shop}/thanks?a=1`, cancel_url: `${shop}/cart` };
      const payment = await pay({ ...ORDER, ...urls });
      const tab = await openTab({ alsoAsks: [shop] });
      await tab.page.clock.install();
      await tab.page.goto(payment.url);
      await sees(tab.page, say('pay_title'));
      await checkout.simulate(payment, outcome);
      return { shop, payment, ...tab };
    }
    const returning = (seconds: number) => say('returning', { seconds: String(seconds) });

    it('is taken by itself after the payment completed, with the payment’s id, once', async () => {
      const { shop, payment, page } = await payOpen('paid');
      await sees(page, say('completed_title'), returning(20));
      await announces(page, `${say('completed_title')}. ${say('completed_text', { shop: SHOP })} ${returning(20)}`);
      await page.clock.runFor(2_000);
      expect(page.url()).toBe(payment.url);
      await page.clock.runFor(20_000);
      await page.waitForURL(`${shop}/thanks?a=1&payment_id=${payment.id}`);
      await page.goBack();
      await sees(page, say('completed_title'));
      await page.clock.runFor(20_000);
      expect(page.url()).toBe(payment.url);
      expect(await page.locator('[data-returning]').isVisible()).toBe(false);
    });

    it('leads to the cancel address when the payment came to nothing', async () => {
      const { shop, payment, page } = await payOpen('expired');
      await sees(page, say('expired_title'), returning(20));
      expect(page.url()).toBe(payment.url);
      await page.clock.runFor(21_000);
      await page.waitForURL(`${shop}/cart?payment_id=${payment.id}`);
    });

    it('is left to the customer where money is in limbo: there is something to read and to do', async () => {
      const { payment, page } = await payOpen('late');
      await sees(page, say('late_title'), say('money_safe'));
      expect(await page.locator('[data-returning]').count()).toBe(0);
      await page.clock.runFor(60_000);
      expect(page.url()).toBe(payment.url);
    });

    it('waits for the customer who says so, and can then still be taken', async () => {
      const { shop, payment, page } = await payOpen('paid');
      await page.getByRole('button', { name: say('stay') }).click();
      const link = page.getByRole('link', { name: say('back_to', { shop: SHOP }), exact: true });
      expect(await page.evaluate("document.activeElement.matches('[data-return]')")).toBe(true);
      expect(await page.locator('[data-returning]').isVisible()).toBe(false);
      await page.clock.runFor(20_000);
      expect(page.url()).toBe(payment.url);
      await link.click();
      await page.waitForURL(`${shop}/thanks?a=1&payment_id=${payment.id}`);
    });

    it('is taken by itself after the page’s own simulation, as it will be for customers', async () => {
      const shop = await plainSite();
      const payment = await pay({ ...ORDER, success_url: `${shop}/thanks` });
      const { page, navigations } = await openTab({ alsoAsks: [shop] });
      await page.clock.install();
      await page.goto(payment.url);
      await sees(page, say('pay_title'));
      await press(page, 'simulate_paid');
      await sees(page, say('completed_title'), returning(20));
      await page.clock.runFor(21_000);
      await page.waitForURL(`${shop}/thanks?payment_id=${payment.id}`);
      expect(navigations.at(-1)).toBe(`${shop}/thanks?payment_id=${payment.id}`);
    });

    it('is never taken by itself from a page that was opened at the end', async () => {
      const shop = await plainSite();
      const payment = await pay({ ...ORDER, success_url: `${shop}/thanks` });
      const { page } = await openTab({ alsoAsks: [shop] });
      await checkout.simulate(payment, 'paid');
      await page.clock.install();
      await page.goto(payment.url);
      await sees(page, say('completed_title'));
      await page.clock.runFor(30_000);
      expect(page.url()).toBe(payment.url);
      expect(await page.locator('[data-returning]').isVisible()).toBe(false);
    });
  });

  describe('languages', () => {
    it('are chosen from the menu, and kept over forms and over what is shown live', async () => {
      const payment = await pay({ amount: 49.99 });
      const { page } = await openTab({ permissions: ['clipboard-read', 'clipboard-write'] });
      await page.goto(payment.url);
      await page.locator('summary', { hasText: say('language') }).click();
      await page.getByRole('link', { name: 'العربية' }).click();
      await sees(page, ar.choose_title);
      expect(await languageOf(page)).toEqual({ lang: 'ar', dir: 'rtl' });
      await page.getByRole('button', { name: /Bitcoin/ }).click();
      await sees(page, ar.pay_title);
      expect(page.url()).toBe(`${payment.url}?lang=ar`);
      // Digits stay as wallets write them.
      expect((await shownPayment(page)).amount).toBe('0.00083317');
      await page.getByRole('button', { name: ar.copy_amount }).click();
      await announces(page, ar.copied);
      await press(page, 'simulate_part', (key) => ar[key]);
      await sees(page, ar.part_title);
      await checkout.simulate(payment, 'paid');
      await sees(page, ar.completed_title);
      expect(await languageOf(page)).toEqual({ lang: 'ar', dir: 'rtl' });
    });

    it.each([
      ['ar', 'ar', 'rtl', ar.pay_title],
      ['pt-BR', 'pt', 'ltr', pt.pay_title],
      ['sw', 'en', 'ltr', say('pay_title')],
    ])('follow the browser: %s', async (locale, lang, dir, title) => {
      const payment = await pay(ORDER);
      const { page } = await openTab({ locale });
      await page.goto(payment.url);
      await sees(page, title);
      expect(await languageOf(page)).toEqual({ lang, dir });
      expect(page.url()).toBe(payment.url);
    });
  });

  describe('fault', () => {
    /** Lets time pass until something is there: requests fail in between, which takes time of its own. */
    async function passTime(page: Page, what: string, isThere: () => Promise<boolean>): Promise<void> {
      await until(what, async () => {
        if (await isThere()) return true;
        await page.clock.runFor(1_000);
        return isThere();
      });
    }

    it('a lost connection is shown, and so is what happened meanwhile when it is back', async () => {
      const payment = await pay(ORDER);
      const { page, context, navigations } = await openTab({ expects: /ERR_INTERNET_DISCONNECTED/ });
      await page.clock.install();
      await page.goto(payment.url);
      await sees(page, say('pay_title'));
      await context.setOffline(true);
      const line = page.locator('#connection');
      await passTime(page, 'the lost connection is told', () => line.isVisible());
      expect(await line.innerText()).toBe(say('offline'));
      await announces(page, say('offline'));
      await checkout.simulate(payment, 'part');
      await context.setOffline(false);
      await sees(page, say('part_title'));
      await line.waitFor({ state: 'hidden' });
      expect(navigations).toEqual([payment.url]);
    });

    it('a service that is started again is found again, and its changes are shown', async () => {
      const payment = await pay(ORDER);
      const { page, navigations } = await openTab({ expects: /ERR_(?:CONNECTION_|INCOMPLETE_CHUNKED|EMPTY_RESPONSE)/ });
      await page.clock.install();
      await page.goto(payment.url);
      await sees(page, say('pay_title'));
      await checkout.service.stop();
      const line = page.locator('#connection');
      await passTime(page, 'the lost connection is told', () => line.isVisible());
      await checkout.service.start();
      await passTime(page, 'the connection is back', () => line.isHidden());
      await checkout.simulate(payment, 'part');
      await passTime(page, 'the change is shown', () => isShown(page, say('part_title')));
      expect(navigations).toEqual([payment.url]);
    });
  });
});

/** Waits until screen readers are told a text; the space that makes them read a text again does not count. */
function announces(page: Page, text: string): Promise<true> {
  const announcer = page.locator('#announcer');
  return until(
    `screen readers are told ${JSON.stringify(text)}`,
    async () => (await announcer.innerText()).trim() === text,
  );
}

async function languageOf(page: Page): Promise<Readonly<Record<string, string | null>>> {
  const html = page.locator('html');
  return { lang: await html.getAttribute('lang'), dir: await html.getAttribute('dir') };
}
