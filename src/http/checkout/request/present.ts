import { encodeId } from '../../../domain/id.ts';
import { MIN_AMOUNT_MINOR } from '../../../domain/money.ts';
import type { Payment } from '../../../domain/payment.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import {
  isInParts,
  isPaid,
  leftMinor,
  takesPayments,
  type PaymentRequest,
  type RequestSums,
} from '../../../domain/payment-request.ts';
import type { InvoiceSummary } from '../../../store/payments/invoice-documents.ts';
import { isFinal, isOpen } from '../../../domain/status.ts';
import { paymentPath, requestPath, webUrl } from '../present.ts';
import type { Frame } from '../view.ts';
import { askedFields, NOTHING_TYPED } from './form.ts';
import type { FormStep, RequestStep, RequestView } from './view.ts';

/** A request as one visitor sees it, read at one time. */
export interface RequestFacts {
  readonly request: PaymentRequest;
  readonly sums: RequestSums;
  /** The invoice that this visitor can go on with: their own, or the one that everybody shares. */
  readonly living: Payment | null;
  /** The invoice that this visitor got before, in any state. */
  readonly own: Payment | null;
  /** Set if no more payments can begin now: when the first of those under way ends, if that is known. */
  readonly taken: { readonly until: number | null } | null;
  /** The invoice as a document; null: the request has none. */
  readonly document: Pick<InvoiceSummary, 'dueOn'> | null;
  readonly isActive: boolean;
  readonly now: number;
}

/** A sent form that was not accepted. */
export type Sent = Pick<FormStep, 'typed' | 'problems' | 'notice'>;

const NOTHING_SENT: Sent = { typed: NOTHING_TYPED, problems: {}, notice: null };

export function presentRequest(facts: RequestFacts, frame: Frame, url: string, sent: Sent = NOTHING_SENT): RequestView {
  const { request, sums, own, document, now } = facts;
  const path = requestPath(encodeId('request', request.id));
  const { paidMinor, pendingMinor } = sums;
  const left = leftMinor(request, sums);
  return {
    frame,
    isTest: request.mode === 'test',
    requestId: encodeId('request', request.id),
    url,
    title: request.title,
    description: request.description,
    reference: request.reference,
    currency: request.currency,
    amountMinor: request.amountMinor,
    parts: left === null ? null : { paidMinor, pendingMinor, leftMinor: left },
    expiresAt: request.expiresAt,
    now,
    files: document && {
      dueOn: document.dueOn,
      invoice: `${path}/invoice.pdf`,
      receipt: request.status === 'paid' ? `${path}/receipt.pdf` : null,
    },
    step: stepOf(facts, left, sent),
    lastPath: own !== null && isFinal(own.status) ? pathOf(own) : null,
  };
}

const pathOf = (payment: Payment): string => paymentPath(publicPaymentId(payment));

function stepOf(facts: RequestFacts, left: bigint | null, sent: Sent): RequestStep {
  const { request, sums, living, taken, isActive, now } = facts;
  if (request.status === 'paid' || isPaid(request, sums)) {
    return { kind: 'paid', shop: webUrl(request.successUrl)?.href ?? null };
  }
  if (request.status === 'closed') return { kind: 'closed' };
  if (!takesPayments(request, now)) return { kind: 'expired', at: request.expiresAt ?? request.endedAt ?? now };
  if (living !== null) {
    const asksFor = left ?? living.amountMinor;
    if (!isOpen(living.status) || asksFor < MIN_AMOUNT_MINOR) return { kind: 'confirming', path: pathOf(living) };
    return { kind: 'paying', path: pathOf(living), amountMinor: asksFor, isShared: isInParts(request) };
  }
  if (!isActive) return { kind: 'inactive' };
  if (taken !== null) return { kind: 'taken', ...taken };
  if (left !== null && left < MIN_AMOUNT_MINOR) return { kind: 'confirming', path: null };
  const { amountMinor, minAmountMinor, maxAmountMinor } = request;
  const asked = askedFields(request);
  return { kind: 'form', amountMinor: left ?? amountMinor, minAmountMinor, maxAmountMinor, asked, ...sent };
}
