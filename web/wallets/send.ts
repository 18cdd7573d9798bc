/** The parts of an EIP-1193 provider that sending a transaction needs. */
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

/** The data with which a wallet adds an unknown network, in the names of EIP-3085. */
export interface ChainToAdd {
  readonly chainId: string;
  readonly chainName: string;
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly rpcUrls: readonly string[];
  readonly blockExplorerUrls: readonly string[];
}

/** The state of a transaction with a wallet; each kind is the key of its text. */
export type WalletStep =
  | { readonly kind: 'wallet_request' | 'wallet_switch' | 'wallet_rejected' | 'wallet_wrong_network' }
  | { readonly kind: 'wallet_failed'; readonly reason: string; readonly code: number | null }
  | { readonly kind: 'wallet_sent'; readonly hash: string; readonly from: string }
  | { readonly kind: 'wallet_mined' | 'wallet_reverted' | 'wallet_lost'; readonly hash: string };

/** Parses `data-transaction`. Null if a wallet could not sign it. */
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
 * Asks the wallet for one transaction: account, network, transaction. A network that the wallet does not know is added
 * if `chain` says how. Returns the outcome, or null if the amount to pay changed meanwhile or another wallet was chosen
 * (`maySend` is false), so that nothing was sent. Never throws and never sends a second time.
 */
export async function sendWithWallet(
  provider: WalletProvider,
  transaction: WalletTransaction,
  onStep: (step: WalletStep) => void,
  maySend: () => boolean,
  chain: ChainToAdd | null = null,
): Promise<WalletStep | null> {
  try {
    onStep({ kind: 'wallet_request' });
    const from = Object(await provider.request({ method: 'eth_requestAccounts' }))[0];
    if (typeof from !== 'string') return { kind: 'wallet_failed', reason: '–', code: null };
    if (!(await isOnChain(provider, transaction.chainId))) {
      onStep({ kind: 'wallet_switch' });
      const refusal = await switchChain(provider, transaction.chainId, chain);
      if (refusal !== null) return refusal;
    }
    if (!maySend()) return null;
    onStep({ kind: 'wallet_request' });
    // The chain id is included: wallets then refuse if it was changed since it was checked.
    const sent = await provider.request({ method: 'eth_sendTransaction', params: [{ from, ...transaction }] });
    // An answer without a hash still means that the wallet was told to send.
    return { kind: 'wallet_sent', hash: typeof sent === 'string' ? sent : '', from };
  } catch (error) {
    return refusalOf(error);
  }
}

async function isOnChain(provider: WalletProvider, chainId: string): Promise<boolean> {
  const answer = await provider.request({ method: 'eth_chainId' });
  return Number(answer) === Number(chainId);
}

/** EIP-3326 and EIP-3085. The wallet's own answer is checked: some agree and do not switch. */
async function switchChain(
  provider: WalletProvider,
  chainId: string,
  chain: ChainToAdd | null,
): Promise<WalletStep | null> {
  const toChain = () => provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  try {
    await toChain().catch(async (error: unknown) => {
      if (chain === null || chain.rpcUrls.length === 0 || !isUnknownChain(error)) throw error;
      await provider.request({ method: 'wallet_addEthereumChain', params: [chain] });
      // Not every wallet switches to what it has just added.
      if (!(await isOnChain(provider, chainId))) await toChain();
    });
  } catch (error) {
    return codeOf(error) === USER_REJECTED ? { kind: 'wallet_rejected' } : { kind: 'wallet_wrong_network' };
  }
  return (await isOnChain(provider, chainId)) ? null : { kind: 'wallet_wrong_network' };
}

/** EIP-1193. */
const USER_REJECTED = 4001;
/** EIP-3326: a network that the wallet does not know. */
const UNKNOWN_CHAIN = 4902;
const REASON_LENGTH = 160;

/** MetaMask on phones wraps the error of the extension's own kind. */
function isUnknownChain(error: unknown): boolean {
  const { data } = Object(error);
  return codeOf(error) === UNKNOWN_CHAIN || codeOf(Object(data).originalError) === UNKNOWN_CHAIN;
}

function codeOf(error: unknown): unknown {
  return Object(error).code;
}

function refusalOf(error: unknown): WalletStep {
  const code = codeOf(error);
  if (code === USER_REJECTED) return { kind: 'wallet_rejected' };
  const { message } = Object(error);
  const said = typeof message === 'string' ? message.slice(0, REASON_LENGTH) : '';
  const known = typeof code === 'number' ? code : null;
  return { kind: 'wallet_failed', reason: said || `${known ?? '–'}`, code: known };
}

/**
 * The result of a sent transaction, from its block. `wallet_lost` while no node has it: it was replaced, dropped, or
 * has not spread yet, so the caller asks again for a while. Null while it is unmined, and if the wallet cannot be
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
