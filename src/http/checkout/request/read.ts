import { MAX_LIVING } from '../../../app/payment-requests/pay-request.ts';
import type { Payment } from '../../../domain/payment.ts';
import { isInParts } from '../../../domain/payment-request.ts';
import { isOpen } from '../../../domain/status.ts';
import { findInvoiceSummary } from '../../../store/payments/invoice-documents.ts';
import { findRequest, livingInvoices, sumsForPayers } from '../../../store/payments/payment-requests.ts';
import { findPayments } from '../../../store/payments/payments.ts';
import type { Checkout } from '../show-payment.ts';
import type { RequestFacts } from './present.ts';

/** Reads what a visitor sees of a request; null if there is no such request. Creates nothing. */
export async function readRequest(
  { app, access }: Pick<Checkout, 'app' | 'access'>,
  id: string,
  ownId: string | null,
): Promise<RequestFacts | null> {
  const request = await findRequest(app.db, { id });
  if (request === null) return null;
  const now = app.clock();
  const [sums, living, project, document] = await Promise.all([
    sumsForPayers(app.db, request, now),
    livingInvoices(app.db, id, now),
    access.project(request.projectId),
    findInvoiceSummary(app.db, id),
  ]);
  const isFull = !isInParts(request) && request.maxPayments !== null && sums.taken >= request.maxPayments;
  const isTaken = isFull || living.length >= MAX_LIVING;
  const shared = isInParts(request) ? living.slice(0, 1) : [];
  const wanted = [...(isTaken ? living : shared), ...(ownId === null ? [] : [ownId])];
  const invoices = wanted.length === 0 ? [] : await findPayments(app.db, [...new Set(wanted)]);
  const ofRequest = invoices.filter(({ paymentRequestId }) => paymentRequestId === id);
  const byId = (wantedId: string | null | undefined) => ofRequest.find((invoice) => invoice.id === wantedId) ?? null;
  const own = byId(ownId);
  const shown = isInParts(request) ? byId(shared[0]) : own;
  return {
    request,
    sums,
    living: shown !== null && living.includes(shown.id) ? shown : null,
    own,
    taken: isTaken ? { until: firstEnd(ofRequest, now) } : null,
    document,
    isActive: project?.active === true,
    now,
  };
}

/** When the first of the invoices that wait for money ends, which makes room for another. */
function firstEnd(invoices: readonly Payment[], now: number): number | null {
  const ends = invoices.filter(({ status, expiresAt }) => isOpen(status) && expiresAt > now);
  return ends.length === 0 ? null : Math.min(...ends.map(({ expiresAt }) => expiresAt));
}
