import { Type, type Static } from 'typebox';
import { REFUND_STATUSES } from '../../domain/refund.ts';
import { described, nullable, pageQuery, paginationShape, time, oneOf, text } from '../fields.ts';

export const createRefundBody = Type.Object(
  {
    order_id: Type.Optional(text({ max: 100, description: "The order's id (ord_…), or transaction_id." })),
    transaction_id: Type.Optional(text({ max: 100, description: "The transaction's id, or order_id." })),
    amount: Type.Optional(
      Type.Number({ description: "In the payment's currency, at its locked quote; all that is left unless said." }),
    ),
    crypto_amount: Type.Optional(Type.Number({ description: 'In the crypto asset, instead of amount.' })),
    crypto_currency: Type.Optional(
      text({
        max: 20,
        min: 1,
        description:
          'For money that came in another asset than the payment asked for. Of such only crypto_amount can be said; its amount is 0.',
      }),
    ),
    network: Type.Optional(
      text({ max: 20, min: 1, description: "The network of crypto_currency; the payment's own unless said." }),
    ),
    address: Type.Optional(
      text({ max: 200, min: 1, description: 'Where to pay; without it the customer types it at claim_url.' }),
    ),
    reason: Type.Optional(
      text({
        max: 1_000,
        description: 'For your records. In test mode the reason test_failure makes the refund fail.',
      }),
    ),
  },
  {
    title: 'CreateRefund',
    description: 'Unknown fields are ignored and listed in the X-Ignored-Fields response header.',
    examples: [{ order_id: 'ord_01kadfw4t3f7vb8y2z6m5n9qrs', amount: 10, reason: 'One mug was broken' }],
  },
);
export type CreateRefundBody = Static<typeof createRefundBody>;

/** The fields of a refund, also in an event's data. */
export const refundFields = {
  id: Type.String({ examples: ['re_01kadfw4t3f7vb8y2z6m5n9qrs'] }),
  object: Type.Literal('refund'),
  status: oneOf(REFUND_STATUSES),
  payment: described("The order's or transaction's id."),
  amount: Type.Number({ description: "In the payment's currency, at its locked quote." }),
  currency: Type.String(),
  crypto_currency: Type.String(),
  network: Type.String(),
  crypto_amount: Type.Number({ description: 'What is paid back, in crypto units.' }),
  address: nullable(Type.String()),
  claim_url: nullable(Type.String(), 'Where the customer types an address, while none is known.'),
  transaction_hash: nullable(Type.String()),
  reason: nullable(Type.String()),
  failure_reason: nullable(oneOf(['cancelled', 'unpaid', 'test_failure'])),
  created_at: time(),
  completed_at: nullable(time()),
};

export const refundShape = Type.Object(refundFields, {
  title: 'Refund',
  examples: [
    {
      id: 're_01kadg2n0vd9x6s3w8q4t7b5mz',
      object: 'refund',
      status: 'pending',
      payment: 'ord_01kadfw4t3f7vb8y2z6m5n9qrs',
      amount: 10,
      currency: 'USD',
      crypto_currency: 'BTC',
      network: 'bitcoin',
      crypto_amount: 0.00016666,
      address: null,
      claim_url: 'https://pay.example/refund/re_01kadg2n0vd9x6s3w8q4t7b5mz',
      transaction_hash: null,
      reason: 'One mug was broken',
      failure_reason: null,
      created_at: '2026-02-01T09:00:00.000Z',
      completed_at: null,
    },
  ],
});

export const listRefundsQuery = Type.Object({
  status: Type.Optional(oneOf(REFUND_STATUSES)),
  order_id: Type.Optional(Type.String({ description: "Only this order's." })),
  transaction_id: Type.Optional(Type.String({ description: "Only this transaction's." })),
  ...pageQuery,
});
export type ListRefundsQuery = Static<typeof listRefundsQuery>;

export const refundListShape = Type.Object(
  { data: Type.Array(refundShape), pagination: paginationShape },
  { title: 'RefundList' },
);
