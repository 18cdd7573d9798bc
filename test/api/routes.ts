import { PAYMENT_APIS, type PaymentApi } from '../../src/domain/payment.ts';
import type { Operation, Scope } from '../../src/domain/permission.ts';
import type { HttpApi } from '../../src/http/errors.ts';
import { PAYMENT_ROUTES } from '../../src/http/payment-routes.ts';

interface ApiRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly api: HttpApi;
  readonly operation: Operation;
  readonly scope: Scope;
}

/** The routes that a kind of payment has beside those of all kinds. */
const OWN = {
  transaction: [
    ['POST', '/api/transactions/create', 'create_payment'],
    ['GET', '/api/transactions/stats', 'read_payments'],
    ['GET', '/api/transactions/project/:projectId', 'read_payments'],
  ],
  order: [
    ['POST', '/v1/orders', 'create_payment'],
    ['GET', '/v1/orders', 'read_payments'],
  ],
  invoice: [
    ['POST', '/v1/invoices', 'create_payment'],
    ['GET', '/v1/invoices', 'read_payments'],
    ['POST', '/v1/invoices/:id/complete', 'change_payment'],
  ],
} as const satisfies Readonly<Record<PaymentApi, readonly (readonly ['GET' | 'POST', string, Operation])[]>>;

const SCOPES = { create_payment: 'payments:create', change_payment: 'payments:change' } as const;

/** Every route that takes a key; `:id` and `:projectId` are to be filled in. */
export const API_ROUTES: readonly ApiRoute[] = [
  ...PAYMENT_APIS.flatMap((kind): readonly ApiRoute[] => {
    const { path, api } = PAYMENT_ROUTES[kind];
    const routes: readonly (readonly ['GET' | 'POST', string, Operation])[] = [
      ...OWN[kind],
      ['GET', `${path}/:id`, 'read_payment'],
      ...['cancel', 'accept', 'simulate', 'advance'].map(
        (verb) => ['POST', `${path}/:id/${verb}`, 'change_payment'] as const,
      ),
    ];
    return routes.map(([method, at, operation]) => {
      const scope =
        operation === 'create_payment' || operation === 'change_payment' ? SCOPES[operation] : 'payments:read';
      return { method, path: at, api, operation, scope };
    });
  }),
  {
    method: 'POST',
    path: '/v1/payment_requests',
    api: 'v1',
    operation: 'create_request',
    scope: 'payments:create',
  },
  { method: 'GET', path: '/v1/payment_requests', api: 'v1', operation: 'read_payments', scope: 'payments:read' },
  { method: 'GET', path: '/v1/payment_requests/:id', api: 'v1', operation: 'read_payments', scope: 'payments:read' },
  {
    method: 'POST',
    path: '/v1/payment_requests/:id/close',
    api: 'v1',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  { method: 'POST', path: '/v1/refunds', api: 'v1', operation: 'change_refund', scope: 'refunds' },
  { method: 'GET', path: '/v1/refunds', api: 'v1', operation: 'read_refunds', scope: 'refunds' },
  { method: 'GET', path: '/v1/refunds/:id', api: 'v1', operation: 'read_refunds', scope: 'refunds' },
  { method: 'POST', path: '/v1/refunds/:id/cancel', api: 'v1', operation: 'change_refund', scope: 'refunds' },
  { method: 'GET', path: '/v1/events', api: 'v1', operation: 'read_events', scope: 'events' },
  { method: 'GET', path: '/v1/events/:id', api: 'v1', operation: 'read_events', scope: 'events' },
  { method: 'POST', path: '/v1/events/:id/resend', api: 'v1', operation: 'resend_event', scope: 'events' },
];
