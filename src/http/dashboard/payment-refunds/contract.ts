import { Type } from 'typebox';
import { text, time } from '../../fields.ts';
import { type Contracts, paymentParams, requestField } from '../contract-parts.ts';
import { paymentShape } from '../payments/contract.ts';

const decimal = text({ max: 40, min: 1 });

const REFUNDS = '/dashboard/api/projects/:project/:mode/payments/:payment/refunds';
const refundParams = Type.Object({ ...paymentParams.properties, refund: Type.String() });
const refundAnswer = Type.Object({
  payment: paymentShape,
  /** The id of the refund. */
  refund: Type.String(),
});

export const refundsContract = {
  /** A given address requires `create_refunds`. 409 while the same request is still running. */
  [`POST ${REFUNDS}`]: {
    params: paymentParams,
    body: Type.Object({
      request: requestField,
      /** In the payment's currency; not together with `crypto_amount`. Without both, everything that is left. */
      amount: Type.Optional(decimal),
      crypto_amount: Type.Optional(decimal),
      /** The `until` of the rate for `crypto_amount`; refused after that time, or if it is too far ahead. */
      rate_until: Type.Optional(text({ max: 40 })),
      asset: text({ max: 20, min: 1 }),
      network: text({ max: 20, min: 1 }),
      /** If absent, the customer enters one on the claim page. */
      address: Type.Optional(text({ max: 200, min: 1 })),
      reason: Type.Optional(text({ max: 500 })),
    }),
    answer: refundAnswer,
  },
  /** The present value of an amount in the payment's currency; 503 without a fresh price. */
  [`GET ${REFUNDS}/rate`]: {
    params: paymentParams,
    query: Type.Object({ asset: text({ max: 20, min: 1 }), network: text({ max: 20, min: 1 }), amount: decimal }),
    answer: Type.Object({
      /** Rounded down, so that it is never worth more than the amount. */
      crypto_amount: Type.String(),
      /** One whole unit in the payment's currency. */
      rate: Type.String(),
      /** The market's time of this rate. */
      at: time(),
      until: time(),
    }),
  },
  /** A refund to an address that the customer did not enter needs `create_refunds`. */
  [`POST ${REFUNDS}/:refund/cancel`]: { params: refundParams, answer: refundAnswer },
} as const satisfies Contracts;
