import type { FastifyInstance } from 'fastify';
import { forRequest } from '../../app/context.ts';
import { completeSandboxPayment } from '../../app/payments/payment-actions.ts';
import type { AccessKey } from '../../app/projects/access.ts';
import type { Payment } from '../../domain/payment.ts';
import { invoiceView } from '../../wire/order.ts';
import { audienceOf, selectorOf, sendChanged, testKeyOf, type Api } from '../api.ts';
import { changeRoutes } from '../change-routes.ts';
import { readAmount, readCoins, readCurrency } from '../common-fields.ts';
import { createPayment } from '../create-payment.ts';
import { invalid, notFound, RequestError } from '../errors.ts';
import { idempotencyHeader, orderErrors } from '../fields.ts';
import { idempotencyOf } from '../idempotency-key.ts';
import { paymentGuard, paymentParams } from '../payment-routes.ts';
import { readRoutes } from '../v1-payments.ts';
import { messageOf } from '../ways-out.ts';
import { createInvoiceBody, invoiceShape, type CreateInvoiceBody } from './schema.ts';

const tags = ['Invoices'];
const RESPONSE = { 200: invoiceShape, ...orderErrors };

/** Invoices, below `/v1/invoices`. */
export function invoiceRoutes(api: Api): (app: FastifyInstance) => void {
  const present = (payment: Payment): string => JSON.stringify(invoiceView(payment, api.app.links));
  return (app) => {
    createRoute(app, api);
    readRoutes(app, api, {
      kind: 'invoice',
      shape: invoiceShape,
      view: (payment, audience) => invoiceView(payment, api.app.links, audience),
    });
    changeRoutes(app, api, { kind: 'invoice', present, response: RESPONSE });
    completeRoute(app, api, present);
  };
}

function createRoute(app: FastifyInstance, api: Api): void {
  const schema = {
    tags,
    operationId: 'createInvoice',
    summary: 'Create an invoice',
    description:
      'The customer chooses the coin on the page at payment_url, at the price of that moment. A test invoice completes automatically after 60 seconds. A test invoice with an expires_in of 60 expires instead. Requires a secret or public key with Full Access, Write Only or the payments:create scope.',
    headers: idempotencyHeader,
    body: createInvoiceBody,
    response: RESPONSE,
  };
  const present = (payment: Payment, key: AccessKey): string =>
    JSON.stringify(invoiceView(payment, api.app.links, audienceOf(key)));
  app.post<{ Body: CreateInvoiceBody }>(
    '/v1/invoices',
    { config: paymentGuard('invoice', 'create_payment'), schema },
    (request, reply) => createPayment(api, request, reply, readInvoice, present),
  );
}

function readInvoice(body: CreateInvoiceBody) {
  const currency = readCurrency(body.currency);
  return {
    api: 'invoice' as const,
    amountMinor: readAmount(body.amount, currency),
    currency,
    token: null,
    description: body.description ?? null,
    customerName: body.customer_name ?? null,
    coins: readCoins(body.coins),
    paymentRequestId: null,
    successUrl: body.success_url ?? null,
    lifetimeMs: body.expires_in === undefined ? null : body.expires_in * 1000,
  };
}

/** `POST …/{id}/complete`, with test keys alone. */
function completeRoute(app: FastifyInstance, api: Api, present: (payment: Payment) => string): void {
  const schema = {
    tags,
    operationId: 'completeInvoice',
    summary: 'Complete a test invoice',
    description:
      'Completes an open test invoice at once, as its timer would. Requires a test key with Full Access, Write Only or the payments:change scope.',
    headers: idempotencyHeader,
    params: paymentParams('invoice'),
    response: RESPONSE,
  };
  app.post<{ Params: { id: string } }>(
    '/v1/invoices/:id/complete',
    { config: paymentGuard('invoice', 'change_payment'), schema },
    async (request, reply) => {
      const key = testKeyOf(request, 'test payments can be completed');
      const selector = selectorOf(key, 'invoice', request.params.id);
      const presented = { present, idempotency: idempotencyOf(request, key) };
      const outcome = await completeSandboxPayment(forRequest(api.app, request.id), selector, presented);
      if (outcome.kind === 'not_sandbox') throw notFound('There is no such invoice.');
      if (outcome.kind === 'no_rate') throw new RequestError('service_unavailable', outcome.message);
      if (outcome.kind === 'refused' && 'param' in outcome) throw invalid(null, messageOf(outcome));
      return sendChanged(reply, outcome, 'invoice', 'completed');
    },
  );
}
