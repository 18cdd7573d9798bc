import type { Payment } from '../../domain/payment.ts';
import type { Observation } from '../../domain/transition.ts';
import type { PaymentChange } from '../../store/save-changes.ts';
import { saveChanges } from '../../store/save-changes.ts';
import { lockDuePayments, postponeDue } from '../../store/payments.ts';
import type { Trx } from '../../store/database.ts';
import { saveTransfers, type PaymentTransfer } from '../../store/transfers.ts';
import { observe } from './change-payment.ts';
import type { App } from '../context.ts';
import { inTransaction, emitAfterCommit } from '../in-transaction.ts';
import { settle } from './payment-actions.ts';
import type { DueView } from '../../modes/rail.ts';

/**
 * A payment whose rail has not seen far enough is polled again after this, then less and less often, up to once a
 * minute.
 */
const MIN_POLL_MS = 2_000;
const MAX_POLL_MS = 60_000;

/**
 * Applies what follows from time: expiry, the end of the monitoring window, completion by the sandbox. Takes up to
 * `limit` overdue payments that no other worker has locked, and returns how many it took.
 */
export async function runDue(app: App, limit: number): Promise<number> {
  return inTransaction(app, async (trx) => {
    const now = app.clock();
    const payments = await lockDuePayments(trx, now, limit);
    const changes: PaymentChange[] = [];
    const transfers: PaymentTransfer[] = [];
    const later: { id: string; at: number }[] = [];
    const views = await dueViews(app, payments, now, trx);
    for (const payment of payments) {
      const due = await observeDue(app, payment, views.get(payment.id), now, trx);
      const result = due === null ? null : observe(app, payment, [due.observation], now);
      if (due === null || result?.kind !== 'observed' || !result.moved) {
        later.push({ id: payment.id, at: nextPollAt(payment, now) });
        continue;
      }
      changes.push(result.change);
      if (due.transfer !== null) transfers.push(due.transfer);
    }
    await saveTransfers(trx, transfers);
    if (changes.length > 0) await saveChanges(trx, changes, 1);
    for (const change of changes) emitAfterCommit(trx, { kind: 'payment_changed', change, requestId: null });
    await postponeDue(trx, later);
    return payments.length;
  });
}

/** What the rails say about the payments, by payment id. All queries use the connection that holds the locks. */
async function dueViews(
  app: App,
  payments: readonly Payment[],
  now: number,
  trx: Trx,
): Promise<ReadonlyMap<string, DueView>> {
  const views = new Map<string, DueView>();
  for (const [mode, group] of Map.groupBy(payments, (payment) => payment.mode)) {
    for (const [id, view] of await app.railFor(mode).dueViews(group, now, trx)) views.set(id, view);
  }
  return views;
}

async function observeDue(
  app: App,
  payment: Payment,
  view: DueView | undefined,
  now: number,
  trx: Trx,
): Promise<{ readonly observation: Observation; readonly transfer: PaymentTransfer | null } | null> {
  if (view === undefined) return null;
  if (view.kind === 'seen_up_to') return { observation: { kind: 'deadline', seenUpTo: view.at }, transfer: null };
  const settled = await settle(app.railFor(payment.mode), payment, [], now, trx);
  if (settled.kind !== 'settled') return null;
  const transfer = { paymentId: payment.id, transfer: settled.transfer, blockHash: null };
  return { observation: settled.observation, transfer };
}

function nextPollAt(payment: Payment, now: number): number {
  const overdueMs = now - payment.expiresAt;
  const doublings = Math.max(0, Math.floor(Math.log2(Math.max(1, overdueMs / MIN_POLL_MS))));
  return now + Math.min(MAX_POLL_MS, MIN_POLL_MS * 2 ** doublings);
}
