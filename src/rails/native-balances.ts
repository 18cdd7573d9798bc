import { ChainUnavailableError, type NativeBalances } from './chain.ts';

/**
 * The balances of these addresses at a block; null if no node has them, because nodes keep the balances of only a few
 * hundred blocks.
 */
export async function balancesOf(
  native: NativeBalances,
  holders: readonly { readonly address: string }[],
  block: Parameters<NativeBalances['balancesAt']>[1],
): Promise<ReadonlyMap<string, bigint> | null> {
  if (holders.length === 0) return new Map();
  try {
    return await native.balancesAt(
      holders.map(({ address }) => address),
      block,
    );
  } catch (fault) {
    if (fault instanceof ChainUnavailableError) return null;
    throw fault;
  }
}
