import type { Operation, Scope } from '../../src/domain/permission.ts';
import type { PaymentApi } from '../../src/domain/payment.ts';

/** Every route that takes a key; `:id` and `:projectId` are to be filled in. */
export const API_ROUTES: readonly {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly api: PaymentApi;
  readonly operation: Operation;
  readonly scope: Scope;
}[] = [
  {
    method: 'POST',
    path: '/api/transactions/create',
    api: 'transaction',
    operation: 'create_payment',
    scope: 'payments:create',
  },
  {
    method: 'GET',
    path: '/api/transactions/stats',
    api: 'transaction',
    operation: 'read_payments',
    scope: 'payments:read',
  },
  {
    method: 'GET',
    path: '/api/transactions/project/:projectId',
    api: 'transaction',
    operation: 'read_payments',
    scope: 'payments:read',
  },
  {
    method: 'GET',
    path: '/api/transactions/:id',
    api: 'transaction',
    operation: 'read_payment',
    scope: 'payments:read',
  },
  {
    method: 'POST',
    path: '/api/transactions/:id/cancel',
    api: 'transaction',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  {
    method: 'POST',
    path: '/api/transactions/:id/accept',
    api: 'transaction',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  { method: 'POST', path: '/v1/orders', api: 'order', operation: 'create_payment', scope: 'payments:create' },
  { method: 'GET', path: '/v1/orders', api: 'order', operation: 'read_payments', scope: 'payments:read' },
  { method: 'GET', path: '/v1/orders/:id', api: 'order', operation: 'read_payment', scope: 'payments:read' },
  {
    method: 'POST',
    path: '/v1/orders/:id/cancel',
    api: 'order',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  {
    method: 'POST',
    path: '/v1/orders/:id/accept',
    api: 'order',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  ...(['/api/transactions', '/v1/orders'] as const).flatMap((path) =>
    ['simulate', 'advance'].map(
      (verb) =>
        ({
          method: 'POST',
          path: `${path}/:id/${verb}`,
          api: path === '/v1/orders' ? 'order' : 'transaction',
          operation: 'change_payment',
          scope: 'payments:change',
        }) as const,
    ),
  ),
  { method: 'POST', path: '/v1/refunds', api: 'order', operation: 'change_refund', scope: 'refunds' },
  { method: 'GET', path: '/v1/refunds', api: 'order', operation: 'read_refunds', scope: 'refunds' },
  { method: 'GET', path: '/v1/refunds/:id', api: 'order', operation: 'read_refunds', scope: 'refunds' },
  { method: 'POST', path: '/v1/refunds/:id/cancel', api: 'order', operation: 'change_refund', scope: 'refunds' },
  { method: 'GET', path: '/v1/events', api: 'order', operation: 'read_events', scope: 'events' },
  { method: 'GET', path: '/v1/events/:id', api: 'order', operation: 'read_events', scope: 'events' },
  { method: 'POST', path: '/v1/events/:id/resend', api: 'order', operation: 'resend_event', scope: 'events' },
];
