import { encodeId } from '../../../domain/id.ts';
import { fiatDecimals, formatDecimal } from '../../../domain/money.ts';
import type { Payment } from '../../../domain/payment.ts';
import {
  leftMinor,
  settled,
  takesPayments,
  type PaymentRequest,
  type RequestSums,
} from '../../../domain/payment-request.ts';
import type { InvoiceSummary } from '../../../store/payments/invoice-documents.ts';
import type { MailOfInvoice as MailRow } from '../../../store/people/mails.ts';
import type { Links } from '../../../wire/payment.ts';
import { requestUrl } from '../../../wire/payment-request.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { paymentRow } from '../payments/record.ts';
import type { InvoiceDocumentView, RequestDetails, RequestRow } from './contract.ts';

/** A request with its sums at a time. */
export interface ReadRequest {
  readonly request: PaymentRequest;
  readonly sums: RequestSums;
  readonly now: number;
}

/** A request in a list. Its status is the one that its invoices give it, also before a worker has saved that. */
export function requestRow({ request, sums, now }: ReadRequest): RequestRow {
  const amount = amountsOf(request);
  return {
    id: encodeId('request', request.id),
    status: settled(request, sums, now).request.status,
    title: request.title,
    reference: request.reference,
    amount: amount.orNull(request.amountMinor),
    currency: request.currency,
    paid: amount.of(sums.paidMinor),
    pending: amount.of(sums.pendingMinor),
    refunded: amount.of(sums.refundedMinor),
    left: amount.orNull(leftMinor(request, sums)),
    payments: sums.payments,
    max_payments: request.maxPayments,
    created_at: isoTime(request.createdAt),
    expires_at: isoTimeOrNull(request.expiresAt),
  };
}

/** The most invoices that a request shows. */
export const SHOWN_INVOICES = 20;

/** A request in detail. `invoices` are the newest, one more than are shown if there are more. */
export function requestDetails(
  read: ReadRequest,
  invoices: readonly Payment[],
  document: InvoiceDocumentView | null,
  { links, mayChange }: { readonly links: Links; readonly mayChange: boolean },
): RequestDetails {
  const { request, now } = read;
  const { orNull } = amountsOf(request);
  const row = requestRow(read);
  return {
    ...row,
    description: request.description,
    min_amount: orNull(request.minAmountMinor),
    max_amount: orNull(request.maxAmountMinor),
    coins: request.coins === null ? null : [...request.coins],
    ask: { email: request.askEmail, name: request.askName, note: request.askNote },
    url: requestUrl(request, links),
    ended_at: isoTimeOrNull(request.endedAt),
    invoices: invoices.slice(0, SHOWN_INVOICES).map(paymentRow),
    has_more_invoices: invoices.length > SHOWN_INVOICES,
    document,
    can: {
      close: mayChange && row.status === 'open' && takesPayments(request, now),
      mail: mayChange && document?.mail === 'can',
    },
  };
}

/** A request's invoice, with its mails. */
export function documentView(
  { number, dueOn, email }: InvoiceSummary,
  { status }: PaymentRequest,
  mail: InvoiceDocumentView['mail'],
  mails: readonly MailRow[],
): InvoiceDocumentView {
  return {
    number,
    due_on: dueOn,
    email,
    has_receipt: status === 'paid',
    mail,
    mails: mails.toReversed().map(({ id, kind, outcome, createdAt, endedAt }) => ({
      id,
      kind,
      state: outcome === null ? 'waiting' : outcome === 'sent' ? 'sent' : 'not_sent',
      at: isoTime(endedAt ?? createdAt),
    })),
  };
}

function amountsOf({ currency }: PaymentRequest) {
  const of = (minor: bigint): string => formatDecimal(minor, fiatDecimals(currency));
  return { of, orNull: (minor: bigint | null): string | null => (minor === null ? null : of(minor)) };
}
