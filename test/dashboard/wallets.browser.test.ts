import { randomBytes } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { MNEMONIC, publicKeyAt } from '../../src/rails/utxo/wallet.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { hasNoBrowser } from '../browser.ts';
import { overflowEnlarged, useDashboard, violations } from './dashboard.fixture.ts';

describe.skipIf(hasNoBrowser)('Wallets', () => {
  let anvil: Anvil | null = null;
  const dashboard = useDashboard({
    settings: async () => {
      anvil = await startAnvil();
      return {
        // Nothing listens there.
        BITCOIN_RPC_URL: 'http://127.0.0.1:9',
        RATE_SOURCES: 'none',
        ETHEREUM_RPC_URL: anvil.url,
        ETHEREUM_CHAIN_ID: '31337',
        NODE_POLL_MS: '100',
        FIXED_RATES: 'ETH=3000,BTC=60000',
      };
    },
  });
  afterAll(() => anvil?.stop());
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('sets wallets that were compared, changes their terms, chooses coins, and says how the networks are', async () => {
    const { page } = await dashboard.openSignedIn({ expects: /400/ });
    const base = `${dashboard.service.dashboard}/projects/${dashboard.service.projectId}`;
    const dialog = page.getByRole('dialog');
    await page.goto(`${base}/test/wallets`);
    await page.getByText('Test payments need no wallet').waitFor();
    expect(await violations(page, 'Wallets in test mode')).toEqual([]);
    await page.getByRole('link', { name: 'Go to the live wallets' }).click();
    await page.getByText('No wallet is set, so customers cannot pay on this network.').first().waitFor();
    expect(await violations(page, 'No wallets')).toEqual([]);

    await button(page, 'Set wallet: Bitcoin').click();
    await dialog.getByRole('textbox', { name: 'Extended public key' }).fill(MNEMONIC);
    await button(page, 'Show the first addresses').click();
    await dialog.getByText('This is a recovery phrase').waitFor();
    expect(await violations(page, 'A refused phrase')).toEqual([]);
    await dialog.getByRole('textbox', { name: 'Extended public key' }).fill(publicKeyAt("m/84'/0'/0'", 'zpub'));
    await button(page, 'Show the first addresses').click();
    await dialog.getByText('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu').waitFor();
    expect(await dialog.getByRole('list', { name: 'First addresses' }).getByRole('listitem').count()).toBe(10);
    expect(await violations(page, 'Addresses to compare')).toEqual([]);
    // Without the mark the browser does not send it.
    await dialog.getByRole('button', { name: 'Set wallet', exact: true }).click();
    await dialog.getByLabel('I compared the addresses').check();
    await dialog.getByRole('button', { name: 'Set wallet', exact: true }).click();
    await dialog.getByText(/nothing else uses/).waitFor();
    expect(await violations(page, 'A wallet that was set')).toEqual([]);
    await button(page, 'Done').click();
    await page.getByText('SegWit (P2WPKH)').waitFor();

    await button(page, 'Set wallet: Ethereum').click();
    await dialog.getByRole('textbox', { name: 'Treasury' }).fill(`0x${randomBytes(20).toString('hex')}`);
    await button(page, 'Show the first addresses').click();
    await dialog.getByLabel('I compared the treasury address').check();
    await dialog.getByRole('button', { name: 'Set wallet', exact: true }).click();
    await button(page, 'Done').click();
    await button(page, 'Edit settings: Ethereum').click();
    await dialog.getByLabel('Confirmations').fill('3');
    await dialog.getByLabel('Tolerance in percent').fill('11');
    await button(page, 'Save').last().click();
    await dialog.getByText('Tolerance must be a percentage from 0 to 10').waitFor();
    await dialog.getByLabel('Tolerance in percent').fill('1,5');
    expect(await violations(page, 'Edit settings')).toEqual([]);
    await button(page, 'Save').last().click();
    await page.getByText('Tolerance from now on: 1.5 % (before: 0.5 %).').waitFor();
    await button(page, 'Check: Ethereum').click();
    await dialog.getByRole('list', { name: 'Current node status' }).getByText('OK', { exact: true }).waitFor();
    expect(await violations(page, 'Check')).toEqual([]);
    await button(page, 'Done').click();

    await page.getByRole('button', { name: 'Move ETH · Ethereum up' }).click();
    await page.getByRole('checkbox', { name: 'BTC · Bitcoin' }).uncheck();
    await button(page, 'Save coins').click();
    await button(page, 'Default order, all on').waitFor();
    await button(page, 'Edit spread').click();
    await dialog.getByLabel('Spread in percent').fill('2.5');
    expect(await violations(page, 'Edit spread')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('2.5%', { exact: true }).waitFor();
    await button(page, 'Edit window').click();
    await dialog.getByLabel('Hours').fill('24');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('24 h', { exact: true }).waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    expect(await violations(page, 'Wallets')).toEqual([]);
    expect(await overflowEnlarged(page)).toBe(0);

    await page
      .getByRole('link', { name: /^Needs attention/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'First wallet for Bitcoin' }).waitFor();
    expect(await violations(page, 'Changed wallets')).toEqual([]);
  });
});
