import type { BrowserContext } from 'playwright-core';
import { isAddress } from 'viem';
import type { Anvil } from './anvil.ts';

/** A wallet's announcement (EIP-6963). */
export interface WalletInfo {
  readonly uuid: string;
  readonly name: string;
  readonly icon: string;
  readonly rdns: string;
}

export interface WalletOptions {
  readonly info?: Partial<WalletInfo>;
  /** One of the node's own accounts, which it signs for. */
  readonly account: string;
  /** The networks that the wallet knows beside the one it is on first, by chain id. Tests may add some later. */
  readonly networks: Map<number, Anvil>;
}

export interface WalletRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A wallet in the browser, and the person before it. */
export interface InjectedWallet {
  readonly info: WalletInfo;
  /** All that pages asked it, in order. */
  readonly requests: readonly WalletRequest[];
  /** Hashes of what it sent. */
  readonly sent: readonly string[];
  /** The requests that its owner declines, by method. */
  readonly declined: Set<string>;
  /** The owner leaves questions of this method unanswered until the returned function is called. */
  hold(method: string): () => void;
}

/** Where every wallet is at first: Ethereum's own chain, which no test has a node of. */
const FIRST_CHAIN = 1;
/** Given where the gas cannot be estimated, as wallets do when their owner insists on a transaction that will fail. */
const FALLBACK_GAS = '0x30d40';

/**
 * Puts a wallet into all pages of a context, as an extension does: it announces itself by EIP-6963, keeps the rules of
 * EIP-1193 and EIP-3326 as wallets do, and has its own way to the node, past the page's policy.
 */
export async function injectWallet(context: BrowserContext, options: WalletOptions): Promise<InjectedWallet> {
  const wallet = walletOf(options);
  const binding = `wallet_${wallet.info.uuid.replaceAll('-', '')}`;
  await context.exposeBinding(binding, (_source, request: WalletRequest) => wallet.answer(request));
  await context.addInitScript(`{
    const info = Object.freeze(${JSON.stringify(wallet.info)});
    const ask = window[${JSON.stringify(binding)}];
    const provider = {
      request: async ({ method, params = [] }) => {
        const { result, error } = await ask({ method, params });
        if (error) throw Object.assign(new Error(error.message), { code: error.code });
        return result;
      },
    };
    const announce = () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
    addEventListener('eip6963:requestProvider', announce);
    announce();
  }`);
  return wallet;
}

interface WalletError {
  readonly code: number;
  readonly message: string;
}

type WalletAnswer = { readonly result: unknown } | { readonly error: WalletError };

let made = 0;

function walletOf({ info, account, networks }: WalletOptions): InjectedWallet & {
  readonly answer: (request: WalletRequest) => Promise<WalletAnswer>;
} {
  made += 1;
  const requests: WalletRequest[] = [];
  const sent: string[] = [];
  const declined = new Set<string>();
  const held = new Map<string, Promise<void>>();
  let chainId = FIRST_CHAIN;
  let isConnected = false;

  /** Opens the wallet's own window, and waits for its owner. */
  async function confirmed(method: string): Promise<WalletAnswer | null> {
    await held.get(method);
    return declined.has(method) ? refuse(4001, 'User rejected the request.') : null;
  }

  async function switchTo(wanted: number): Promise<WalletAnswer> {
    if (wanted !== chainId && !networks.has(wanted)) {
      return refuse(4902, `Unrecognized chain ID ${wanted}. Try adding the chain first.`);
    }
    const refusal = wanted === chainId ? null : await confirmed('wallet_switchEthereumChain');
    if (refusal !== null) return refusal;
    chainId = wanted;
    return { result: null };
  }

  async function send(transaction: Readonly<Record<string, unknown>>): Promise<WalletAnswer> {
    const node = networks.get(chainId);
    const fault = isConnected ? transactionFault(transaction, account, chainId) : [4100, 'Connect first.'];
    if (fault !== null) return refuse(Number(fault[0]), String(fault[1]));
    const refusal = await confirmed('eth_sendTransaction');
    if (refusal !== null) return refusal;
    if (node === undefined) return refuse(4901, `There is no node of chain ${chainId}.`);
    const gas = await forward(node, 'eth_estimateGas', [transaction]);
    const limit = 'result' in gas ? gas.result : FALLBACK_GAS;
    const answer = await forward(node, 'eth_sendTransaction', [{ ...transaction, gas: limit }]);
    if ('result' in answer) sent.push(String(answer.result));
    return answer;
  }

  async function answer({ method, params }: WalletRequest): Promise<WalletAnswer> {
    requests.push({ method, params });
    const [first] = params;
    switch (method) {
      case 'eth_requestAccounts': {
        const refusal = isConnected ? null : await confirmed(method);
        if (refusal !== null) return refusal;
        isConnected = true;
        return { result: [account] };
      }
      case 'eth_accounts':
        return { result: isConnected ? [account] : [] };
      case 'eth_chainId':
        return { result: `0x${chainId.toString(16)}` };
      case 'wallet_switchEthereumChain':
        return switchTo(Number(Object(first).chainId));
      case 'eth_sendTransaction':
        return send(Object(first));
      case 'eth_getTransactionReceipt': {
        const node = networks.get(chainId);
        return node === undefined ? { result: null } : forward(node, method, params);
      }
      default:
        return refuse(4200, `This wallet does not support ${method}.`);
    }
  }

  return {
    info: {
      uuid: `350670db-19fa-4704-a166-${String(made).padStart(12, '0')}`,
      name: `Wallet ${made}`,
      icon: 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>',
      rdns: `example.wallet-${made}`,
      ...info,
    },
    requests,
    sent,
    declined,
    answer,
    hold: (method) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(method, promise);
      return resolve;
    },
  };
}

function refuse(code: number, message: string): WalletAnswer {
  return { error: { code, message } };
}

const FIELDS: ReadonlySet<string> = new Set(['from', 'to', 'value', 'data', 'chainId']);
const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]*)$/;

/** The faults for which wallets refuse before they ask their owner: each was refused by a wallet in use. */
function transactionFault(
  transaction: Readonly<Record<string, unknown>>,
  account: string,
  chainId: number,
): readonly [number, string] | null {
  const { from, to, value, data } = transaction;
  const strange = Object.keys(transaction).find((field) => !FIELDS.has(field));
  if (strange !== undefined) return [-32602, `Unknown field ${strange}.`];
  if (from !== account) return [4100, 'Not an account that was given.'];
  if (typeof to !== 'string' || !isAddress(to)) return [-32602, 'to is no address, or its checksum is wrong.'];
  if (typeof value !== 'string' || !QUANTITY.test(value)) return [-32602, 'value is no quantity.'];
  if (typeof data !== 'string' || !/^0x(?:[0-9a-f]{2})*$/.test(data)) return [-32602, 'data are no bytes.'];
  return transaction['chainId'] === `0x${chainId.toString(16)}` ? null : [-32602, 'chainId should be the current one.'];
}

/** With the node's own error, which wallets pass on. */
async function forward({ url }: Anvil, method: string, params: readonly unknown[]): Promise<WalletAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer: WalletAnswer = JSON.parse(await response.text());
  return answer;
}
