import type { AssetCode, Network } from '../domain/asset.ts';
import type { ChainTransfer } from '../rails/chain.ts';
import { refundsTo, type Payout } from '../store/refunds.ts';
import type { App } from './context.ts';
import type { FoundTransfer } from './chain-money.ts';

/** A refund that waits to be paid. */
interface AwaitedRefund {
  readonly id: string;
  readonly asset: AssetCode;
  readonly units: bigint;
}

/** Pending refunds by the address that they are to be paid to, the oldest first. */
export type AwaitedRefunds = ReadonlyMap<string, readonly AwaitedRefund[]>;

/** The pending refunds that these transfers may pay: one indexed query. */
export async function refundsWatching(
  app: Pick<App, 'db'>,
  network: Network,
  transfers: readonly ChainTransfer[],
): Promise<AwaitedRefunds> {
  const addresses = [...new Set(transfers.map((transfer) => transfer.address))];
  const rows = await refundsTo(app.db, network, addresses);
  return Map.groupBy(rows, (row) => row.watched_address ?? '');
}

/**
 * Which transfers pay which refunds: exactly the refund's amount in its asset, each transfer for one refund and the oldest
 * first. An address of the customer's may get other money too, from anybody; only the exact amount tells.
 */
export function payoutsOf(
  network: Network,
  refunds: AwaitedRefunds,
  found: readonly FoundTransfer[],
): readonly Payout[] {
  const paid = new Set<string>();
  return found.flatMap(({ block, transfer }) => {
    const refund = refunds
      .get(transfer.address)
      ?.find(({ id, asset, units }) => !paid.has(id) && asset === transfer.asset && units === transfer.amount);
    if (refund === undefined) return [];
    paid.add(refund.id);
    const { transactionHash, asset, index } = transfer;
    return [{ refundId: refund.id, network, transactionHash, asset, index, blockHeight: block.height }];
  });
}
