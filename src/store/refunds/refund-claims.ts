import type { AssetCode } from '../../domain/asset-code.ts';
import type { Network } from '../../domain/networks.ts';
import type { RefundFailure, RefundStatus } from '../../domain/refund.ts';
import type { Database, Trx } from '../database.ts';
import { payoutOf, TAKES_PAYMENTS, type RefundPayout } from './refund-payouts.ts';

/** The facts of a refund that say what it takes from its payment's money. */
export interface ClaimOnPayment {
  readonly id: string;
  readonly status: RefundStatus;
  readonly failureReason: RefundFailure | null;
  readonly units: bigint;
  readonly payout: RefundPayout | null;
}

/**
 * A payment's refunds in order of creation, in one token unless it is null; failed ones only if something paid them.
 */
export async function claimsOn(
  executor: Database | Trx,
  paymentId: string,
  token: { readonly asset: AssetCode; readonly network: Network } | null,
): Promise<readonly ClaimOnPayment[]> {
  let query = executor
    .selectFrom('refunds as r')
    .select(['r.id', 'r.status', 'r.failure_reason as failureReason', 'r.units', TAKES_PAYMENTS.as('takesPayments')])
    .where('r.payment_id', '=', paymentId);
  if (token !== null) query = query.where('r.asset', '=', token.asset).where('r.network', '=', token.network);
  const rows = await query.orderBy('r.id').execute();
  const claims: ClaimOnPayment[] = [];
  for (const { takesPayments, ...claim } of rows) {
    const payout = takesPayments ? null : await payoutOf(executor, claim.id);
    if (claim.status === 'failed' && payout === null) continue;
    claims.push({ ...claim, payout });
  }
  return claims;
}
