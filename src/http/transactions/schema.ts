import { Type, type Static, type TSchema } from 'typebox';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/payment.ts';
import { nullable, pageQuery, time } from '../shapes.ts';
import { email, httpUrl, metadata, oneOf, text } from '../validation.ts';

export const createTransactionBody = Type.Object({
  amount: Type.Number({ description: 'Amount in USD, 0.01 to 1000000, at most two decimals.', examples: [49.99] }),
  customer_email: Type.Optional(email),
  customer_name: Type.Optional(text({ max: 255 })),
  order_id: Type.Optional(text({ max: 255, description: "Merchant's own reference." })),
  order_description: Type.Optional(text({ max: 1_000 })),
  success_url: Type.Optional(httpUrl),
  cancel_url: Type.Optional(httpUrl),
  expires_in_minutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_440, description: 'Lifetime; 30 unless said otherwise.' }),
  ),
  metadata: Type.Optional(metadata),
});
export type CreateTransactionBody = Static<typeof createTransactionBody>;

export const transactionShape = Type.Object({
  id: Type.String({ format: 'uuid' }),
  transaction_number: Type.String({ examples: ['TXN-2026-000001'] }),
  status: oneOf(PAYMENT_STATUSES),
  amount_usd: Type.Number(),
  currency: Type.String(),
  payment_url: Type.String(),
  created_at: time(),
  expires_at: time(),
  transaction_hash: Type.Optional(nullable(Type.String())),
  completed_at: Type.Optional(time()),
  order_id: nullable(Type.String()),
  order_description: nullable(Type.String()),
  customer_email: Type.Optional(nullable(Type.String())),
  customer_name: Type.Optional(nullable(Type.String())),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  success_url: nullable(Type.String()),
  cancel_url: nullable(Type.String()),
  crypto_currency: nullable(Type.String()),
  network: nullable(Type.String()),
  crypto_amount: nullable(Type.Number()),
  address: nullable(Type.String()),
  amount_received: nullable(Type.Number()),
  exception: Type.String(),
  failure_reason: nullable(Type.String()),
});

export const statsShape = Type.Object({
  total_transactions: Type.Integer(),
  total_volume_usd: Type.Number(),
  completed_transactions: Type.Integer(),
  conversion_rate: Type.Number({ description: 'Completed in percent of all, two decimals.' }),
  by_status: Type.Object(Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, Type.Integer()]))),
});

/** The envelope of every success of this API. */
export const success = <Shape extends Record<string, TSchema>>(shape: Shape) =>
  Type.Object({ success: Type.Literal(true), ...shape });

export const listTransactionsQuery = Type.Object({ status: Type.Optional(oneOf(PAYMENT_STATUSES)), ...pageQuery });
export interface ListTransactionsQuery {
  readonly status?: PaymentStatus;
  readonly limit?: number;
  readonly offset?: number;
}

export const statsQuery = Type.Object({
  start_date: Type.Optional(Type.String({ description: 'ISO 8601, inclusive; a bare date means the whole UTC day.' })),
  end_date: Type.Optional(Type.String({ description: 'ISO 8601, inclusive.' })),
  testing_mode: Type.Optional(Type.Boolean({ default: false, description: 'Include test transactions.' })),
});
export type StatsQuery = Static<typeof statsQuery>;
