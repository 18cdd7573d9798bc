import { ChainUnavailableError, type NativeBalances } from './chain.ts';

/**
 * What lies on the addresses of these at a block; null where no node can say, for nodes keep the balances of some
 * hundred blocks only.
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
