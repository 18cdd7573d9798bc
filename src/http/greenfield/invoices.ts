import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { forRequest } from '../../app/context.ts';
import { searchTermsOf } from '../../app/dashboard/search.ts';
import type { ChangeOutcome } from '../../app/payments/change-payment.ts';
import { changeShopMetadata } from '../../app/payments/change-shop-metadata.ts';
import { acceptPayment, cancelPayment, completeSandboxPayment } from '../../app/payments/payment-actions.ts';
import { paidQuotes } from '../../app/payments/paid-quotes.ts';
import { policiesOf } from '../../app/payments/payment-policy.ts';
import type { Payment } from '../../domain/payment.ts';
import { isOpen } from '../../domain/status.ts';
import { listInvoices } from '../../store/payments/shop-invoices.ts';
import { NO_FILTERS } from '../../store/payments/payment-filter.ts';
import { searchPayments } from '../../store/payments/payment-list.ts';
import { greenfieldInvoice, greenfieldMethod, greenfieldStatus } from '../../wire/greenfield.ts';
import { keyOf, sendDone, whyNot } from '../api.ts';
import { invalid, RequestError } from '../errors.ts';
import { messageOf } from '../ways-out.ts';
import { readInvoice, shopFacts } from './create-invoice.ts';
import { readInvoiceQuery, type InvoiceQuery } from './list-query.ts';
import { noInvoice, readInvoiceOf, selectorOf, type OneInvoice } from './one-invoice.ts';
import { currencyOf, greenfieldGuard, type Greenfield } from './store.ts';
import { exactFields, MAX_JSON_BYTES, readShopJson } from './shop-json.ts';

const INVOICES = '/api/v1/stores/:storeId/invoices';
/** Two JSON objects of a shop, and room for the other fields. */
const bodyLimit = 3 * MAX_JSON_BYTES;
/** The most payments that a search by text looks through, and how many at once. */
const MAX_SEARCHED = 2_000;
const SEARCHED_AT_ONCE = 250;

/** A store's invoices: those of `/v1/invoices`, as Greenfield shows them. */
export function invoiceRoutes(app: FastifyInstance, api: Greenfield): void {
  const one = `${INVOICES}/:id`;
  app.post(INVOICES, { ...greenfieldGuard('create_payment'), bodyLimit }, (request, reply) =>
    createInvoice(api, request, reply),
  );
  app.get(INVOICES, greenfieldGuard('read_payments'), async (request) => {
    const found = await findInvoices(api, request, readInvoiceQuery(request.query));
    return invoiceViews(api, found);
  });
  app.get<OneInvoice>(one, greenfieldGuard('read_payment'), async (request) =>
    invoiceView(api, await readInvoiceOf(api, request)),
  );
  app.put<OneInvoice>(one, { ...greenfieldGuard('change_payment'), bodyLimit }, async (request) => {
    const given = exactFields(request.rawBody)['metadata'] ?? null;
    // The plugins' library sends null where nothing is to be changed.
    if (given === null) return invoiceView(api, await readInvoiceOf(api, request));
    const metadata = readShopJson(given, 'metadata');
    const facts = { ...shopFacts(metadata.members), shopMetadata: metadata.text };
    const changed = await changeShopMetadata(forRequest(api.app, request.id), selectorOf(request), facts);
    if (changed === null) throw noInvoice();
    return invoiceView(api, changed);
  });
  app.post<OneInvoice>(`${one}/status`, greenfieldGuard('change_payment'), async (request) =>
    invoiceView(api, await markInvoice(api, request)),
  );
  app.get<OneInvoice>(`${one}/payment-methods`, greenfieldGuard('read_payment'), async (request) =>
    methodViews(api, await readInvoiceOf(api, request)),
  );
}

/** Magento refuses an invoice that lists two coins: one that nobody chose or paid in is left out. */
async function methodViews({ app }: Greenfield, payment: Payment) {
  const rail = app.railFor(payment.mode);
  return (await paidQuotes(app, payment)).map((one) =>
    greenfieldMethod(payment, { ...one, evm: rail.evmChain(one.quote) }),
  );
}

async function createInvoice(api: Greenfield, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const key = keyOf(request);
  const read = readInvoice(exactFields(request.rawBody), key, await currencyOf(api.access, key.project.id));
  const creation = { ...read, requestId: request.id };
  const monitoringMs = (await policiesOf(api.app, api.app.db, [creation]))(creation).monitoringMs;
  const present = (payment: Payment) => JSON.stringify(greenfieldInvoice(payment, api.app.links, monitoringMs));
  const outcome = await api.creator.create(creation, present, null);
  if (outcome.kind === 'refused' && outcome.param === 'coins') {
    const way = 'GET …/payment-methods lists those that it has.';
    throw invalid('checkout.paymentMethods', `The store takes none of these payment methods. ${way}`);
  }
  if (outcome.kind === 'no_rate' || outcome.kind === 'wrong_clock') {
    throw new RequestError('service_unavailable', outcome.message);
  }
  return sendDone(reply, outcome);
}

async function findInvoices(
  { app }: Greenfield,
  request: FastifyRequest,
  { text, skip, take, ...search }: InvoiceQuery,
): Promise<readonly Payment[]> {
  const { project, mode } = keyOf(request);
  const scope = { projectId: project.id, mode };
  const terms = text === null ? null : searchTermsOf(text);
  if (terms === null) return listInvoices(app.db, scope, search, { limit: take, offset: skip });
  const isWanted = ({ status, failureReason, merchantOrderId }: Payment): boolean =>
    (search.statuses?.some((one) => one.status === status && (one.failureReason ?? failureReason) === failureReason) ??
      true) &&
    (search.orderIds?.includes(merchantOrderId ?? '') ?? true);
  const { createdFrom, createdBefore } = search;
  const filter = { ...NO_FILTERS, api: 'invoice' as const, terms, createdFrom, createdBefore };
  const wanted: Payment[] = [];
  let after: string | null = null;
  for (let read = 0; read < MAX_SEARCHED && wanted.length < skip + take; read += SEARCHED_AT_ONCE) {
    const page: readonly Payment[] = await searchPayments(app.db, scope, filter, { after, limit: SEARCHED_AT_ONCE });
    wanted.push(...page.filter(isWanted));
    after = page.at(-1)?.id ?? null;
    if (page.length < SEARCHED_AT_ONCE) break;
  }
  return wanted.slice(skip, skip + take);
}

/**
 * Marks an invoice by hand. What is already so stays as it is: plugins give up invoices that may have expired
 * meanwhile.
 */
async function markInvoice(api: Greenfield, request: FastifyRequest<OneInvoice>): Promise<Payment> {
  const app = forRequest(api.app, request.id);
  const wanted = exactFields(request.rawBody)['status'];
  const payment = await readInvoiceOf(api, request);
  const { status } = greenfieldStatus(payment);
  switch (wanted) {
    case 'Invalid': {
      const outcome = await cancelPayment(app, selectorOf(request));
      return outcome.kind === 'refused' && isGivenUp(outcome.payment) ? outcome.payment : changedOf(outcome);
    }
    case 'Settled': {
      if (status === 'Settled') return payment;
      if (payment.mode === 'live' || !isOpen(payment.status)) {
        return changedOf(await acceptPayment(app, selectorOf(request)));
      }
      const outcome = await completeSandboxPayment(app, selectorOf(request));
      if (outcome.kind === 'no_rate') throw new RequestError('service_unavailable', outcome.message);
      if (outcome.kind === 'refused' && 'param' in outcome) throw invalid('status', messageOf(outcome));
      if (outcome.kind === 'not_sandbox') throw noInvoice();
      return changedOf(outcome);
    }
    default:
      throw invalid('status', 'status must be Invalid or Settled.');
  }
}

/** Whether an invoice has ended without money, so that nothing is left to be given up. */
function isGivenUp(payment: Payment): boolean {
  const { status, additionalStatus } = greenfieldStatus(payment);
  return status === 'Invalid' || (status === 'Expired' && additionalStatus === 'None');
}

function changedOf(outcome: ChangeOutcome): Payment {
  if (outcome.kind === 'changed') return outcome.payment;
  if (outcome.kind !== 'refused') throw noInvoice();
  throw invalid('status', `The invoice keeps its status because ${whyNot(outcome.reason, outcome.payment)}`);
}

async function invoiceView(api: Greenfield, payment: Payment) {
  const [view] = await invoiceViews(api, [payment]);
  return view;
}

async function invoiceViews({ app }: Greenfield, payments: readonly Payment[]) {
  const policyOf = await policiesOf(app, app.db, payments);
  return payments.map((payment) => greenfieldInvoice(payment, app.links, policyOf(payment).monitoringMs));
}
