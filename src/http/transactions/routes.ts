import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AccessKey } from '../../app/projects/access.ts';
import { fiatDecimals } from '../../domain/money.ts';
import { parseUuid } from '../../domain/id.ts';
import { PAYMENT_STATUSES } from '../../domain/status.ts';
import type { Payment } from '../../domain/payment.ts';
import { confirmationsView, paymentUrl } from '../../wire/payment.ts';
import { exactNumber } from '../../wire/number.ts';
import { transactionView } from '../../wire/transaction.ts';
import { countPayments } from '../../store/payments/payments.ts';
import { audienceOf, keyOf, readPayment, type Api } from '../api.ts';
import { changeRoutes } from '../change-routes.ts';
import { readAmount, readCurrency } from '../common-fields.ts';
import { createPayment } from '../create-payment.ts';
import { readPeriod } from '../dates.ts';
import { invalid, RequestError } from '../errors.ts';
import { pageOfPayments, totalOf } from '../list-payments.ts';
import { paymentGuard, paymentParams } from '../payment-routes.ts';
import { idempotencyHeader, paginationShape, transactionErrors } from '../fields.ts';
import {
  createTransactionBody,
  listTransactionsQuery,
  statsQuery,
  statsShape,
  success,
  transactionShape,
  type CreateTransactionBody,
  type ListTransactionsQuery,
  type StatsQuery,
} from './schema.ts';

const tags = ['Transactions'];
const answer = (shape: Parameters<typeof success>[0]) => ({ 200: success(shape), ...transactionErrors });

/** The Transaction API below `/api/transactions`. */
export function transactionRoutes(api: Api): (app: FastifyInstance) => void {
  return (app) => {
    createRoute(app, api);
    statsRoute(app, api);
    listRoute(app, api);
    getRoute(app, api);
    changeRoutes(app, api, {
      kind: 'transaction',
      present: (payment) => JSON.stringify({ success: true, transaction: transactionView(payment, api.app.links) }),
      response: answer({ transaction: transactionShape }),
    });
  };
}

function createRoute(app: FastifyInstance, api: Api): void {
  const created = answer({ transaction: transactionShape, payment_url: Type.String() });
  const schema = {
    tags,
    operationId: 'createTransaction',
    summary: 'Create a transaction',
    description:
      'The customer chooses the token on the page at payment_url. The key decides whether the transaction is created in test or live mode. A test transaction completes automatically after 60 seconds. A test transaction with an expires_in_minutes of 1 expires instead. Requires a secret or public key with Full Access, Write Only or the payments:create scope.',
    headers: idempotencyHeader,
    body: createTransactionBody,
    response: created,
  };
  const present = (payment: Payment, key: AccessKey): string =>
    JSON.stringify({
      success: true,
      transaction: transactionView(payment, api.app.links, audienceOf(key)),
      payment_url: paymentUrl(payment, api.app.links),
    });
  app.post<{ Body: CreateTransactionBody }>(
    '/api/transactions/create',
    { config: paymentGuard('transaction', 'create_payment'), schema },
    (request, reply) => createPayment(api, request, reply, readTransaction, present),
  );
}

function readTransaction(body: CreateTransactionBody) {
  const currency = readCurrency(body.currency ?? 'USD');
  return {
    api: 'transaction' as const,
    amountMinor: readAmount(body.amount, currency),
    currency,
    token: null,
    description: body.order_description ?? null,
    customerName: body.customer_name ?? null,
    coins: null,
    paymentRequestId: null,
    successUrl: body.success_url ?? body.return_url ?? null,
    lifetimeMs: body.expires_in_minutes === undefined ? null : body.expires_in_minutes * 60_000,
  };
}

function statsRoute(app: FastifyInstance, { app: core }: Api): void {
  app.get<{ Querystring: StatsQuery }>(
    '/api/transactions/stats',
    {
      config: paymentGuard('transaction', 'read_payments'),
      schema: {
        tags,
        operationId: 'getStatistics',
        summary: 'Get transaction statistics',
        description:
          'Counts the transactions that were created in the period from start_date to end_date. Requires a key with Full Access, Read Only or the payments:read scope.',
        querystring: statsQuery,
        response: answer({ stats: statsShape }),
      },
    },
    async (request) => {
      const key = keyOf(request);
      const { testing_mode } = request.query;
      const { start, end } = readPeriod(request.query);
      const modes =
        key.mode === 'test'
          ? (['test'] as const)
          : testing_mode === true
            ? (['live', 'test'] as const)
            : (['live'] as const);
      const scope = { projectId: key.project.id, modes, api: 'transaction' as const };
      const counts = await countPayments(core.db, scope, {
        createdFrom: start?.startAt ?? null,
        createdBefore: end?.endAt ?? null,
      });
      return { success: true, stats: statistics(counts) };
    },
  );
}

function listRoute(app: FastifyInstance, { app: core }: Api): void {
  app.get<{ Params: { projectId: string }; Querystring: ListTransactionsQuery }>(
    '/api/transactions/project/:projectId',
    {
      config: paymentGuard('transaction', 'read_payments'),
      schema: {
        tags,
        operationId: 'listTransactions',
        summary: 'List the transactions of a project, newest first',
        description:
          'Lists the transactions in the key’s mode. projectId must be the id of the key’s own project. Requires a key with Full Access, Read Only or the payments:read scope.',
        params: Type.Object({ projectId: Type.String({ description: 'The UUID of the project.' }) }),
        querystring: listTransactionsQuery,
        response: answer({ transactions: Type.Array(transactionShape), pagination: paginationShape }),
      },
    },
    async (request) => {
      const key = keyOf(request);
      const projectId = parseUuid(request.params.projectId);
      if (projectId === null) throw invalid('projectId', 'projectId must be a UUID.');
      if (projectId !== key.project.id) {
        throw new RequestError('permission_error', 'projectId must be the id of the project of the API key.');
      }
      const { query } = request;
      const statuses = query.status === undefined ? null : [query.status];
      const { payments, pagination } = await pageOfPayments(core, key, 'transaction', statuses, query);
      const transactions = payments.map((payment) => transactionView(payment, core.links));
      return { success: true, transactions, pagination };
    },
  );
}

function getRoute(app: FastifyInstance, { app: core, reader }: Api): void {
  app.get<{ Params: { id: string } }>(
    '/api/transactions/:id',
    {
      config: paymentGuard('transaction', 'read_payment'),
      schema: {
        tags,
        operationId: 'getTransaction',
        summary: 'Get a transaction',
        description:
          'Reading a transaction never changes it. Requires a secret or public key with Full Access, Read Only or the payments:read scope. With a public key, the customer’s data is left out.',
        params: paymentParams('transaction'),
        response: answer({ transaction: transactionShape }),
      },
    },
    async (request) => {
      const key = keyOf(request);
      const payment = await readPayment(reader, key, 'transaction', request.params.id);
      const audience = audienceOf(key);
      const confirmations = confirmationsView(await core.railFor(payment.mode).confirmations(payment));
      return { success: true, transaction: { ...transactionView(payment, core.links, audience), ...confirmations } };
    },
  );
}

/** Statistics from the counts: volume is that of completed transactions, in US cents; the rate has two decimals. */
function statistics(counts: Awaited<ReturnType<typeof countPayments>>) {
  const count = (status: Payment['status']): number => counts.get(status)?.payments ?? 0;
  const total = totalOf(counts, null);
  const completed = count('completed');
  // Basis points rounded to the nearest: 1 of 3 is 33.33.
  const basisPoints = total === 0 ? 0n : (BigInt(completed) * 20_000n + BigInt(total)) / (BigInt(total) * 2n);
  return {
    total_transactions: total,
    total_volume_usd: exactNumber(counts.get('completed')?.usdCents ?? 0n, fiatDecimals('USD')),
    completed_transactions: completed,
    conversion_rate: exactNumber(basisPoints, 2),
    by_status: Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, count(status)])),
  };
}
