import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { decodeId } from '../../domain/id.ts';
import { statusesOfOrder } from '../../domain/status.ts';
import type { Operation } from '../../domain/permission.ts';
import { confirmationsView } from '../../wire/payment.ts';
import { createdOrderView, orderView } from '../../wire/order.ts';
import { keyOf, readPayment, type Api } from '../api.ts';
import { changeRoutes } from '../change-routes.ts';
import { readAmount, readCurrency } from '../common-fields.ts';
import { createPayment } from '../create-payment.ts';
import { pageOfPayments } from '../list-payments.ts';
import { idempotencyHeader, orderErrors } from '../fields.ts';
import {
  createdOrderShape,
  createOrderBody,
  listOrdersQuery,
  orderListShape,
  orderShape,
  type CreateOrderBody,
  type ListOrdersQuery,
} from './schema.ts';

const tags = ['Orders'];
const guard = (operation: Operation) => ({ guard: { kind: 'api', api: 'order', operation } as const });
const idParams = Type.Object({ id: Type.String({ description: 'The id of the order (ord_…).' }) });

/** The Order API below `/v1/orders`. */
export function orderRoutes(api: Api): (app: FastifyInstance) => void {
  return (app) => {
    createRoute(app, api);
    readRoutes(app, api);
    changeRoutes(app, api, {
      paymentApi: 'order',
      path: '/v1/orders',
      tag: 'Orders',
      params: idParams,
      parseId: (text) => decodeId('order', text),
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
  app.post<{ Body: CreateOrderBody }>('/v1/orders', { config: guard('create_payment'), schema }, (request, reply) =>
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
    successUrl: body.return_url ?? body.success_url ?? null,
    lifetimeMs: body.expires_in === undefined ? null : body.expires_in * 1000,
  };
}

function readRoutes(app: FastifyInstance, { app: core, reader }: Api): void {
  app.get<{ Querystring: ListOrdersQuery }>(
    '/v1/orders',
    {
      config: guard('read_payments'),
      schema: {
        tags,
        operationId: 'listOrders',
        summary: 'List orders, newest first',
        description:
          'Lists the orders in the key’s own project and mode. Requires a key with Full Access, Read Only or the payments:read scope.',
        querystring: listOrdersQuery,
        response: { 200: orderListShape, ...orderErrors },
      },
    },
    async (request) => {
      const { query } = request;
      const statuses = query.status === undefined ? null : statusesOfOrder(query.status);
      const { payments, pagination } = await pageOfPayments(core, keyOf(request), 'order', statuses, query);
      return { data: payments.map((payment) => orderView(payment, core.links)), pagination };
    },
  );
  app.get<{ Params: { id: string } }>(
    '/v1/orders/:id',
    {
      config: guard('read_payment'),
      schema: {
        tags,
        operationId: 'getOrder',
        summary: 'Get an order',
        description:
          'Reading an order never changes it. Requires a secret or public key with Full Access, Read Only or the payments:read scope. With a public key, the customer’s data is left out.',
        params: idParams,
        response: { 200: orderShape, ...orderErrors },
      },
    },
    async (request) => {
      const key = keyOf(request);
      const payment = await readPayment(reader, key, 'order', decodeId('order', request.params.id));
      const found = core.railFor(payment.mode).confirmations(payment);
      const confirmations = found instanceof Promise ? await found : found;
      const view = orderView(payment, core.links, key.kind === 'public' ? 'public' : 'merchant');
      return { ...view, ...confirmationsView(confirmations) };
    },
  );
}
