import type { Operation, Scope } from '../../src/domain/permission.ts';
import type { ErrorSurface } from '../../src/http/errors.ts';

/** Every route that takes a key; `:id` and `:projectId` are to be filled in. */
export const API_ROUTES: readonly {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly surface: ErrorSurface;
  readonly operation: Operation;
  readonly scope: Scope;
}[] = [
  {
    method: 'POST',
    path: '/api/transactions/create',
    surface: 'transaction',
    operation: 'create_payment',
    scope: 'payments:create',
  },
  {
    method: 'GET',
    path: '/api/transactions/stats',
    surface: 'transaction',
    operation: 'read_payments',
    scope: 'payments:read',
  },
  {
    method: 'GET',
    path: '/api/transactions/project/:projectId',
    surface: 'transaction',
    operation: 'read_payments',
    scope: 'payments:read',
  },
  {
    method: 'GET',
    path: '/api/transactions/:id',
    surface: 'transaction',
    operation: 'read_payment',
    scope: 'payments:read',
  },
  {
    method: 'POST',
    path: '/api/transactions/:id/cancel',
    surface: 'transaction',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  {
    method: 'POST',
    path: '/api/transactions/:id/accept',
    surface: 'transaction',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  { method: 'POST', path: '/v1/orders', surface: 'order', operation: 'create_payment', scope: 'payments:create' },
  { method: 'GET', path: '/v1/orders', surface: 'order', operation: 'read_payments', scope: 'payments:read' },
  { method: 'GET', path: '/v1/orders/:id', surface: 'order', operation: 'read_payment', scope: 'payments:read' },
  {
    method: 'POST',
    path: '/v1/orders/:id/cancel',
    surface: 'order',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  {
    method: 'POST',
    path: '/v1/orders/:id/accept',
    surface: 'order',
    operation: 'change_payment',
    scope: 'payments:change',
  },
  { method: 'POST', path: '/v1/refunds', surface: 'order', operation: 'change_refund', scope: 'refunds' },
  { method: 'GET', path: '/v1/refunds', surface: 'order', operation: 'read_refunds', scope: 'refunds' },
  { method: 'GET', path: '/v1/refunds/:id', surface: 'order', operation: 'read_refunds', scope: 'refunds' },
  { method: 'POST', path: '/v1/refunds/:id/cancel', surface: 'order', operation: 'change_refund', scope: 'refunds' },
];
