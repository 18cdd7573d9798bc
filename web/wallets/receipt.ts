import type { WalletProvider, WalletStep } from './send.ts';

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
