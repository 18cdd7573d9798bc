import type { FastifyRequest } from 'fastify';
import type { App } from '../../../app/context.ts';
import { invoiceMailState } from '../../../app/notifications/invoice-mails.ts';
import { closeRequest } from '../../../app/payment-requests/close-request.ts';
import { createRequest } from '../../../app/payment-requests/create-request.ts';
import { rejected } from '../../../app/rejected.ts';
import { decodeId, encodeId } from '../../../domain/id.ts';
import type { PaymentRequest } from '../../../domain/payment-request.ts';
import { findRequest, findRequests, newestInvoices, requestSums } from '../../../store/payments/payment-requests.ts';
import { findInvoiceSummary } from '../../../store/payments/invoice-documents.ts';
import { mailsOfRequest } from '../../../store/people/mails.ts';
import { findProject } from '../../../store/projects/projects.ts';
import { notFound } from '../../errors.ts';
import { refusalError, sentenceError } from '../../page-sentences.ts';
import { readRequest } from '../../payment-requests/read-request.ts';
import type { CreateRequestBody } from '../../payment-requests/schema.ts';
import type { AnswerOf, BodyOf } from '../contract.ts';
import { keysetOf, listOf } from '../record-parts.ts';
import { refusedError } from '../refusal-words.ts';
import type { Dashboard, Routes } from '../route.ts';
import { formRequest, notAgain, type ProjectScope, viewerOf } from '../scope.ts';
import type { RequestDetails } from './contract.ts';
import { documentView, requestDetails, requestRow, SHOWN_INVOICES } from './record.ts';

const REQUESTS = '/dashboard/api/projects/:project/:mode/payment-requests';
const CREATE = `POST ${REQUESTS}` as const;
const READ = { action: 'read_payments' } as const;
const CHANGE = { action: 'change_payments' } as const;

/** The payment requests of a project and mode. */
export function paymentRequestRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  const details = requestViewer(core);
  routes.add(`GET ${REQUESTS}`, READ, async ({ scope: { projectId, mode }, query }) => {
    const page = keysetOf(query, (text) => decodeId('request', text));
    const found = await findRequests(core.db, { projectId, mode, status: query.status ?? null }, page);
    const ids = found.map(({ id }) => id);
    const now = core.clock();
    const sumsOf = await requestSums(core.db, ids, now);
    return listOf(
      found,
      page,
      (request) => requestRow({ request, sums: sumsOf(request.id), now }),
      ({ id }) => encodeId('request', id),
    );
  });
  routes.add(`GET ${REQUESTS}/:request`, READ, async ({ scope, params, request }) => {
    const found = await findRequest(core.db, requestSelector(scope, params.request));
    if (found === null) throw noRequest();
    return details(request, scope, found);
  });
  routes.add(CREATE, CHANGE, async ({ scope, body, request, own }): Promise<AnswerOf<typeof CREATE>> => {
    const project = await findProject(core.db, scope.projectId);
    if (project?.active !== true) throw refusalError(rejected('project_inactive'));
    const wanted = readRequest({ project, mode: scope.mode }, apiBody(body), core.clock());
    const outcome = await createRequest(own, wanted, formRequest(request, scope, body.request));
    switch (outcome.kind) {
      case 'done':
      case 'replayed': {
        const { id, url } = JSON.parse(outcome.body) as AnswerOf<typeof CREATE>;
        return { id, url };
      }
      case 'refused':
        throw refusedError(outcome, outcome.param);
      case 'key_reused':
      case 'still_running':
        throw notAgain(outcome.kind);
    }
  });
  routes.add(`POST ${REQUESTS}/:request/close`, CHANGE, async ({ scope, params, request, own }) => {
    const outcome = await closeRequest(own, requestSelector(scope, params.request), null);
    switch (outcome.kind) {
      case 'done':
        return details(request, scope, outcome.request);
      case 'not_found':
        throw noRequest();
      case 'not_open':
        throw sentenceError('conflict_error', 'request_ended');
      case 'replayed':
      case 'key_reused':
      case 'still_running':
        throw new Error('A request without a key was not carried out.');
    }
  });
}

/** Shows a request as it is now, to the person of a call. */
export function requestViewer(core: App) {
  return async (call: FastifyRequest, scope: ProjectScope, request: PaymentRequest): Promise<RequestDetails> => {
    const now = core.clock();
    const [sumsOf, invoices, invoice] = await Promise.all([
      requestSums(core.db, [request.id], now),
      newestInvoices(core.db, request.id, SHOWN_INVOICES + 1),
      findInvoiceSummary(core.db, request.id),
    ]);
    const mails = invoice === null ? [] : await mailsOfRequest(core.db, request.id);
    const state = invoice && (await invoiceMailState(core, request, invoice.email));
    const document = invoice && state && documentView(invoice, request, state, mails);
    const { mayChange } = viewerOf(call, scope);
    const read = { request, sums: sumsOf(request.id), now };
    return requestDetails(read, invoices, document, { links: core.links, mayChange });
  };
}

/** The request in a path. */
export function requestSelector({ projectId, mode }: ProjectScope, text: string) {
  const id = decodeId('request', text);
  if (id === null) throw noRequest();
  return { id, projectId, mode };
}

export const noRequest = () => notFound('There is no such payment request in this project and mode.');

/** The form as the body of the API, whose rules it follows; an empty text is absent. */
function apiBody({ amount, min_amount: min, max_amount: max, ...body }: BodyOf<typeof CREATE>): CreateRequestBody {
  const { title, currency, description, reference, expires_at, max_payments, coins, ask } = body;
  return {
    title,
    currency,
    amount: amount === undefined ? null : numberOf(amount),
    ...(min !== undefined && { min_amount: numberOf(min) }),
    ...(max !== undefined && { max_amount: numberOf(max) }),
    ...(isFilled(description) && { description: description.trim() }),
    ...(isFilled(reference) && { reference: reference.trim() }),
    ...(expires_at !== undefined && { expires_at }),
    ...(max_payments !== undefined && { max_payments }),
    ...(coins !== undefined && { coins }),
    ...(ask !== undefined && { ask }),
  };
}

const isFilled = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

/** No number is NaN, which the rule of amounts refuses. */
function numberOf(text: string): number {
  return /^\d{1,15}(?:\.\d+)?$/.test(text.trim()) ? Number(text) : NaN;
}
