import type { Network } from '../../domain/networks.ts';
import { readCursor, readSeenUpTo } from '../../store/chains/chain.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { beingPaid, refundsPaidBy, refundsTakenBack } from '../../store/refunds/refund-payouts.ts';
import { lockDueRefunds, lockRefund } from '../../store/refunds/refunds.ts';
import type { App } from '../context.ts';
import { inTransactionOnce } from '../idempotency.ts';
import { purgeStalePayouts } from './refund-payouts.ts';
import { applyToRefund } from './save-refund.ts';
import { inTransaction } from '../in-transaction.ts';

/** Ends due refunds, or those of one payment, as their rail says. Returns how many were due. */
export async function runDueRefunds(app: App, limit: number, paymentId?: string): Promise<number> {
  return inTransaction(app, async (trx) => {
    const refunds = await lockDueRefunds(trx, app.clock(), await readSeenUpTo(trx), limit, paymentId);
    // All payments are locked at once and in the order of their ids, like everywhere.
    await lockPayments(trx, [...new Set(refunds.map((refund) => refund.paymentId))]);
    // Read again: a payout may have been seen while this transaction waited for the lock.
    const paid = await beingPaid(
      trx,
      refunds.map(({ id }) => id),
    );
    for (const refund of refunds.filter(({ id }) => !paid.has(id))) {
      const { observation } = app.railFor(refund.mode).refundOutcome(refund);
      await applyToRefund(app, trx, refund, observation, null);
    }
    return refunds.length;
  });
}

/**
 * Reopens completed refunds whose payout a reorganisation removed. Called after the chain was followed to its end, so
 * that a refund stays completed if the new blocks contain its payout as well. Returns whether there were any.
 */
export async function reopenRefunds(app: App, network: Network): Promise<boolean> {
  const takenBack = await refundsTakenBack(app.db, network);
  for (const id of takenBack) {
    await inTransactionOnce(app, null, async (trx) => {
      const refund = await lockRefund(trx, id);
      const isTakenBack = (await refundsTakenBack(trx, network)).includes(id);
      if (refund === null || !isTakenBack) return { kind: 'not_found' };
      return applyToRefund(app, trx, refund, { kind: 'taken_back' }, null);
    });
  }
  return takenBack.length > 0;
}

/** Completes the refunds of a network whose payout has enough confirmations. */
export async function completePaidRefunds(app: App, network: Network): Promise<void> {
  await purgeStalePayouts(app, network, app.clock());
  const cursor = await readCursor(app.db, network);
  for (const { refundId, ...paid } of await refundsPaidBy(app.db, network, cursor?.height ?? 0)) {
    await inTransactionOnce(app, null, async (trx) => {
      const refund = await lockRefund(trx, refundId);
      return refund === null ? { kind: 'not_found' } : applyToRefund(app, trx, refund, { kind: 'paid', ...paid }, null);
    });
  }
}
