import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { textAt } from '../../src/cli/program.testing.ts';
import { testDatabase } from '../database.ts';
import { client, eventually, testService } from '../program.ts';

// Processes and databases are started, which takes long on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const CHROMIUM = '/usr/bin/chromium';
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const hasBrowser = existsSync(CHROMIUM);
// Under CI a missing part is a failure, which the launch below then is.
const isSkipped = !hasBrowser && process.env['CI'] !== 'true';
if (isSkipped) process.stderr.write(`Skipped: there is no ${CHROMIUM} (apt-get install chromium).\n`);

const TRANSACTION = {
  amount: 49.99,
  order_id: 'SHOP-1',
  order_description: 'Two <b>lamps</b>',
  success_url: 'https://shop.example/thanks?a=1&b=2',
  cancel_url: 'https://shop.example/cart',
};

describe.skipIf(isSkipped)('the payment page in a browser without JavaScript', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  });
  afterAll(() => browser?.close());

  async function openShop(completeAfterSeconds = '3600') {
    const { url } = await testDatabase();
    const service = await testService({ DATABASE_URL: url, SANDBOX_COMPLETE_AFTER_SECONDS: completeAfterSeconds });
    const { first } = await service.start();
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 360, height: 740 } });
    const page = await context.newPage();
    const problems: string[] = [];
    // Such as a style that the page's own content security policy refuses.
    page.on('console', (message) => problems.push(message.text()));
    page.on('requestfailed', (request) => problems.push(`${request.url()}: ${request.failure()?.errorText}`));
    return { service, page, problems, api: client(service.sandbox, String(first?.key)) };
  }

  it('lets the customer choose a token, see amount and address, choose another, and cancel', async () => {
    const { page, problems, api } = await openShop();
    const created = (await api('/api/transactions/create', TRANSACTION)).body['transaction'];
    const read = async () => Object((await api(`/api/transactions/${textAt(created, 'id')}`)).body['transaction']);
    await page.goto(textAt(created, 'payment_url'));
    expect(await textOf(page)).toContain('Two <b>lamps</b>');
    await page.getByRole('button', { name: /Bitcoin/ }).click();

    const inBitcoin = await read();
    expect(inBitcoin).toMatchObject({ status: 'pending', crypto_currency: 'BTC', crypto_amount: 0.00083317 });
    expect(await shown(page)).toEqual({ amount: '0.00083317', address: inBitcoin.address });
    expect(await page.getByRole('img', { name: /QR code to pay 0\.00083317/ }).isVisible()).toBe(true);
    expect(page.url()).toBe(textAt(created, 'payment_url'));

    await page.getByRole('link', { name: 'Choose another coin' }).click();
    await page.locator('summary', { hasText: 'USDC' }).click();
    await page.getByRole('button', { name: /USDC on Ethereum/ }).click();
    const inDollars = await read();
    expect(inDollars).toMatchObject({
      status: 'pending',
      crypto_currency: 'USDC',
      network: 'ethereum',
      crypto_amount: 49.99,
    });
    expect(await shown(page)).toEqual({ amount: '49.99', address: inDollars.address });
    expect(inDollars.address).not.toBe(inBitcoin.address);

    await page.locator('summary', { hasText: 'Cancel this payment' }).click();
    await page.getByRole('button', { name: 'Yes, cancel the payment' }).click();
    expect(await read()).toMatchObject({ status: 'cancelled' });
    expect(await backToShop(page)).toBe(`${TRANSACTION.cancel_url}?payment_id=${inDollars.id}`);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('comes to the end by itself when the payment completes, with the way back to the shop', async () => {
    const { page, problems, api } = await openShop('2');
    const { body: order } = await api('/v1/orders', {
      amount: 10,
      currency: 'USD',
      crypto_currency: 'LTC',
      return_url: TRANSACTION.success_url,
    });
    await page.goto(textAt(order, 'payment_url'));
    expect(await shown(page)).toMatchObject({ amount: '0.125' });
    // The page loads itself again when the order is due.
    expect(await backToShop(page)).toBe(`${TRANSACTION.success_url}&payment_id=${textAt(order, 'id')}`);
    expect(await textOf(page)).toContain('Payment complete');
    expect(await page.locator('[data-address]').count()).toBe(0);
    expect(problems).toEqual([]);
  });

  it('says clearly that it knows no such payment, and that one has expired', async () => {
    const { service, page, api } = await openShop();
    const { body: order } = await api('/v1/orders', { amount: 10, currency: 'USD', crypto_currency: 'BTC' });
    await service.command(`payment simulate ${textAt(order, 'id')} expired`);
    await page.goto(textAt(order, 'payment_url'));
    expect(await page.getByRole('heading', { name: /expired/i }).isVisible()).toBe(true);
    expect(await page.locator('[data-address]').count()).toBe(0);
    const answer = await page.goto(`${service.sandbox}/pay/ord_00000000000000000000000000`);
    expect(answer?.status()).toBe(404);
    expect(await page.getByRole('heading').first().isVisible()).toBe(true);
  });
});

function textOf(page: Page): Promise<string> {
  return page.locator('body').innerText();
}

/** Where the way back to the shop leads, once the page has one. */
async function backToShop(page: Page): Promise<string | null> {
  return page.getByRole('link', { name: /^Back to/ }).getAttribute('href', { timeout: 15_000 });
}

/** What the page asks the customer to send, and where. */
async function shown(page: Page): Promise<{ readonly amount: string | null; readonly address: string | null }> {
  const amount = page.locator('[data-amount]');
  const address = page.locator('[data-address]');
  await eventually('amount and address are shown', async () => ((await address.isVisible()) ? true : null));
  // Grouped for people; the groups are the address, letter for letter.
  const grouped = (await address.innerText()).replaceAll(/\s/g, '');
  expect(grouped).toBe(await address.getAttribute('data-address'));
  expect(await amount.innerText()).toBe(await amount.getAttribute('data-amount'));
  return { amount: await amount.innerText(), address: grouped };
}
