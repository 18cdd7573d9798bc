import type { AssetCode, Network } from '../domain/asset.ts';
import { encodeId } from '../domain/id.ts';
import { formatDecimal } from '../domain/money.ts';
import { otherMoney } from '../domain/other-money.ts';
import type { Payment, Transfer } from '../domain/payment.ts';
import { coveredRefunds } from '../domain/refund-cover.ts';
import type { Refund } from '../domain/refund.ts';
import { findPayments } from '../store/payments.ts';
import { claimsOn, type ClaimOnPayment } from '../store/refund-claims.ts';
import { findTransfers } from '../store/transfers.ts';
import type { App } from './context.ts';

/** Whether a payment's confirmed money still covers a pending refund beside the others. */
export type RefundCover =
  | { readonly kind: 'covered'; readonly warnings: readonly string[] }
  /** Who pays it now pays more than came. The reason and the way out, in words. */
  | { readonly kind: 'short'; readonly message: string };

/** Money may be gone since the refund was made: taken back by a reorganisation, or given back by a refund that was cancelled. */
export async function coverOf(app: Pick<App, 'db'>, refund: Refund): Promise<RefundCover> {
  const { id, paymentId, asset, decimals, units } = refund;
  const [payment] = await findPayments(app.db, [paymentId]);
  if (payment === undefined) throw new Error('A refund without its payment.');
  const transfers = (await findTransfers(app.db, [paymentId])).get(paymentId) ?? [];
  const confirmedUnits = confirmedOf(payment, transfers, refund);
  const claims = (await claimsOn(app.db, refund)).filter((claim) => claim.id !== id || !isFailed(claim));
  const live = claims.filter((claim) => !isFailed(claim)).map((claim) => ({ ...claim, kind: kindOf(claim) }));
  const paidAnyway = claims.filter((claim) => isFailed(claim) && isPaid(claim));
  const counted = [...live, ...paidAnyway.map((claim) => ({ ...claim, kind: 'paid' as const }))];
  if (coveredRefunds(confirmedUnits, counted).has(id)) {
    const gone = claims.filter((claim) => isFailed(claim) && claim.payout?.state === 'dropped');
    return { kind: 'covered', warnings: gone.map(mayComeBackFor) };
  }
  const isLost = !coveredRefunds(confirmedUnits, live).has(id);
  const amount = (some: bigint): string => `${formatDecimal(some, decimals)} ${asset}`;
  const lost =
    `The money that this refund gives back is not confirmed on the chain any more: of what came for the payment ${amount(confirmedUnits)} are, ` +
    `and with the other refunds that does not cover these ${amount(units)}. Do not pay it now. Wait until it is confirmed again, or cancel this refund.`;
  return { kind: 'short', message: [...(isLost ? [lost] : []), ...paidAnyway.map(givenBackBy)].join(' ') };
}

/** What of a payment's money in one token is confirmed, in the smallest units. */
function confirmedOf(
  payment: Payment,
  transfers: readonly Transfer[],
  { asset, network }: { readonly asset: AssetCode; readonly network: Network },
): bigint {
  const { quote, ledger } = payment;
  if (quote?.asset === asset && quote.network === network) return ledger.all.confirmedUnits;
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

/** How a refund ended, after "which". */
function endOf({ failureReason }: ClaimOnPayment): string {
  return failureReason === 'unpaid' ? 'had run out' : 'had been cancelled';
}

function givenBackBy(claim: ClaimOnPayment): string {
  const { id, payout } = claim;
  const how = payout?.state === 'waiting' ? 'is being given back, once it is mined,' : 'was given back already';
  return `The money ${how} by ${payout?.transactionHash ?? 'a transaction'}, which pays ${encodeId('refund', id)}, which ${endOf(claim)}. Do not pay it again: cancel this refund.`;
}

function mayComeBackFor(claim: ClaimOnPayment): string {
  const { id, payout } = claim;
  return `${payout?.transactionHash ?? 'A transaction'} was to pay ${encodeId('refund', id)}, which ${endOf(claim)}, and is in no block now. Before you pay this one, make sure that it can no longer be mined: spend one of the same coins, or use the same nonce.`;
}
