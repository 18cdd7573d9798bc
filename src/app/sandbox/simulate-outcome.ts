import { saveChanges } from '../../store/payments/save-changes.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { lockRefund, newestCompletedRefund } from '../../store/refunds/refunds.ts';
import { recordPeoplesAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { answerRow, inTransactionOnce } from '../idempotency.ts';
import type { ObservedTrx } from '../in-transaction.ts';
import { applyToRefund, auditedRefund } from '../refunds/save-refund.ts';
import { selects, type ChangeOutcome, type PaymentSelector } from '../payments/change-payment.ts';
import type { Simulation } from '../../domain/simulation.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import type { TokenRefusal } from '../payments/quote-payment.ts';
import type { NotSandbox, Presented } from '../payments/payment-actions.ts';

/**
 * Takes a test payment through the real transitions and events of an outcome. With `stageMs`, the money of `paid` and
 * `over` is only seen at first; it is mined after that time and confirmed after the same time again.
 */
export function simulateOutcome(
  app: App,
  selector: PaymentSelector,
  simulation: Simulation,
  stageMs: number | null = null,
  presented?: Presented,
): Promise<ChangeOutcome<TokenRefusal | NotSandbox>> {
  return simulation === 'refund_reorged'
    ? inTransactionOnce(app, presented?.idempotency ?? null, (trx) => takeBack(app, trx, selector, presented))
    : simulatePayment(app, selector, simulation, stageMs, presented);
}

/**
 * Takes back the payment's newest completed refund, as a reorganisation that removes its payout does. Locks the refund
 * before the payment, in the order of everything that changes refunds.
 */
async function takeBack(
  app: App,
  trx: ObservedTrx,
  selector: PaymentSelector,
  { present, idempotency = null }: Partial<Presented> = {},
): Promise<ChangeOutcome<NotSandbox>> {
  const [payment] = await findPayments(trx, [selector.id]);
  if (payment === undefined || !selects(selector, payment)) return { kind: 'not_found' };
  const rail = app.railFor(payment.mode);
  if (rail.kind !== 'sandbox') return { kind: 'not_sandbox' };
  const id = await newestCompletedRefund(trx, payment.id);
  const refund = id === null ? null : await lockRefund(trx, id);
  if (refund?.status !== 'completed') return { kind: 'refused', reason: 'no_completed_refund', payment };
  // The sandbox pays it again, as nodes usually do once the new blocks contain the payout too.
  const lifetimeMs = rail.refundOutcome(refund).afterMs;
  const outcome = await applyToRefund(app, trx, refund, { kind: 'taken_back', lifetimeMs }, null);
  if (outcome.kind !== 'done' || outcome.change === undefined) throw new Error('A locked refund was not taken back.');
  const { change } = outcome;
  const body = present?.(change.after) ?? '';
  if (idempotency !== null) await saveChanges(trx, [], 2, [answerRow(idempotency, body, app.clock())]);
  await recordPeoplesAudit(app, trx, auditedRefund('payment.simulate', outcome.refund));
  return { kind: 'changed', payment: change.after, body, change };
}
