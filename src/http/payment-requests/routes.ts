import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { forRequest, type App } from '../../app/context.ts';
import { closeRequest } from '../../app/payment-requests/close-request.ts';
import { createRequest } from '../../app/payment-requests/create-request.ts';
import type { AccessKey } from '../../app/projects/access.ts';
import { decodeId } from '../../domain/id.ts';
import type { PaymentRequest } from '../../domain/payment-request.ts';
import type { Operation } from '../../domain/permission.ts';
import { findRequest, listRequests, requestSums } from '../../store/payments/payment-requests.ts';
import { requestView } from '../../wire/payment-request.ts';
import { keyOf, sendDone, type Api } from '../api.ts';
import { invalid, notFound } from '../errors.ts';
import { idempotencyHeader, orderErrors, pagination } from '../fields.ts';
import { idempotencyOf } from '../idempotency-key.ts';
import { readRequest } from './read-request.ts';
import {
  createRequestBody,
  listRequestsQuery,
  requestListShape,
  requestShape,
  type CreateRequestBody,
  type ListRequestsQuery,
} from './schema.ts';

const tags = ['Payment requests'];
const guard = (operation: Operation) => ({ guard: { kind: 'api', api: 'v1', operation } as const });
const idParams = Type.Object({ id: Type.String({ description: 'The id of the payment request (req_…).' }) });
const RESPONSE = { 200: requestShape, ...orderErrors };
const NO_SUCH = 'There is no such payment request.';

/** Payment requests, below `/v1/payment_requests`. */
export function paymentRequestRoutes(api: Api): (app: FastifyInstance) => void {
  return (app) => {
    createRoute(app, api);
    readRoutes(app, api.app);
    closeRoute(app, api);
  };
}

function createRoute(app: FastifyInstance, api: Api): void {
  const schema = {
    tags,
    operationId: 'createPaymentRequest',
    summary: 'Create a payment request',
    description:
      'A page that asks for money, for weeks if need be. Each payment is an invoice at the price of its moment. Nothing is quoted before somebody pays. Requires a secret key with Full Access, Write Only or the payments:create scope.',
    headers: idempotencyHeader,
    body: createRequestBody,
    response: RESPONSE,
  };
  app.post<{ Body: CreateRequestBody }>(
    '/v1/payment_requests',
    { config: guard('create_request'), schema },
    async (request, reply) => {
      const key = keyOf(request);
      const wanted = readRequest(key, request.body, api.app.clock());
      const outcome = await createRequest(forRequest(api.app, request.id), wanted, idempotencyOf(request, key));
      return sendDone(reply, outcome);
    },
  );
}

function readRoutes(app: FastifyInstance, core: App): void {
  app.get<{ Querystring: ListRequestsQuery }>(
    '/v1/payment_requests',
    {
      config: guard('read_payments'),
      schema: {
        tags,
        operationId: 'listPaymentRequests',
        summary: 'List payment requests, newest first',
        description:
          'Lists the payment requests in the key’s own project and mode. Requires a key with Full Access, Read Only or the payments:read scope.',
        querystring: listRequestsQuery,
        response: { 200: requestListShape, ...orderErrors },
      },
    },
    async (request) => {
      const key = keyOf(request);
      const { limit = 50, offset = 0, status = null } = request.query;
      const scope = { projectId: key.project.id, mode: key.mode, status };
      const { requests, total } = await listRequests(core.db, scope, { limit, offset });
      const ids = requests.map(({ id }) => id);
      const sumsOf = await requestSums(core.db, ids, core.clock());
      return {
        data: requests.map((one) => requestView(one, sumsOf(one.id), core.links)),
        pagination: pagination({ limit, offset }, requests.length, total),
      };
    },
  );
  app.get<{ Params: { id: string } }>(
    '/v1/payment_requests/:id',
    {
      config: guard('read_payments'),
      schema: {
        tags,
        operationId: 'getPaymentRequest',
        summary: 'Get a payment request',
        description: 'Requires a key with Full Access, Read Only or the payments:read scope.',
        params: idParams,
        response: RESPONSE,
      },
    },
    async (request) => {
      const found = await findRequest(core.db, selectorOf(keyOf(request), request.params.id));
      if (found === null) throw notFound(NO_SUCH);
      return requestView(found, (await requestSums(core.db, [found.id], core.clock()))(found.id), core.links);
    },
  );
}

/** @throws RequestError if the id is malformed */
function selectorOf({ project, mode }: AccessKey, text: string) {
  const id = decodeId('request', text);
  if (id === null) throw notFound(NO_SUCH);
  return { id, projectId: project.id, mode };
}

function closeRoute(app: FastifyInstance, api: Api): void {
  const schema = {
    tags,
    operationId: 'closePaymentRequest',
    summary: 'Close a payment request',
    description:
      'Nobody can begin to pay it any more. Its invoices that nobody has paid are cancelled; those whose money was seen go on, and count. Requires a key with Full Access, Write Only or the payments:change scope.',
    params: idParams,
    response: RESPONSE,
    headers: idempotencyHeader,
  };
  const config = guard('change_payment');
  app.post<{ Params: { id: string } }>('/v1/payment_requests/:id/close', { config, schema }, async (request, reply) => {
    const key = keyOf(request);
    const selector = selectorOf(key, request.params.id);
    const outcome = await closeRequest(forRequest(api.app, request.id), selector, idempotencyOf(request, key));
    if (outcome.kind === 'not_found') throw notFound(NO_SUCH);
    if (outcome.kind === 'not_open') {
      throw invalid(null, `The payment request cannot be closed because it is ${endOf(outcome.request)}.`);
    }
    return sendDone(reply, outcome);
  });
}

/** The end of a request that has ended; one whose date has passed may not say so yet. */
const endOf = ({ status }: PaymentRequest): string => (status === 'open' ? 'expired' : status);
