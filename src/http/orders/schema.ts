import { Type, type Static } from 'typebox';
import { ASSET_CODES, NETWORKS } from '../../domain/asset.ts';
import { FIATS } from '../../domain/money.ts';
import { ORDER_STATUSES } from '../../domain/order-status.ts';
import { nullable, pageQuery, paginationShape, time } from '../shapes.ts';
import { email, httpUrl, metadata, oneOf, text } from '../validation.ts';

export const createOrderBody = Type.Object({
  amount: Type.Number({ description: 'Fiat amount, at most as many decimals as the currency has.', examples: [25] }),
  currency: text({ max: 10, min: 1, description: `Fiat currency: ${FIATS.join(', ')}.` }),
  crypto_currency: text({ max: 20, min: 1, description: `Crypto asset: ${ASSET_CODES.join(', ')}.` }),
  network: Type.Optional(
    text({ max: 20, min: 1, description: `For an asset on several networks: ${NETWORKS.join(', ')}.` }),
  ),
  description: Type.Optional(text({ max: 1_000 })),
  customer_email: Type.Optional(email),
  order_id: Type.Optional(text({ max: 255, description: "Merchant's own reference." })),
  return_url: Type.Optional(httpUrl),
  success_url: Type.Optional(httpUrl),
  cancel_url: Type.Optional(httpUrl),
  expires_in: Type.Optional(
    Type.Integer({ minimum: 60, maximum: 86_400, description: 'Lifetime in seconds; 1800 unless said otherwise.' }),
  ),
  metadata: Type.Optional(metadata),
});
export type CreateOrderBody = Static<typeof createOrderBody>;

const created = {
  id: Type.String({ examples: ['ord_01kadfw4t3f7vb8y2z6m5n9qrs'] }),
  status: oneOf(ORDER_STATUSES),
  amount: Type.Number(),
  currency: Type.String(),
  crypto_currency: nullable(Type.String()),
  crypto_amount: nullable(Type.Number({ description: 'Crypto units, up to 8 decimals.' })),
  payment_url: Type.String(),
  expires_at: time(),
  created_at: time(),
};
export const createdOrderShape = Type.Object(created);

export const orderShape = Type.Object({
  ...created,
  network: nullable(Type.String()),
  address: nullable(Type.String()),
  amount_received: nullable(Type.Number()),
  transaction_hash: nullable(Type.String()),
  completed_at: nullable(time()),
  exception: Type.String(),
  failure_reason: nullable(Type.String()),
  order_id: nullable(Type.String()),
  description: nullable(Type.String()),
  customer_email: Type.Optional(nullable(Type.String())),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  return_url: nullable(Type.String()),
  cancel_url: nullable(Type.String()),
});

export const listOrdersQuery = Type.Object({
  status: Type.Optional(oneOf(ORDER_STATUSES)),
  created_after: Type.Optional(
    Type.String({ description: 'ISO 8601: orders created after this time, or after this UTC day.' }),
  ),
  created_before: Type.Optional(Type.String({ description: 'ISO 8601: orders created before this time or UTC day.' })),
  ...pageQuery,
});
export type ListOrdersQuery = Static<typeof listOrdersQuery>;

export const orderListShape = Type.Object({ data: Type.Array(orderShape), pagination: paginationShape });
