import type { AssetCode } from './asset-code.ts';
import type { Network } from './networks.ts';
import { NO_SUMS, type Payment, type Sums, type Transfer } from './payment.ts';
import { plus } from './sum-transfers.ts';

/** Money that came to a payment's addresses in a token other than the quote's; it does not count towards the quote. */
export interface OtherMoney extends Sums {
  readonly asset: AssetCode;
  readonly network: Network;
  /** Hashes of the transactions that brought it, in the order in which they were first seen. */
  readonly transactionHashes: readonly string[];
}

/** Money in tokens other than the quote's, one entry per token. Amounts of different tokens are never added. */
export function otherMoney({ quote }: Pick<Payment, 'quote'>, transfers: readonly Transfer[]): readonly OtherMoney[] {
  const others = transfers.filter(
    ({ state, asset, network }) => state !== 'dropped' && !(asset === quote?.asset && network === quote.network),
  );
  const groups = Map.groupBy(others, ({ asset, network }) => `${asset} ${network}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { asset, network } = first;
    const transactionHashes = [...new Set(group.map(({ transactionHash }) => transactionHash))];
    return [{ asset, network, ...group.reduce(plus, NO_SUMS), transactionHashes }];
  });
}
