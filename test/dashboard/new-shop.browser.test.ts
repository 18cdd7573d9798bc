import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { ENGLISH } from '../../src/http/checkout/language/locale.ts';
import { receive, selfSigned, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../anvil.ts';
import { hasNoBrowser } from '../browser.ts';
import { injectWallet } from '../injected-wallet.ts';
import { client, eventually } from '../program.ts';
import { createAccount, EMAIL, useDashboard } from './dashboard.fixture.ts';

const CHAIN_ID = 31_337;
/** An account with ether that anvil signs for. */
const CUSTOMER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
/** More blocks than the usual confirmations of any amount. */
const CONFIRMED = 40;
/** 30 USD at the fixed price, in wei. */
const OWED = 10_000_000_000_000_000n;

describe.skipIf(hasNoBrowser)('a new shop', () => {
  const treasury = `0x${randomBytes(20).toString('hex')}`;
  let anvil: Anvil | null = null;
  let receiver: LocalReceiver | null = null;
  let folder: string | null = null;
  const dashboard = useDashboard({
    hasOwner: false,
    settings: async () => {
      anvil = await startAnvil();
      // Live webhooks go over HTTPS only.
      const tls = selfSigned('localhost');
      receiver = await receive((response) => void response.end(), { tls });
      folder = await mkdtemp(path.join(tmpdir(), 'cointill-shop-'));
      const trusted = path.join(folder, 'certificate.pem');
      writeFileSync(trusted, tls.cert);
      return {
        ETHEREUM_RPC_URL: anvil.url,
        ETHEREUM_CHAIN_ID: String(CHAIN_ID),
        NODE_POLL_MS: '100',
        RATE_SOURCES: 'none',
        FIXED_RATES: 'ETH=3000,USDT=1,USDC=1',
        WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
        NODE_EXTRA_CA_CERTS: trusted,
      };
    },
  });
  afterAll(async () => {
    await receiver?.close();
    await anvil?.stop();
    if (folder !== null) await rm(folder, { recursive: true });
  });

  const chain = (): Anvil => {
    if (anvil === null) throw new Error('The chain is there in tests alone.');
    return anvil;
  };
  const balanceOf = async (address: string) => BigInt(String(await chain().rpc('eth_getBalance', [address, 'latest'])));
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });
  const dialogOf = (page: Page) => page.getByRole('dialog');
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const confirm = (page: Page, name: string) => dialogOf(page).getByRole('button', { name, exact: true });
  const open = async (page: Page, name: string): Promise<void> => {
    await page.getByRole('link', { name, exact: true }).first().click();
    await heading(page, name).waitFor();
  };

  /** Reports that a wallet has paid the project's only refund. */
  async function reportPaid(page: Page): Promise<void> {
    const path = `/dashboard/api/projects/${dashboard.service.projectId}/live`;
    const origin = new URL(page.url()).origin;
    const list = await page.request.get(`${origin}${path}/refunds`);
    const [refund] = Object(await list.json()).data;
    const sent = await page.request.post(`${origin}${path}/signing/sent`, {
      data: { refund: refund.id, transaction_hash: `0x${'ab'.repeat(32)}` },
      headers: { origin, 'sec-fetch-site': 'same-origin' },
    });
    expect(sent.status()).toBe(200);
  }

  /** Moves the report back in time, because the service runs by the real clock. */
  async function letMinutesPass(): Promise<void> {
    const client = new Client({ connectionString: dashboard.service.database.url });
    await client.connect();
    await client.query("update waiting_payouts set since = since - interval '3 minutes'");
    await client.end();
  }

  it('goes from its set-up to live in the dashboard alone: it is paid, refunds, sweeps, balances its month and gets a colleague', async () => {
    const { page, context } = await dashboard.openTab();
    const wallet = await injectWallet(context, {
      account: ANVIL_ACCOUNT,
      networks: new Map([[CHAIN_ID, chain()]]),
    });

    // Set-up, and over to live mode.
    await page.goto(dashboard.service.setupLink);
    await page.getByLabel('E-mail').fill(EMAIL);
    await createAccount(page);
    await button(page, 'Not now').click();
    await heading(page, 'Home').waitFor();
    await page.getByRole('switch', { name: 'Test mode' }).click();
    await page.waitForURL(/\/live/);

    // The wallet, compared with the owner's own.
    await open(page, 'Wallets');
    await button(page, 'Set wallet: Ethereum').click();
    await dialogOf(page).getByRole('textbox', { name: 'Treasury' }).fill(treasury);
    await button(page, 'Show the first addresses').click();
    await dialogOf(page).getByText('Show the first deposit addresses').click();
    const addresses = dialogOf(page).getByRole('list', { name: 'First addresses' }).getByRole('listitem');
    const first = await addresses.first().innerText();
    await dialogOf(page).getByLabel('I compared the treasury address').check();
    await confirm(page, 'Set wallet').click();
    await button(page, 'Done').click();

    // A live key, from the page that shows it once.
    await open(page, 'Keys');
    await button(page, 'Create key').first().click();
    await dialogOf(page).getByLabel('Name').fill('Server');
    await confirm(page, 'Create key').click();
    const key =
      (await dialogOf(page)
        .getByText(/^sk_live_\w+$/)
        .textContent()) ?? '';
    await confirm(page, 'I have saved this key').click();
    const api = client(dashboard.service.live, key);

    // An endpoint.
    await open(page, 'Webhooks');
    await button(page, 'Add endpoint').click();
    await dialogOf(page).getByLabel('URL').fill(`https://localhost:${receiver?.port}/hook`);
    await confirm(page, 'Add endpoint').click();
    await confirm(page, 'I have saved it').click();

    // An order, which its customer pays through a wallet in the browser.
    // A busy machine may not have taken in the node's newest block yet: a shop tries again.
    const order = await eventually('the first live order is taken', async () => {
      const answer = await api('/v1/orders', { amount: 30, currency: 'USD', crypto_currency: 'ETH' });
      return answer.status === 503 ? null : answer;
    });
    expect(order.status).toBe(200);
    const made = await api(`/v1/orders/${String(order.body['id'])}`);
    const deposit = String(made.body['address']);
    const customer = await dashboard.openTab();
    const purse = await injectWallet(customer.context, {
      account: CUSTOMER,
      networks: new Map([[CHAIN_ID, chain()]]),
    });
    await customer.page.goto(String(order.body['payment_url']));
    await customer.page.locator('[data-wallet-list] button').filter({ hasText: purse.info.name }).click();
    await eventually('the customer has sent', () => Promise.resolve(purse.sent[0] ?? null));
    await chain().mine(CONFIRMED);
    await customer.page.getByText(ENGLISH.plain('completed_title')).first().waitFor();
    expect(first).toContain(deposit);
    expect(await balanceOf(deposit)).toBe(OWED);

    // The requests that the shop's server received.
    await eventually('the endpoint has the event', () =>
      Promise.resolve(receiver?.requests.find(({ body }) => body.includes('"order.completed"')) ?? null),
    );
    await page.getByRole('button', { name: 'order.completed' }).click();
    const delivery = page.getByRole('complementary', { name: 'Delivery' });
    await delivery.getByText('delivered').first().waitFor();
    const body = (await delivery.getByLabel('Body', { exact: true }).first().textContent()) ?? '';
    expect(receiver?.requests.map((request) => request.body)).toContain(body);
    expect(JSON.parse(body)).toMatchObject({ type: 'order.completed', data: { id: order.body['id'] } });

    // A refund, signed in the page and seen on the chain.
    const back = `0x${randomBytes(20).toString('hex')}`;
    await open(page, 'Payments');
    await page.getByRole('row', { name: /0\.01 ETH/ }).click();
    await button(page, 'Refund').click();
    await dialogOf(page).getByRole('textbox', { name: 'Address' }).fill(back);
    await confirm(page, 'Refund').click();
    const sign = page.getByRole('dialog', { name: 'Sign refund' });
    const payer = sign.getByRole('button', { name: wallet.info.name });
    await payer.waitFor();
    // In another tab somebody pays it at this moment: nothing is sent before that was read.
    await reportPaid(page);
    await payer.click();
    await page.getByText('The refund’s details have changed, so nothing was sent').waitFor();
    await sign.getByText('Nothing is left to sign').waitFor();
    expect(wallet.requests.map(({ method }) => method)).not.toContain('eth_sendTransaction');
    // No node has that transaction. After two minutes the refund can be paid, with a warning.
    await letMinutesPass();
    await sign.getByText('Look up the transaction before you pay again').waitFor();
    await payer.click();
    await eventually('the refund is sent', () => Promise.resolve(wallet.sent[0] ?? null));
    await chain().mine(CONFIRMED);
    await sign.getByText('Paid.').waitFor();
    await page.keyboard.press('Escape');
    expect(await balanceOf(back)).toBe(OWED);

    // The deposit, swept to the treasury.
    await open(page, 'Sweeps');
    /** Sends the only call that is offered, with the owner's wallet. */
    const send = async (name: string): Promise<void> => {
      const before = wallet.sent.length;
      await button(page, 'Check now').click();
      await button(page, name).click();
      await dialogOf(page).getByRole('button', { name: wallet.info.name }).click();
      await eventually(`${name} is sent`, () => Promise.resolve(wallet.sent[before] ?? null));
      await chain().mine(CONFIRMED);
    };
    await send('Deploy');
    await send('Sweep');
    await page.getByRole('list', { name: 'History' }).getByText('0.01 ETH').waitFor();
    expect(await balanceOf(treasury)).toBe(OWED);
    expect(await balanceOf(deposit)).toBe(0n);

    // The month's statement.
    await open(page, 'Reports');
    await button(page, 'Create statement').click();
    await page.getByText('The statement balances. All money received is accounted for, to the last unit.').waitFor();

    // A colleague, who may look after payments and nothing else.
    await open(page, 'People');
    await button(page, 'Invite').click();
    await dialogOf(page).getByLabel('E-mail').fill('ben@example.com');
    await dialogOf(page).getByLabel('Support').check();
    await confirm(page, 'Invite').click();
    const link =
      (await dialogOf(page)
        .getByText(/\/dashboard\/setup\//)
        .textContent()) ?? '';
    const ben = await dashboard.openTab();
    await ben.page.goto(link);
    await createAccount(ben.page);
    await button(ben.page, 'Not now').click();
    await heading(ben.page, 'Home').waitFor();
    for (const name of ['Keys', 'Wallets', 'Sweeps', 'Settings', 'People', 'Audit']) {
      expect(await ben.page.getByRole('link', { name, exact: true }).count()).toBe(0);
    }
    const base = `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/live`;
    await ben.page.goto(`${base}/wallets`);
    await heading(ben.page, 'You don’t have access to this page').waitFor();
    await ben.page.goto(`${base}/payments`);
    await ben.page.getByRole('row', { name: /0\.01 ETH/ }).waitFor();
  });
});
