import { describe, expect, it } from 'vitest';
import { walletChainOf } from '../../src/http/dashboard/record-parts.ts';
import { readAnnouncement, type Wallet } from '../../web/wallets/announcement.ts';
import { sendCall } from '../../web/dashboard/wallets/send-call.ts';

const ACCOUNT = `0x${'cd'.repeat(20)}`;
const HASH = `0x${'12'.repeat(32)}`;
const CALL = { chain_id: 8_453, to: `0x${'ab'.repeat(20)}`, value: '0', data: '0x3d105d84' };
const BASE = walletChainOf('base', 8_453);

type Answers = Readonly<Record<string, unknown>>;

function refuses(code: number, message = 'No.', more: object = {}): () => never {
  return () => {
    throw Object.assign(new Error(message), { code, ...more });
  };
}

/** A wallet on Ethereum that answers what the test says: a value, or a function that gives or throws it. */
function walletWith(answers: Answers) {
  const asked: (readonly [string, ...unknown[]])[] = [];
  let chainId = 1;
  const usual: Answers = {
    eth_requestAccounts: [ACCOUNT],
    eth_chainId: () => `0x${chainId.toString(16)}`,
    eth_sendTransaction: HASH,
    ...answers,
  };
  const provider = {
    request: async ({ method, params = [] }: { readonly method: string; readonly params?: readonly unknown[] }) => {
      asked.push([method, ...params]);
      const answer = usual[method];
      const value: unknown = typeof answer === 'function' ? answer(params) : answer;
      if (method === 'wallet_switchEthereumChain') chainId = Number(Object(params[0]).chainId);
      return value;
    },
  };
  const wallet = readAnnouncement({ info: { uuid: 'u1', rdns: 'io.wallet', name: 'Wallet', icon: '' }, provider });
  return { wallet: wallet as Wallet, asked, methods: () => asked.map(([method]) => method) };
}

describe('sending a call with a browser wallet', () => {
  it('asks for an account, goes to the network of the call and sends it, without anything else', async () => {
    const { wallet, asked } = walletWith({});
    const steps: string[] = [];
    const end = await sendCall(wallet, CALL, BASE, (step) => steps.push(step));
    expect(end).toEqual({ kind: 'sent', hash: HASH, from: ACCOUNT });
    expect(steps).toEqual(['confirm', 'switch', 'confirm']);
    expect(asked).toEqual([
      ['eth_requestAccounts'],
      ['eth_chainId'],
      ['wallet_switchEthereumChain', { chainId: '0x2105' }],
      ['eth_chainId'],
      ['eth_sendTransaction', { from: ACCOUNT, chainId: '0x2105', to: CALL.to, value: '0x0', data: CALL.data }],
    ]);
  });

  it.each([
    ['itself', {}],
    ['within another error, as on phones', { data: { originalError: { code: 4902 } } }],
  ])('adds a network that the wallet does not know, when it says so %s', async (_how, more) => {
    let isKnown = false;
    const { wallet, asked, methods } = walletWith({
      wallet_switchEthereumChain: () => (isKnown ? null : refuses('data' in more ? -32_603 : 4902, 'Unknown.', more)()),
      wallet_addEthereumChain: () => {
        isKnown = true;
        return null;
      },
    });
    expect(await sendCall(wallet, CALL, BASE, () => {})).toMatchObject({ kind: 'sent' });
    expect(asked.find(([method]) => method === 'wallet_addEthereumChain')).toEqual([
      'wallet_addEthereumChain',
      {
        chainId: '0x2105',
        chainName: 'Base',
        nativeCurrency: { name: 'ETH', symbol: 'ETH', decimals: 18 },
        rpcUrls: ['https://mainnet.base.org'],
        blockExplorerUrls: ['https://basescan.org'],
      },
    ]);
    expect(methods().filter((method) => method === 'wallet_switchEthereumChain')).toHaveLength(2);
  });

  it('sends nothing on another network: one that cannot be added, or where the wallet stays where it was', async () => {
    const unknown = walletWith({ wallet_switchEthereumChain: refuses(4902) });
    expect(await sendCall(unknown.wallet, CALL, null, () => {})).toEqual({ kind: 'wrong_network' });
    expect(unknown.methods()).not.toContain('wallet_addEthereumChain');
    const stays = walletWith({ eth_chainId: '0x1' });
    expect(await sendCall(stays.wallet, CALL, BASE, () => {})).toEqual({ kind: 'wrong_network' });
    for (const { methods } of [unknown, stays]) expect(methods()).not.toContain('eth_sendTransaction');
  });

  it.each([
    ['eth_requestAccounts', refuses(4001), { kind: 'declined' }],
    ['wallet_switchEthereumChain', refuses(4001), { kind: 'declined' }],
    ['eth_sendTransaction', refuses(4001), { kind: 'declined' }],
    ['eth_requestAccounts', refuses(-32_002), { kind: 'busy' }],
    ['eth_sendTransaction', refuses(-32_000, 'insufficient funds for gas'), failed('insufficient funds for gas')],
    ['eth_sendTransaction', refuses(-32_000, 'x'.repeat(1_000)), failed('x'.repeat(160))],
    ['eth_sendTransaction', refuses(-32_000, ''), failed('-32000')],
    ['eth_requestAccounts', [], failed('–')],
    ['eth_sendTransaction', { not: 'a hash' }, { kind: 'sent', hash: null, from: ACCOUNT }],
    ['eth_sendTransaction', '0x<b>', { kind: 'sent', hash: null, from: ACCOUNT }],
  ])('says how it ended when %s ends so', async (method, answer, end) => {
    const { wallet } = walletWith({ [method]: answer });
    expect(await sendCall(wallet, CALL, BASE, () => {})).toEqual(end);
  });

  it('sends nothing once it may not any more', async () => {
    const { wallet, methods } = walletWith({});
    expect(
      await sendCall(
        wallet,
        CALL,
        BASE,
        () => {},
        () => false,
      ),
    ).toEqual({ kind: 'stopped' });
    expect(methods()).not.toContain('eth_sendTransaction');
  });
});

describe('a network that a wallet is to add', () => {
  it('is the main chain alone: a test chain has other nodes', () => {
    expect(walletChainOf('base', 84_532)).toBeNull();
    expect(walletChainOf('polygon', 137)).toMatchObject({ name: 'Polygon', currency: 'POL' });
  });
});

function failed(reason: string) {
  return { kind: 'failed', reason };
}
