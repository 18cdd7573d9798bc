import { MIN_AMOUNT_MINOR } from '../../domain/money.ts';
import { NO_MERCHANT_FIELDS, type Payment } from '../../domain/payment.ts';
import { isInParts, leftMinor, takesPayments, type PaymentRequest } from '../../domain/payment-request.ts';
import { nextDueAt } from '../../domain/transition.ts';
import { findInvoiceSummary } from '../../store/payments/invoice-documents.ts';
import { findPayments } from '../../store/payments/payments.ts';
import { livingInvoices, lockRequest, sumsForPayers } from '../../store/payments/payment-requests.ts';
import { saveChanges } from '../../store/payments/save-changes.ts';
import { findProject } from '../../store/projects/projects.ts';
import { newId, type App } from '../context.ts';
import { paymentEvents } from '../events.ts';
import { emitAfterCommit, inTransaction, type ObservedTrx } from '../in-transaction.ts';
import { draftPayment, USUAL_EXPIRY_MINUTES, type NewPayment } from '../payments/draft-payment.ts';
import { createdMessages } from '../payments/shop-messages.ts';
import { policiesOf } from '../payments/payment-policy.ts';

/** A payer's wish, of a page that anybody with the link can open. */
export interface Payer {
  /** The amount that they typed, in minor units; null if the request has one of its own. */
  readonly amountMinor: bigint | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly note: string | null;
  /** The invoice that this visitor got before; null if there is none. */
  readonly invoiceId: string | null;
}

export type PaidRequest =
  /** The invoice to pay: a new one, or the one that is being paid already. */
  | { readonly kind: 'invoice'; readonly payment: Payment }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'refused'; readonly reason: PayRefusal };

/**
 * Why a request cannot be paid now. `ended`: it takes no more payments. `nothing_left`: all was paid or is being
 * confirmed. `taken`: others are paying what is left. `amount`: the typed amount is missing or beyond the bounds.
 * `inactive`: its project. `no_rate`: no current price, or a wrong clock.
 */
export type PayRefusal = 'ended' | 'nothing_left' | 'taken' | 'amount' | 'inactive' | 'no_rate';

/** So many invoices of one request can wait for money at once, so that nobody can fill a shop's lists through it. */
export const MAX_LIVING = 100;

/**
 * The invoice by which a visitor pays a request. The request is locked, so that of two who come at once only one makes
 * an invoice where one is left. An amount that is asked for once has one invoice at a time, which all visitors share:
 * whatever they pay arrives on the same payment.
 */
export function payRequest(app: App, requestId: string, payer: Payer): Promise<PaidRequest> {
  return inTransaction(app, async (trx) => {
    const request = await lockRequest(trx, requestId);
    if (request === null) return { kind: 'not_found' };
    const now = app.clock();
    if (!takesPayments(request, now)) return refused('ended');
    const living = await findPayments(trx, await livingInvoices(trx, requestId, now));
    const own = isInParts(request) ? living[0] : living.find(({ id }) => id === payer.invoiceId);
    if (own !== undefined) return { kind: 'invoice', payment: own };
    const project = await findProject(trx, request.projectId);
    if (project?.active !== true) return refused('inactive');
    const clockFault = app.clockState?.().refusal ?? null;
    if (clockFault !== null) return refused('no_rate');
    const sums = await sumsForPayers(trx, request, now);
    const isTaken = !isInParts(request) && request.maxPayments !== null && sums.taken >= request.maxPayments;
    if (isTaken || living.length >= MAX_LIVING) return refused('taken');
    const amountMinor = leftMinor(request, sums) ?? request.amountMinor ?? typedAmount(request, payer);
    if (amountMinor === null) return refused('amount');
    if (amountMinor < MIN_AMOUNT_MINOR) return refused('nothing_left');
    const lifetimeMs = (project.defaultExpiryMinutes ?? USUAL_EXPIRY_MINUTES) * 60_000;
    // The buyer of an invoice is known.
    const buyer = (await findInvoiceSummary(trx, requestId))?.email ?? null;
    const wanted = invoiceOf(app, request, payer, { amountMinor, lifetimeMs });
    return createInvoice(app, trx, buyer === null ? wanted : { ...wanted, customerEmail: buyer }, now);
  });
}

const refused = (reason: PayRefusal): PaidRequest => ({ kind: 'refused', reason });

function typedAmount({ minAmountMinor, maxAmountMinor }: PaymentRequest, { amountMinor }: Payer): bigint | null {
  if (amountMinor === null) return null;
  const isWithin =
    amountMinor >= (minAmountMinor ?? MIN_AMOUNT_MINOR) && amountMinor <= (maxAmountMinor ?? amountMinor);
  return isWithin ? amountMinor : null;
}

function invoiceOf(
  app: App,
  request: PaymentRequest,
  payer: Payer,
  facts: Pick<NewPayment, 'amountMinor' | 'lifetimeMs'>,
): NewPayment {
  const { projectId, mode, currency, reference, title, coins, successUrl } = request;
  return {
    ...NO_MERCHANT_FIELDS,
    ...facts,
    projectId,
    mode,
    api: 'invoice',
    currency,
    token: null,
    merchantOrderId: reference,
    description: title,
    coins,
    successUrl,
    paymentRequestId: request.id,
    customerEmail: request.askEmail ? payer.email : null,
    customerName: request.askName ? payer.name : null,
    metadata: { ...request.metadata, ...(request.askNote && payer.note !== null ? { note: payer.note } : {}) },
    requestId: app.requestId ?? null,
  };
}

async function createInvoice(app: App, trx: ObservedTrx, wanted: NewPayment, now: number): Promise<PaidRequest> {
  const rail = app.railFor(wanted.mode);
  const item = { id: newId(app, now), createdAt: now, request: wanted, rail, present: () => '', idempotency: null };
  const drafted = await draftPayment(app, rail, item, null);
  if (drafted.kind !== 'draft') return refused('no_rate');
  const { payment, events } = paymentEvents(app, drafted.payment, ['created'], now);
  const dueAt = nextDueAt(payment, (await policiesOf(app, trx, [payment]))(payment));
  const change = {
    before: null,
    after: payment,
    dueAt,
    transitions: [],
    events,
    messages: createdMessages(app, payment),
  };
  await saveChanges(trx, [change], 2);
  emitAfterCommit(trx, { kind: 'payments_created', changes: [change] });
  return { kind: 'invoice', payment };
}
