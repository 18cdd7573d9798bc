import type { Payment, Transfer } from '../../domain/payment.ts';
import type { Observation } from '../../domain/transition.ts';
import type { PaymentChange } from '../../store/payments/save-changes.ts';
import { saveChanges } from '../../store/payments/save-changes.ts';
import { lockDuePayments, postponeDue } from '../../store/payments/payments.ts';
import type { Trx } from '../../store/database.ts';
import { findTransfers, saveTransfers, type PaymentTransfer } from '../../store/payments/transfers.ts';
import { observe } from './change-payment.ts';
import type { App } from '../context.ts';
import { inTransaction, emitAfterCommit } from '../in-transaction.ts';
import { policiesOf } from './payment-policy.ts';
import { withMessages } from './shop-messages.ts';
import { settle } from './payment-actions.ts';
import { receiptPrices } from './receipt-prices.ts';
import { nextStage } from './simulate-payment.ts';
import type { DueView } from '../../modes/rail.ts';

/**
 * The first interval after which a payment is polled again if its rail has not seen far enough; intervals grow up to a
 * minute.
 */
const MIN_POLL_MS = 2_000;
const MAX_POLL_MS = 60_000;

/**
 * Applies the changes that time brings: expiry, the end of the monitoring window, completion in the sandbox. Takes up
 * to `limit` overdue payments that no other worker has locked, or `only` one, and returns how many it took.
 */
export async function runDue(app: App, limit: number, only?: string): Promise<number> {
  return inTransaction(app, async (trx) => {
    const now = app.clock();
    const payments = await lockDuePayments(trx, now, limit, only);
    const changes: PaymentChange[] = [];
    const transfers: PaymentTransfer[] = [];
    const later: { id: string; at: number }[] = [];
    const views = await dueViews(app, payments, now, trx);
    const staged = await stagedTransfers(payments, views, trx);
    const policyOf = await policiesOf(app, trx, payments);
    for (const payment of payments) {
      const due = await observeDue(
        app,
        payment,
        views.get(payment.id),
        { now, known: staged.get(payment.id) ?? [] },
        trx,
      );
      const result = due === null ? null : observe(app, payment, due.observations, { now, policy: policyOf(payment) });
      if (due === null || result?.kind !== 'observed' || !result.moved) {
        later.push({ id: payment.id, at: nextPollAt(payment, now) });
        continue;
      }
      changes.push(result.change);
      transfers.push(...due.transfers);
    }
    // Only test payments receive money through the passage of time.
    await saveTransfers(trx, transfers, receiptPrices(app.railFor('test'), now));
    if (changes.length > 0) await saveChanges(trx, await withMessages(app, trx, changes, now), 1);
    for (const change of changes) emitAfterCommit(trx, { kind: 'payment_changed', change, requestId: null });
    await postponeDue(trx, later);
    return payments.length;
  });
}

/** The rails' views of the payments, by payment id. All queries use the connection that holds the locks. */
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

/** The transfers of payments whose money advances by one stage. */
async function stagedTransfers(
  payments: readonly Payment[],
  views: ReadonlyMap<string, DueView>,
  trx: Trx,
): Promise<ReadonlyMap<string, readonly Transfer[]>> {
  const staged = payments.filter(({ id }) => views.get(id)?.kind === 'next_stage').map(({ id }) => id);
  return staged.length === 0 ? new Map() : findTransfers(trx, staged);
}

interface Due {
  readonly observations: readonly Observation[];
  readonly transfers: readonly PaymentTransfer[];
}

async function observeDue(
  app: App,
  payment: Payment,
  view: DueView | undefined,
  { now, known }: { readonly now: number; readonly known: readonly Transfer[] },
  trx: Trx,
): Promise<Due | null> {
  switch (view?.kind) {
    case undefined:
      return null;
    case 'seen_up_to':
      return { observations: [{ kind: 'deadline', seenUpTo: view.at }], transfers: [] };
    case 'next_stage':
      return nextStage(payment, known, now);
    case 'settled': {
      const settled = await settle(app.railFor(payment.mode), payment, [], now, trx);
      if (settled.kind !== 'settled') return null;
      const transfer = { paymentId: payment.id, transfer: settled.transfer, blockHash: null };
      return { observations: [settled.observation], transfers: [transfer] };
    }
  }
}

function nextPollAt(payment: Payment, now: number): number {
  const overdueMs = now - payment.expiresAt;
  const doublings = Math.max(0, Math.floor(Math.log2(Math.max(1, overdueMs / MIN_POLL_MS))));
  return now + Math.min(MAX_POLL_MS, MIN_POLL_MS * 2 ** doublings);
}
