import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { ENGLISH } from '../../src/http/checkout/language/locale.ts';
import { ANVIL_ACCOUNT, startAnvil, type Anvil } from '../anvil.ts';
import { hasNoBrowser, launchBrowser } from '../browser.ts';
import { deployToken, type TestToken } from '../erc20.ts';
import { injectWallet, type InjectedWallet, type WalletInfo } from '../injected-wallet.ts';
import { eventually } from '../program.ts';
import { liveService, owedUnits, SOON, type LiveService, type Order, type Shop } from './live-evm.fixture.ts';

// A browser, a chain and the program share the machine.

const CHAIN_ID = 31_337;
/** Accounts that anvil signs for: one with ether and nothing else, and one that is left with dust. */
const CUSTOMER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const POOR = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
/** Thirty dollars in a token of six decimals. */
const THIRTY = 30_000_000n;

describe.skipIf(hasNoBrowser)('a wallet in the browser', () => {
  let anvil: Anvil;
  let usdt: TestToken;
  let service: LiveService;
  let shop: Shop;
  let browser: Browser;

  beforeAll(async () => {
    // Blocks are mined when a test says so, because the page shows something between sending and the block.
    anvil = await startAnvil({ manualMining: true });
    usdt = await deployToken(anvil, 'no_return');
    service = await liveService({ ETHEREUM_RPC_URL: anvil.url, ETHEREUM_TOKENS: `USDT=${usdt.address}:6` });
    await service.start();
    shop = await service.shop(`--network ethereum --confirmations 2 --xpub ${xpubOf(account(1))}`);
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await service?.close();
    await anvil?.stop();
  });

  interface Wanted {
    readonly account?: string;
    readonly info?: Partial<WalletInfo>;
    readonly networks?: Map<number, Anvil>;
  }

  /** The page of an order in a browser with these wallets. */
  async function openPage(order: Order, ...wanted: readonly Wanted[]) {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
    onTestFinished(() => context.close());
    const wallets: InjectedWallet[] = [];
    for (const { account = CUSTOMER, networks = new Map([[CHAIN_ID, anvil]]), ...rest } of wanted) {
      wallets.push(await injectWallet(context, { ...rest, account, networks }));
    }
    const page = await context.newPage();
    const problems: string[] = [];
    // A violation of the page's content security policy is reported on the console.
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('dialog', (dialog) => problems.push(dialog.message()));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(`${service.url}/`) && !url.startsWith('data:')) problems.push(`asked for ${url}`);
    });
    let loads = 0;
    page.on('load', () => (loads += 1));
    await page.goto(String(order['payment_url']));
    const [wallet] = wallets;
    const buttons = page.locator('[data-wallet-list] button');
    return {
      page,
      wallets,
      buttons,
      problems,
      loads: () => loads,
      button: (of = wallet) => buttons.filter({ hasText: of?.info.name ?? '' }),
    };
  }

  async function balanceOf(address: string, token?: TestToken): Promise<bigint> {
    const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`;
    const balance =
      token === undefined
        ? await anvil.rpc('eth_getBalance', [address, 'latest'])
        : await anvil.rpc('eth_call', [{ to: token.address, data }, 'latest']);
    return BigInt(String(balance));
  }

  /** Mines the block of what was sent and the one after it, and sees the page follow both by itself. */
  async function confirm(page: Page, order: Order, hash: string): Promise<void> {
    await anvil.mine(1);
    await reaches(page, 'confirming');
    expect(await shop.read(order)).toMatchObject({ status: 'confirming', confirmations: 1 });
    await anvil.mine(1);
    await reaches(page, 'completed');
    expect(await shop.read(order)).toMatchObject({ status: 'completed', exception: 'none', transaction_hash: hash });
    expect(await page.locator('#live').innerText()).toContain(ENGLISH.plain('completed_title'));
  }

  it('pays a live order in ether: it connects, switches the network and sends, and the page follows to the receipt', async () => {
    const order = await shop.order();
    const { page, wallets, button, buttons, problems, loads } = await openPage(order, {});
    const [wallet] = wallets;
    expect(await buttons.allInnerTexts()).toEqual([wallet?.info.name]);
    await button().click();
    const [hash] = await sentBy(wallet, 1);
    await says(page, ENGLISH.plain('wallet_sent', { hash }));
    expect(methodsOf(wallet)).toEqual([
      'eth_requestAccounts',
      'eth_chainId',
      'wallet_switchEthereumChain',
      'eth_chainId',
      'eth_sendTransaction',
    ]);
    // A payment that was sent must not be offered again.
    expect(await buttons.count()).toBe(1);
    expect(await button().isVisible()).toBe(false);
    expect(await page.locator('#live').getAttribute('data-status')).toBe('pay');

    await confirm(page, order, hash);
    expect(await balanceOf(order.address)).toBe(owedUnits(order));
    expect(loads()).toBe(1);
    expect(problems).toEqual([]);
  });

  it('pays in a token whose transfer returns nothing, like Tether’s', async () => {
    const order = await shop.order({ crypto_currency: 'USDT' });
    const { page, wallets, button, problems, loads } = await openPage(order, { account: ANVIL_ACCOUNT });
    await button().click();
    const [hash] = await sentBy(wallets[0], 1);
    await says(page, ENGLISH.plain('wallet_sent', { hash }));
    await confirm(page, order, hash);
    expect(await balanceOf(order.address, usdt)).toBe(THIRTY);
    expect(await balanceOf(order.address)).toBe(0n);
    expect(loads()).toBe(1);
    expect(problems).toEqual([]);
  });

  it('pays exactly the rest of what came in part from elsewhere', async () => {
    const order = await shop.order();
    const { page, wallets, button, problems } = await openPage(order, {});
    await anvil.transfer(order.address, owedUnits(order) / 3n);
    await anvil.mine(1);
    await eventually('the page asks for the rest', async () =>
      (await page.title()).includes(ENGLISH.plain('part_title')) ? true : null,
    );
    await button().click();
    const [hash] = await sentBy(wallets[0], 1);
    await confirm(page, order, hash);
    expect(await balanceOf(order.address)).toBe(owedUnits(order));
    expect(problems).toEqual([]);
  });

  it('whose owner declines has sent nothing: the page says so and lets him try again', async () => {
    const order = await shop.order();
    const { page, wallets, button, problems } = await openPage(order, {});
    const [wallet] = wallets;
    const name = String(wallet?.info.name);
    for (const method of ['eth_requestAccounts', 'wallet_switchEthereumChain', 'eth_sendTransaction']) {
      wallet?.declined.clear();
      wallet?.declined.add(method);
      await button().click();
      await says(page, ENGLISH.plain('wallet_rejected', { wallet: name }));
      expect(methodsOf(wallet).at(-1)).toBe(method);
      expect(await button().getAttribute('aria-disabled')).toBe('false');
    }
    expect(wallet?.sent).toEqual([]);
    await anvil.mine(1);
    expect(await balanceOf(order.address)).toBe(0n);
    expect(await shop.read(order)).toMatchObject({ status: 'pending', amount_received: 0 });

    wallet?.declined.clear();
    await button().click();
    const [hash] = await sentBy(wallet, 1);
    await confirm(page, order, hash);
    expect(problems).toEqual([]);
  });

  it('that does not know the network gets a hint, and pays once its owner has added it', async () => {
    const order = await shop.order();
    const networks = new Map<number, Anvil>();
    const { page, wallets, button, problems } = await openPage(order, { networks });
    const [wallet] = wallets;
    await button().click();
    await says(page, ENGLISH.plain('wallet_wrong_network', { wallet: String(wallet?.info.name), network: 'Ethereum' }));
    expect(methodsOf(wallet)).not.toContain('eth_sendTransaction');
    networks.set(CHAIN_ID, anvil);
    await button().click();
    const [hash] = await sentBy(wallet, 1);
    await says(page, ENGLISH.plain('wallet_sent', { hash }));
    await anvil.mine(2);
    await reaches(page, 'completed');
    expect(problems).toEqual([]);
  });

  it('with too little money says so in its own words, and nothing is sent', async () => {
    await anvil.rpc('anvil_setBalance', [POOR, '0x3e8']);
    const order = await shop.order();
    const { page, wallets, button, problems } = await openPage(order, { account: POOR });
    const [wallet] = wallets;
    await button().click();
    await says(
      page,
      ENGLISH.plain('wallet_failed', {
        wallet: String(wallet?.info.name),
        reason: 'Insufficient funds for gas * price + value',
      }),
    );
    expect(wallet?.sent).toEqual([]);
    expect(await button().isVisible()).toBe(true);
    await anvil.mine(1);
    expect(await balanceOf(order.address)).toBe(0n);
    expect(problems).toEqual([]);
  });

  it('whose transfer reverts in its block gets a notice, and may try again with what was missing', async () => {
    const order = await shop.order({ crypto_currency: 'USDT' });
    // It has ether for the gas, but none of the token.
    const { page, wallets, button, problems } = await openPage(order, {});
    await button().click();
    const [refused] = await sentBy(wallets[0], 1);
    await says(page, ENGLISH.plain('wallet_sent', { hash: refused }));
    await anvil.mine(1);
    await says(page, `${ENGLISH.plain('wallet_reverted')} ${refused}`);
    expect(await anvil.rpc('eth_getTransactionReceipt', [refused])).toMatchObject({ status: '0x0' });
    expect(await page.locator('#live').getAttribute('data-status')).toBe('pay');
    expect(await shop.read(order)).toMatchObject({ status: 'pending', amount_received: 0 });

    await usdt.transfer(CUSTOMER, THIRTY);
    await anvil.mine(1);
    await button().click();
    const [, hash] = await sentBy(wallets[0], 2);
    await confirm(page, order, String(hash));
    expect(await balanceOf(order.address, usdt)).toBe(THIRTY);
    expect(problems).toEqual([]);
  });

  it('is shown by its own words as text and by its icon as a picture: neither runs a script nor asks another host', async () => {
    const script = 'top.harmed=1';
    const hostile: readonly Partial<WalletInfo>[] = [
      {
        name: `<img src=x onerror="top.harmed=1">`,
        icon: `data:image/svg+xml,${encodeURIComponent(
          `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}" viewBox="0 0 9 9"><script>${script}</script><rect width="9" height="9"/></svg>`,
        )}`,
      },
      { name: `"><script>${script}</script>`, icon: `javascript:${script}` },
      { name: '<b>Bold</b>', icon: 'https://spy.example/icon.png' },
      { name: '&lt;i&gt;', icon: `data:text/html,<script>${script}</script>` },
    ];
    const order = await shop.order();
    const { page, wallets, button, buttons, problems } = await openPage(
      order,
      {},
      ...hostile.map((info) => ({ info })),
    );
    const names = wallets.map(({ info }) => info.name);
    expect(await buttons.allInnerTexts()).toEqual(names);
    // The icons of the harmless wallet and the first hostile one: as images, they run no scripts.
    const icons = buttons.locator('img');
    expect(await icons.count()).toBe(2);
    const [, svg] = wallets;
    const drawn = button(svg).locator('img');
    await eventually('the icon is drawn', async () =>
      (await drawn.evaluate('(image) => image.naturalWidth')) === 0 ? null : true,
    );

    svg?.declined.add('eth_requestAccounts');
    await button(svg).click();
    await says(page, ENGLISH.plain('wallet_rejected', { wallet: String(names[1]) }));
    expect(await page.locator('#wallets script, #wallets b, #wallets i').count()).toBe(0);
    expect(await page.evaluate('window.harmed')).toBeUndefined();
    expect(problems).toEqual([]);
  });

  it('that is not there is not spoken of', async () => {
    const order = await shop.order();
    const { page, problems } = await openPage(order);
    // The script has run: this is shown by nothing else.
    await page.locator('[data-copy]').first().waitFor({ state: 'visible' });
    expect(await page.locator('#wallets').count()).toBe(1);
    expect(await page.locator('#wallets').isVisible()).toBe(false);
    expect(problems).toEqual([]);
  });

  it('sends once, however often it is clicked, and not again after a reload', async () => {
    const order = await shop.order();
    const { page, wallets, button, problems } = await openPage(order, {}, {});
    const [wallet, other] = wallets;
    const answer = wallet?.hold('eth_sendTransaction');
    await button().dblclick();
    await vi.waitFor(() => expect(methodsOf(wallet)).toContain('eth_sendTransaction'), SOON);
    // The buttons say that they do nothing now; that must also be true.
    await button(other).click({ force: true });
    await button().press('Enter');
    await says(page, ENGLISH.plain('wallet_request', { wallet: String(wallet?.info.name) }));
    answer?.();
    const [hash] = await sentBy(wallet, 1);
    await says(page, ENGLISH.plain('wallet_sent', { hash }));
    await page.reload();
    await says(page, ENGLISH.plain('wallet_sent', { hash }));
    expect(await button().isVisible()).toBe(false);
    await confirm(page, order, hash);
    expect(methodsOf(wallet).filter((method) => method === 'eth_sendTransaction')).toHaveLength(1);
    expect(other?.requests).toEqual([]);
    expect(await balanceOf(order.address)).toBe(owedUnits(order));
    expect(problems).toEqual([]);
  });
});

/** Waits until the page says exactly this of the wallet. */
async function says(page: Page, text: string): Promise<void> {
  await expect.poll(() => page.locator('[data-wallet-status]').innerText(), SOON).toBe(text);
}

async function reaches(page: Page, status: string): Promise<void> {
  await expect.poll(() => page.locator('#live').getAttribute('data-status'), SOON).toBe(status);
}

/** The hashes of what a wallet sent, once there are as many as that. */
function sentBy(wallet: InjectedWallet | undefined, count: number): Promise<readonly [string, ...string[]]> {
  return eventually(`${count} sent`, () => {
    const [first, ...rest] = wallet?.sent ?? [];
    return first !== undefined && rest.length === count - 1 ? [first, ...rest] : null;
  });
}

function methodsOf(wallet: InjectedWallet | undefined): readonly string[] {
  return (wallet?.requests ?? [])
    .map(({ method }) => method)
    .filter((method) => method !== 'eth_getTransactionReceipt');
}
