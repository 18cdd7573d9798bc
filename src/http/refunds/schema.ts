import { Type, type Static, type TOptional, type TString } from 'typebox';
import { PAYMENT_APIS, type PaymentApi } from '../../domain/payment.ts';
import { PAYMENT_KINDS } from '../../domain/payment-kind.ts';
import { REFUND_STATUSES } from '../../domain/refund.ts';
import { described, nullable, pageQuery, paginationShape, time, oneOf, text } from '../fields.ts';

type RefundField = (typeof PAYMENT_KINDS)[PaymentApi]['refundField'];
/** The payment that a body or query names, by the field of its kind. */
export type NamedPayment = { readonly [Field in RefundField]?: string };

/** The fields by which a payment is named, as sentences list them. */
export const REFUND_FIELDS = PAYMENT_APIS.map((api) => PAYMENT_KINDS[api].refundField).join(', ');

function namedPayment(describe: (one: PaymentApi) => string): { readonly [Field in RefundField]: TOptional<TString> } {
  const field = (api: PaymentApi) => Type.Optional(text({ max: 100, description: describe(api) }));
  return { order_id: field('order'), transaction_id: field('transaction'), invoice_id: field('invoice') };
}

export const createRefundBody = Type.Object(
  {
    ...namedPayment((one) => `The id of the ${one} to refund. Give exactly one of ${REFUND_FIELDS}.`),
    amount: Type.Optional(
      Type.Number({
        description:
          "Amount to refund, expressed in the payment's currency. It is converted to the crypto asset at the rate that was locked for the payment. If you give neither amount nor crypto_amount, everything that is left is refunded.",
      }),
    ),
    crypto_amount: Type.Optional(
      Type.Number({
        description:
          'Amount to refund in whole units of the crypto asset, for example 0.0015 for 0.0015 BTC (not in satoshi). Give either amount or crypto_amount, but not both.',
      }),
    ),
    crypto_currency: Type.Optional(
      text({
        max: 20,
        min: 1,
        description:
          'Needed only to refund money that arrived in an asset that the payment did not ask for. For such money, you can give crypto_amount, but not amount. The refund then has an amount of 0.',
      }),
    ),
    network: Type.Optional(
      text({ max: 20, min: 1, description: "The network of crypto_currency. The default is the payment's network." }),
    ),
    address: Type.Optional(
      text({
        max: 200,
        min: 1,
        description:
          'Address to which the refund is paid. If you give none, the customer enters an address on the page at claim_url.',
      }),
    ),
    reason: Type.Optional(
      text({
        max: 1_000,
        description:
          'Reason for the refund, for your records. In test mode, the reason test_failure makes the refund fail.',
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
  payment: described('The id of the payment.'),
  amount: Type.Number({
    description: "Amount in the payment's currency, converted at the rate that was locked for the payment.",
  }),
  currency: Type.String(),
  crypto_currency: Type.String(),
  network: Type.String(),
  crypto_amount: Type.Number({ description: 'Amount that is paid back, in whole units of crypto_currency.' }),
  address: nullable(Type.String()),
  claim_url: nullable(
    Type.String(),
    'URL of the page on which the customer enters an address. Null if the address is known or the refund is no longer pending.',
  ),
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
  ...namedPayment((one) => `Lists only the refunds of this ${one}.`),
  ...pageQuery,
});
export type ListRefundsQuery = Static<typeof listRefundsQuery>;

export const refundListShape = Type.Object(
  { data: Type.Array(refundShape), pagination: paginationShape },
  { title: 'RefundList' },
);
