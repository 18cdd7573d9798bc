/** The parts of an EIP-1193 provider that a payment needs. */
export interface WalletProvider {
  request(request: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** The transaction to sign, all in `0x` hex: quantities without leading zeros, data as it is sent. */
export interface WalletTransaction {
  readonly chainId: string;
  readonly to: string;
  readonly value: string;
  readonly data: string;
}

/** The state of a payment with a wallet; each kind is the key of its text. */
export type WalletStep =
  | { readonly kind: 'wallet_request' | 'wallet_switch' | 'wallet_rejected' | 'wallet_wrong_network' }
  | { readonly kind: 'wallet_failed'; readonly reason: string }
  | { readonly kind: 'wallet_sent' | 'wallet_mined' | 'wallet_reverted' | 'wallet_lost'; readonly hash: string };

/** Parses `data-transaction`. Null if it is not something that a wallet could sign. */
export function parseTransaction(json: string): WalletTransaction | null {
  try {
    const { chainId, to, value, data } = Object(JSON.parse(json));
    const isWhole =
      /^0x[0-9a-f]+$/i.test(chainId) &&
      /^0x[0-9a-f]{40}$/i.test(to) &&
      /^0x[0-9a-f]+$/i.test(value) &&
      /^0x(?:[0-9a-f]{2})*$/i.test(data);
    return isWhole ? { chainId, to, value, data } : null;
  } catch {
    return null;
  }
}

/**
 * Asks the wallet for one payment: account, network, transaction. Returns how it ended, or null if the payment changed
 * meanwhile or another wallet was chosen (`maySend` is false), so that nothing was sent. Never throws and never sends a
 * second time.
 */
export async function payWithWallet(
  provider: WalletProvider,
  transaction: WalletTransaction,
  onStep: (step: WalletStep) => void,
  maySend: () => boolean,
): Promise<WalletStep | null> {
  try {
    onStep({ kind: 'wallet_request' });
    const from = Object(await provider.request({ method: 'eth_requestAccounts' }))[0];
    if (typeof from !== 'string') return { kind: 'wallet_failed', reason: '–' };
    if (!(await isOnChain(provider, transaction.chainId))) {
      onStep({ kind: 'wallet_switch' });
      const refusal = await switchChain(provider, transaction.chainId);
      if (refusal !== null) return refusal;
    }
    if (!maySend()) return null;
    onStep({ kind: 'wallet_request' });
    // The chain id is included: wallets then refuse if it was changed since it was checked.
    const sent = await provider.request({ method: 'eth_sendTransaction', params: [{ from, ...transaction }] });
    // An answer that is no hash still means that the wallet was told to send.
    return { kind: 'wallet_sent', hash: typeof sent === 'string' ? sent : '' };
  } catch (error) {
    return refusalOf(error);
  }
}

async function isOnChain(provider: WalletProvider, chainId: string): Promise<boolean> {
  const answer = await provider.request({ method: 'eth_chainId' });
  return Number(answer) === Number(chainId);
}

/** EIP-3326; 4902 is a network that the wallet does not know. The wallet's own answer is checked. */
async function switchChain(provider: WalletProvider, chainId: string): Promise<WalletStep | null> {
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  } catch (error) {
    return codeOf(error) === USER_REJECTED ? { kind: 'wallet_rejected' } : { kind: 'wallet_wrong_network' };
  }
  return (await isOnChain(provider, chainId)) ? null : { kind: 'wallet_wrong_network' };
}

/** EIP-1193. */
const USER_REJECTED = 4001;
const REASON_LENGTH = 160;

function codeOf(error: unknown): unknown {
  return Object(error).code;
}

function refusalOf(error: unknown): WalletStep {
  const code = codeOf(error);
  if (code === USER_REJECTED) return { kind: 'wallet_rejected' };
  const { message } = Object(error);
  const said = typeof message === 'string' ? message.slice(0, REASON_LENGTH) : '';
  return { kind: 'wallet_failed', reason: said || (typeof code === 'number' ? `${code}` : '–') };
}

/**
 * The result of a sent transaction, from its block. `wallet_lost` while no node knows it: it was replaced, dropped, or
 * has not spread yet, so the caller asks again for a while. Null while it is unmined, and when the wallet cannot be
 * asked.
 */
export async function readReceipt(provider: WalletProvider, hash: string): Promise<WalletStep | null> {
  try {
    const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] });
    if (!isNothing(receipt) && Object(receipt).blockNumber !== null)
      return { kind: Number(Object(receipt).status) === 1 ? 'wallet_mined' : 'wallet_reverted', hash };
    const transaction = await provider.request({ method: 'eth_getTransactionByHash', params: [hash] });
    return isNothing(transaction) ? { kind: 'wallet_lost', hash } : null;
  } catch {
    return null;
  }
}

function isNothing(answer: unknown): boolean {
  return answer === null || answer === undefined;
}
