import { settled } from '../../domain/payment-request.ts';
import { lockDueRequests, requestSums } from '../../store/payments/payment-requests.ts';
import type { App } from '../context.ts';
import { inTransaction } from '../in-transaction.ts';
import { saveRequest } from './save-request.ts';

/**
 * Looks at up to `limit` requests whose invoices changed or whose date has passed, and tells their merchants what
 * became of them. Returns how many it took.
 */
export function settleDueRequests(app: App, limit: number): Promise<number> {
  return inTransaction(app, async (trx) => {
    const now = app.clock();
    const due = await lockDueRequests(trx, now, limit);
    if (due.length === 0) return 0;
    const sumsOf = await requestSums(
      trx,
      due.map(({ id }) => id),
      now,
    );
    for (const found of due) {
      const sums = sumsOf(found.id);
      const { request, steps } = settled(found, sums, now);
      await saveRequest(app, trx, request, sums, steps, now);
    }
    return due.length;
  });
}
