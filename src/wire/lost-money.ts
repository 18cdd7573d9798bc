import type { LostMoney } from '../domain/lost-money.ts';
import { exactNumber } from './number.ts';

/** Lost money as clients see it: the data of its event, and its row in the status of its network. */
export function lostMoneyView({ network, address, index, amountUnits, decimals, asset, transactionHash }: LostMoney) {
  return {
    address,
    index,
    amount: exactNumber(amountUnits, decimals),
    asset,
    network,
    transaction_hash: transactionHash,
  };
}
