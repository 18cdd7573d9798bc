import { NO_SUMS, requiredUnits, tracedHash, type Quote, type Received, type Sums, type Transfer } from './payment.ts';

/**
 * Adds up the transfers of the quote's own asset. A transfer is in time if it was first seen or dated before `untilAt`,
 * whichever is earlier. A transfer with an unknown transaction is never in time, so that it cannot complete a payment
 * automatically. `paysUnits` is less than the quote's amount if the merchant accepted less.
 */
export function sumTransfers(
  quote: Quote,
  transfers: readonly Transfer[],
  untilAt: number,
  paysUnits: bigint = requiredUnits(quote),
): Received {
  let all = NO_SUMS;
  let inTime = NO_SUMS;
  const counted = transfers
    .filter((transfer) => transfer.state !== 'dropped')
    .filter((transfer) => transfer.asset === quote.asset && transfer.network === quote.network)
    .toSorted(compareArrival);
  for (const transfer of counted) {
    all = plus(all, transfer);
    if (cameBefore(transfer, untilAt)) inTime = plus(inTime, transfer);
  }
  return { all, inTime, transactionHash: decidingHash(counted, paysUnits) };
}

/**
 * The hash of the transfer that reached the amount: among the confirmed ones if these are enough, else among the mined
 * ones, else among all, as an unmined one may still be replaced. If nothing is enough: the latest of the deepest.
 */
function decidingHash(counted: readonly Transfer[], required: bigint): string | null {
  const traced = counted.filter(({ transactionHash }) => tracedHash(transactionHash) !== null);
  const confirmed = traced.filter(({ state }) => state === 'confirmed');
  const mined = traced.filter(({ state }) => state !== 'seen');
  for (const some of [confirmed, mined, traced]) {
    let sum = 0n;
    for (const { amountUnits, transactionHash } of some) {
      sum += amountUnits;
      if (sum >= required) return transactionHash;
    }
  }
  return (confirmed.at(-1) ?? mined.at(-1) ?? traced.at(-1))?.transactionHash ?? null;
}

/** Whether a transfer with a known transaction was first seen or dated before a time. */
export function cameBefore({ transactionHash, firstSeenAt, blockAt }: Transfer, untilAt: number): boolean {
  return tracedHash(transactionHash) !== null && Math.min(firstSeenAt, blockAt ?? Infinity) < untilAt;
}

/**
 * The order in which transfers arrived: by the time they were first seen, then by block, by position in the block, and
 * by hash, whatever the rail's order is. Blocks' timestamps are of no use: they may be earlier than their transactions.
 */
function compareArrival(a: Transfer, b: Transfer): number {
  return (
    a.firstSeenAt - b.firstSeenAt ||
    (a.blockHeight ?? LAST) - (b.blockHeight ?? LAST) ||
    (a.blockPosition ?? LAST) - (b.blockPosition ?? LAST) ||
    compareText(a.transactionHash, b.transactionHash)
  );
}

/** Sorts unmined transfers, and those not in the block's list, last. */
const LAST = Number.MAX_SAFE_INTEGER;

/** Compares by code units. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The sums with one more transfer, which must not be dropped. */
export function plus(sums: Sums, transfer: Transfer): Sums {
  const amount = transfer.amountUnits;
  const mined = transfer.state === 'mined' || transfer.state === 'confirmed';
  return {
    seenUnits: sums.seenUnits + amount,
    minedUnits: sums.minedUnits + (mined ? amount : 0n),
    confirmedUnits: sums.confirmedUnits + (transfer.state === 'confirmed' ? amount : 0n),
  };
}
