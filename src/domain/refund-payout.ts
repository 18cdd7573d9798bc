import type { AssetCode } from './asset.ts';
import type { RefundStatus } from './refund.ts';

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
}

export interface PayoutMatch<T extends PayoutTransfer> {
  readonly refundId: string;
  readonly transfer: T;
}

/**
 * Which transfers pay which refunds: exactly a refund's amount, in its asset and to its address, each transfer for one refund.
 *
 * A transfer that was seen before stays with its refund, whatever has become of that, and so does what replaces it: what
 * paid a cancelled refund never completes another. Then what was shown to be spent tells refunds of the same amount apart
 * (`spends`: inputs as `txid:vout`, by transaction), and after that their age. By these only a refund that waits gets a transfer, and
 * none that was created more than `marginMs` after its block. Refunds that nothing pays yet come first; one whose payout is in
 * no block may get another, for that is what an unknown replacement looks like. `refunds` are in the order of their creation.
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
  const matches = new Map<T, string>();
  const match = (transfer: T, refund: PayableRefund | undefined): void => {
    if (refund === undefined) return;
    matches.set(transfer, refund.id);
    paid.add(refund.id);
    if (transfer.blockAt !== null) mined.add(refund.id);
  };
  const fits = (transfer: T): readonly PayableRefund[] =>
    refunds.filter(
      ({ asset, units, address }) =>
        asset === transfer.asset && units === transfer.amount && address === transfer.address,
    );
  // One that was completed waits again once its payout was taken back.
  const waits = ({ status, id }: PayableRefund): boolean =>
    status === 'pending' || (status === 'completed' && known.some(({ refundId }) => refundId === id));
  const free = (transfer: T, candidates: readonly PayableRefund[]): PayableRefund | undefined => {
    const open = candidates.filter((refund) => waits(refund) && !mined.has(refund.id));
    const { blockAt } = transfer;
    const inTime = open.filter(({ createdAt }) => blockAt === null || createdAt <= blockAt + marginMs);
    return inTime.find(({ id }) => !paid.has(id)) ?? inTime[0];
  };
  const spentBy = ({ transactionHash }: T): readonly string[] => spends.get(transactionHash) ?? [];
  const spenders = (transfer: T): readonly PayableRefund[] =>
    fits(transfer).filter(({ inputs }) => sharesInput(inputs, spentBy(transfer)));

  const used = new Set<KnownPayout>();
  const seenAs = (transfer: T, isSame: (payout: KnownPayout) => boolean): PayableRefund | undefined => {
    for (const refund of fits(transfer)) {
      const payout = known.find(
        (one) => one.refundId === refund.id && one.asset === transfer.asset && isSame(one) && !used.has(one),
      );
      if (payout === undefined) continue;
      used.add(payout);
      return refund;
    }
    return undefined;
  };
  const rounds: ((transfer: T) => PayableRefund | undefined)[] = [
    (transfer) => seenAs(transfer, (one) => isTransaction(one, transfer) && one.index === transfer.index),
    // In another block a transaction of an EVM chain runs anew, and its logs count from elsewhere.
    (transfer) => seenAs(transfer, (one) => isTransaction(one, transfer)),
    // Of two that spend the same only one can be mined.
    (transfer) => seenAs(transfer, (one) => one.state !== 'block' && sharesInput(one.spends, spentBy(transfer))),
    (transfer) => free(transfer, spenders(transfer)),
    (transfer) => free(transfer, fits(transfer)),
    // Of a refund that was cancelled before its payout was seen.
    (transfer) => spenders(transfer)[0],
  ];
  for (const round of rounds) {
    for (const transfer of transfers) if (!matches.has(transfer)) match(transfer, round(transfer));
  }
  return [...matches].map(([transfer, refundId]) => ({ transfer, refundId }));
}

type Transaction = Pick<PayoutTransfer, 'transactionHash'>;

function isTransaction(one: Transaction, other: Transaction): boolean {
  return one.transactionHash === other.transactionHash;
}

function sharesInput(some: readonly string[], others: readonly string[]): boolean {
  return some.some((input) => others.includes(input));
}
