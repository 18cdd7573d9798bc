import type { AssetCode } from './asset.ts';
import { REFUND_LIFETIME_MS, type RefundStatus } from './refund.ts';

/** So long after a refund was made, what pays exactly it although it failed is taken for its payout: paid late, or from a list that is old. */
export const MAX_LATE_PAYOUT_MS = 2 * REFUND_LIFETIME_MS;

/** A transfer to an address that a refund goes to; amounts in the smallest unit, times in epoch milliseconds. */
export interface PayoutTransfer {
  readonly transactionHash: string;
  readonly asset: AssetCode;
  readonly index: number;
  /** In the form of `matchingAddress`. */
  readonly address: string;
  readonly amount: bigint;
  /** Its block's own time; null while it waits in a mempool. */
  readonly blockAt: number | null;
}

/** A refund as far as its payout is concerned. */
export interface PayableRefund {
  readonly id: string;
  readonly status: RefundStatus;
  readonly asset: AssetCode;
  readonly units: bigint;
  /** In the form of `matchingAddress`. */
  readonly address: string;
  readonly createdAt: number;
  /** What it was last shown to spend, as `txid:vout`; empty on EVM chains. */
  readonly inputs: readonly string[];
}

/** A transfer that was found to pay a refund before. */
export interface KnownPayout {
  readonly refundId: string;
  readonly transactionHash: string;
  readonly asset: AssetCode;
  readonly index: number;
  /** What it spends, as `txid:vout`; empty where that is not known. */
  readonly spends: readonly string[];
  /** `block`: in a block. `waiting`: in a mempool, or taken back and not given up. `dropped`: nowhere any more. */
  readonly state: 'block' | 'waiting' | 'dropped';
  readonly isGuess: boolean;
}

export interface PayoutMatch<T extends PayoutTransfer> {
  readonly refundId: string;
  readonly transfer: T;
  /** Only amount and address say so, and the refund had failed before. */
  readonly isGuess: boolean;
}

interface Payee {
  readonly refund: PayableRefund;
  readonly isGuess: boolean;
}

/**
 * Which transfers pay which refunds: exactly a refund's amount, in its asset and to its address, each transfer for one refund.
 *
 * A transfer that was seen before stays with its refund, whatever has become of that, and so does what replaces it: what
 * paid a cancelled refund never completes another. Then what was shown to be spent tells refunds of the same amount apart
 * (`spends`: inputs as `txid:vout`, by transaction), and after that their age. By these only a refund that waits gets a transfer, and
 * none that was created more than `marginMs` after its block. Refunds that nothing pays yet come first; one whose payout is in
 * no block may get another, for that is what an unknown replacement looks like. What pays nothing else in a block may yet pay a
 * failed refund exactly: that is a guess. `refunds` are in the order of their creation.
 */
export function matchPayouts<T extends PayoutTransfer>(
  transfers: readonly T[],
  refunds: readonly PayableRefund[],
  known: readonly KnownPayout[],
  spends: ReadonlyMap<string, readonly string[]>,
  marginMs: number,
): readonly PayoutMatch<T>[] {
  const mined = new Set(known.filter(({ state }) => state === 'block').map(({ refundId }) => refundId));
  const paid = new Set(known.filter(({ state }) => state !== 'dropped').map(({ refundId }) => refundId));
  const matches = new Map<T, Payee>();
  const match = (transfer: T, payee: Payee | null): void => {
    if (payee === null) return;
    const { refund } = payee;
    matches.set(transfer, payee);
    paid.add(refund.id);
    if (transfer.blockAt !== null) mined.add(refund.id);
  };
  const fits = (transfer: T): readonly PayableRefund[] => refunds.filter((refund) => isPaidBy(refund, transfer));
  const isOlder = ({ createdAt }: PayableRefund, { blockAt }: T): boolean =>
    blockAt === null || createdAt <= blockAt + marginMs;
  const free = (transfer: T, candidates: readonly PayableRefund[]): Payee | null => {
    const open = candidates.filter((refund) => waits(refund, known) && !mined.has(refund.id));
    const inTime = open.filter((refund) => isOlder(refund, transfer));
    return certain(inTime.find(({ id }) => !paid.has(id)) ?? inTime[0]);
  };
  const guess = (transfer: T): Payee | null => {
    const { blockAt } = transfer;
    if (blockAt === null) return null;
    const refund = fits(transfer).find(
      (one) =>
        one.status === 'failed' &&
        !paid.has(one.id) &&
        isOlder(one, transfer) &&
        blockAt <= one.createdAt + MAX_LATE_PAYOUT_MS,
    );
    return refund === undefined ? null : { refund, isGuess: true };
  };
  const spentBy = ({ transactionHash }: T): readonly string[] => spends.get(transactionHash) ?? [];
  const spenders = (transfer: T): readonly PayableRefund[] =>
    fits(transfer).filter(({ inputs }) => sharesInput(inputs, spentBy(transfer)));

  const used = new Set<KnownPayout>();
  const seenAs = (transfer: T, isSame: (payout: KnownPayout) => boolean): Payee | null => {
    for (const refund of fits(transfer)) {
      const payout = known.find(
        (one) => one.refundId === refund.id && one.asset === transfer.asset && isSame(one) && !used.has(one),
      );
      if (payout === undefined) continue;
      used.add(payout);
      return { refund, isGuess: payout.isGuess };
    }
    return null;
  };
  const rounds: ((transfer: T) => Payee | null)[] = [
    (transfer) => seenAs(transfer, (one) => isTransaction(one, transfer) && one.index === transfer.index),
    // In another block a transaction of an EVM chain runs anew, and its logs count from elsewhere.
    (transfer) => seenAs(transfer, (one) => isTransaction(one, transfer)),
    // Of two that spend the same only one can be mined.
    (transfer) => seenAs(transfer, (one) => one.state !== 'block' && sharesInput(one.spends, spentBy(transfer))),
    (transfer) => free(transfer, spenders(transfer)),
    (transfer) => free(transfer, fits(transfer)),
    // Of a refund that was cancelled before its payout was seen.
    (transfer) => certain(spenders(transfer)[0]),
    // Of one that was cancelled and is paid from other coins all the same.
    guess,
  ];
  for (const round of rounds)
    for (const transfer of transfers) if (!matches.has(transfer)) match(transfer, round(transfer));
  return [...matches].map(([transfer, { refund, isGuess }]) => ({ transfer, refundId: refund.id, isGuess }));
}

function isPaidBy({ asset, units, address }: PayableRefund, transfer: PayoutTransfer): boolean {
  return asset === transfer.asset && units === transfer.amount && address === transfer.address;
}

/** One that was completed waits again once its payout was taken back. */
function waits({ status, id }: PayableRefund, known: readonly KnownPayout[]): boolean {
  return status === 'pending' || (status === 'completed' && known.some(({ refundId }) => refundId === id));
}

function certain(refund: PayableRefund | undefined): Payee | null {
  return refund === undefined ? null : { refund, isGuess: false };
}

type Transaction = Pick<PayoutTransfer, 'transactionHash'>;

function isTransaction(one: Transaction, other: Transaction): boolean {
  return one.transactionHash === other.transactionHash;
}

function sharesInput(some: readonly string[], others: readonly string[]): boolean {
  return some.some((input) => others.includes(input));
}
