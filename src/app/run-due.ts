import type { Payment } from '../domain/payment.ts';
import type { Observation } from '../domain/transition.ts';
import type { PaymentChange } from '../store/payment-rows.ts';
import { saveChanges } from '../store/payment-rows.ts';
import { lockDuePayments, postponeDue } from '../store/payments.ts';
import { saveTransfers, type PaymentTransfer } from '../store/transfers.ts';
import { observe } from './change-payment.ts';
import type { App } from './context.ts';
import { settle } from './payment-actions.ts';

/** A payment whose rail has not seen far enough is looked at again after this. */
const LOOK_AGAIN_MS = 2_000;

/**
 * Draws the consequences of time: expiry, the end of the monitoring window, the sandbox's completion. Takes up to `limit`
 * overdue payments that no other worker holds, and returns how many it took.
 */
export async function runDue(app: App, limit: number): Promise<number> {
  return app.db.transaction().execute(async (trx) => {
    const now = app.clock();
    const payments = await lockDuePayments(trx, now, limit);
    const changes: PaymentChange[] = [];
    const transfers: PaymentTransfer[] = [];
    const later: string[] = [];
    for (const payment of payments) {
      const due = await observeDue(app, payment, now);
      const result = due === null ? null : observe(app, payment, [due.observation], now);
      if (due === null || result?.kind !== 'observed' || !result.moved) {
        later.push(payment.id);
        continue;
      }
      changes.push(result.change);
      if (due.transfer !== null) transfers.push(due.transfer);
    }
    await saveTransfers(trx, transfers);
    if (changes.length > 0) await saveChanges(trx, changes, 2);
    if (later.length > 0) await postponeDue(trx, later, now + LOOK_AGAIN_MS);
    return payments.length;
  });
}

async function observeDue(
  app: App,
  payment: Payment,
  now: number,
): Promise<{ readonly observation: Observation; readonly transfer: PaymentTransfer | null } | null> {
  const rail = app.railFor(payment.mode);
  const view = await rail.dueView(payment, now);
  if (view.kind === 'seen_up_to') return { observation: { kind: 'deadline', seenUpTo: view.at }, transfer: null };
  const settled = await settle(rail, payment, [], now);
  if (settled.kind !== 'settled') return null;
  const transfer = { paymentId: payment.id, transfer: settled.transfer, blockHash: null };
  return { observation: settled.observation, transfer };
}
