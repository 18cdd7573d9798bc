import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { MIN_SKIP } from '../../domain/recovery.ts';
import { eventBody } from '../../wire/event.ts';
import { lostMoneyView } from '../../wire/lost-money.ts';
import type { LostMoney } from '../../domain/lost-money.ts';
import { shownAddress } from '../../rails/address.ts';
import type { Trx } from '../../store/database.ts';
import {
  lostTransfers,
  projectsOfWallet,
  saveLostTransfers,
  type LostTransfer,
} from '../../store/chains/lost-transfers.ts';
import {
  lockIndexes,
  setHalted,
  skipTo,
  type LockedIndex,
  type UnissuedAddress,
} from '../../store/wallets/unissued.ts';
import type { NewEvent } from '../../store/payments/save-changes.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';
import { publishEvents } from '../../store/webhooks/publish-events.ts';
import { newId, type App } from '../context.ts';
import { emitAfterCommit, type ObservedTrx } from '../in-transaction.ts';

/**
 * Saves money on addresses that this database never handed out, in the transaction that takes in its block.
 *
 * Money on a skipped index belongs to a lost payment and is published as lost. On a later index, another installation
 * hands out addresses of this wallet. If the money is older than the last recovery, that was the copy whose records are
 * lost, and the indexes up to the money's are skipped too. If it is newer, another copy is running: no more addresses
 * are handed out until the operator has decided which copy stays. For the deposit addresses of a treasury this is only
 * reported (`network-status.ts`): anybody can compute them, so a stranger could stop the shop with one coin.
 */
export async function takeInLostMoney(
  app: App,
  trx: ObservedTrx,
  network: Network,
  unissued: ReadonlyMap<string, UnissuedAddress>,
  found: readonly FoundTransfer[],
  now: number,
): Promise<void> {
  const lost = found.flatMap((one) => lostTransfer(network, unissued, one, now));
  if (lost.length === 0) return;
  const fresh = await saveLostTransfers(trx, lost);
  const groups = Map.groupBy(lost, ({ firstAddress }) => firstAddress);
  for (const wallet of await lockIndexes(trx, network, [...groups.keys()])) {
    await checkWallet(trx, network, wallet, groups.get(wallet.firstAddress) ?? [], now);
  }
  await publishLostMoney(app, trx, await amongLost(trx, fresh), now);
}

function lostTransfer(
  network: Network,
  unissued: ReadonlyMap<string, UnissuedAddress>,
  { block, transfer, paymentId }: FoundTransfer,
  now: number,
): readonly LostTransfer[] {
  const one = unissued.get(transfer.address);
  if (one === undefined || paymentId !== undefined) return [];
  const position = block.transfers.indexOf(transfer);
  return [
    {
      network,
      transactionHash: transfer.transactionHash,
      asset: transfer.asset,
      outputIndex: transfer.index,
      address: transfer.address,
      firstAddress: one.firstAddress,
      addressIndex: one.index,
      amountUnits: transfer.amount,
      foundAt: now,
      blockHeight: block.height,
      blockHash: block.hash,
      blockAt: block.timeMs,
      blockPosition: position < 0 ? null : position,
    },
  ];
}

async function checkWallet(
  trx: Trx,
  network: Network,
  wallet: LockedIndex,
  lost: readonly LostTransfer[],
  now: number,
): Promise<void> {
  const ahead = lost.filter(({ addressIndex }) => addressIndex >= wallet.nextIndex);
  const ofLostTime = ahead.filter(({ blockAt }) => wallet.skippedAt !== null && (blockAt ?? now) <= wallet.skippedAt);
  if (ofLostTime.length > 0) {
    const highest = Math.max(...ofLostTime.map(({ addressIndex }) => addressIndex));
    // The time of the recovery stays: later money says nothing about the lost hours.
    await skipTo(trx, network, wallet, highest + 1 + MIN_SKIP, wallet.skippedAt ?? now);
    return;
  }
  const [first] = ahead;
  if (first === undefined || wallet.haltedReason !== null || wallet.kind === 'treasury') return;
  await setHalted(trx, network, wallet.firstAddress, foreignCopy(network, first, wallet));
}

/**
 * Neither of two copies can know which one the operator wants to keep: the original of a restored copy notices the
 * other too.
 */
export const WHICH_COPY_STAYS =
  'Only one copy may take payments. If this copy is to stay, stop the other copy, then run the command recover here. If the other copy was restored from a backup to replace this one, stop this copy for good';

function foreignCopy(
  network: Network,
  { addressIndex, transactionHash, address }: LostTransfer,
  wallet: LockedIndex,
): string {
  return (
    `money arrived at address number ${addressIndex} of the ${network} wallet (${shownAddress(network, address)}, transaction ${transactionHash}), but the next number to be handed out here is ${wallet.nextIndex}. ` +
    `Another copy of this installation hands out addresses of the same wallet, or the wallet is used elsewhere. ${WHICH_COPY_STAYS}`
  );
}

/** The transfers whose indexes are skipped by now. */
async function amongLost(trx: Trx, fresh: readonly LostTransfer[]): Promise<readonly LostTransfer[]> {
  if (fresh.length === 0) return [];
  const keyOf = (one: LostTransfer): string => `${one.network} ${one.transactionHash} ${one.asset} ${one.outputIndex}`;
  const keys = new Set(fresh.map(keyOf));
  return (await lostTransfers(trx)).filter((one) => keys.has(keyOf(one)));
}

/** Publishes `payment.lost` to every project that uses the wallet, once per transfer. */
export async function publishLostMoney(
  app: App,
  trx: ObservedTrx,
  lost: readonly LostTransfer[],
  now: number,
): Promise<void> {
  const events: NewEvent[] = [];
  for (const one of lost) {
    for (const { projectId } of await projectsOfWallet(trx, one.network, one.firstAddress)) {
      const decimals = decimalsOf(app, one);
      const id = newId(app, now);
      const money = lostMoney(one, decimals);
      const data = lostMoneyView(money);
      const body = eventBody({ id, type: 'payment.lost', createdAt: now, sequence: 1, data });
      events.push({
        id,
        projectId,
        mode: 'live',
        paymentId: null,
        type: 'payment.lost',
        body,
        createdAt: now,
        requestId: null,
      });
      emitAfterCommit(trx, { kind: 'money_lost', projectId, network: one.network, lost: money });
    }
  }
  await publishEvents(trx, events);
}

export function lostMoney(one: LostTransfer, decimals: number): LostMoney {
  return {
    network: one.network,
    address: shownAddress(one.network, one.address),
    index: one.addressIndex,
    amountUnits: one.amountUnits,
    decimals,
    asset: one.asset,
    transactionHash: one.transactionHash,
  };
}

/** The decimals of the contract configured by the operator, if there is one. */
export function decimalsOf(
  app: Pick<App, 'railFor'>,
  { asset, network }: { readonly asset: AssetCode; readonly network: Network },
): number {
  return app.railFor('live').decimals({ asset, network }) ?? 0;
}
