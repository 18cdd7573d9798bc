import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { say, sees, SHOP, shownPayment, useCheckout } from './payment-page.fixture.ts';

const SUCCESS_URL = 'https://shop.example/thanks?a=1&b=2';
const TRANSACTION = { amount: 49.99 };
const ORDER = { amount: 10, crypto_currency: 'LTC', success_url: SUCCESS_URL };

describe.skipIf(hasNoBrowser)('without JavaScript the payment page', () => {
  const checkout = useCheckout();
  const { pay, openTab } = checkout;

  it('refuses what has become impossible with the reason when it is behind', async () => {
    const payment = await pay(TRANSACTION);
    const { page } = await openTab({ javaScriptEnabled: false, expects: /status of 400/ });
    await page.goto(payment.url);
    await page.locator('summary', { hasText: say('cancel') }).click();
    await checkout.simulate(payment, 'part');
    await page.getByRole('button', { name: say('cancel_yes') }).click();
    await page.getByRole('alert').getByText(say('notice_money_seen')).waitFor();
    await sees(page, say('part_title'));

    const open = await pay(TRANSACTION);
    await page.goto(open.url);
    await checkout.simulate(open, 'expired');
    await page.getByRole('button', { name: /Bitcoin/ }).click();
    await page.getByRole('alert').getByText(say('notice_not_open')).waitFor();
    await sees(page, say('expired_title'));
    expect(await checkout.read(open)).toMatchObject({ status: 'expired' });
  });

  it('reaches the end by itself, and then continues to the shop', async () => {
    const payment = await pay(ORDER);
    const { page } = await openTab({ javaScriptEnabled: false });
    await page.goto(payment.url);
    expect((await shownPayment(page)).amount).toBe('0.125');
    const soon = new Date(Date.now() + 1_500);
    await checkout.setTimes(payment, { completes_at: soon, due_at: soon });
    await page.goto(payment.url);
    // The page reloads itself when the order is due, which on a busy machine may be before the page is drawn.
    await sees(page, say('completed_title'));
    const back = await page.getByRole('link', { name: say('back_to', { shop: SHOP }) }).getAttribute('href');
    expect(back).toBe(`${SUCCESS_URL}&payment_id=${payment.id}`);
    const refresh = await page.locator('meta[http-equiv=refresh]').getAttribute('content');
    expect(refresh).toBe(`20; url=${back}`);
    await page.locator('noscript p', { hasText: say('returning', { seconds: '20' }) }).waitFor();
    const returning = page.url();
    await page.getByRole('link', { name: say('stay') }).click();
    await sees(page, say('completed_title'));
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0);
    // Reopened some minutes later, it does not redirect to the shop again.
    await checkout.setTimes(payment, { completed_at: new Date(Date.now() - 180_000) });
    await page.goto(returning);
    await sees(page, say('completed_title'));
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0);
    // Opened after the end, the page stays.
    await page.goto(payment.url);
    await sees(page, say('completed_title'));
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0);
  });

  it('can be kept from loading itself again, which its links and forms remember', async () => {
    const payment = await pay(TRANSACTION);
    const { page } = await openTab({ javaScriptEnabled: false });
    const says = (key: 'updates_itself' | 'not_updating') =>
      page.locator('noscript p', { hasText: say(key) }).waitFor();
    await page.goto(payment.url);
    await says('updates_itself');
    await page.getByRole('link', { name: say('stop_updating') }).click();
    await says('not_updating');
    await page.getByRole('button', { name: /Bitcoin/ }).click();
    await sees(page, say('pay_title'));
    await says('not_updating');
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(0);
    await page.getByRole('link', { name: say('update_now') }).click();
    await says('updates_itself');
    expect(await page.locator('meta[http-equiv=refresh]').count()).toBe(1);
  });
});
