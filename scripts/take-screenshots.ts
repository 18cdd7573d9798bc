import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Client } from 'pg';
import type { Locator, Page } from 'playwright-core';
import { copyOrders, untilAddedUp } from '../bench/fill-project.ts';
import { makeKey } from '../bench/merchant.ts';
import { startBenchService } from '../bench/service.ts';
import { ANVIL_ACCOUNT, startAnvil } from '../test/anvil.ts';
import { launchBrowser } from '../test/browser.ts';

/**
 * Takes the pictures of the README again, light and dark: `npm run build && node scripts/take-screenshots.ts`. Needs
 * Chromium and `pngquant`, which makes the files a third as large.
 */
const FOLDER = path.join(import.meta.dirname, '../docs/images');
const SIZE = { width: 1_280, height: 800 };
const PHONE = { width: 390, height: 844 };
const EMAIL = 'mara@kestrel.example';
const PASSWORD = 'grumpy otter parade';

/** Two months of a shop that sells coffee. */
const OLDER = 900;
const PRODUCTS = [
  'Guatemala filter, 1 kg',
  'Espresso blend, 3 × 1 kg',
  'Hand grinder',
  'Kettle, 0.9 l',
  'Subscription, a month',
];
const CUSTOMERS = ['mia.larsen', 'j.okafor', 'ana.costa', 'liam.walsh', 'sofia.marin', 'noah.weber', 'yuki.tanaka'];
const CENTS = [1_890, 5_240, 12_900, 7_450, 2_400, 31_500, 8_860];
/** Asset, network, decimals, and its smallest units a cent. */
const COINS = [
  ['BTC', 'bitcoin', 8, 10n],
  ['USDT', 'polygon', 6, 10_000n],
  ['LTC', 'litecoin', 8, 12_000n],
  ['USDC', 'base', 6, 10_000n],
  ['ETH', 'ethereum', 18, 3_300_000_000_000n],
  ['USDT', 'ethereum', 6, 10_000n],
] as const;

const pick = (values: readonly (string | number | bigint)[], at: string): string =>
  `(array[${values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value))).join(', ')}])[1 + (${at}) % ${values.length}]`;
const CREATED_AT =
  "now() - interval '50 minutes' - n * interval '80 minutes' - n * n * interval '1 second' + (n * 7919) % 80 * interval '1 minute'";
const STATUS = "case when n % 9 = 4 then 'expired' when n % 23 = 7 then 'cancelled' else 'completed' end";
const coin = (at: 0 | 1 | 2 | 3): string =>
  pick(
    COINS.map((one) => one[at]),
    'n * 5 / 3',
  );
const PRICE = pick(CENTS, 'n * 11');
const OWED = `(${PRICE}::numeric * ${coin(3)}::numeric)`;
const RECEIVED = `case when ${STATUS} = 'completed' then ${OWED} else 0 end`;

async function fill(client: Client, projectId: string): Promise<void> {
  const received = ['seen', 'mined', 'confirmed'].flatMap((kind) => [`${kind}_units`, `${kind}_in_time_units`]);
  await copyOrders(client, {
    projectId,
    count: OLDER,
    api: 'order',
    status: 'completed',
    createdAt: CREATED_AT,
    dueAt: 'null',
    replaced: {
      status: `case when $3 = '' then $3 else ${STATUS} end`,
      exception: "'none'",
      merchant_order_id: "'KC-' || 5200 - n",
      description: pick(PRODUCTS, 'n * 11'),
      customer_email: `${pick(CUSTOMERS, 'n * 5')} || '@example.com'`,
      amount_minor: PRICE,
      amount_usd_cents: PRICE,
      asset: coin(0),
      network: coin(1),
      decimals: coin(2),
      owed_units: OWED,
      ...Object.fromEntries(received.map((name) => [name, RECEIVED])),
      completed_at: `case when ${STATUS} = 'completed' then ${CREATED_AT} + (2 + n * 7 % 19) * interval '47 seconds' end`,
    },
  });
  // A shop that is past its first steps.
  await client.query(
    "insert into payment_day_counts values ($1, 'live', 'order', current_date - 60, 'completed', 3, 1, 1890)",
    [projectId],
  );
  await untilAddedUp(client);
}

async function makeOrder(
  api: string,
  headers: Record<string, string>,
  fields: Readonly<Record<string, unknown>>,
): Promise<{ readonly id: string }> {
  const answer = await fetch(`${api}/v1/orders`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ currency: 'USD', crypto_currency: 'BTC', ...fields }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as { readonly id: string };
}

/** A picture of the page, or of one part. */
async function take(page: Page, name: string, part: Page | Locator = page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.waitForTimeout(500);
    const file = path.join(FOLDER, `${name}-${colorScheme}.png`);
    await part.screenshot({ path: file });
    execFileSync('pngquant', ['--force', '--skip-if-larger', '--strip', '--nofs', '--output', file, file]);
  }
}

const anvil = await startAnvil();
const service = await startBenchService({
  env: {
    SANDBOX_COMPLETE_AFTER_SECONDS: '86400',
    ETHEREUM_RPC_URL: anvil.url,
    ETHEREUM_CHAIN_ID: '31337',
    NODE_POLL_MS: '100',
    RATE_SOURCES: 'none',
    FIXED_RATES: 'ETH=3000,USDT=1,USDC=1',
  },
});
const browser = await launchBrowser();
const client = new Client(service.database);
try {
  await client.connect();
  const projectId = String((await service.cli('project', 'create', '--name', 'Kestrel Coffee'))['id']);
  const headers = await makeKey(service, projectId, 'test');
  await makeOrder(service.test, headers, { amount: 18.9, order_id: 'KC-5200', description: PRODUCTS[0] });
  await fill(client, projectId);

  const site = `${service.live.replace('127.0.0.1', 'localhost')}/dashboard`;
  const context = await browser.newContext({ viewport: SIZE, locale: 'en-GB', timezoneId: 'Europe/Copenhagen' });
  const page = await context.newPage();
  const { link } = await service.cli('user', 'invite', '--email', EMAIL, '--role', 'owner');
  await page.goto(String(link).replace('127.0.0.1', 'localhost'));
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('button', { name: 'Not now' }).click();

  const simulate = async (id: string, outcome: string): Promise<void> => {
    const path = `/dashboard/api/projects/${projectId}/test/payments/${id}/simulate`;
    await page.evaluate(`fetch('${path}', { method: 'POST', headers: { 'content-type': 'application/json' },
      body: '{"outcome":"${outcome}"}' }).then((answer) => { if (!answer.ok) throw new Error(answer.status); })`);
  };
  const outcomes = ['paid', 'paid', 'late', 'paid', 'part', 'paid', 'over'];
  let shown = '';
  for (const [n, outcome] of outcomes.entries()) {
    const { id } = await makeOrder(service.test, headers, {
      amount: [24, 129, 52.4, 18.9, 315, 74.5, 88.6][n],
      order_id: `KC-${5_201 + n}`,
      crypto_currency: ['BTC', 'USDT', 'LTC', 'BTC', 'USDT', 'BTC', 'ETH'][n],
      description: PRODUCTS[n % PRODUCTS.length],
      customer_email: `${CUSTOMERS[n]}@example.com`,
    });
    await simulate(id, outcome);
    shown = id;
  }
  // One in six minutes, because nobody makes eight at once.
  await client.query(
    `update payments p set created_at = now() - newest.rank * interval '6 minutes'
     from (select id, row_number() over (order by id desc) as rank from payments where created_at > now() - interval '10 minutes') newest
     where p.id = newest.id`,
  );

  await page.goto(`${site}/projects/${projectId}/test?period=30d`);
  await page.getByRole('row', { name: /KC-5207/ }).waitFor();
  await take(page, 'dashboard-home');
  await page.goto(`${site}/projects/${projectId}/test/payments?show=${shown}`);
  await page
    .getByRole('complementary', { name: 'Payment' })
    .getByText('ana.costa')
    .or(page.getByText('KC-5207'))
    .first()
    .waitFor();
  await take(page, 'dashboard-payments');
  await takeShop(page, projectId);
  await takePaymentPage(projectId);
} finally {
  await client.end();
  await browser.close();
  await service.stop();
  await anvil.stop();
}

/** The card with which a shop is connected, and the page on which a merchant agrees to its key. */
async function takeShop(page: Page, projectId: string): Promise<void> {
  const shop = createServer((_, response) => void response.end()).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const hook = `127.0.0.1:${(shop.address() as AddressInfo).port}`;
  const within = ['--project', projectId, '--mode', 'test'];
  const key = ['--kind', 'secret', '--permission', 'full', '--name', 'Kestrel Coffee (kestrel.example)'];
  const token = String((await service.cli('key', 'create', ...within, ...key))['key']);
  const endpoint = ['--url', `http://${hook}/`, '--events', 'all', '--format', 'greenfield'];
  await service.cli('webhook', 'create', ...within, ...endpoint);
  await fetch(`${service.test}/api/v1/stores/${projectId}/invoices`, {
    method: 'POST',
    headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
    body: '{"amount":"24.00","currency":"EUR"}',
  });
  await page.setViewportSize({ width: 760, height: 900 });
  // Until the call is in the log, and the message delivered.
  await page.waitForTimeout(10_000);
  const at = `${service.live.replace('127.0.0.1', 'localhost')}/dashboard`;
  await page.goto(`${at}/projects/${projectId}/test/keys`);
  const card = page.getByRole('region', { name: 'Connect a shop' });
  await card.getByText(/^Last message/).waitFor();
  const names = JSON.stringify({ [service.test]: 'https://sandbox.pay.kestrel.example', [hook]: 'kestrel.example' });
  await page.evaluate(`const names = ${names};
    for (const { firstChild } of document.querySelectorAll('main code, main span'))
      if (firstChild?.nodeValue in names) firstChild.nodeValue = names[firstChild.nodeValue];`);
  await take(page, 'shop-card', card);
  const asked = new URLSearchParams({
    applicationName: 'Kestrel Coffee',
    redirect: 'https://kestrel.example/btcpay-settings-callback',
  });
  const invoices = 'canviewinvoices cancreateinvoice canmodifyinvoices canviewstoresettings';
  for (const name of `${invoices} webhooks.canmodifywebhooks cancreatenonapprovedpullpayments`.split(' ')) {
    asked.append('permissions', `btcpay.store.${name}`);
  }
  await page.goto(`${at}/connect/test?${asked.toString()}`);
  await page.getByText('Test mode: the shop takes no real money.').waitFor();
  await page.setViewportSize({ width: 600, height: 880 });
  await page.getByLabel('Project').selectOption({ label: 'Kestrel Coffee' });
  await take(page, 'shop-consent');
  shop.close();
}

/** The customer's page in live mode, because the page of test mode also offers the simulations. */
async function takePaymentPage(projectId: string): Promise<void> {
  const { live } = service;
  const wallet = ['--network', 'ethereum', '--treasury', ANVIL_ACCOUNT, '--confirmations', '12'];
  await service.cli('wallet', 'set', '--project', projectId, ...wallet);
  const headers = await makeKey(service, projectId, 'live');
  const order = { amount: 52.4, order_id: 'KC-5208', crypto_currency: 'ETH', description: PRODUCTS[1] };
  const { id } = await makeOrder(live, headers, order);
  for (const [name, viewport, deviceScaleFactor] of [
    ['payment-page', SIZE, 1],
    ['payment-page-phone', PHONE, 2],
  ] as const) {
    const context = await browser.newContext({ viewport, deviceScaleFactor, locale: 'en-GB' });
    const page = await context.newPage();
    await page.goto(`${live.replace('127.0.0.1', 'localhost')}/pay/${id}`);
    await page.getByText('52.40').first().waitFor();
    await take(page, name);
    await context.close();
  }
}
