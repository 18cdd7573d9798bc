import { encodeId } from '../../domain/id.ts';
import type { PaymentRequest, RequestStep, RequestSums } from '../../domain/payment-request.ts';
import type { Trx } from '../../store/database.ts';
import { updateRequest } from '../../store/payments/payment-requests.ts';
import type { NewEvent } from '../../store/payments/save-changes.ts';
import { publishEvents } from '../../store/webhooks/publish-events.ts';
import { eventBody } from '../../wire/event.ts';
import { requestView } from '../../wire/payment-request.ts';
import { newId, type App } from '../context.ts';

/** Saves what became of a locked request, with an event for each step. Returns the request as it is saved. */
export async function saveRequest(
  app: App,
  trx: Trx,
  request: PaymentRequest,
  sums: RequestSums,
  steps: readonly RequestStep[],
  now: number,
): Promise<PaymentRequest> {
  const saved = { ...request, lastSequence: request.lastSequence + steps.length };
  await updateRequest(trx, saved);
  const data = requestView(saved, sums, app.links);
  const events = steps.map((step, index): NewEvent => {
    const id = newId(app, now);
    const type = `payment_request.${step}` as const;
    const body = eventBody({ id, type, createdAt: now, sequence: request.lastSequence + index + 1, data });
    const { projectId, mode } = request;
    return { id, projectId, mode, paymentId: null, type, body, createdAt: now, requestId: app.requestId ?? null };
  });
  await publishEvents(trx, events);
  return saved;
}

/** A request as the audit log records it. */
export function auditedRequest(action: string, { id, projectId, mode, status, currency, ...request }: PaymentRequest) {
  const { amountMinor, maxPayments } = request;
  return {
    action,
    projectId,
    subject: { kind: 'payment_request', id: encodeId('request', id) },
    after: { mode, status, currency, amount_minor: amountMinor?.toString() ?? null, max_payments: maxPayments },
  } as const;
}
