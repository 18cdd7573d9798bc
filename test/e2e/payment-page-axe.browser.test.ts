import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { isNight } from '../extent.ts';
import { say, sees, useCheckout, type Made } from './payment-page.fixture.ts';
import { serveStates, type StateServer } from './payment-page-states.fixture.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** A night tries every state on the other screens as well, whose rules find the same but for the order of reading. */
const SCREENS = [
  ['a small phone', { width: 360, height: 800 }, 'en'],
  ['a phone that reads from right to left', { width: 375, height: 740 }, 'ar'],
  ['a desktop', { width: 1280, height: 800 }, 'de'],
] as const;
const screens = isNight ? SCREENS : SCREENS.slice(0, 1);

/** Between the themes nothing but colours differs. */
const THEMES = [
  ['light', ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']],
  ['dark', { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }],
] as const;

describe.skipIf(hasNoBrowser)('axe finds nothing', () => {
  const checkout = useCheckout();
  const { pay, openTab } = checkout;
  let server: StateServer;
  beforeAll(async () => {
    server = await serveStates();
  });
  afterAll(() => server?.close());

  it.each(screens)('on %s, in any state', async (_name, viewport, language) => {
    const { page } = await openTab({ viewport, alsoAsks: [server.origin], expects: /status of (?:4|5)\d\d/ });
    await page.addInitScript({ path: AXE });
    const found: string[] = [];
    for (const path of server.paths) {
      await page.goto(`${server.origin}${path}?lang=${language}`);
      found.push(...(await violations(page)).map((one) => `${decodeURIComponent(path)}: ${one}`));
    }
    expect(found).toEqual([]);
  });

  it.each(isNight ? [SCREENS[0], SCREENS[2]] : [SCREENS[0]])(
    'on %s, on the way of a customer',
    async (_name, viewport) => {
      const payment = await pay({ amount: 10, order_description: 'Two lamps', order_id: 'SHOP-1' });
      const expects = /status of 4|ERR_INTERNET_DISCONNECTED/;
      const { page, context } = await openTab({
        viewport,
        expects,
        permissions: ['clipboard-read', 'clipboard-write'],
      });
      await page.addInitScript({ path: AXE });
      const found: string[] = [];
      const look = async (what: string) => {
        found.push(...(await violations(page)).map((one) => `${what}: ${one}`));
      };
      await page.goto(payment.url);
      await look('choose');
      await page.locator('summary', { hasText: say('language') }).click();
      await look('the menu of languages');
      await page.locator('summary', { hasText: say('language') }).click();
      await page.locator('summary', { hasText: 'USDC' }).click();
      await look('the networks of a coin');
      await page.getByRole('button', { name: /Litecoin/ }).click();
      await sees(page, say('pay_title'));
      await page.locator('summary', { hasText: say('exchange_title') }).click();
      await page.locator('summary', { hasText: say('cancel') }).click();
      await page.getByRole('button', { name: say('copy_amount') }).click();
      await page.locator('[data-feedback=copied]').waitFor();
      await look('pay, with an amount just copied and the question whether to cancel');
      await context.setOffline(true);
      await page.evaluate("dispatchEvent(new Event('online')); dispatchEvent(new Event('online'))");
      await page.locator('#connection').waitFor();
      await look('the connection is lost');
      await context.setOffline(false);
      await checkout.simulate(payment, 'over');
      await page.getByRole('button', { name: say('print') }).waitFor();
      await look('completed before the customer’s eyes');
      await lookAtRefund(payment, page, look);
      await page.goto(`${checkout.service.sandbox}/pay/none`);
      await look('unknown');
      expect(found).toEqual([]);
    },
  );

  async function lookAtRefund(payment: Made, page: Page, look: (what: string) => Promise<void>): Promise<void> {
    await checkout.service.api('/v1/refunds', { transaction_id: payment.id, crypto_amount: 0.06 });
    await page.goto(payment.url);
    await sees(page, say('refund_offer_title'));
    await look('a refund is offered');
    await page.getByRole('link', { name: say('refund_offer_link') }).click();
    await look('where to');
    await page.getByRole('textbox').fill('nowhere');
    await page.getByRole('button', { name: say('claim_button') }).click();
    await page.getByRole('alert').waitFor();
    await look('no address');
  }
});

/**
 * The faults that axe finds in the current page, at night in both themes. Like the debugger, it bypasses the policy.
 */
async function violations(page: Page): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [colorScheme, runOnly] of isNight ? THEMES : THEMES.slice(0, 1)) {
    await page.emulateMedia({ colorScheme });
    // No rule of these needs the style sheets once more.
    const options = { runOnly, resultTypes: ['violations'], preload: false };
    const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
    for (const { id, nodes } of violations) {
      const where = nodes.map(({ target, failureSummary }) => `${target.join(' ')} (${failureSummary})`);
      found.push(`${colorScheme}: ${id}: ${where.join('; ')}`);
    }
  }
  return found;
}
