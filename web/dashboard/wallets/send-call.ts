import type { WalletCall, WalletChain } from '../../../src/http/dashboard/contract-parts.ts';
import type { Wallet } from '../../wallets/announcement.ts';
import { sendWithWallet, type ChainToAdd, type WalletTransaction } from '../../wallets/send.ts';

/** The question that the wallet shows. */
export type SendStep = 'confirm' | 'switch';

/** The end of a call. Only `sent` means that money may move; nothing was sent in any other case. */
export type SendEnd =
  /** `hash` is null if the wallet agreed without returning a transaction hash. */
  | { readonly kind: 'sent'; readonly hash: string | null; readonly from: string }
  /** The person declined in the wallet. */
  | { readonly kind: 'declined' }
  /** The wallet is not on the call's network, and did not switch to it. */
  | { readonly kind: 'wrong_network' }
  /** The wallet still shows an earlier question. */
  | { readonly kind: 'busy' }
  /** The wallet's own words, shortened. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** `maySend` returned false. */
  | { readonly kind: 'stopped' };

/** "Resource unavailable" (EIP-1474): the answer of wallets while an earlier request is still open. */
const REQUEST_PENDING = -32_002;
const COIN_DECIMALS = 18;

/**
 * Has a wallet send a call: account, network (added if the wallet does not know it and `chain` is given), transaction.
 * `maySend` is asked right before the transaction. Never throws, and never sends twice.
 */
export async function sendCall(
  wallet: Wallet,
  call: WalletCall,
  chain: WalletChain,
  onStep: (step: SendStep) => void,
  maySend: () => boolean = () => true,
): Promise<SendEnd> {
  const end = await sendWithWallet(
    wallet.provider,
    transactionOf(call),
    ({ kind }) => onStep(kind === 'wallet_switch' ? 'switch' : 'confirm'),
    maySend,
    chain === null ? null : chainToAdd(call.chain_id, chain),
  );
  if (end === null) return { kind: 'stopped' };
  switch (end.kind) {
    case 'wallet_sent':
      return { kind: 'sent', hash: isHash(end.hash) ? end.hash.toLowerCase() : null, from: end.from };
    case 'wallet_rejected':
      return { kind: 'declined' };
    case 'wallet_wrong_network':
      return { kind: 'wrong_network' };
    case 'wallet_failed':
      return end.code === REQUEST_PENDING ? { kind: 'busy' } : { kind: 'failed', reason: end.reason };
    default:
      return { kind: 'failed', reason: '–' };
  }
}

function isHash(text: string): boolean {
  return /^0x[0-9a-f]{64}$/i.test(text);
}

/** The transaction with quantities in hex without leading zeros, as JSON-RPC requires. */
function transactionOf({ chain_id, to, value, data }: WalletCall): WalletTransaction {
  return { chainId: `0x${chain_id.toString(16)}`, to, value: `0x${BigInt(value).toString(16)}`, data };
}

function chainToAdd(chainId: number, chain: NonNullable<WalletChain>): ChainToAdd {
  return {
    chainId: `0x${chainId.toString(16)}`,
    chainName: chain.name,
    nativeCurrency: { name: chain.currency, symbol: chain.currency, decimals: COIN_DECIMALS },
    rpcUrls: [chain.rpc_url],
    blockExplorerUrls: [chain.explorer_url],
  };
}
