import { chooseChangeIndex, lastIndex } from '../../domain/change-index.ts';
import type { Outpoint } from '../../rails/utxo/caller.ts';
import type { WalletOutput } from '../../rails/utxo/output.ts';
import { openChange, refundChanges, saveRefundChange, seenChange, watchChange } from '../../store/refunds/change.ts';
import type { Trx } from '../../store/database.ts';
import { saveRawTransactions } from '../../store/chains/raw-transactions.ts';
import {
  heldByOthers,
  lockWalletCoins,
  refundInputs,
  saveRefundInputs,
  type CoinQuery,
} from '../../store/refunds/refund-coins.ts';
import { lockRefund } from '../../store/refunds/refunds.ts';
import type { App } from '../context.ts';
import type { ChosenCoin } from './refund-coins.ts';
import { isOutput } from './refund-held.ts';

/**
 * Saves a transaction's inputs and change address for each of its refunds; null if another refund took some of the
 * inputs meanwhile, or if one of these changed. Returns the index of the change address.
 */
export async function holdInputs(
  app: App,
  query: CoinQuery,
  changeAt: (index: number) => WalletOutput,
  expected: ReadonlyMap<string, readonly Outpoint[]>,
  chosen: readonly ChosenCoin[],
): Promise<number | null> {
  const { refundIds, network } = query;
  return app.db.transaction().execute(async (trx) => {
    await lockWalletCoins(trx, network, query.firstAddress);
    // In the order of their ids, so that two that hold several refunds never wait for each other.
    for (const id of refundIds.toSorted()) {
      if ((await lockRefund(trx, id))?.status !== 'pending') return null;
    }
    const before = await refundInputs(trx, refundIds);
    const isSame = refundIds.every((id) => areSame(before.get(id) ?? [], expected.get(id) ?? []));
    if (!isSame) return null;
    const free = chosen.map(({ coin }) => coin).filter(({ isHeld, heldBy }) => !isHeld && heldBy.length === 0);
    if ((await heldByOthers(trx, query, free)).length > 0) return null;
    const spends = chosen.map(({ coin }) => coin);
    for (const id of refundIds) await saveRefundInputs(trx, id, network, spends);
    // Shown again, it must be able to spend the same inputs, even if the node has pruned the block meanwhile.
    if (changeAt(0).scriptType === 'p2pkh') {
      const whole = chosen.map(
        ({ coin, rawTransaction }) => [coin.txid, Buffer.from(rawTransaction ?? '', 'hex')] as const,
      );
      await saveRawTransactions(trx, network, new Map(whole));
    }
    return holdChange(trx, query, changeAt);
  });
}

function areSame(some: readonly Outpoint[], others: readonly Outpoint[]): boolean {
  return some.length === others.length && some.every((one) => others.some((other) => isOutput(one, other)));
}

/** The same change address again, unless it was paid meanwhile. */
async function holdChange(trx: Trx, query: CoinQuery, changeAt: (index: number) => WalletOutput): Promise<number> {
  const { refundIds, network, firstChangeAddress } = query;
  const seen = await seenChange(trx, network, firstChangeAddress);
  const before = await refundChanges(trx, network, firstChangeAddress, refundIds);
  const again = before.find((index) => !seen.has(index) && index <= lastIndex(seen));
  const open = await openChange(trx, network, firstChangeAddress, query);
  const index = again ?? chooseChangeIndex({ seen, open });
  const { address } = changeAt(index);
  await watchChange(trx, [{ network, address, firstChangeAddress, index }]);
  for (const id of refundIds) await saveRefundChange(trx, id, network, address);
  return index;
}
