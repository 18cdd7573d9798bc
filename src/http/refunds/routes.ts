import { PAYMENT_APIS, type PaymentApi } from '../../domain/payment.ts';
import { PAYMENT_KINDS, paymentIdOf } from '../../domain/payment-kind.ts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { cancelRefund, readRefund } from '../../app/refunds/change-refund.ts';
import { forRequest } from '../../app/context.ts';
import { createRefund } from '../../app/refunds/create-refund.ts';
import type { RefundOutcome } from '../../app/refunds/save-refund.ts';
import { decodeId } from '../../domain/id.ts';
import type { Fiat } from '../../domain/money.ts';
import type { Operation } from '../../domain/permission.ts';
import { refundView } from '../../wire/refund.ts';
import { listRefunds } from '../../store/refunds/refunds.ts';
import { keyOf, readPayment, sendDone, type Api } from '../api.ts';
import { readAmount } from '../common-fields.ts';
import { invalid, notFound } from '../errors.ts';
import { idempotencyOf } from '../idempotency-key.ts';
import { idempotencyHeader, orderErrors, pagination } from '../fields.ts';
import {
  createRefundBody,
  listRefundsQuery,
  refundListShape,
  refundShape,
  type CreateRefundBody,
  type ListRefundsQuery,
  type NamedPayment,
  REFUND_FIELDS,
} from './schema.ts';

const tags = ['Refunds'];
const guard = (operation: Operation) => ({ guard: { kind: 'api', api: 'v1', operation } as const });
const idParams = Type.Object({ id: Type.String({ description: 'The id of the refund (re_…).' }) });

/** Refunds of all payments, below `/v1/refunds`. */
export function refundRoutes(api: Api): (app: FastifyInstance) => void {
  return (app) => {
    createRoute(app, api);
    readRoutes(app, api);
    cancelRoute(app, api);
  };
}

function createRoute(app: FastifyInstance, api: Api): void {
  const schema = {
    tags,
    operationId: 'createRefund',
    summary: 'Create a refund',
    description:
      'Refunds a payment that has ended and for which confirmed money was received. The refunds of a payment never add up to more than the amount received. A test refund completes 10 seconds after its address is known. You pay a live refund from your own wallet. A live refund completes once the transaction that pays it is confirmed, and fails if it is still unpaid after 7 days. Requires a key with Full Access, Write Only or the refunds scope.',
    headers: idempotencyHeader,
    body: createRefundBody,
    response: { 200: refundShape, ...orderErrors },
  };
  app.post<{ Body: CreateRefundBody }>(
    '/v1/refunds',
    { config: guard('change_refund'), schema },
    async (request, reply) => {
      const key = keyOf(request);
      const { body } = request;
      const named = paymentOf(body);
      if (named === null) throw invalid('order_id', `One of ${REFUND_FIELDS} is required.`);
      const payment = await readPayment(api.reader, key, named.api, named.id);
      const outcome = await createRefund(
        forRequest(api.app, request.id),
        {
          projectId: key.project.id,
          mode: key.mode,
          api: named.api,
          paymentId: payment.id,
          wanted: wantedOf(body, payment.currency),
          token: tokenOf(body),
          address: body.address ?? null,
          reason: body.reason ?? null,
        },
        idempotencyOf(request, key),
      );
      return sendRefund(reply, outcome, named.api);
    },
  );
}

/** The payment that a body or query names; null if it names none. */
function paymentOf(given: NamedPayment): { readonly api: PaymentApi; readonly id: string } | null {
  const named = PAYMENT_APIS.flatMap((api) => {
    const id = given[PAYMENT_KINDS[api].refundField];
    return id === undefined ? [] : [{ api, id }];
  });
  if (named.length > 1) throw invalid('order_id', `Only one of ${REFUND_FIELDS} may be given.`);
  return named[0] ?? null;
}

function tokenOf({ crypto_currency, network }: CreateRefundBody) {
  if (crypto_currency !== undefined) return { asset: crypto_currency, network: network ?? null };
  if (network !== undefined) throw invalid('network', 'network can only be given together with crypto_currency.');
  return null;
}

function wantedOf(body: CreateRefundBody, currency: Fiat) {
  if (body.amount !== undefined && body.crypto_amount !== undefined) {
    throw invalid('crypto_amount', 'crypto_amount cannot be given together with amount.');
  }
  if (body.crypto_amount !== undefined) {
    if (!(body.crypto_amount > 0)) throw invalid('crypto_amount', 'crypto_amount must be a number above 0.');
    return { cryptoAmount: plainDecimal(body.crypto_amount) };
  }
  if (body.amount === undefined) return null;
  return { amountMinor: readAmount(body.amount, currency) };
}

/** A number's shortest text without an exponent: a satoshi is `0.00000001`, not `1e-8`. */
function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  return value < 1 ? value.toFixed(20).replace(/0+$/, '') : BigInt(value).toString();
}

function sendRefund(reply: FastifyReply, outcome: RefundOutcome, noun: string): FastifyReply {
  if (outcome.kind === 'not_found') throw notFound(`There is no such ${noun}.`);
  return sendDone(reply, outcome);
}

function readRoutes(app: FastifyInstance, { app: core }: Api): void {
  app.get<{ Params: { id: string } }>(
    '/v1/refunds/:id',
    {
      config: guard('read_refunds'),
      schema: {
        tags,
        operationId: 'getRefund',
        summary: 'Get a refund',
        description: 'Requires a key with Full Access, Read Only or the refunds scope.',
        params: idParams,
        response: { 200: refundShape, ...orderErrors },
      },
    },
    async (request) => {
      const key = keyOf(request);
      const id = decodeId('refund', request.params.id);
      const scope = { projectId: key.project.id, mode: key.mode };
      const refund = id === null ? null : await readRefund(core, { id, ...scope });
      if (refund === null) throw notFound('There is no such refund.');
      return refundView(refund, core.links);
    },
  );
  app.get<{ Querystring: ListRefundsQuery }>(
    '/v1/refunds',
    {
      config: guard('read_refunds'),
      schema: {
        tags,
        operationId: 'listRefunds',
        summary: 'List refunds, newest first',
        description:
          'Lists the refunds in the key’s own project and mode. Requires a key with Full Access, Read Only or the refunds scope.',
        querystring: listRefundsQuery,
        response: { 200: refundListShape, ...orderErrors },
      },
    },
    async (request) => {
      const key = keyOf(request);
      const { limit = 50, offset = 0, status } = request.query;
      const named = paymentOf(request.query);
      const id = named === null ? null : paymentIdOf(named.api, named.id);
      if (named !== null && id === null) return { data: [], pagination: pagination({ limit, offset }, 0, 0) };
      const payment = named === null || id === null ? null : { id, api: named.api };
      const scope = { projectId: key.project.id, mode: key.mode, status: status ?? null, payment };
      const { refunds, total } = await listRefunds(core.db, scope, { limit, offset });
      return {
        data: refunds.map((refund) => refundView(refund, core.links)),
        pagination: pagination({ limit, offset }, refunds.length, total),
      };
    },
  );
}

function cancelRoute(app: FastifyInstance, api: Api): void {
  app.post<{ Params: { id: string } }>(
    '/v1/refunds/:id/cancel',
    {
      config: guard('change_refund'),
      schema: {
        tags,
        operationId: 'cancelRefund',
        summary: 'Cancel an unpaid refund',
        description:
          'The refund then counts as failed, and its amount can be refunded again. The request is rejected once a transaction that pays the refund has been detected, unless that transaction was replaced or dropped. It is also rejected if the newest blocks of the refund’s network cannot be read within 15 seconds. Requires a key with Full Access, Write Only or the refunds scope.',
        headers: idempotencyHeader,
        params: idParams,
        response: { 200: refundShape, ...orderErrors },
      },
    },
    async (request, reply) => {
      const key = keyOf(request);
      const id = decodeId('refund', request.params.id);
      if (id === null) throw notFound('There is no such refund.');
      const scope = { id, projectId: key.project.id, mode: key.mode };
      return sendRefund(
        reply,
        await cancelRefund(forRequest(api.app, request.id), scope, idempotencyOf(request, key)),
        'refund',
      );
    },
  );
}
