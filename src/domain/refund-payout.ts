import type { AssetCode } from './asset-code.ts';
import { NETWORK_FACTS, type Network } from './networks.ts';
import { REFUND_LIFETIME_MS, type RefundStatus } from './refund.ts';

/**
 * For this long after a refund was created, an exact payment counts as its payout although the refund failed: it was
 * paid late, or from an outdated list.
 */
export const MAX_LATE_PAYOUT_MS = 2 * REFUND_LIFETIME_MS;

/** For about as long nodes are asked again who made a balance grow: their faults last minutes. */
const RETRACED_MS = 15 * 60_000;
/** At least, where blocks are slow, and at most, where they are fast: nodes keep the state of few blocks. */
const RETRACED_BLOCKS = { least: 64, most: 1_024 } as const;

/**
 * The height at which blocks that no node traced are traced again: 1 block after the first time, 2 after the next, then
 * 4 … Null after the last time. `times`: how often they were traced again so far.
 */
export function nextTraceOf(network: Network, tip: number, times: number): number | null {
  const { least, most } = RETRACED_BLOCKS;
  const blocks = Math.min(most, Math.max(least, RETRACED_MS / NETWORK_FACTS[network].blockMs));
  return times < Math.floor(Math.log2(blocks)) ? tip + 2 ** times : null;
}

/** A transfer to a refund's address. Amounts in the smallest unit, times in epoch milliseconds. */
export interface PayoutTransfer {
  readonly transactionHash: string;
  readonly asset: AssetCode;
  readonly index: number;
  /** The address in the form of `matchingAddress`. */
  readonly address: string;
  readonly amount: bigint;
  /** Timestamp of its block; null while it is in a mempool. */
  readonly blockAt: number | null;
  /** The ids of the only refunds that it may pay, if its block was read before and others may be newer. */
  readonly mayPay?: readonly string[];
}

/** The facts of a refund that matter for finding its payout. */
export interface PayableRefund {
  readonly id: string;
  readonly status: RefundStatus;
  readonly asset: AssetCode;
  readonly units: bigint;
  /** The address in the form of `matchingAddress`. */
  readonly address: string;
  readonly createdAt: number;
  /** The inputs of the transaction last shown for signing, as `txid:vout`; empty on EVM chains. */
  readonly inputs: readonly string[];
}

/** A transfer already known to pay a refund. */
export interface KnownPayout {
  readonly refundId: string;
  readonly transactionHash: string;
  readonly asset: AssetCode;
  readonly index: number;
  /** The inputs that it spends, as `txid:vout`; empty if unknown. */
  readonly spends: readonly string[];
  /** `block`: mined. `waiting`: in a mempool, or reorganised away and not given up. `dropped`: gone. */
  readonly state: 'block' | 'waiting' | 'dropped';
  readonly isGuess: boolean;
}

export interface PayoutMatch<T extends PayoutTransfer> {
  readonly refundId: string;
  readonly transfer: T;
  /** Matched by amount and address only, when the refund had already failed or was paid. */
  readonly isGuess: boolean;
}

interface Payee {
  readonly refund: PayableRefund;
  readonly isGuess: boolean;
}

/**
 * Finds which transfers pay which refunds: the exact amount, in the refund's asset and to its address, one transfer per
 * refund, guesses apart.
 *
 * A known transfer stays with its refund, whatever the refund's status, and so does a transfer that replaces it: the
 * payout of a cancelled refund never completes another refund. Refunds of the same amount are told apart by the inputs
 * that their shown transactions spend (`spends`: `txid:vout` by transaction), then by age. Only a pending refund can
 * match in these two ways. Refunds that nothing pays yet come first; a refund whose payout is unmined may still match
 * another transfer, because that may be a replacement that nobody announced. A mined transfer that matches nothing else
 * may exactly match a failed refund, or pay a paid one once more: that is a guess. `refunds` are in order of creation.
 *
 * No block's date is compared with the creation of a refund. Blocks are read once and in order, so that the cursor
 * alone tells which transfers came after a refund, and a wrong clock hides no payout (docs/design/refunds.md). Blocks
 * that are traced later say themselves which refunds are older (`mayPay`).
 */
export function matchPayouts<T extends PayoutTransfer>(
  transfers: readonly T[],
  refunds: readonly PayableRefund[],
  known: readonly KnownPayout[],
  spends: ReadonlyMap<string, readonly string[]>,
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
  const equal = (transfer: T): readonly PayableRefund[] => refunds.filter((refund) => isPaidBy(refund, transfer));
  const fits = (transfer: T): readonly PayableRefund[] =>
    equal(transfer).filter(({ id }) => transfer.mayPay?.includes(id) ?? true);
  const isOpen = (refund: PayableRefund): boolean => waits(refund, known) && !mined.has(refund.id);
  const takesAnyCoins = (one: PayableRefund): boolean => isOpen(one) && !paid.has(one.id) && one.inputs.length === 0;
  const free = (candidates: readonly PayableRefund[]): Payee | null => {
    const open = candidates.filter(isOpen);
    return certain(open.find(({ id }) => !paid.has(id)) ?? open[0]);
  };
  const guess = (transfer: T): Payee | null => {
    const { blockAt } = transfer;
    if (blockAt === null) return null;
    const late = fits(transfer).filter(({ createdAt }) => blockAt <= createdAt + MAX_LATE_PAYOUT_MS);
    const refund =
      late.find(({ id, status }) => status === 'failed' && !paid.has(id)) ??
      late.find(({ id, status }) => status !== 'failed' && mined.has(id));
    return refund === undefined ? null : { refund, isGuess: true };
  };
  const spentBy = ({ transactionHash }: T): readonly string[] => spends.get(transactionHash) ?? [];
  const spenders = (transfer: T): readonly PayableRefund[] =>
    fits(transfer).filter(({ inputs }) => sharesInput(inputs, spentBy(transfer)));

  const used = new Set<KnownPayout>();
  const seenAs = (transfer: T, isSame: (payout: KnownPayout) => boolean): Payee | null => {
    for (const refund of equal(transfer)) {
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
    // When an EVM transaction is mined again in another block, its logs are numbered anew.
    (transfer) => seenAs(transfer, (one) => isTransaction(one, transfer)),
    // Only one of two transactions that spend the same input can be mined.
    (transfer) => seenAs(transfer, (one) => one.state !== 'block' && sharesInput(one.spends, spentBy(transfer))),
    (transfer) => free(spenders(transfer)),
    (transfer) => (spenders(transfer).length === 0 ? free(fits(transfer)) : null),
    // The refund was cancelled before its payout was seen. Wallets that choose coins may pay an equal one with them.
    (transfer) =>
      fits(transfer).some(takesAnyCoins) ? null : certain(spenders(transfer).find(({ id }) => !paid.has(id))),
    (transfer) => certain(fits(transfer).find(takesAnyCoins)) ?? free(fits(transfer)),
    (transfer) => certain(spenders(transfer)[0]),
    // The refund was cancelled and is paid from other inputs, or it is paid a second time.
    guess,
  ];
  for (const round of rounds)
    for (const transfer of transfers) if (!matches.has(transfer)) match(transfer, round(transfer));
  return [...matches].map(([transfer, { refund, isGuess }]) => ({ transfer, refundId: refund.id, isGuess }));
}

function isPaidBy({ asset, units, address }: PayableRefund, transfer: PayoutTransfer): boolean {
  return asset === transfer.asset && units === transfer.amount && address === transfer.address;
}

/** Whether a refund waits for a payout; a completed refund does again once its payout was reorganised away. */
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
