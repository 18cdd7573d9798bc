import type { FastifyInstance } from 'fastify';
import { Type, type Static, type TObject } from 'typebox';
import type { Payment, PaymentApi } from '../domain/payment.ts';
import { PAYMENT_KINDS } from '../domain/payment-kind.ts';
import { ORDER_STATUSES, statusesOfOrder } from '../domain/status.ts';
import { confirmationsView, type Audience } from '../wire/payment.ts';
import { audienceOf, keyOf, readPayment, type Api } from './api.ts';
import { createdQuery, oneOf, orderErrors, pageQuery, paginationShape } from './fields.ts';
import { pageOfPayments } from './list-payments.ts';
import { paymentGuard, paymentParams, PAYMENT_ROUTES, titled } from './payment-routes.ts';

/** The payments below `/v1` that can be read, and how they are shown. */
interface Read {
  readonly kind: PaymentApi;
  readonly shape: TObject;
  readonly view: (payment: Payment, audience: Audience) => object;
}

const listQuery = Type.Object({ status: Type.Optional(oneOf(ORDER_STATUSES)), ...createdQuery, ...pageQuery });

/** `GET …` and `GET …/{id}`, the same for all kinds of payments below `/v1`. */
export function readRoutes(app: FastifyInstance, { app: core, reader }: Api, { kind, shape, view }: Read): void {
  const { path, tag } = PAYMENT_ROUTES[kind];
  const list = Type.Object({ data: Type.Array(shape), pagination: paginationShape }, { title: `${titled(kind)}List` });
  app.get<{ Querystring: Static<typeof listQuery> }>(
    path,
    {
      config: paymentGuard(kind, 'read_payments'),
      schema: {
        tags: [tag],
        operationId: `list${titled(kind)}s`,
        summary: `List ${kind}s, newest first`,
        description: `Lists the ${kind}s in the key’s own project and mode. Requires a key with Full Access, Read Only or the payments:read scope.`,
        querystring: listQuery,
        response: { 200: list, ...orderErrors },
      },
    },
    async (request) => {
      const { query } = request;
      const statuses = query.status === undefined ? null : statusesOfOrder(query.status);
      const { payments, pagination } = await pageOfPayments(core, keyOf(request), kind, statuses, query);
      return { data: payments.map((payment) => view(payment, 'merchant')), pagination };
    },
  );
  app.get<{ Params: { id: string } }>(
    `${path}/:id`,
    {
      config: paymentGuard(kind, 'read_payment'),
      schema: {
        tags: [tag],
        operationId: `get${titled(kind)}`,
        summary: `Get ${PAYMENT_KINDS[kind].one}`,
        description: `Reading ${PAYMENT_KINDS[kind].one} never changes it. Requires a secret or public key with Full Access, Read Only or the payments:read scope. With a public key, the customer’s data is left out.`,
        params: paymentParams(kind),
        response: { 200: shape, ...orderErrors },
      },
    },
    async (request) => {
      const key = keyOf(request);
      const payment = await readPayment(reader, key, kind, request.params.id);
      const found = core.railFor(payment.mode).confirmations(payment);
      const confirmations = found instanceof Promise ? await found : found;
      return { ...view(payment, audienceOf(key)), ...confirmationsView(confirmations) };
    },
  );
}
