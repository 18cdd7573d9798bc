import { Type, type Static } from 'typebox';
import { ASSET_CODES } from '../../../domain/asset.ts';
import { NETWORKS } from '../../../domain/networks.ts';
import { EXCEPTIONS, SURFACES } from '../../../domain/payment.ts';
import { SIMULATIONS } from '../../../domain/simulation.ts';
import { PAYMENT_STATUSES } from '../../../domain/status.ts';
import { oneOf, text } from '../../fields.ts';
import { nullable, time } from '../../shapes.ts';
import { noteShape } from './notes.ts';
import { REFUND_TARGETS, refundableShape, refundShape } from './refunds.ts';
import type { Contracts } from './route.ts';
import { explorerUrl, keysetQuery, modeParams, modeShape, paymentParams } from './shape.ts';

/** Ids are as the API of the payment writes them: `ord_…` or a UUID. Amounts are decimal texts. */

const asset = oneOf(ASSET_CODES);
const network = oneOf(NETWORKS);

const crypto = Type.Object({
  asset,
  network,
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
  description: nullable(Type.String()),
  customer_email: nullable(Type.String()),
  created_at: time(),
  expires_at: time(),
  completed_at: nullable(time()),
};
export const paymentRowShape = Type.Object(row);
export type PaymentRow = Static<typeof paymentRowShape>;

/** Of the current quote, in `asset`. */
const moneyShape = Type.Object({
  asset,
  network,
  expected: Type.String(),
  /** So much less than expected still counts as paid, and so much more as exact. */
  tolerance: Type.String(),
  /** All that was seen, in blocks or not. */
  received: Type.String(),
  confirmed: Type.String(),
  /** What is missing from `expected`, and what came beyond it; "0" where nothing is. */
  missing: Type.String(),
  excess: Type.String(),
  /** Given back or promised back by refunds. */
  refunded: Type.String(),
  /** One whole unit of the asset in the payment's currency, as it was quoted. */
  rate: Type.String(),
  rate_locked_at: time(),
});

const addressShape = Type.Object({
  address: Type.String(),
  explorer_url: explorerUrl,
  network,
  /** What it was first quoted in. */
  asset,
  expected: Type.String(),
  /** Its number in the merchant's wallet; null in test mode. */
  wallet_index: nullable(Type.Integer()),
  issued_at: time(),
  /** Until when money on it is looked for at every block; null in test mode. */
  watched_until: nullable(time()),
  is_current: Type.Boolean(),
});

const transferShape = Type.Object({
  /** Null where no node could show which transaction brought the money. */
  transaction_hash: nullable(Type.String()),
  explorer_url: explorerUrl,
  address: Type.String(),
  asset: Type.String(),
  network: Type.String(),
  amount: Type.String(),
  state: oneOf(['seen', 'mined', 'confirmed', 'dropped']),
  block_height: nullable(Type.Integer()),
  seen_at: time(),
});

const attemptShape = Type.Object({
  at: time(),
  /** Sent again by hand. */
  manual: Type.Boolean(),
  duration_ms: Type.Integer(),
  /** The HTTP status of the answer; null where none came. */
  status: nullable(Type.Integer()),
  /** Why no answer came, for people; null for those who may not see webhooks. */
  error: nullable(Type.String()),
});

const deliveryShape = Type.Object({
  id: Type.String(),
  /** Null for those who may not see webhooks. */
  url: nullable(Type.String()),
  state: oneOf(['waiting', 'delivered', 'failed', 'stopped']),
  next_attempt_at: nullable(time()),
  attempts: Type.Array(attemptShape),
});

/** What happened to a payment, the oldest first. */
const timelineEntry = Type.Union([
  /** `from` null: it was created. `cause` is a word of the state machine, such as `money`, `deadline`, `cancelled`. */
  Type.Object({
    kind: Type.Literal('status'),
    at: time(),
    from: nullable(oneOf(PAYMENT_STATUSES)),
    to: oneOf(PAYMENT_STATUSES),
    cause: Type.String(),
  }),
  Type.Object({ kind: Type.Literal('transfer'), at: time(), transfer: transferShape }),
  Type.Object({
    kind: Type.Literal('event'),
    at: time(),
    id: Type.String(),
    type: Type.String(),
    /** One for each endpoint that asked for it. Those of long ago are forgotten. */
    deliveries: Type.Array(deliveryShape),
  }),
  Type.Object({ kind: Type.Literal('refund'), at: time(), refund: refundShape }),
  /**
   * Done by a person or an operator: a word of the audit log such as `payment.cancel`, who it was, and the label or the
   * amount of a refund that it was done with.
   */
  Type.Object({
    kind: Type.Literal('action'),
    at: time(),
    action: Type.String(),
    by: Type.String(),
    detail: nullable(Type.String()),
  }),
]);
export type TimelineEntry = Static<typeof timelineEntry>;

const actionsShape = Type.Object({
  complete: Type.Boolean(),
  cancel: Type.Boolean(),
  accept: Type.Boolean(),
  simulate: Type.Array(oneOf(SIMULATIONS)),
  refund: oneOf(REFUND_TARGETS),
  /** Write notes and labels. */
  annotate: Type.Boolean(),
});

export const paymentShape = Type.Object({
  ...row,
  failure_reason: nullable(oneOf(['underpaid', 'unconfirmed'])),
  customer_name: nullable(Type.String()),
  /** As the merchant gave it. */
  metadata: Type.Record(Type.String(), Type.String()),
  success_url: nullable(Type.String()),
  cancel_url: nullable(Type.String()),
  payment_url: Type.String(),
  cancelled_at: nullable(time()),
  /** When a test payment completes by itself. */
  completes_at: nullable(time()),
  address: nullable(Type.String()),
  /** Null where they are not counted. */
  confirmations: nullable(Type.Object({ have: Type.Integer(), need: Type.Integer() })),
  /** Null until a token is chosen. */
  money: nullable(moneyShape),
  /** Every address that was ever issued, the newest first. */
  addresses: Type.Array(addressShape),
  transfers: Type.Array(transferShape),
  refunds: Type.Array(refundShape),
  /** Of each token that came; empty while the payment may still change. */
  refundable: Type.Array(refundableShape),
  /** What to know before giving money back: refunds that were paid although they had failed. */
  refund_warnings: Type.Array(Type.String()),
  /** The oldest first. */
  notes: Type.Array(noteShape),
  /** By name. */
  labels: Type.Array(Type.String()),
  /** The key with which the request that made it can be sent again safely; null without one, and after a day. */
  idempotency_key: nullable(Type.String()),
  timeline: Type.Array(timelineEntry),
  /** What can be done to it now, by this person. */
  can: actionsShape,
});
export type PaymentView = Static<typeof paymentShape>;

/** What an action brought about. */
const consequencesShape = Type.Object({
  from: oneOf(PAYMENT_STATUSES),
  to: oneOf(PAYMENT_STATUSES),
  exception: oneOf(EXCEPTIONS),
  /** Events that the merchant's system is told of, in their order. */
  events: Type.Array(Type.String()),
  /** To how many endpoints in all they are sent. */
  deliveries: Type.Integer(),
});
export type Consequences = Static<typeof consequencesShape>;

const changed = {
  params: paymentParams,
  answer: Type.Object({ payment: paymentShape, consequences: consequencesShape }),
};

/** What several words are given as: by commas. */
const words = Type.Optional(text({ max: 200 }));

export const paymentsContract = {
  /** Both APIs' payments, the newest first. A filter that is left out does not narrow. */
  'GET /dashboard/api/projects/:project/:mode/payments': {
    params: modeParams,
    query: Type.Object({
      ...keysetQuery,
      /** By commas, as `exception`, `asset` and `network` are. */
      status: words,
      exception: words,
      surface: Type.Optional(oneOf(SURFACES)),
      asset: words,
      network: words,
      /** ISO 8601, a UTC day or a time; both leave out their own moment. */
      created_after: Type.Optional(text({ max: 40 })),
      created_before: Type.Optional(text({ max: 40 })),
      /** A whole id, transaction number, order id or e-mail address. */
      search: Type.Optional(text({ max: 255 })),
    }),
    answer: Type.Object({ data: Type.Array(paymentRowShape), next: nullable(Type.String()) }),
  },
  'GET /dashboard/api/projects/:project/:mode/payments/:payment': { params: paymentParams, answer: paymentShape },
  /** Test payments only, as simulate is. */
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/complete': changed,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/cancel': changed,
  /** With `shown` it is refused (409) once there is other money than that. */
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/accept': {
    ...changed,
    body: Type.Object({
      shown: Type.Optional(Type.Object({ confirmed: text({ max: 60 }), refunded: text({ max: 60 }) })),
    }),
  },
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/simulate': {
    ...changed,
    body: Type.Object({ outcome: oneOf(SIMULATIONS) }),
  },
} as const satisfies Contracts;
