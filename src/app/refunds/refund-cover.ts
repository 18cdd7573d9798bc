import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import { encodeId } from '../../domain/id.ts';
import { formatDecimal } from '../../domain/money.ts';
import { otherMoney } from '../../domain/other-money.ts';
import type { Payment, Transfer } from '../../domain/payment.ts';
import { inARow, sentence, type Sentence } from '../../domain/sentence.ts';
import { coveredRefunds } from '../../domain/refund-cover.ts';
import type { Refund } from '../../domain/refund.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { claimsOn, paidTwice, type ClaimOnPayment } from '../../store/refunds/refund-payouts.ts';
import { findTransfers } from '../../store/payments/transfers.ts';
import type { App } from '../context.ts';

/** Whether a payment's confirmed money still covers a pending refund besides its other refunds. */
export type RefundCover =
  | { readonly kind: 'covered'; readonly warnings: readonly Sentence[] }
  /** Paying the refund now would pay back more than the payment received. `message` says why, and the way out. */
  | { readonly kind: 'short'; readonly message: Sentence };

/**
 * Whether the confirmed money covers the refund. Money may be gone since the refund was created: reorganised away, or
 * paid out by a refund that was cancelled. Transactions in `notPaidBy` do not count as payouts of such refunds.
 */
export async function coverOf(
  app: Pick<App, 'db'>,
  refund: Refund,
  notPaidBy: readonly string[],
): Promise<RefundCover> {
  const { id, paymentId, asset, decimals, units } = refund;
  const [payment] = await findPayments(app.db, [paymentId]);
  if (payment === undefined) throw new Error('The payment of a refund is missing.');
  const transfers = (await findTransfers(app.db, [paymentId])).get(paymentId) ?? [];
  const confirmedUnits = confirmedOf(payment, transfers, refund);
  const claims = await claimsOn(app.db, paymentId, refund);
  const live = claims.filter((claim) => !isFailed(claim)).map((claim) => ({ ...claim, kind: kindOf(claim) }));
  const paidAnyway = claims.filter(
    (claim) =>
      isFailed(claim) && isPaid(claim) && !(claim.payout?.isGuess && notPaidBy.includes(claim.payout.transactionHash)),
  );
  const counted = [...live, ...paidAnyway.map((claim) => ({ ...claim, kind: 'paid' as const }))];
  if (coveredRefunds(confirmedUnits, counted).has(id)) {
    const gone = claims.filter((claim) => isFailed(claim) && claim.payout?.state === 'dropped');
    return { kind: 'covered', warnings: gone.map(mayComeBackFor) };
  }
  const isLost = !coveredRefunds(confirmedUnits, live).has(id);
  const amounts = { confirmed: formatDecimal(confirmedUnits, decimals), units: formatDecimal(units, decimals), asset };
  const lost = isLost ? [sentence('cover_lost', amounts)] : [];
  return { kind: 'short', message: inARow([...lost, ...paidAnyway.map((claim) => givenBackBy(claim, id))]) };
}

/** A payment's confirmed money in one token, in the smallest units. */
function confirmedOf(
  payment: Payment,
  transfers: readonly Transfer[],
  { asset, network }: { readonly asset: AssetCode; readonly network: Network },
): bigint {
  const { quote, received } = payment;
  if (quote?.asset === asset && quote.network === network) return received.all.confirmedUnits;
  const money = otherMoney(payment, transfers).find((other) => other.asset === asset && other.network === network);
  return money?.confirmedUnits ?? 0n;
}

function isFailed({ status }: ClaimOnPayment): boolean {
  return status === 'failed';
}

function isPaid({ status, payout }: ClaimOnPayment): boolean {
  return status === 'completed' || (payout !== null && payout.state !== 'dropped');
}

function kindOf(claim: ClaimOnPayment): 'paid' | 'open' {
  return isPaid(claim) ? 'paid' : 'open';
}

/** How a refund ended, worded to follow "which". */
function endOf({ failureReason }: ClaimOnPayment): Sentence {
  return sentence(failureReason === 'unpaid' ? 'had_expired' : 'had_been_cancelled');
}

/** A refund that was paid although it had failed, or more than once; perhaps if a payout may belong to another. */
export interface IrregularPayout {
  readonly kind: 'cancelled' | 'expired' | 'repeated' | 'repeated_perhaps';
  readonly refundId: string;
  readonly hashes: readonly string[];
}

export async function irregularPayouts(app: Pick<App, 'db'>, paymentId: string): Promise<readonly IrregularPayout[]> {
  const claims = await claimsOn(app.db, paymentId, null);
  const anyway = claims.flatMap((claim): readonly IrregularPayout[] => {
    const { id, failureReason, payout } = claim;
    if (!isFailed(claim) || !isPaid(claim) || payout === null) return [];
    return [
      { kind: failureReason === 'unpaid' ? 'expired' : 'cancelled', refundId: id, hashes: [payout.transactionHash] },
    ];
  });
  const twice = (await paidTwice(app.db, paymentId)).map(({ refundId, hashes, hasGuess }): IrregularPayout => ({
    kind: hasGuess ? 'repeated_perhaps' : 'repeated',
    refundId,
    hashes,
  }));
  return [...anyway, ...twice];
}

function givenBackBy(claim: ClaimOnPayment, shownId: string): Sentence {
  const values = endedPayout(claim);
  if (claim.payout?.isGuess) return sentence('given_back_guess', { ...values, shown: encodeId('refund', shownId) });
  return sentence(claim.payout?.state === 'waiting' ? 'given_back_waiting' : 'given_back', values);
}

function mayComeBackFor(claim: ClaimOnPayment): Sentence {
  return sentence('other_payout_gone', endedPayout(claim));
}

function endedPayout(claim: ClaimOnPayment) {
  const { id, payout } = claim;
  return { hash: payout?.transactionHash ?? '', refund: encodeId('refund', id), ended: endOf(claim) };
}
