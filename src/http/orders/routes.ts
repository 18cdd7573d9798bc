import type { FastifyInstance } from 'fastify';
import { createdOrderView, orderView } from '../../wire/order.ts';
import type { Api } from '../api.ts';
import { changeRoutes } from '../change-routes.ts';
import { readAmount, readCurrency } from '../common-fields.ts';
import { createPayment } from '../create-payment.ts';
import { idempotencyHeader, orderErrors } from '../fields.ts';
import { paymentGuard } from '../payment-routes.ts';
import { readRoutes } from '../v1-payments.ts';
import { createdOrderShape, createOrderBody, orderShape, type CreateOrderBody } from './schema.ts';

const tags = ['Orders'];

/** The Order API below `/v1/orders`. */
export function orderRoutes(api: Api): (app: FastifyInstance) => void {
  return (app) => {
    createRoute(app, api);
    readRoutes(app, api, {
      kind: 'order',
      shape: orderShape,
      view: (payment, audience) => orderView(payment, api.app.links, audience),
    });
    changeRoutes(app, api, {
      kind: 'order',
      present: (payment) => JSON.stringify(orderView(payment, api.app.links)),
      response: { 200: orderShape, ...orderErrors },
    });
  };
}

function createRoute(app: FastifyInstance, api: Api): void {
  const schema = {
    tags,
    operationId: 'createOrder',
    summary: 'Create an order',
    description:
      'Converts the amount to the crypto asset, assigns an address for the payment and returns payment_url, the page to which you send the customer. A test order completes automatically after 60 seconds. A test order with an expires_in of 60 expires instead. Requires a secret or public key with Full Access, Write Only or the payments:create scope.',
    headers: idempotencyHeader,
    body: createOrderBody,
    response: { 200: createdOrderShape, ...orderErrors },
  };
  app.post<{ Body: CreateOrderBody }>(
    '/v1/orders',
    { config: paymentGuard('order', 'create_payment'), schema },
    (request, reply) =>
      createPayment(api, request, reply, readOrder, (payment) =>
        JSON.stringify(createdOrderView(payment, api.app.links)),
      ),
  );
}

function readOrder(body: CreateOrderBody) {
  const currency = readCurrency(body.currency);
  return {
    api: 'order' as const,
    amountMinor: readAmount(body.amount, currency),
    currency,
    token: { asset: body.crypto_currency, network: body.network ?? null },
    description: body.description ?? null,
    customerName: null,
    coins: null,
    paymentRequestId: null,
    successUrl: body.return_url ?? body.success_url ?? null,
    lifetimeMs: body.expires_in === undefined ? null : body.expires_in * 1000,
  };
}
