import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../anvil.ts';
import { hasNoBrowser } from '../browser.ts';
import { injectWallet } from '../injected-wallet.ts';
import { mined } from '../e2e/live-evm.fixture.ts';
import { useDashboard, violations } from './dashboard.fixture.ts';

/** One of anvil's rich accounts, which has nothing to do with the shop. */
const OPERATOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const freshAddress = (): string => `0x${randomBytes(20).toString('hex')}`;
/** 30 USD at the fixed price. */
const OWED = 10_000_000_000_000_000n;

describe.skipIf(hasNoBrowser)('a live payment, on a real chain', () => {
  let anvil: Anvil | null = null;
  const chain = (): Anvil => {
    if (anvil === null) throw new Error('The chain is there in tests alone.');
    return anvil;
  };
  const dashboard = useDashboard({
    settings: async () => {
      anvil = await startAnvil();
      return {
        ETHEREUM_RPC_URL: anvil.url,
        ETHEREUM_CHAIN_ID: '31337',
        NODE_POLL_MS: '100',
        RATE_SOURCES: 'none',
        FIXED_RATES: 'ETH=3000,USDT=1,USDC=1',
      };
    },
  });
  const treasury = freshAddress();
  beforeAll(async () => {
    const { projectId } = dashboard.service;
    const wallet = `--network ethereum --confirmations 2 --treasury ${treasury}`;
    await dashboard.service.command(`wallet set --project ${projectId} ${wallet}`);
  });
  afterAll(() => anvil?.stop());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });

  /** Creates a payment of 30 USD in ether by hand, and opens its page. Returns its address. */
  async function create(page: Page): Promise<string> {
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/live/payments`);
    await button(page, 'New payment').first().click();
    await page.getByLabel('Coin').selectOption('ETH · Ethereum');
    await page.getByRole('textbox', { name: 'Amount in USD' }).fill('30');
    await confirm(page, 'New payment').click();
    await page.getByRole('link', { name: 'Open payment' }).click();
    const details = page.getByRole('region', { name: 'Details' });
    return details.locator('code').first().getAttribute('title').then(String);
  }

  async function pay(address: string, units: bigint): Promise<void> {
    await mined(chain(), chain().transfer(address, units));
    await chain().mine(2);
  }

  it('that was overpaid is refunded the excess: what is shown to sign pays it, and it needs attention until then', async () => {
    const { page, context } = await dashboard.openSignedIn();
    const address = await create(page);
    await pay(address, OWED + OWED / 2n);
    await page.getByText('Overpaid').waitFor();
    const attention = await context.newPage();
    await attention.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/live/attention`);
    const overpaid = attention.getByRole('heading', { name: /^Overpaid/ });
    await overpaid.waitFor();
    const customer = freshAddress();
    await button(page, 'Refund').click();
    await page.getByLabel(/^Only what was paid too much/).check();
    await page.getByRole('textbox', { name: 'Address' }).fill(customer);
    await confirm(page, 'Refund').click();
    const sign = page.getByRole('dialog', { name: 'What to sign' });
    await sign.getByText('Send exactly 0.005 ETH').waitFor();
    expect(await violations(page, 'What to sign')).toEqual([]);
    const printed = await sign.getByRole('region', { name: 'What to sign' }).innerText();
    const uri = new RegExp(`ethereum:${customer}@31337\\?value=(\\d+)`, 'i').exec(printed);
    expect(BigInt(uri?.[1] ?? 0)).toBe(OWED / 2n);
    for (const name of ['Copy payment URI', 'Copy call data', 'Copy all']) {
      expect(await sign.getByRole('button', { name }).count()).toBe(1);
    }
    await page.keyboard.press('Escape');
    const refunds = page.getByRole('region', { name: 'Refunds' });
    await refunds.getByText('Pending', { exact: true }).waitFor();
    await overpaid.waitFor({ state: 'detached' });
    const toSign = attention.getByRole('heading', { name: /^Refund to sign: re_/ });
    await toSign.waitFor();
    await button(attention, 'See what to sign').click();
    const panel = attention.getByRole('complementary', { name: 'Payment' });
    await panel.getByRole('button', { name: 'What to sign' }).waitFor();
    const value = `0x${(OWED / 2n).toString(16)}`;
    const sent = chain().rpc('eth_sendTransaction', [{ from: ANVIL_ACCOUNT, to: customer, value }]);
    await mined(chain(), sent.then(String));
    await chain().mine(2);
    // The page follows the chain by itself.
    await refunds.getByText('Completed', { exact: true }).waitFor();
    await page.getByText(/^Refund completed:/).waitFor();
    await toSign.waitFor({ state: 'detached' });
  });

  it('that was paid in part is accepted, and a refund of it is withdrawn', async () => {
    const { page } = await dashboard.openSignedIn();
    const address = await create(page);
    await pay(address, OWED / 2n);
    await page.getByText('Underpaid').waitFor();
    await button(page, 'Accept payment').click();
    await page.getByText('0.005 of 0.01 ETH is confirmed.').waitFor();
    await page.getByText('You give up the missing 0.005 ETH.').waitFor();
    await confirm(page, 'Accept payment').click();
    await page.getByText('Payment accepted.').first().waitFor();
    await button(page, 'Refund').click();
    await page.getByLabel('The customer enters an address').check();
    await confirm(page, 'Refund').click();
    await page.getByText('waiting for the customer’s address').waitFor();
    await button(page, 'Cancel refund').click();
    await page.getByRole('dialog', { name: 'Cancel refund' }).waitFor();
    expect(await violations(page, 'Cancel refund')).toEqual([]);
    await confirm(page, 'Cancel refund').click();
    await page.getByText('It was cancelled.').waitFor();
    expect(await violations(page, 'a live payment')).toEqual([]);
    await button(page, 'Refund').waitFor();
  });

  it('lies on a deposit until a wallet of the browser sweeps it to the treasury, which every tab follows', async () => {
    const { page, context } = await dashboard.openSignedIn();
    const wallet = await injectWallet(context, { account: OPERATOR, networks: new Map([[31_337, chain()]]) });
    const sweeps = `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/live/sweeps`;
    await pay(await create(page), OWED);
    await page.getByText('Completed', { exact: true }).first().waitFor();
    await page.goto(sweeps.replace('/live/', '/test/'));
    await page.getByRole('heading', { name: 'Nothing to sweep in test mode' }).waitFor();
    await page.goto(sweeps);
    await page.getByRole('region', { name: 'Ethereum' }).waitFor();
    await button(page, 'Check now').click();
    const calls = page.getByRole('list', { name: 'To sweep now, in this order' });
    await calls.getByText('Possible once the factory is deployed.').first().waitFor();
    await calls.getByText('Send it from another wallet').last().click();
    await calls.getByText('Gas limit').last().waitFor();
    expect(await violations(page, 'Sweeps with a call')).toEqual([]);

    await chain().rpc('evm_setAutomine', [false]);
    onTestFinished(() =>
      chain()
        .rpc('evm_setAutomine', [true])
        .then(() => {}),
    );
    const dialog = page.getByRole('dialog');
    const { page: other } = await dashboard.openSignedIn();
    await other.goto(sweeps);
    await other.getByRole('region', { name: 'Ethereum' }).waitFor();
    wallet.declined.add('eth_sendTransaction');
    await button(page, 'Deploy').click();
    await dialog.getByRole('button', { name: wallet.info.name }).click();
    await dialog.getByText(`You declined in ${wallet.info.name}. Nothing was sent.`).waitFor();
    expect(await violations(page, 'a call that was declined')).toEqual([]);
    wallet.declined.clear();
    await dialog.getByRole('button', { name: wallet.info.name }).click();
    const underWay = page.getByRole('list', { name: 'Under way' });
    await underWay.getByText('Seen', { exact: true }).waitFor();
    await chain().mine(1);
    await button(page, 'Sweep').waitFor();

    const answer = wallet.hold('eth_sendTransaction');
    await button(page, 'Sweep').click();
    await dialog.getByRole('button', { name: wallet.info.name }).click();
    // Another tab sees that a wallet is being asked, and is not offered the same again.
    const asked = other.getByRole('list', { name: 'Under way' });
    await asked.getByText('In a wallet').waitFor();
    await other.getByText('To sweep now, in this order').waitFor({ state: 'detached' });
    await asked.getByRole('button', { name: 'Enter the hash' }).click();
    expect(await violations(other, 'Sweeps under way')).toEqual([]);
    await other.keyboard.press('Escape');
    answer();
    await underWay.getByText('Seen', { exact: true }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await chain().mine(1);
    const history = other.getByRole('list', { name: 'History' }).getByRole('listitem');
    await history.filter({ hasText: 'Treasury' }).getByText('Mined').waitFor();
    expect(await violations(other, 'Sweeps with a history')).toEqual([]);
    expect(wallet.sent).toHaveLength(2);
    expect(BigInt(String(await chain().rpc('eth_getBalance', [treasury, 'latest'])))).toBeGreaterThanOrEqual(OWED);
  });
});
