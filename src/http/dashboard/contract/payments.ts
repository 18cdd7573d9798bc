import { Type, type Static } from 'typebox';
import { EXCEPTIONS, SURFACES } from '../../../domain/payment.ts';
import { SIMULATIONS } from '../../../domain/simulation.ts';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { oneOf, text } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import type { Contracts } from './route.ts';
import { keysetQuery, modeParams, modeShape } from './shape.ts';

/** Ids are as the API of the payment writes them: `ord_…` or a UUID. Amounts are decimal texts. */

const crypto = Type.Object({
  asset: Type.String(),
  network: Type.String(),
  owed: Type.String(),
  received: Type.String(),
});

const row = {
  id: Type.String(),
  surface: oneOf(SURFACES),
  mode: modeShape,
  status: oneOf(PAYMENT_STATUSES),
  exception: oneOf(EXCEPTIONS),
  amount: Type.String(),
  currency: Type.String(),
  /** Null until a token is chosen. */
  crypto: nullable(crypto),
  transaction_number: nullable(Type.String()),
  order_id: nullable(Type.String()),
  customer_email: nullable(Type.String()),
  created_at: time(),
  expires_at: time(),
};
export const paymentRowShape = Type.Object(row);
export type PaymentRow = Static<typeof paymentRowShape>;

const timelineEntry = Type.Object({
  at: time(),
  kind: oneOf(['status', 'transfer', 'event', 'delivery', 'refund']),
  /** In words of the table of its kind, such as a status, an event's type. */
  what: Type.String(),
  detail: nullable(Type.String()),
});

const actionsShape = Type.Object({
  complete: Type.Boolean(),
  cancel: Type.Boolean(),
  accept: Type.Boolean(),
  simulate: Type.Array(oneOf(SIMULATIONS)),
});

const paymentShape = Type.Object({
  ...row,
  description: nullable(Type.String()),
  customer_name: nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  payment_url: Type.String(),
  address: nullable(Type.String()),
  confirmations: nullable(Type.Object({ have: Type.Integer(), need: Type.Integer() })),
  transfers: Type.Array(
    Type.Object({
      transaction_hash: Type.String(),
      explorer_url: nullable(Type.String()),
      asset: Type.String(),
      network: Type.String(),
      amount: Type.String(),
      state: oneOf(['seen', 'mined', 'confirmed', 'dropped']),
      seen_at: time(),
    }),
  ),
  timeline: Type.Array(timelineEntry),
  /** What can be done to it now, by this person. */
  can: actionsShape,
});
export type PaymentView = Static<typeof paymentShape>;

const paymentParams = Type.Object({ project: Type.String(), mode: Type.String(), payment: Type.String() });
const changed = { params: paymentParams, answer: paymentShape };

export const paymentsContract = {
  'GET /dashboard/api/projects/:project/:mode/payments': {
    params: modeParams,
    query: Type.Object({
      ...keysetQuery,
      /** By commas. */
      status: Type.Optional(text({ max: 200 })),
      exception: Type.Optional(text({ max: 200 })),
      /** An id, transaction number, order id, e-mail, hash or address. */
      search: Type.Optional(text({ max: 255 })),
      created_after: Type.Optional(text({ max: 40 })),
      created_before: Type.Optional(text({ max: 40 })),
    }),
    answer: Type.Object({ data: Type.Array(paymentRowShape), next: nullable(Type.String()) }),
  },
  'GET /dashboard/api/projects/:project/:mode/payments/:payment': { params: paymentParams, answer: paymentShape },
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/complete': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/cancel': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/accept': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/simulate': {
    ...changed,
    body: Type.Object({ outcome: oneOf(SIMULATIONS) }),
  },
} as const satisfies Contracts;
