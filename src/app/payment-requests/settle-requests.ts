import { settled, type PaymentRequest, type RequestSums } from '../../domain/payment-request.ts';
import type { Trx } from '../../store/database.ts';
import { findInvoiceSummary } from '../../store/payments/invoice-documents.ts';
import { livingInvoices, lockDueRequests, requestSums } from '../../store/payments/payment-requests.ts';
import { insertMails } from '../../store/people/mails.ts';
import { newId, type App } from '../context.ts';
import { PATIENCE_MS } from '../enqueue-mail.ts';
import { inTransaction } from '../in-transaction.ts';
import { cancelPayment } from '../payments/payment-actions.ts';
import { saveRequest } from './save-request.ts';

/**
 * Looks at up to `limit` requests whose invoices changed or whose date has passed, and tells their merchants what
 * became of them. Returns how many it took.
 */
export async function settleDueRequests(app: App, limit: number): Promise<number> {
  const settledNow = await inTransaction(app, async (trx) => {
    const now = app.clock();
    const due = await lockDueRequests(trx, now, limit);
    if (due.length === 0) return [];
    const sumsOf = await requestSums(
      trx,
      due.map(({ id }) => id),
      now,
    );
    const requests: PaymentRequest[] = [];
    for (const found of due) requests.push(await settleRequest(app, trx, found, sumsOf(found.id), now));
    return requests;
  });
  for (const request of settledNow) if (request.status === 'paid') await cancelUnpaid(app, request.id);
  return settledNow.length;
}

/** Saves what the invoices of a locked request have made of it, with its events and the mail of its receipt. */
export async function settleRequest(
  app: App,
  trx: Trx,
  found: PaymentRequest,
  sums: RequestSums,
  now: number,
): Promise<PaymentRequest> {
  const { request, steps } = settled(found, sums, now);
  if (steps.includes('paid')) await mailReceipt(app, trx, request.id, now);
  return saveRequest(app, trx, request, sums, steps, now);
}

/**
 * Cancels the invoices of an ended request that nobody has paid. Call it after the request's transaction, because
 * payments are locked before requests. A crash leaves them to their expiry.
 */
export async function cancelUnpaid(app: App, requestId: string): Promise<void> {
  for (const id of await livingInvoices(app.db, requestId, app.clock())) await cancelPayment(app, { id });
}

/** Saves the mail with the receipt of a paid invoice to its buyer, once. */
async function mailReceipt(app: App, trx: Trx, requestId: string, now: number): Promise<void> {
  if (app.sendsMail !== true || !(await findInvoiceSummary(trx, requestId))?.email) return;
  const mail = { id: newId(app, now), requestId, mailKey: 'receipt', giveUpAt: now + PATIENCE_MS };
  await insertMails(trx, [{ ...mail, content: { kind: 'invoice_receipt' } }], now);
}
