import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Transaction } from '@scure/btc-signer';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../anvil.ts';
import { hasNoBrowser } from '../browser.ts';
import { injectWallet } from '../injected-wallet.ts';
import { mined } from '../e2e/live-evm.fixture.ts';
import { startUtxoNode, utxoNodeKinds, type UtxoNode } from '../litecoind.ts';
import { publicKeyAt, signAll } from '../../src/rails/utxo/wallet.fixture.ts';
import { useDashboard, violations } from './dashboard.fixture.ts';

/** One of anvil's rich accounts, which has nothing to do with the shop. */
const OPERATOR = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const freshAddress = (): string => `0x${randomBytes(20).toString('hex')}`;
/** 30 USD at the fixed price. */
const OWED = 10_000_000_000_000_000n;
const CHAIN_ID = 31337;
/** Bitcoin where its node is there, else Litecoin. */
const UTXO = utxoNodeKinds().includes('bitcoin')
  ? ({ kind: 'bitcoin', setting: 'BITCOIN', asset: 'BTC', name: 'Bitcoin' } as const)
  : ({ kind: 'litecoin', setting: 'LITECOIN', asset: 'LTC', name: 'Litecoin' } as const);

describe.skipIf(hasNoBrowser)('a live payment, on a real chain', () => {
  let anvil: Anvil | null = null;
  const chain = (): Anvil => {
    if (anvil === null) throw new Error('The chain is there in tests alone.');
    return anvil;
  };
  let utxo: UtxoNode | null = null;
  const node = (): UtxoNode => {
    if (utxo === null) throw new Error('The node is there in tests alone.');
    return utxo;
  };
  const dashboard = useDashboard({
    settings: async () => {
      anvil = await startAnvil();
      utxo = await startUtxoNode({ kind: UTXO.kind });
      await utxo.fund();
      return {
        ETHEREUM_RPC_URL: anvil.url,
        ETHEREUM_CHAIN_ID: String(CHAIN_ID),
        [`${UTXO.setting}_RPC_URL`]: utxo.url,
        [`${UTXO.setting}_CHAIN`]: 'regtest',
        NODE_POLL_MS: '100',
        RATE_SOURCES: 'none',
        FIXED_RATES: `ETH=3000,USDT=1,USDC=1,${UTXO.asset}=100`,
      };
    },
  });
  const treasury = freshAddress();
  beforeAll(async () => {
    const { projectId } = dashboard.service;
    const wallet = `--network ethereum --confirmations 2 --treasury ${treasury}`;
    await dashboard.service.command(`wallet set --project ${projectId} ${wallet}`);
    const account = "/84'/1'/77'";
    const descriptor = `wpkh([73c5da0a${account}]${publicKeyAt(`m${account}`, 'tpub')}/<0;1>/*)`;
    const coins = `--network ${UTXO.kind} --confirmations 2 --descriptor ${descriptor}`;
    await dashboard.service.command(`wallet set --project ${projectId} ${coins}`);
  });
  afterAll(async () => {
    await anvil?.stop();
    await utxo?.stop();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true });

  /** Creates a payment of 30 USD by hand, and opens its page. Returns its address. */
  async function create(page: Page, coin = 'ETH · Ethereum'): Promise<string> {
    await page.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/live/payments`);
    await button(page, 'New payment').first().click();
    await page.getByLabel('Coin').selectOption(coin);
    await page.getByRole('textbox', { name: 'Amount', exact: true }).fill('30');
    await confirm(page, 'Create payment').click();
    await page.getByRole('link', { name: 'View payment' }).click();
    const details = page.getByRole('region', { name: 'Details' });
    return details.locator('code').first().getAttribute('title').then(String);
  }

  async function pay(address: string, units: bigint): Promise<void> {
    await mined(chain(), chain().transfer(address, units));
    await chain().mine(2);
  }

  it('that was overpaid is refunded the excess: what is shown to sign pays it, and it needs attention until then', async () => {
    const { page, context } = await dashboard.openSignedIn();
    const networks = new Map([[CHAIN_ID, chain()]]);
    const wallet = await injectWallet(context, { account: ANVIL_ACCOUNT, networks });
    const address = await create(page);
    await pay(address, OWED + OWED / 2n);
    await page.getByText('Overpaid').first().waitFor();
    const attention = await context.newPage();
    await attention.goto(`${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/live/attention`);
    const overpaid = attention.getByRole('heading', { name: /^Overpaid/ });
    await overpaid.waitFor();
    const customer = freshAddress();
    await button(page, 'Refund').click();
    await page.getByLabel(/^Only the overpaid amount/).check();
    await page.getByRole('textbox', { name: 'Address' }).fill(customer);
    await confirm(page, 'Refund').click();
    const sign = page.getByRole('dialog', { name: 'Sign refund' });
    await sign.getByText('0.005 ETH').waitFor();
    // With its icon, which the page's policy lets in.
    await sign.getByRole('button', { name: wallet.info.name }).locator('img').waitFor();
    expect(await violations(page, 'Sign refund')).toEqual([]);
    await sign.getByLabel(/^Transaction fields/).check();
    expect(await sign.getByText(String(OWED / 2n), { exact: true }).count()).toBe(1);
    await sign.getByLabel(/^Payment QR code/).check();
    const uri = await sign.getByText(/^ethereum:/).innerText();
    expect(uri.toLowerCase()).toBe(`ethereum:${customer}@${CHAIN_ID}?value=${OWED / 2n}`.toLowerCase());
    expect(await violations(page, 'Sign refund, QR code')).toEqual([]);
    await page.keyboard.press('Escape');
    const refunds = page.getByRole('region', { name: 'Refunds' });
    await refunds.getByText('Pending', { exact: true }).waitFor();
    await overpaid.waitFor({ state: 'detached' });
    const toSign = attention.getByRole('heading', { name: /^Refund to sign: re_/ });
    await toSign.waitFor();
    await button(attention, 'See the refund').click();
    const panel = attention.getByRole('complementary', { name: 'Payment' });
    await panel.getByRole('button', { name: 'Sign refund' }).waitFor();
    await refunds.getByRole('button', { name: 'Sign refund' }).click();
    const ask = sign.getByRole('button', { name: wallet.info.name });
    wallet.declined.add('eth_sendTransaction');
    await ask.click();
    await sign.getByText(/^You declined/).waitFor();
    wallet.declined.clear();
    await chain().rpc('evm_setAutomine', [false]);
    await ask.click();
    await sign.getByText('Sent, but not in a block yet.').waitFor();
    expect(wallet.sent).toHaveLength(1);
    // A person who opens it again before a block shows it is warned.
    await page.keyboard.press('Escape');
    await refunds.getByRole('button', { name: 'Sign refund' }).click();
    await sign.getByText(`is being paid by ${wallet.sent[0]}, which is waiting`, { exact: false }).waitFor();
    await chain().rpc('evm_setAutomine', [true]);
    await chain().mine(2);
    await sign.getByText('Paid.').waitFor();
    await page.keyboard.press('Escape');
    // The page follows the chain by itself.
    await refunds.getByText('Paid', { exact: true }).waitFor();
    await page.getByText(/^Refund paid:/).waitFor();
    await toSign.waitFor({ state: 'detached' });
  });

  it('in coins is refunded with a PSBT: what is not what was shown is refused, and what is signed is sent and followed', async () => {
    const { page } = await dashboard.openSignedIn();
    await node().send(await create(page, `${UTXO.asset} · ${UTXO.name}`), '0.5');
    await node().mine(2);
    await page.getByText('Overpaid').first().waitFor();
    await button(page, 'Refund').click();
    await page.getByLabel(/^Only the overpaid amount/).check();
    await page.getByRole('textbox', { name: 'Address' }).fill(await node().newAddress());
    await confirm(page, 'Refund').click();
    const sign = page.getByRole('dialog', { name: 'Sign refund' });
    const downloaded = page.waitForEvent('download');
    await sign.getByRole('button', { name: 'Download file' }).click();
    const psbt = await readFile(await (await downloaded).path());
    await sign.getByLabel(/^PSBT as animated QR code/).check();
    await sign.getByRole('img', { name: 'Animated QR code of the PSBT' }).waitFor();
    await sign.getByRole('button', { name: 'Pause' }).click();
    expect(await violations(page, 'Sign refund, animated')).toEqual([]);
    await sign.getByLabel(/^PSBT as text or file/).check();
    const pasted = sign.getByRole('textbox', { name: 'Signed PSBT' });
    const send = sign.getByRole('button', { name: 'Check and send' });
    await send.click();
    await sign.getByText('Paste the signed PSBT, or open its file.').waitFor();
    await pasted.fill(psbt.toString('base64'));
    await send.click();
    await sign.getByText(/^Input 1 .* has no signature\.$/).waitFor();
    const other = Transaction.fromPSBT(psbt);
    other.updateOutput(0, { amount: 21_000_000n });
    signAll(other);
    await pasted.fill(Buffer.from(other.toPSBT()).toString('base64'));
    await send.click();
    await sign.getByText(/^Output 1 pays 0\.21 .* 0\.01 \w+ more than/).waitFor();
    expect(await violations(page, 'Sign refund, refused')).toEqual([]);
    const signed = Transaction.fromPSBT(psbt);
    signAll(signed);
    const file = { name: 'signed.psbt', mimeType: 'application/octet-stream', buffer: Buffer.from(signed.toPSBT()) };
    await sign.locator('input[type=file]').setInputFiles(file);
    await send.click();
    await sign.getByText('The network has received the transaction, but has not included it in a block yet.').waitFor();
    expect(await violations(page, 'Sign refund, sent')).toEqual([]);
    await node().mine(1);
    await sign.getByText('1 of 2 confirmations.').waitFor();
    await node().mine(1);
    await sign.getByText('Paid.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Refunds' }).getByText('Paid', { exact: true }).waitFor();
  });

  it('that was paid in part is accepted, and a refund of it is withdrawn', async () => {
    const { page } = await dashboard.openSignedIn();
    const address = await create(page);
    await pay(address, OWED / 2n);
    await page.getByText('Underpaid').waitFor();
    await button(page, 'Accept payment').click();
    await page.getByText('0.005 ETH of 0.01 ETH is confirmed.').waitFor();
    await page.getByText('You waive the missing 0.005 ETH.').waitFor();
    await confirm(page, 'Accept payment').click();
    await page.getByText('Payment accepted.').first().waitFor();
    await button(page, 'Refund').click();
    await page.getByLabel('The customer enters the address').check();
    await confirm(page, 'Refund').click();
    await page.getByRole('textbox', { name: 'Refund link' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('waiting for the customer’s address').waitFor();
    await button(page, 'Cancel refund').click();
    await page.getByRole('dialog', { name: 'Cancel refund' }).waitFor();
    expect(await violations(page, 'Cancel refund')).toEqual([]);
    await confirm(page, 'Cancel refund').click();
    await page.getByText('The refund was cancelled.').waitFor();
    expect(await violations(page, 'a live payment')).toEqual([]);
    await button(page, 'Refund').waitFor();
  });

  it('lies on a deposit until a wallet of the browser sweeps it to the treasury, which every tab follows', async () => {
    const { page, context } = await dashboard.openSignedIn();
    const wallet = await injectWallet(context, { account: OPERATOR, networks: new Map([[31_337, chain()]]) });
    const sweeps = `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}/live/sweeps`;
    await pay(await create(page), OWED);
    await page.getByText('Paid', { exact: true }).first().waitFor();
    await page.goto(sweeps.replace('/live/', '/test/'));
    await page.getByRole('heading', { name: 'Nothing to sweep in test mode' }).waitFor();
    await page.goto(sweeps);
    await page.getByRole('region', { name: 'Ethereum' }).waitFor();
    await button(page, 'Check now').click();
    const calls = page.getByRole('list', { name: 'Transactions to send now, in this order' });
    await calls.getByText('This sweep is possible once the factory has been deployed.').first().waitFor();
    await calls.getByText('Send from another wallet').last().click();
    await calls.getByText('Gas limit').last().waitFor();
    expect(await violations(page, 'Sweeps with a call')).toEqual([]);

    await chain().rpc('evm_setAutomine', [false]);
    onTestFinished(() =>
      chain()
        .rpc('evm_setAutomine', [true])
        .then(() => undefined),
    );
    const dialog = page.getByRole('dialog');
    const { page: other } = await dashboard.openSignedIn();
    await other.goto(sweeps);
    await other.getByRole('region', { name: 'Ethereum' }).waitFor();
    wallet.declined.add('eth_sendTransaction');
    await button(page, 'Deploy').click();
    await dialog.getByRole('button', { name: wallet.info.name }).click();
    await dialog.getByText(`You declined the request in ${wallet.info.name}. Nothing was sent.`).waitFor();
    expect(await violations(page, 'a call that was declined')).toEqual([]);
    wallet.declined.clear();
    await dialog.getByRole('button', { name: wallet.info.name }).click();
    const underWay = page.getByRole('list', { name: 'Under way' });
    await underWay.getByText('Detected', { exact: true }).waitFor();
    await chain().mine(1);
    await button(page, 'Sweep').waitFor();

    const answer = wallet.hold('eth_sendTransaction');
    await button(page, 'Sweep').click();
    await dialog.getByRole('button', { name: wallet.info.name }).click();
    // Another tab sees that a wallet is being asked, and is not offered the same again.
    const asked = other.getByRole('list', { name: 'Under way' });
    await asked.getByText('In a wallet', { exact: true }).waitFor();
    await other.getByText('Transactions to send now, in this order').waitFor({ state: 'detached' });
    await asked.getByRole('button', { name: 'Enter the hash' }).click();
    expect(await violations(other, 'Sweeps under way')).toEqual([]);
    await other.keyboard.press('Escape');
    answer();
    await underWay.getByText('Detected', { exact: true }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await chain().mine(1);
    const history = other.getByRole('list', { name: 'History' }).getByRole('listitem');
    await history.filter({ hasText: 'Treasury' }).getByText('Mined').waitFor();
    expect(await violations(other, 'Sweeps with a history')).toEqual([]);
    expect(wallet.sent).toHaveLength(2);
    expect(BigInt(String(await chain().rpc('eth_getBalance', [treasury, 'latest'])))).toBeGreaterThanOrEqual(OWED);
  });
});
