import { settled } from '../../domain/payment-request.ts';
import type { Trx } from '../../store/database.ts';
import { findInvoiceSummary } from '../../store/payments/invoice-documents.ts';
import { lockDueRequests, requestSums } from '../../store/payments/payment-requests.ts';
import { insertMails } from '../../store/people/mails.ts';
import { newId, type App } from '../context.ts';
import { PATIENCE_MS } from '../enqueue-mail.ts';
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
      if (steps.includes('paid')) await mailReceipt(app, trx, request.id, now);
    }
    return due.length;
  });
}

/** Saves the mail with the receipt of a paid invoice to its buyer, once. */
async function mailReceipt(app: App, trx: Trx, requestId: string, now: number): Promise<void> {
  if (app.sendsMail !== true || !(await findInvoiceSummary(trx, requestId))?.email) return;
  const mail = { id: newId(app, now), requestId, mailKey: 'receipt', giveUpAt: now + PATIENCE_MS };
  await insertMails(trx, [{ ...mail, content: { kind: 'invoice_receipt' } }], now);
}
