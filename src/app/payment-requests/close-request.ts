import type { ProjectMode } from '../../domain/permission.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import { lockRequest, requestSums } from '../../store/payments/payment-requests.ts';
import { saveChanges } from '../../store/payments/save-changes.ts';
import { requestView } from '../../wire/payment-request.ts';
import { recordPeoplesAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { answerRow, inTransactionOnce, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { auditedRequest, saveRequest } from './save-request.ts';
import { cancelUnpaid, settleRequest } from './settle-requests.ts';

export type ClosedRequest =
  | { readonly kind: 'done'; readonly body: string; readonly request: PaymentRequest }
  | { readonly kind: 'not_found' }
  /** It has ended already. */
  | { readonly kind: 'not_open'; readonly request: PaymentRequest };

/**
 * Closes a request: nobody can begin to pay any more. Its invoices that nobody has paid are cancelled; those whose
 * money was seen go on, and what they hold counts.
 */
export async function closeRequest(
  app: App,
  { id, projectId, mode }: ProjectMode & { readonly id: string },
  idempotency: IdempotencyRequest | null,
): Promise<ClosedRequest | Replay> {
  const outcome = await inTransactionOnce<ClosedRequest>(app, idempotency, async (trx) => {
    const found = await lockRequest(trx, id);
    if (found?.projectId !== projectId || found.mode !== mode) return { kind: 'not_found' };
    const now = app.clock();
    const sums = (await requestSums(trx, [id], now))(id);
    // Money may have come that no worker has looked at: it can have ended the request.
    const current = await settleRequest(app, trx, found, sums, now);
    if (current.status !== 'open') return { kind: 'not_open', request: current };
    const request = await saveRequest(app, trx, { ...current, status: 'closed', endedAt: now }, sums, ['closed'], now);
    await recordPeoplesAudit(app, trx, auditedRequest('payment.request_close', request));
    const body = JSON.stringify(requestView(request, sums, app.links));
    if (idempotency !== null) await saveChanges(trx, [], 2, [answerRow(idempotency, body, now)]);
    return { kind: 'done', body, request };
  });
  if (outcome.kind === 'done' || outcome.kind === 'not_open') await cancelUnpaid(app, id);
  return outcome;
}
