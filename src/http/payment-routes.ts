import { Type, type TProperties } from 'typebox';
import type { PaymentApi } from '../domain/payment.ts';
import type { Operation } from '../domain/permission.ts';
import type { HttpApi } from './errors.ts';
import { orderErrors, transactionErrors } from './fields.ts';

interface PaymentRoutes {
  /** The collection. */
  readonly path: string;
  readonly tag: string;
  readonly api: HttpApi;
  /** The description of the parameter `id`. */
  readonly id: string;
}

/** Where HTTP has the payments of each kind. */
export const PAYMENT_ROUTES = {
  transaction: {
    path: '/api/transactions',
    tag: 'Transactions',
    api: 'transactions',
    id: 'The UUID of the transaction.',
  },
  order: { path: '/v1/orders', tag: 'Orders', api: 'v1', id: 'The id of the order (ord_…).' },
  invoice: { path: '/v1/invoices', tag: 'Invoices', api: 'v1', id: 'The id of the invoice (inv_…).' },
} as const satisfies Readonly<Record<PaymentApi, PaymentRoutes>>;

/** The guard of a kind's route. */
export function paymentGuard(kind: PaymentApi, operation: Operation) {
  return { guard: { kind: 'api', api: PAYMENT_ROUTES[kind].api, operation } } as const;
}

/** The schema of the path of one payment. */
export function paymentParams(kind: PaymentApi) {
  return Type.Object({ id: Type.String({ description: PAYMENT_ROUTES[kind].id }) });
}

/** The schemas of the answers to a call that answers with these fields. */
export function answersOf(kind: PaymentApi, fields: TProperties, title: string) {
  return PAYMENT_ROUTES[kind].api === 'v1'
    ? { 200: Type.Object(fields, { title }), ...orderErrors }
    : { 200: Type.Object({ success: Type.Boolean(), ...fields }, { title }), ...transactionErrors };
}

/** A kind as ids of operations name it: `Order`. */
export function titled(kind: PaymentApi): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1);
}
