import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { paymentServer, shows, until, useBrowser, type Standing } from './fixture.ts';

const TRANSACTION = { chainId: '0x1', to: `0x${'ab'.repeat(20)}`, value: '0x2386f26fc10000', data: '0x' };
const HASH = `0x${'12'.repeat(32)}`;
const ACCOUNT = `0x${'cd'.repeat(20)}`;

function paying(version: string, transaction: object = TRANSACTION): Standing {
  const body = `<section id="wallets" hidden data-transaction='${JSON.stringify(transaction)}' data-network="Ethereum">
    <h3>Wallets</h3><ul data-wallet-list></ul><p data-wallet-status role="status"></p></section>`;
  return { version, status: 'pay', body };
}

/**
 * A wallet that announces itself as EIP-6963 says. Its answers are what the test puts into `wallet.answers`: a value,
 * an error (`{error}`), or nothing yet, when it waits for `wallet.answer(method, value)`. The real payment is made on a
 * real node elsewhere.
 */
const WALLET = `
  const answers = { eth_requestAccounts: ['${ACCOUNT}'], eth_chainId: '0x1', wallet_switchEthereumChain: null, eth_getTransactionByHash: {} };
  const waiting = {};
  const settle = (value) => (value?.error ? Promise.reject(value.error) : Promise.resolve(value));
  window.wallet = { answers, calls: [], answer: (method, value) => waiting[method](settle(value)) };
  const provider = {
    request: ({ method, params = [] }) => {
      wallet.calls.push([method, ...params]);
      if (method === 'wallet_switchEthereumChain' && answers[method] === null) answers.eth_chainId = params[0].chainId;
      if (method in answers) return settle(answers[method]);
      return new Promise((resolve) => (waiting[method] = resolve));
    },
  };
  window.announce = (info, from = provider) =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider: from }) }));
  window.info = { uuid: 'u1', rdns: 'io.wallet', name: 'Good <i>Wallet</i>', icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>' };
  addEventListener('eip6963:requestProvider', () => announce(info));`;

describe.skipIf(hasNoBrowser)('browser wallets on the payment page', () => {
  const openTab = useBrowser();

  async function openPayment(answers: Readonly<Record<string, unknown>> = {}, standing = paying('v1')) {
    const server = await paymentServer(standing);
    const { page, problems } = await openTab();
    await page.addInitScript(`${WALLET}; Object.assign(answers, ${JSON.stringify(answers)});`);
    await page.clock.install();
    await page.goto(server.url);
    await until('the stream is open', () => server.asked.stream === 1);
    return { server, page, problems, button: page.locator('[data-wallet-list] button') };
  }

  it('shows each wallet once, by its own words as text, and its icon only when it is an image', async () => {
    const { page, button, problems } = await openPayment();
    expect(await button.textContent()).toBe('Good <i>Wallet</i>');
    expect(await button.locator('img').getAttribute('src')).toMatch(/^data:image\/svg/);
    await page.evaluate(`announce(info); announce({ ...info, uuid: 'u2' }); announce({ ...info, rdns: 'io.other' });
      announce({ uuid: 'u3', rdns: 'io.third', name: '\\u202eThird', icon: 'https://elsewhere.example/spy.png' });
      announce({ uuid: 'u4', rdns: 'io.fourth', name: '' , icon: 'javascript:alert(1)' });
      announce({ rdns: 'no.uuid', name: 'Nameless' }); announce(null); announce({ ...info, uuid: 'u5' }, {});`);
    expect(await button.allTextContents()).toEqual(['Good <i>Wallet</i>', 'Third', 'io.fourth']);
    expect(await page.locator('[data-wallet-list] img').count()).toBe(1);
    // A script may announce any number.
    await page.evaluate(
      `for (let n = 0; n < 300; n += 1) announce({ uuid: 'n' + n, rdns: 'io.n' + n, name: 'N' + n, icon: '' })`,
    );
    expect(await button.count()).toBe(12);
    expect(problems).toEqual([]);
  });

  it('stays hidden without a wallet, and where there is nothing that a wallet could sign', async () => {
    const { server, page } = await openPayment({}, paying('v1', { ...TRANSACTION, to: 'somewhere' }));
    expect(await page.locator('#wallets').isVisible()).toBe(false);
    server.standing = paying('v2');
    server.send('v2');
    await shows(page, '#live', 'v2');
    expect(await page.locator('#wallets').isVisible()).toBe(true);
  });

  it('pays: asks for the account, switches the network, sends once, and waits for the block', async () => {
    const { server, page, button, problems } = await openPayment({ eth_chainId: '0x89' });
    await button.click();
    await shows(page, '[data-wallet-status]', 'Confirm in Good <i>Wallet</i>');
    await until('the wallet is asked to send', async () => (await calls(page)).length === 5);
    expect(await calls(page)).toEqual([
      ['eth_requestAccounts'],
      ['eth_chainId'],
      ['wallet_switchEthereumChain', { chainId: '0x1' }],
      ['eth_chainId'],
      ['eth_sendTransaction', { from: ACCOUNT, ...TRANSACTION }],
    ]);
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    // The page changes while the wallet asks: nothing is asked twice, and the keyboard's place stays.
    await button.dispatchEvent('click');
    server.standing = paying('v2');
    server.send('v2');
    await shows(page, '#live', 'v2');
    await shows(page, '[data-wallet-status]', 'Confirm in');
    expect(await page.evaluate('document.activeElement.dataset.wallet')).toBe('u1');
    await button.dispatchEvent('click');
    expect(await calls(page)).toHaveLength(5);

    await page.evaluate(
      `wallet.answers.eth_getTransactionReceipt = null; wallet.answer('eth_sendTransaction', '${HASH}')`,
    );
    await shows(page, '[data-wallet-status]', `Sent: ${HASH}`);
    expect(await button.isVisible()).toBe(false);
    await page.clock.runFor(10_000);
    await shows(page, '[data-wallet-status]', 'Sent');
    await page.evaluate(`wallet.answers.eth_getTransactionReceipt = { status: '0x1', blockNumber: '0x10' }`);
    await page.clock.runFor(10_000);
    expect(await shows(page, '[data-wallet-status]', 'In a block')).toContain(HASH);
    expect((await calls(page)).filter(([method]) => method === 'eth_sendTransaction')).toHaveLength(1);

    // Neither a change nor a reload brings the buttons back for what was sent; what is still missing does.
    server.standing = paying('v3');
    server.send('v3');
    await shows(page, '#live', 'v3');
    expect(await button.isVisible()).toBe(false);
    await page.reload();
    await shows(page, '[data-wallet-status]', 'In a block');
    expect(await button.isVisible()).toBe(false);
    server.standing = paying('v4', { ...TRANSACTION, value: '0x1' });
    await page.evaluate('dispatchEvent(new Event("online"))');
    await shows(page, '#live', 'v4');
    expect(await button.isVisible()).toBe(true);
    expect(await page.locator('[data-wallet-status]').textContent()).toBe('');
    expect(problems).toEqual([]);
  });

  it('says that the network refused a transfer, and lets the customer try again', async () => {
    const { page, button } = await openPayment({
      eth_sendTransaction: HASH,
      eth_getTransactionReceipt: { status: '0x0' },
    });
    await button.click();
    await shows(page, '[data-wallet-status]', 'Sent');
    await page.clock.runFor(3_000);
    await shows(page, '[data-wallet-status]', 'Refused by the network');
    expect(await button.isVisible()).toBe(true);
  });

  it('brings the wallets back once no node has known the transfer for two minutes, and not before', async () => {
    const { page, button } = await openPayment({
      eth_sendTransaction: HASH,
      eth_getTransactionReceipt: null,
      eth_getTransactionByHash: null,
    });
    await button.click();
    await shows(page, '[data-wallet-status]', 'Sent');
    await page.clock.runFor(90_000);
    await page.evaluate(`wallet.answers.eth_getTransactionByHash = { hash: '${HASH}' }`);
    await page.clock.runFor(120_000);
    await shows(page, '[data-wallet-status]', 'Sent');
    expect(await button.isVisible()).toBe(false);
    await page.evaluate('wallet.answers.eth_getTransactionByHash = null');
    await page.clock.runFor(150_000);
    await shows(page, '[data-wallet-status]', 'Lost by the network');
    expect(await button.isVisible()).toBe(true);
  });

  it('still waits for the block after a reload', async () => {
    const { page, button } = await openPayment({ eth_sendTransaction: HASH, eth_getTransactionReceipt: null });
    await button.click();
    await shows(page, '[data-wallet-status]', 'Sent');
    await page.reload();
    await shows(page, '[data-wallet-status]', 'Sent');
    expect(await button.isVisible()).toBe(false);
    await page.evaluate(`wallet.answers.eth_getTransactionReceipt = { status: '0x0', blockNumber: '0x10' }`);
    await page.clock.runFor(5_000);
    await shows(page, '[data-wallet-status]', 'Refused by the network');
    expect(await button.isVisible()).toBe(true);
  });

  const rejected = { error: { code: 4001, message: 'User rejected' } };
  for (const [what, answers, text, isSentTo] of [
    ['the account', { eth_requestAccounts: rejected }, 'Declined in', false],
    ['the account, by giving none', { eth_requestAccounts: [] }, 'failed: –', false],
    ['the network', { eth_chainId: '0x89', wallet_switchEthereumChain: rejected }, 'Declined in', false],
    [
      'a network that it does not know',
      { eth_chainId: '0x89', wallet_switchEthereumChain: { error: { code: 4902 } } },
      'is not on Ethereum',
      false,
    ],
    [
      'the network, by saying yes and staying where it is',
      { eth_chainId: '0x89', wallet_switchEthereumChain: {} },
      'is not on Ethereum',
      false,
    ],
    ['the transfer', { eth_sendTransaction: rejected }, 'Declined in', true],
    [
      'while it is busy',
      { eth_requestAccounts: { error: { code: -32002, message: 'Already asking' } } },
      'failed: Already asking',
      false,
    ],
    [
      'for lack of money',
      { eth_sendTransaction: { error: { code: -32000, message: '<b>poor</b>' } } },
      '<b>poor</b>',
      true,
    ],
  ] as const) {
    it(`says so when the wallet refuses ${what}, and lets the customer try again`, async () => {
      const { page, button } = await openPayment(answers);
      await button.click();
      await shows(page, '[data-wallet-status]', text);
      expect(await button.getAttribute('aria-disabled')).toBe('false');
      const methods = (await calls(page)).map(([method]) => method);
      expect(methods.includes('eth_sendTransaction')).toBe(isSentTo);
      await page.clock.runFor(60_000);
      expect(await calls(page)).toHaveLength(methods.length);
      await button.click();
      await until('the wallet is asked again', async () => (await calls(page)).length > methods.length);
    });
  }

  it('lets the customer take another wallet while one does not answer, until that is asked to send', async () => {
    const { page, button } = await openPayment();
    await page.evaluate(`delete wallet.answers.eth_requestAccounts;
      announce({ uuid: 'u2', rdns: 'io.other', name: 'Other' }, {
        request: async ({ method }) => {
          wallet.calls.push(['other', method]);
          if (method === 'eth_sendTransaction') return new Promise((resolve) => (window.sendOther = resolve));
          return method === 'eth_chainId' ? '0x1' : ['${ACCOUNT}'];
        },
      });`);
    const [silent, other] = [button.nth(0), button.nth(1)];
    await silent.click();
    await shows(page, '[data-wallet-status]', 'Confirm in Good');
    // Asked again it would ask again, which wallets refuse.
    await silent.dispatchEvent('click');
    expect(await calls(page)).toEqual([['eth_requestAccounts']]);
    expect(await other.getAttribute('aria-disabled')).toBe('false');
    await other.click();
    await until('the other is asked to send', async () => (await calls(page)).length === 4);
    await shows(page, '[data-wallet-status]', 'Confirm in Other');
    await page.evaluate(`wallet.answer('eth_requestAccounts', ['${ACCOUNT}'])`);
    await until('the first answered', async () => (await calls(page)).length === 5);
    // It came too late, and while the other is asked to send, nobody else is.
    await silent.dispatchEvent('click');
    expect(await silent.getAttribute('aria-disabled')).toBe('true');
    expect((await calls(page)).filter((call) => call.includes('eth_sendTransaction'))).toEqual([
      ['other', 'eth_sendTransaction'],
    ]);
    await page.evaluate(`sendOther('${HASH}')`);
    await shows(page, '[data-wallet-status]', `Sent: ${HASH}`);
  });

  it('sends nothing for a payment that changed while the wallet was asking for the account', async () => {
    const { server, page, button } = await openPayment();
    await page.evaluate('delete wallet.answers.eth_requestAccounts');
    await button.click();
    await shows(page, '[data-wallet-status]', 'Confirm in');
    server.standing = paying('v2', { ...TRANSACTION, value: '0x1' });
    server.send('v2');
    await shows(page, '#live', 'v2');
    await page.evaluate(`wallet.answer('eth_requestAccounts', ['${ACCOUNT}'])`);
    await until('the button is free', async () => (await button.getAttribute('aria-disabled')) === 'false');
    expect((await calls(page)).map(([method]) => method)).toEqual(['eth_requestAccounts', 'eth_chainId']);
    expect(await page.locator('[data-wallet-status]').textContent()).toBe('');
  });
});

function calls(page: Page): Promise<readonly (readonly unknown[])[]> {
  return page.evaluate('wallet.calls');
}
