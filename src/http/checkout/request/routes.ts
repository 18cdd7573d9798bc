import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { forRequest } from '../../../app/context.ts';
import { invoicePdf } from '../../../app/payment-requests/invoice-pdf.ts';
import { payRequest, type PayRefusal } from '../../../app/payment-requests/pay-request.ts';
import { decodeId } from '../../../domain/id.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { findRequest } from '../../../store/payments/payment-requests.ts';
import { requestUrl } from '../../../wire/payment-request.ts';
import { cookieOf } from '../../cookies.ts';
import { BODY_LIMIT_BYTES } from '../../errors.ts';
import { invoiceFile, sendPdf } from '../../pdf.ts';
import { frameOf, localeOf, sendPage, type PageRequest } from '../frame.ts';
import { pageHref, paymentPath, requestPath } from '../present.ts';
import { renderProblemPage } from '../refund-page.ts';
import { patiently, type Checkout } from '../show-payment.ts';
import { readForm, typedIn } from './form.ts';
import { renderRequestPage } from './page.ts';
import { presentRequest, type RequestFacts, type Sent } from './present.ts';
import { readRequest } from './read.ts';

type Request = FastifyRequest<PageRequest>;

const page = { config: { guard: { kind: 'page' } }, schema: { hide: true } } as const;
const form = {
  ...page,
  config: { guard: { kind: 'page', makesInvoices: true } },
  bodyLimit: BODY_LIMIT_BYTES,
} as const;

/** The pages of payment requests. Looking creates nothing; "Pay" makes an invoice, or finds the one there is. */
export function requestPages(app: FastifyInstance, checkout: Checkout): void {
  const read = (request: Request): Promise<RequestFacts | null> => {
    const id = decodeId('request', request.params.id);
    return id === null ? Promise.resolve(null) : patiently(checkout, readRequest(checkout, id, ownInvoice(request)));
  };
  app.get<PageRequest>('/request/:id', page, async (request, reply) => {
    const facts = await read(request);
    return facts === null ? unknown(checkout, request, reply) : show(checkout, request, reply, facts);
  });
  for (const name of ['invoice.pdf', 'receipt.pdf']) {
    app.get<PageRequest>(`/request/:id/${name}`, page, async (request, reply) => {
      const id = decodeId('request', request.params.id);
      const found = id && (await patiently(checkout, findRequest(checkout.app.db, { id })));
      const file = invoiceFile(name);
      if (!found || file === null) return unknown(checkout, request, reply);
      return sendPdf(reply, await invoicePdf(checkout.documents, found, file));
    });
  }
  app.post<PageRequest>('/request/:id/pay', form, async (request, reply) => {
    const facts = await read(request);
    if (facts === null) return unknown(checkout, request, reply);
    const { id, projectId } = facts.request;
    const { frame } = await frameOf(checkout.access, request, projectId);
    const go = (path: string) => reply.code(303).header('location', pageHref(frame, path)).send();
    if (isFromElsewhere(request)) return go(requestPath(request.params.id));
    const typed = typedIn(request.body);
    const given = readForm(facts.request, typed);
    // An invoice that waits is gone on with, whatever was typed: the page that shows it has no fields.
    if (given.kind === 'problems' && facts.living === null) {
      return show(checkout, request, reply, facts, { typed: given.typed, problems: given.problems, notice: null });
    }
    const payer = { ...(given.kind === 'payer' ? given.payer : NOTHING_GIVEN), invoiceId: ownInvoice(request) };
    const outcome = await payRequest(forRequest(checkout.app, request.id), id, payer);
    if (outcome.kind === 'invoice') {
      const invoice = publicPaymentId(outcome.payment);
      rememberInvoice(request, reply, invoice);
      return go(paymentPath(invoice));
    }
    const now = await read(request);
    if (outcome.kind === 'not_found' || now === null) return unknown(checkout, request, reply);
    return show(checkout, request, reply, now, { typed, problems: {}, notice: noticeOf(outcome.reason) });
  });
}

const NOTHING_GIVEN = { amountMinor: null, email: null, name: null, note: null } as const;

/** A refusal that its page shows by itself needs no notice; one by a change of the last moment does. */
function noticeOf(reason: PayRefusal): Sent['notice'] {
  return reason === 'no_rate' ? 'no_rate' : 'changed';
}

async function show(
  { access, app, assets }: Checkout,
  request: Request,
  reply: FastifyReply,
  facts: RequestFacts,
  sent?: Sent,
): Promise<FastifyReply> {
  const { frame, framedBy } = await frameOf(access, request, facts.request.projectId);
  const view = presentRequest(facts, frame, requestUrl(facts.request, app.links), sent);
  return sendPage(request, reply, renderRequestPage(view, assets, sent !== undefined), framedBy);
}

function unknown({ assets }: Checkout, request: Request, reply: FastifyReply): FastifyReply {
  return sendPage(request, reply, renderProblemPage({ kind: 'unknown_request' }, localeOf(request), assets));
}

/** Whether a page of another site sent the form, as browsers say (Fetch Metadata). Its visitors did not click "Pay". */
function isFromElsewhere({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/**
 * The cookie by which a visitor goes on with their invoice instead of making another. It is needed for what the visitor
 * asked for, names nobody, and reaches one request's pages alone.
 */
const COOKIE = 'cointill_invoice';
/** The longest time that an invoice can wait for money. */
const COOKIE_SECONDS = 24 * 60 * 60;

function ownInvoice(request: Request): string | null {
  return decodeId('invoice', cookieOf(request, COOKIE) ?? '');
}

function rememberInvoice(request: Request, reply: FastifyReply, invoiceId: string): void {
  const parts = [
    `${COOKIE}=${invoiceId}`,
    `Path=${requestPath(request.params.id)}`,
    `Max-Age=${COOKIE_SECONDS}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(request.protocol === 'https' ? ['Secure'] : []),
  ];
  void reply.header('set-cookie', parts.join('; '));
}
